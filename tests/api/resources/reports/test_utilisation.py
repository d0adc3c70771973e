"""The report of utilisation."""

from datetime import timedelta

import pytest
from tests.api.resources.reports.reporting import MAY, Recorder, Road, get, opened, span, table

from motorpool.codecs.reports import PositionReport

MINUTE = timedelta(minutes=1)
MINUTE_MS = 60_000
HOUR = timedelta(hours=1)


async def tokyo(served):
    """A user whose days begin at 15:00 UTC, and their device."""
    ann = await served.user("ann", attributes={"timezone": "Asia/Tokyo"})
    device_id = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    return ann, device_id


def two_days(served, device_id):
    """Drives over midnight in Tokyo, stands with the engine on and then off, drives again after a day off."""
    road = Road(served, device_id, MAY + 14 * HOUR + 20 * MINUTE)
    road.stand(10, ignition=True)  # from 14:20
    road.drive(50, ignition=True)  # from 14:30 to 15:20
    road.stand(15, ignition=True)
    road.stand(15, ignition=False)
    road.sleep(2 * 24 * 60)
    road.stand(10, ignition=False)
    road.drive(20, ignition=True)
    road.stand(30, ignition=False)
    return road.positions


async def test_days_are_cut_at_the_midnights_of_the_user(served):
    ann, device_id = await tokyo(served)
    await served.report(*two_days(served, device_id))
    first, second, third = await get(ann, f"/reports/utilisation?{span(end=MAY + timedelta(days=9))}")
    assert first == {
        "deviceId": device_id,
        "deviceName": "Vehicle 1",
        "startTime": "2026-05-01T14:20:00Z",
        "endTime": "2026-05-01T14:59:00Z",
        "driving": 31 * MINUTE_MS,
        "idling": 9 * MINUTE_MS,
        "standing": 0,
        "engineHours": 39 * MINUTE_MS,
        "distance": pytest.approx(30_000, abs=1),
        "trips": 1,
        "firstStart": "2026-05-01T14:29:00Z",
        "lastEnd": None,
    }
    assert (second["startTime"], second["endTime"]) == ("2026-05-01T15:00:00Z", "2026-05-01T15:49:00Z")
    # It came to rest at 15:20; the ignition was off at 15:35, and until midnight it stood.
    assert (second["driving"], second["idling"]) == (20 * MINUTE_MS, 15 * MINUTE_MS)
    assert second["standing"] == (24 * 60 - 35) * MINUTE_MS
    # With the minute that began before midnight.
    assert second["engineHours"] == 36 * MINUTE_MS
    assert (second["trips"], second["firstStart"], second["lastEnd"]) == (0, None, "2026-05-01T15:20:00Z")
    # 30 of its 50 steps lead to positions before midnight.
    assert second["distance"] == pytest.approx(20_000, abs=1)
    # The day without positions has no item; the third has 15:50 of it and the trip.
    assert third["startTime"] == "2026-05-03T15:50:00Z"
    assert (third["trips"], third["distance"]) == (1, pytest.approx(20_000, abs=1))
    assert third["driving"] + third["idling"] + third["standing"] == (60 + 49) * MINUTE_MS


async def test_the_days_of_a_short_span_and_of_all_time(served):
    ann, device_id = await tokyo(served)
    await served.report(*two_days(served, device_id))
    midnight = MAY + 15 * HOUR
    (part,) = await get(ann, f"/reports/utilisation?{span(midnight - 10 * MINUTE, midnight - MINUTE)}")
    assert (part["driving"], part["idling"], part["standing"]) == (9 * MINUTE_MS, 0, 0)
    long = span(MAY.replace(year=1), MAY.replace(year=9998))
    assert [each["trips"] for each in await get(ann, f"/reports/utilisation?{long}")] == [1, 0, 1]


async def test_engine_hours_are_those_of_the_counter(served):
    device_id = await served.device(served.admin, "1")
    road = Road(served, device_id, MAY)
    for minute in range(30):
        road.stand(1, hours=1_000_000 + 45_000 * minute, ignition=False)
    await served.report(*road.positions)
    (day,) = await get(served.admin, f"/reports/utilisation?{span()}")
    assert (day["engineHours"], day["standing"], day["idling"]) == (29 * 45_000, 29 * MINUTE_MS, 0)


async def test_the_voltage_of_the_alternator_says_that_the_engine_runs(served):
    device_id = await served.device(served.admin, "1", attributes={"engineChargingVoltage": 13.2})
    await served.device(served.admin, "2")
    roads = [Road(served, each, MAY) for each in (device_id, device_id + 1)]
    for road in roads:
        road.stand(10, power=14.1)
        road.stand(20, power=12.6)
    await served.report(*roads[0].positions, *roads[1].positions)
    known, unknown = await get(served.admin, f"/reports/utilisation?{span()}")
    assert (known["engineHours"], known["idling"]) == (10 * MINUTE_MS, 10 * MINUTE_MS)
    assert (known["standing"], unknown["engineHours"], unknown["idling"]) == (19 * MINUTE_MS, 0, 0)
    (idling,) = await get(served.admin, f"/reports/idling?{span()}")
    assert (idling["deviceId"], idling["duration"]) == (device_id, 10 * MINUTE_MS)


@pytest.mark.parametrize("day", [0, 1])
async def test_engine_hours_of_what_came_late_are_those_that_it_tells(served, day):
    """The server adds up `hours` by what arrives; the hour without a network came afterwards."""

    def report(minute, ignition):
        when = MAY + minute * MINUTE
        return PositionReport(
            {"ignition": ignition}, device_time=when, fix_time=when, latitude=52.0, longitude=13.0
        )

    device_id = await served.device(served.admin, "1")
    live = [report(minute, ignition=True) for minute in range(0, 10, 5)]
    # The next day, or the same.
    live += [report(day * 1440 + minute, ignition=True) for minute in range(90, 105, 5)]
    late = [report(minute, ignition=minute < 30) for minute in range(10, 90, 5)]
    await Recorder(served, device_id).add([*live, *late])
    if day:
        # It is seen also where the report ends before what came first.
        (first,) = await get(served.admin, f"/reports/utilisation?{span()}")
        assert first["engineHours"] == 30 * MINUTE_MS
    days = await get(served.admin, f"/reports/utilisation?{span(end=MAY + timedelta(days=2))}")
    assert [each["engineHours"] for each in days] == [[40 * MINUTE_MS], [30 * MINUTE_MS, 10 * MINUTE_MS]][day]


async def test_it_opens_as_a_workbook(served):
    ann, device_id = await tokyo(served)
    await served.report(*two_days(served, device_id))
    book = await opened(ann, f"/reports/utilisation/xlsx?{span(end=MAY + timedelta(days=9))}")
    assert book.sheetnames == ["Utilisation"]
    _, titles, rows = table(book.active)
    assert titles == [
        "Device",
        "Start",
        "End",
        "Driving",
        "Idling",
        "Standing",
        "Engine Hours",
        "Distance",
        "Trips",
        "First Start",
        "Last End",
    ]
    start = MAY.replace(tzinfo=None, hour=23)
    assert rows[0][:7] == [
        "Vehicle 1",
        start + 20 * MINUTE,
        start + 59 * MINUTE,
        31 * MINUTE,
        9 * MINUTE,
        timedelta(),
        39 * MINUTE,
    ]
    assert rows[0][8:] == [1, start + 29 * MINUTE, None]
    assert len(rows) == 3
