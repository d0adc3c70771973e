"""The report of drivers (docs/drivers.md#report)."""

from datetime import timedelta
from io import BytesIO

import pytest
from openpyxl import load_workbook
from tests.api.resources.reports.reporting import MAY, happen, span
from tests.api.resources.reports.test_lists import drive, get

from motorpool.storage.records import Event

MINUTE = timedelta(minutes=1)
WAY, DRIVEN = 11_131.9, 11 * 60_000
"""Metres and milliseconds of a trip of `drive`, from 00:10 to 00:21."""


def event(device_id, minute, kind="alarm", **attributes):
    return Event(type=kind, event_time=MAY + minute * MINUTE, device_id=device_id, attributes=attributes)


def alarm(device_id, minute, name, exact=None):
    return event(device_id, minute, alarm=name, **({} if exact is None else {"alarmDetail": exact}))


async def van(served, number, card="ann", *, start=MAY, **fields):
    device_id = await served.device(served.admin, number, **fields)
    await served.report(*drive(served, device_id, start, attributes=lambda _: {"driverUniqueId": card}))
    return device_id


def lines_of(sheet):
    """The rows of a workbook, by the titles of its columns."""
    rows = list(sheet.iter_rows(values_only=True))
    titles = next(index for index, row in enumerate(rows) if row[0] == "Driver")
    return [dict(zip(rows[titles], row, strict=True)) for row in rows[titles + 1 :]]


async def report(client, **more):
    return await get(client, f"/reports/drivers?{span(**more)}")


async def test_a_driver_has_what_happened_on_the_trips(served, database):
    made = (await served.admin.post("/drivers", json={"name": "Ann", "uniqueId": "ann"})).json()
    one, two = await van(served, "1"), await van(served, "2", start=MAY + 60 * MINUTE)
    await happen(
        database,
        alarm(one, 10, "hardBraking"),
        alarm(one, 21, "hardBraking"),
        alarm(two, 75, "hardAcceleration"),
        alarm(two, 75, "hardCornering"),
        alarm(one, 12, "general", "phoneUse:2"),
        alarm(one, 13, "general", "smoking:1,phoneScreen"),
        alarm(one, 13, "fatigueDriving"),
        alarm(one, 14, "fatigueDriving", "fatigueWarning"),
        # Neither on a trip nor of these kinds.
        alarm(one, 9, "hardBraking"),
        alarm(one, 22, "hardBraking"),
        alarm(one, 15, "general", "smoking"),
        alarm(one, 15, "fatigueDriving", "drivingTimeExceeded"),
        alarm(one, 15, "sos"),
        event(one, 15, "deviceMoving"),
        # Speeds of the positions are 47 to 56 knots at 00:11 to 00:20, and 0 before and after.
        event(one, 14, "deviceOverspeed", speed=50.0, speedLimit=48.0),
        event(one, 16, "deviceOverspeed", speed=52.0, speedLimit=51.0),
    )
    (item,) = await report(served.admin, deviceId=[one, two])
    hundred = 100_000 / (2 * WAY)
    driving = 2 * DRIVEN

    def count(number, weight):
        rate = round(number * hundred, 2)
        return {"count": number, "per100Km": rate, "weight": weight, "points": round(weight * rate, 2)}

    # Above 48 knots from 00:13 to 00:21; the second event lies within.
    percent = round(8 * 60_000 / driving * 100, 2)
    assert item == {
        "driverId": made["id"],
        "driverUniqueId": "ann",
        "driverName": "Ann",
        "trips": 2,
        "distance": 2 * WAY,
        "duration": driving,
        "accelerations": count(1, 2.0),
        "brakings": count(2, 2.0),
        "cornerings": count(1, 2.0),
        "overspeeds": count(2, 3.0),
        "phoneAlarms": count(2, 5.0),
        "fatigueAlarms": count(2, 5.0),
        "speeding": {"duration": 480_000, "percent": percent, "weight": 1.0, "points": percent},
        "score": 0.0,
        "scoreFormula": "max(0, 100 - 2 * 4.49 - 2 * 8.98 - 2 * 4.49 - 3 * 8.98 - 5 * 8.98 - 5 * 8.98"
        " - 1 * 36.36) = 0",
        "hours": None,
    }


async def test_drivers_are_told_apart_and_what_nobody_drove_comes_last(served, database):
    ids = [
        (await served.admin.post("/drivers", json={"name": name, "uniqueId": name.lower()})).json()["id"]
        for name in ("Zoe", "Ann")
    ]
    zoe, ann = await van(served, "1", "zoe"), await van(served, "2", "ann")
    nobody, unknown = await van(served, "3", ""), await van(served, "4", "x")
    by_hand = await van(served, "5", "zoe")
    times = {"startTime": "2026-05-01T00:00:00Z", "endTime": "2026-05-01T01:00:00Z"}
    assigned = {"deviceId": by_hand, "driverId": ids[1], **times}
    assert (await served.admin.post("/driverassignments", json=assigned)).status == 200
    await happen(database, alarm(by_hand, 12, "hardBraking"), alarm(nobody, 12, "hardBraking"))
    devices = [zoe, ann, nobody, unknown, by_hand]
    found = await report(served.admin, deviceId=devices)
    assert [(each["driverId"], each["driverUniqueId"], each["trips"]) for each in found] == [
        (None, "x", 1),
        (ids[1], "ann", 2),
        (ids[0], "zoe", 1),
        (None, None, 1),
    ]
    assert [each["brakings"]["count"] for each in found] == [0, 1, 0, 1]
    (only,) = await report(served.admin, deviceId=devices, driverId=ids[0])
    assert only["driverName"] == "Zoe"
    assert await report(served.admin, deviceId=devices, driverId=4711) == []


async def test_who_sees_neither_drivers_nor_other_devices_is_told_of_none(served):
    await served.admin.post("/drivers", json={"name": "Ann", "uniqueId": "ann"})
    one, two = await van(served, "1"), await van(served, "2")
    eve = await served.user("eve")
    await served.admin.post("/permissions", json={"userId": eve.id, "deviceId": one})
    for more in ({}, {"deviceId": [one, two]}):
        (item,) = await report(eve, **more)
        assert (item["driverId"], item["driverUniqueId"], item["driverName"]) == (None, "ann", None)
        assert item["trips"] == 1


async def test_weights_are_those_of_the_device_its_group_and_the_server(served, database):
    group = (await served.admin.post("/groups", json={"name": "Trucks"})).json()["id"]
    path = f"/groups/{group}"
    sent = {"id": group, "name": "Trucks", "attributes": {"report.score.braking": 4}}
    assert (await served.admin.put(path, json=sent)).status == 200
    own = {"report.score.braking": 8, "report.score.phone": -1, "report.score.fatigue": "much"}
    one = await van(served, "1", attributes=own)
    two = await van(served, "2", groupId=group)
    await happen(database, alarm(one, 12, "hardBraking"), alarm(two, 12, "hardBraking"))
    weights = [
        {kind: each[kind]["weight"] for kind in ("brakings", "phoneAlarms", "fatigueAlarms")}
        for device in ([one], [two], [one, two])
        for each in await report(served.admin, deviceId=device)
    ]
    usual = {"phoneAlarms": 5.0, "fatigueAlarms": 5.0}
    assert weights == [{"brakings": 8.0, **usual}, {"brakings": 4.0, **usual}, {"brakings": 6.0, **usual}]
    server = (await served.admin.get("/server")).json()
    server["attributes"] = {"report.score.phone": 0.5}
    assert (await served.admin.put("/server", json=server)).status == 200
    (item,) = await report(served.admin, deviceId=two)
    assert (item["brakings"]["weight"], item["phoneAlarms"]["weight"]) == (4.0, 0.5)


async def test_the_workbook_has_a_row_for_each_driver(served, database):
    await served.admin.post("/drivers", json={"name": "Ann", "uniqueId": "ann"})
    one = await van(served, "1")
    await happen(database, alarm(one, 12, "hardBraking"))
    answer = await served.admin.get(f"/reports/drivers/xlsx?{span(deviceId=one)}")
    assert answer.status == 200
    (sheet,) = load_workbook(BytesIO(answer.body)).worksheets
    assert sheet.title == "Drivers"
    (found,) = lines_of(sheet)
    assert found["Driver"] == "Ann"
    assert (found["Trips"], found["Hard brakings"], found["Phone alarms"]) == (1, 1, 0)
    assert found["Score"] == pytest.approx(82.0)
    assert found["Driving left"] is None
    assert found["Formula of the score"] == "max(0, 100 - 2 * 8.98) = 82"


async def test_a_limit_counts_from_the_overspeed_before_to_the_next_one(served, database):
    one = await van(served, "1")
    await happen(
        database,
        # At 00:11 and 00:12, with 47 and 48 knots, the limit was not yet 40.
        event(one, 13, "deviceOverspeed", speed=49.0, speedLimit=48.0),
        event(one, 15, "deviceOverspeed", speed=51.0, speedLimit=40.0),
    )
    (item,) = await report(served.admin, deviceId=one)
    assert item["overspeeds"]["count"] == 2
    assert item["speeding"]["duration"] == 8 * 60_000


async def test_where_a_device_cannot_have_been_it_was_neither_slow_nor_fast(served, database):
    one = await van(served, "1")
    await served.report(
        *(
            served.position(
                one,
                MAY + minute * MINUTE,
                latitude=55.0,
                speed=speed,
                attributes={"implausible": True, "driverUniqueId": "ann"},
            )
            for minute, speed in ((11.5, 300.0), (12.5, 300.0), (13.5, 0.0), (15.5, 0.0))
        )
    )
    await happen(database, event(one, 14, "deviceOverspeed", speed=50.0, speedLimit=48.0))
    (item,) = await report(served.admin, deviceId=one)
    assert item["trips"] == 1
    assert item["speeding"]["duration"] == 8 * 60_000


async def test_a_span_without_trips_is_an_empty_report(served):
    device_id = await served.device(served.admin, "1")
    assert await report(served.admin, deviceId=device_id) == []
    answer = await served.admin.get(f"/reports/drivers/xlsx?{span(deviceId=device_id)}")
    assert load_workbook(BytesIO(answer.body)).sheetnames == ["Drivers"]


EU = {"driverHours.limits": "eu561"}
HOUR = 3_600_000


async def test_hours_are_of_all_trips_of_four_weeks_and_what_is_left_of_the_limits(served):
    made = (await served.admin.post("/drivers", json={"name": "Ann", "uniqueId": "ann"})).json()
    await van(served, "1", attributes=EU, start=MAY - timedelta(days=4))
    two = await van(served, "2", attributes=EU)
    await van(served, "3", "bob", attributes=EU)
    driving = DRIVEN
    found = await report(served.admin, deviceId=two)
    assert [each["hours"]["weekly"]["used"] for each in found] == [driving]
    served.clock.move_wall(24 * 3600)
    everything = {"deviceId": list(range(1, two + 2)), "driverId": made["id"]}
    (item,) = await report(served.admin, **everything)
    assert item["trips"] == 1
    hours = item["hours"]
    # Both on 27 April, a Monday, and on 1 May.
    assert hours == {
        "at": "2026-05-02T00:00:00Z",
        "driving": {"used": 0, "allowed": 4.5 * HOUR, "left": 4.5 * HOUR},
        "daily": {"used": 0, "allowed": 10 * HOUR, "left": 10 * HOUR},
        "weekly": {"used": 2 * driving, "allowed": 56 * HOUR, "left": 56 * HOUR - 2 * driving},
        "fortnightly": {"used": 2 * driving, "allowed": 90 * HOUR, "left": 90 * HOUR - 2 * driving},
        "dailyRestBy": None,
        "weeklyRestBy": "2026-05-07T00:10:00Z",
        "breaches": [],
    }
    (early,) = await report(served.admin, **everything, end=MAY + 21 * MINUTE)
    assert early["hours"]["driving"] == {"used": driving, "allowed": 4.5 * HOUR, "left": 4.5 * HOUR - driving}
    assert early["hours"]["dailyRestBy"] == "2026-05-01T15:10:00Z"
    answer = await served.admin.get(f"/reports/drivers/xlsx?{span(deviceId=two)}")
    (sheet,) = load_workbook(BytesIO(answer.body)).worksheets
    (found,) = lines_of(sheet)
    assert found["Daily driving left"] == timedelta(hours=10)
    assert found["Limits exceeded"] == 0


async def test_limits_are_those_of_the_driver_before_those_of_the_device(served):
    own = {"driverHours.driving": 600, "driverHours.warning": 60}
    sent = {"name": "Ann", "uniqueId": "ann", "attributes": own}
    ann = (await served.admin.post("/drivers", json=sent)).json()
    await served.admin.post("/drivers", json={"name": "Bob", "uniqueId": "bob"})
    devices = [
        await van(served, "1"),
        await van(served, "2", "bob"),
        await van(served, "3", "carl", attributes=EU),
    ]
    by_name = {each["driverUniqueId"]: each for each in await report(served.admin, deviceId=devices)}
    assert by_name["bob"]["hours"] is None
    assert by_name["carl"]["hours"] is None
    hours = by_name["ann"]["hours"]
    assert hours["driving"]["allowed"] == 600_000
    assert (hours["daily"], hours["weekly"], hours["dailyRestBy"]) == (None, None, None)
    breach = {"rule": "driving", "since": "2026-05-01T00:10:00Z", "at": "2026-05-01T00:20:00Z"}
    assert hours["breaches"] == [breach]
    sent = {**ann, "attributes": {"driverHours.limits": "none", "driverHours.driving": -1}}
    assert (await served.admin.put(f"/drivers/{ann['id']}", json=sent)).status == 200
    assert {each["hours"] for each in await report(served.admin, deviceId=devices)} == {None}
