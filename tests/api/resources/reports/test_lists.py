"""Reports as JSON."""

import base64
import json
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, quote, urlsplit

import msgspec
import pytest
import trio
from tests.actors.reports.brute_force import intervals
from tests.api.resources.reports.reporting import MAY, get, happen, positions, span, stamp, week

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.geocoding.geocoder import Geocoder
from motorpool.actors.messages.changes import LinkChanged
from motorpool.actors.reports.settings import ReportSettings
from motorpool.actors.upkeep.settings import PositionSettings
from motorpool.api.settings import GeocoderSettings
from motorpool.storage.accounts import links
from motorpool.storage.records import Event
from motorpool.storage.reports import report_rows

MINUTE = timedelta(minutes=1)
KNOT = 1852 / 3600


def drive(served, device_id, start=MAY, *, attributes=lambda index: {}):
    """Ten minutes at rest, ten minutes of 1,112 m each, ten minutes at rest; a position each minute."""
    found = []
    for index in range(31):
        moved = min(max(index - 10, 0), 10)
        found.append(
            served.position(
                device_id,
                start + index * MINUTE,
                latitude=52 + 0.01 * moved,
                speed=36.0 + index if 10 < index <= 20 else 0.0,
                attributes={"totalDistance": 5000.0 + 1112 * moved, "distance": 0.0, **attributes(index)},
            )
        )
    return found


async def test_a_week_of_a_fleet_is_what_the_brute_force_finds(served):
    first, last = MAY + timedelta(days=1, hours=5), MAY + timedelta(days=6, hours=17)
    weeks = {await served.device(served.admin, str(seed)): week(seed) for seed in range(3)}
    ids = {}
    for device_id, points in weeks.items():
        stored = await served.report(*positions(served, device_id, points))
        ids[device_id] = [position.id for position in stored]
    wanted = [
        (device_id, found, ids[device_id][found.start.number], ids[device_id][found.end.number])
        for device_id, points in weeks.items()
        for found in intervals(points, first, last)
    ]
    trips = await get(served.admin, f"/reports/trips?{span(first, last)}")
    assert [
        (
            each["deviceId"],
            each["startPositionId"],
            each["endPositionId"],
            each["startTime"],
            each["endTime"],
            each["duration"],
            each["maxSpeed"],
            each["distance"],
        )
        for each in trips
    ] == [
        (
            device_id,
            start_id,
            end_id,
            stamp(trip.start.time).replace(".000Z", "Z"),
            stamp(trip.end.time).replace(".000Z", "Z"),
            (trip.end.time - trip.start.time) // timedelta(milliseconds=1),
            trip.top_speed,
            pytest.approx(trip.distance, abs=0.5),
        )
        for device_id, trip, start_id, end_id in wanted
        if trip.moving
    ]
    stops = await get(served.admin, f"/reports/stops?{span(first, last)}")
    assert [(each["deviceId"], each["positionId"], each["engineHours"]) for each in stops] == [
        (device_id, start_id, 60_000 * (stop.end.number - stop.start.number))
        for device_id, stop, start_id, _ in wanted
        if not stop.moving
    ]
    assert len(trips) > 50
    assert len(stops) > 50


async def test_a_trip_and_a_stop_have_all_their_fields(served):
    device_id = await served.device(served.admin, "1", attributes={"fuelCapacity": 50})
    dora = (await served.admin.post("/drivers", json={"name": "Dora", "uniqueId": "D1"})).json()
    stored = await served.report(
        *drive(
            served,
            device_id,
            attributes=lambda index: {
                "odometer": 90_000 + 100 * index,
                "hours": 1000 * index,
                "fuelLevel": 80 - index,
                "driverUniqueId": "D1" if index < 15 else "D2",
            },
        )
    )
    (trip,) = await get(served.admin, f"/reports/trips?{span()}&deviceId={device_id}")
    assert trip == {
        "deviceId": device_id,
        "deviceName": "Vehicle 1",
        "distance": 1100.0,
        "averageSpeed": pytest.approx(1100 / 660 / KNOT),
        "maxSpeed": 56.0,
        "spentFuel": 5.5,
        "startOdometer": 91_000.0,
        "endOdometer": 92_100.0,
        "startTime": "2026-05-01T00:10:00Z",
        "endTime": "2026-05-01T00:21:00Z",
        "startPositionId": stored[10].id,
        "endPositionId": stored[21].id,
        "startLat": 52.0,
        "startLon": 13.4,
        "endLat": 52.1,
        "endLon": 13.4,
        "startAddress": None,
        "endAddress": None,
        "startPlace": "Dahme, 15 km N",
        "endPlace": "Zossen, 13 km S",
        "duration": 660_000,
        "driverId": dora["id"],
        "driverUniqueId": "D1",
        "driverName": "Dora",
    }
    before, after = await get(served.admin, f"/reports/stops?{span()}&deviceId={device_id}")
    assert before == {
        "deviceId": device_id,
        "deviceName": "Vehicle 1",
        "distance": 0.0,
        "averageSpeed": 0.0,
        "maxSpeed": 0.0,
        "spentFuel": 5.0,
        "startOdometer": 90_000.0,
        "endOdometer": 91_000.0,
        "startTime": "2026-05-01T00:00:00Z",
        "endTime": "2026-05-01T00:10:00Z",
        "positionId": stored[0].id,
        "latitude": 52.0,
        "longitude": 13.4,
        "address": None,
        "place": "Dahme, 15 km N",
        "duration": 600_000,
        "engineHours": 10_000,
    }
    assert (after["startTime"], after["endTime"]) == ("2026-05-01T00:21:00Z", "2026-05-01T00:30:00Z")
    (summary,) = await get(served.admin, f"/reports/summary?{span()}&deviceId={device_id}")
    assert summary == {
        "deviceId": device_id,
        "deviceName": "Vehicle 1",
        "distance": 3000.0,
        "averageSpeed": pytest.approx(3000 / 30 / KNOT),
        "maxSpeed": 56.0,
        "spentFuel": 15.0,
        "startOdometer": 90_000.0,
        "endOdometer": 93_000.0,
        "startTime": "2026-05-01T00:00:00Z",
        "endTime": "2026-05-01T00:30:00Z",
        "startHours": 0,
        "endHours": 30_000,
        "engineHours": 30_000,
    }


async def test_the_settings_of_a_device_are_those_of_its_group_and_the_server(served):
    group = (
        await served.admin.post(
            "/groups", json={"name": "slow", "attributes": {"report.trip.minDistance": 50_000}}
        )
    ).json()["id"]
    device_id = await served.device(
        served.admin, "1", groupId=group, attributes={"report.ignoreOdometer": True}
    )
    await served.report(*drive(served, device_id, attributes=lambda index: {"odometer": 1 + index}))
    assert await get(served.admin, f"/reports/trips?{span()}") == []
    # Without trips it has come along nowhere.
    (summary,) = await get(served.admin, f"/reports/summary?{span()}")
    assert summary["distance"] == 0.0
    changed = {"name": "slow", "attributes": {"report.trip.minDistance": 300}}
    assert (await served.admin.put(f"/groups/{group}", json={"id": group, **changed})).status == 200
    (trip,) = await get(served.admin, f"/reports/trips?{span()}")
    (summary,) = await get(served.admin, f"/reports/summary?{span()}")
    # Not what `totalDistance` says.
    assert trip["distance"] == summary["distance"] == pytest.approx(11_131.95, abs=0.1)
    assert (trip["startOdometer"], trip["endOdometer"]) == (5000.0, 5000.0 + trip["distance"])


async def test_a_report_continues_what_positions_before_it_began(served, database):
    device_id = await served.device(served.admin, "1")
    await served.report(*drive(served, device_id, MAY - 15 * MINUTE))
    # Stored events may know less: positions may have come late.
    stopped = Event(type="deviceStopped", event_time=MAY - 3 * MINUTE, device_id=device_id, position_id=99)
    await happen(database, stopped)
    (trip,) = await get(served.admin, f"/reports/trips?{span(MAY, MAY + 9 * MINUTE)}")
    assert (trip["startTime"], trip["endTime"]) == ("2026-05-01T00:00:00Z", "2026-05-01T00:06:00Z")
    assert trip["distance"] == pytest.approx(5 * 1113.2, abs=0.1)
    (stop,) = await get(served.admin, f"/reports/stops?{span(MAY, MAY + 9 * MINUTE)}")
    assert (stop["startTime"], stop["endTime"]) == ("2026-05-01T00:06:00Z", "2026-05-01T00:09:00Z")


async def test_a_daily_summary_is_cut_at_the_midnights_of_the_user(served):
    ann = await served.user("ann", attributes={"timezone": "Asia/Tokyo"})
    device_id = await served.device(served.admin, "1")
    await served.device(served.admin, "2")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    # Midnight in Tokyo is 15:00 UTC. It drives from 14:55 to 15:05, which is known after midnight only.
    begin = MAY + timedelta(hours=14, minutes=45)
    await served.report(
        *drive(served, device_id, begin),
        served.position(device_id, MAY + timedelta(hours=63), latitude=52.1, speed=0.0),
    )
    long = span(datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), daily="true")
    found = await get(ann, f"/reports/summary?{long}")
    kilometre = 1113.195
    assert [(each["startTime"], each["distance"], each["maxSpeed"]) for each in found] == [
        ("2026-05-01T14:45:00Z", pytest.approx(4 * kilometre, abs=0.1), 50.0),
        ("2026-05-01T15:00:00Z", pytest.approx(6 * kilometre, abs=0.1), 56.0),
        ("2026-05-03T15:00:00Z", 0.0, 0.0),
    ]
    (whole,) = await get(ann, f"/reports/summary?{span(end=MAY + timedelta(days=9), daily='false')}")
    assert (whole["distance"], whole["averageSpeed"]) == (pytest.approx(10 * kilometre, abs=0.1), 0.0)
    (trip,) = await get(ann, f"/reports/trips?{span(end=MAY + timedelta(days=9))}")
    assert trip["distance"] == whole["distance"]


async def test_events_are_those_of_the_types_and_alarms(served, database):
    first, second = [await served.device(served.admin, number) for number in "12"]
    made = await happen(
        database,
        Event(type="ignitionOn", event_time=MAY + 2 * MINUTE, device_id=second),
        Event(type="alarm", event_time=MAY + 2 * MINUTE, device_id=first, attributes={"alarm": "sos"}),
        Event(type="alarm", event_time=MAY + MINUTE, device_id=first, attributes={"alarm": "tow"}),
        Event(type="ignitionOff", event_time=MAY + timedelta(days=2), device_id=first),
    )

    async def ids(query):
        return [each["id"] for each in await get(served.admin, f"/reports/events?{query}")]

    assert await ids(span()) == [made[2].id, made[1].id, made[0].id]
    assert await ids(span(type="allEvents")) == [made[2].id, made[1].id, made[0].id]
    assert await ids(span(type=["ignitionOn", "ignitionOff"])) == [made[0].id]
    assert await ids(span(alarm="sos")) == [made[1].id, made[0].id]
    assert await ids(span(type="alarm", alarm=["sos", "tow"])) == [made[2].id, made[1].id]
    assert await ids(span(MAY + MINUTE, MAY + MINUTE, deviceId=first)) == [made[2].id]
    # A client library appends Z to a time with an offset.
    lenient = f"from={quote('2026-05-01T00:00:00.000000+00:00Z')}&to={quote(stamp(MAY + MINUTE))}"
    assert await ids(lenient) == [made[2].id]
    assert (await get(served.admin, f"/reports/events?{span(type='ignitionOn')}"))[0] == {
        "id": made[0].id,
        "type": "ignitionOn",
        "eventTime": "2026-05-01T00:02:00Z",
        "deviceId": second,
        "positionId": 0,
        "geofenceId": 0,
        "maintenanceId": 0,
        "attributes": {},
        "severity": None,
        "review": None,
    }


async def test_events_of_geofences_and_visits_need_access_to_the_geofence(served, database):
    ann = await served.user("ann")
    device_id = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    own, other = [
        (await client.post("/geofences", json={"name": "F", "area": "CIRCLE (52 13, 100)"})).json()["id"]
        for client in (ann, served.admin)
    ]

    def event(kind, minute, geofence_id):
        return Event(
            type=f"geofence{kind}",
            event_time=MAY + minute * MINUTE,
            device_id=device_id,
            geofence_id=geofence_id,
        )

    await happen(
        database,
        event("Exit", 1, own),
        event("Enter", 2, other),
        event("Enter", 3, own),
        event("Exit", 4, other),
        event("Exit", 5, own),
        event("Enter", 6, own),
    )
    assert len(await get(ann, f"/reports/events?{span()}")) == 4
    assert len(await get(served.admin, f"/reports/events?{span()}")) == 6
    visits = await get(ann, f"/reports/geofences?{span(geofenceId=[own, other])}")
    assert visits == [
        {
            "deviceId": device_id,
            "deviceName": "Vehicle 1",
            "distance": 0.0,
            "averageSpeed": 0.0,
            "maxSpeed": 0.0,
            "spentFuel": 0.0,
            "startOdometer": 0.0,
            "endOdometer": 0.0,
            "startTime": "2026-05-01T00:03:00Z",
            "endTime": "2026-05-01T00:05:00Z",
            "geofenceId": own,
        }
    ]
    both = await get(served.admin, f"/reports/geofences?{span(geofenceId=[own, other])}")
    assert [each["geofenceId"] for each in both] == [other, own]
    assert await get(served.admin, f"/reports/geofences?{span()}") == []


async def test_the_route_and_the_combined_report(served, database):
    first, second = [await served.device(served.admin, number) for number in "12"]
    stored = await served.report(
        *(served.position(first, MAY + index * MINUTE, latitude=50.0 + index) for index in (2, 0, 1))
    )
    route = await get(served.admin, f"/reports/route?{span(MAY, MAY + MINUTE)}")
    assert [each["id"] for each in route] == [stored[1].id, stored[2].id]
    assert route[0]["fixTime"] == "2026-05-01T00:00:00Z"
    doubted = served.position(
        first, MAY + MINUTE / 2, latitude=60.0, speed=500.0, attributes={"implausible": True}
    )
    await served.report(doubted)
    made = await happen(
        database,
        Event(type="alarm", event_time=MAY, device_id=first, position_id=stored[1].id),
        Event(type="deviceMoving", event_time=MAY, device_id=first, position_id=stored[0].id),
        Event(type="deviceStopped", event_time=MAY, device_id=first, position_id=stored[1].id),
        Event(type="deviceOnline", event_time=MAY, device_id=first),
    )
    one, two = await get(served.admin, f"/reports/combined?{span()}")
    assert one["deviceId"] == first
    # Neither the line nor the highest speed has what cannot be.
    assert one["route"] == [[13.4, 50.0], [13.4, 51.0], [13.4, 52.0]]
    whole, *_ = await get(served.admin, f"/reports/summary?{span(deviceId=first)}")
    (daily,) = await get(served.admin, f"/reports/summary?{span(deviceId=first, daily='true')}")
    assert whole["maxSpeed"] == daily["maxSpeed"] == max(each.speed for each in stored)
    assert [each["id"] for each in one["events"]] == [made[0].id, made[2].id]
    assert one["positions"] == [route[0]]
    assert two == {"deviceId": second, "route": [], "events": [], "positions": []}
    assert await get(served.admin, f"/reports/combined?{span(deviceId=4711)}") == []


async def test_devices_are_chosen_by_id_and_group_and_others_left_out(served):
    ann = await served.user("ann")
    top = (await served.admin.post("/groups", json={"name": "top"})).json()["id"]
    below = (await served.admin.post("/groups", json={"name": "below", "groupId": top})).json()["id"]
    first = await served.device(served.admin, "1", groupId=below)
    second = await served.device(served.admin, "2", groupId=top)
    third = await served.device(served.admin, "3")
    for device_id in (first, second, third):
        await served.report(served.position(device_id, MAY))
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": first})
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": third})

    async def seen(client, **chosen):
        return [each["deviceId"] for each in await get(client, f"/reports/summary?{span(**chosen)}")]

    assert await seen(served.admin) == [first, second, third]
    assert await seen(served.admin, groupId=top) == [first, second]
    assert await seen(served.admin, groupId=below, deviceId=third) == [first, third]
    assert await seen(ann) == [first, third]
    assert await seen(ann, groupId=top) == [first]
    assert await seen(ann, deviceId=[second, 4711, third]) == [third]
    assert await seen(ann, deviceId=second) == []


async def test_a_device_to_which_access_ends_meanwhile_is_left_out(served, monkeypatch):
    ann = await served.user("ann")
    linked = []
    for number in "12":
        device_id = await served.device(served.admin, number)
        linked.append(device_id)
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
        await served.report(*drive(served, device_id))
    stream = report_rows.stream_track
    ended = []

    async def unlinking(q, device_id, *span, **more):
        if not ended:
            ended.append(device_id)
            await links.remove_many(served.context.database, links.USER_DEVICE, [(ann.id, linked[1])])
            change = LinkChanged("user", ann.id, "device", linked[1])
            await publish_changes(served.context.system, change)
        async for rows in stream(q, device_id, *span, **more):
            yield rows

    monkeypatch.setattr(report_rows, "stream_track", unlinking)
    trips = await get(ann, f"/reports/trips?{span()}")
    assert [each["deviceId"] for each in trips] == linked[:1]


async def test_what_is_refused_and_what_the_audit_says(starting):
    settings = {"reports": ReportSettings(period_limit=86_400.0), "positions": PositionSettings(most=2)}
    async with starting(**settings) as served:
        device_id = await served.device(served.admin, "1")
        await served.report(*(served.position(device_id, MAY + index * MINUTE) for index in range(3)))
        bob = await served.user("bob", disableReports=True)
        for path, text in {
            "/reports/trips?to=2026-05-01T00:00:00Z": "from",
            "/reports/events?from=2026-05-01T00:00:00Z": "to",
            "/reports/stops?from=today&to=2026-05-01T00:00:00Z": "from",
            f"/reports/trips?{span(MAY, MAY - MINUTE)}": "to: lies before from",
            f"/reports/summary?{span(MAY, MAY + timedelta(days=2))}": "longer than the 86400 s",
            f"/reports/route?{span()}": "more than 2 positions",
            f"/reports/trips?{span(deviceId='x')}": "deviceId",
        }.items():
            answer = await served.admin.get(path)
            assert (answer.status, text in answer.text) == (400, True), answer.text
        for name in ("combined", "route", "events", "summary", "trips", "stops", "geofences", "trips/xlsx"):
            assert (await bob.get(f"/reports/{name}?{span()}")).status == 400, name
        assert (await bob.get("/reports/devices/xlsx")).status == 400
        await get(served.admin, f"/reports/trips?{span(deviceId=[device_id, 7], groupId=3)}")
        await get(served.admin, f"/reports/route?{span(MAY, MAY + MINUTE)}")
        audit = await get(served.admin, "/audit?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z")
        (trips, route) = [each for each in audit if each["actionType"] == "report"][-2:]
        assert (trips["objectType"], trips["objectId"], trips["userId"]) == (None, 0, served.admin_id)
        assert trips["attributes"] == {
            "type": "trips",
            "from": "2026-05-01 00:00",
            "to": "2026-05-02 00:00",
            "devices": f"[{device_id}, 7]",
            "groups": "[3]",
        }
        assert route["attributes"]["type"] == "route"


async def test_a_client_that_leaves_ends_the_work_for_it(starting, monkeypatch):
    started, ended = trio.Event(), trio.Event()

    async def stream(*_args, **_more):
        started.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()
        yield []

    monkeypatch.setattr(report_rows, "stream_track", stream)
    async with starting(listen=True) as served:
        await served.device(served.admin, "1")
        word = base64.b64encode(b"admin@example.org:admin").decode()
        client = await trio.open_tcp_stream("127.0.0.1", served.port)
        head = f"GET /api/reports/trips?{span()} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {word}\r\n\r\n"
        await client.send_all(head.encode())
        await started.wait()
        await client.aclose()
        with trio.fail_after(120):
            await ended.wait()


@pytest.fixture
def nominatim(web_server):
    """A geocoder whose addresses name the latitude."""

    def answer(asked):
        latitude = parse_qs(urlsplit(asked.path).query)["lat"][0]
        return 200, json.dumps({"display_name": "", "address": {"road": f"Road {latitude}"}}).encode()

    return web_server(answer)


async def test_places_without_an_address_are_looked_up_once(starting, nominatim):
    geocoder = GeocoderSettings(type="nominatim", url=nominatim.url, per_second=0)
    async with starting(geocoder=geocoder) as served:
        device_id = await served.device(served.admin, "1")
        await served.report(*drive(served, device_id))
        query = f"{span()}&deviceId={device_id}"
        (trip,) = await get(served.admin, f"/reports/trips?{query}")
        assert (trip["startAddress"], trip["endAddress"]) == ("Road 52.0000", "Road 52.1000")
        before, after = await get(served.admin, f"/reports/stops?{query}")
        assert (before["address"], after["address"]) == ("Road 52.0000", "Road 52.1000")
        opened = await served.admin.get(f"/reports/trips/xlsx?{query}")
        assert opened.status == 200
    assert len(nominatim.asked) == 2


async def test_addresses_are_looked_up_for_a_limited_time_of_a_report(starting, nominatim, monkeypatch):
    geocoder = GeocoderSettings(type="nominatim", url=nominatim.url, per_second=0, request_seconds=0.01)
    async with starting(geocoder=geocoder) as served:
        for number in range(2):
            rows = drive(served, await served.device(served.admin, str(number)))
            await served.report(*(msgspec.structs.replace(row, longitude=10.0 + number) for row in rows))
        look_up, limits = Geocoder.addresses, []

        async def slow(self, places, *, seconds):
            limits.append(seconds)
            # The first finds its addresses, and all of the time has passed after it.
            found = await look_up(self, places, seconds=60.0 if seconds > 0 else seconds)
            await trio.sleep(0.02)
            return found

        monkeypatch.setattr(Geocoder, "addresses", slow)
        first, second = await get(served.admin, f"/reports/trips?{span()}")
    assert (first["startAddress"], second["startAddress"]) == ("Road 52.0000", None)
    assert limits[0] == 0.01
    assert limits[1] < 0


async def test_who_was_at_a_place(served):
    passer, parked, far = [await served.device(served.admin, number) for number in "123"]
    await served.report(*drive(served, passer))
    hours = [MAY + hour * timedelta(hours=1) for hour in range(3)]
    await served.report(*(served.position(parked, hour, latitude=52.05) for hour in hours))
    await served.report(*(served.position(far, hour, latitude=52.06) for hour in hours))
    # Where it cannot have been it was not.
    doubted = served.position(far, MAY + MINUTE, latitude=52.05, attributes={"implausible": True})
    await served.report(doubted)
    place = {"latitude": 52.05, "longitude": 13.4, "radius": 222}
    ann = await served.user("ann")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": passer})
    found = await get(served.admin, f"/reports/presence?{span(**place)}")
    # 1,112 m a minute: the circle takes 24 s, around the fix of the fifteenth minute.
    assert [(each["deviceId"], each["deviceName"]) for each in found] == [
        (passer, "Vehicle 1"),
        (parked, "Vehicle 2"),
    ]
    assert found[0]["startTime"].startswith("2026-05-01T00:14:48.0")
    assert found[0]["endTime"].startswith("2026-05-01T00:15:1")
    assert found[0]["distance"] == pytest.approx(0, abs=0.1)
    assert (found[1]["startTime"], found[1]["endTime"]) == ("2026-05-01T00:00:00Z", "2026-05-01T02:00:00Z")
    assert [each["deviceId"] for each in await get(ann, f"/reports/presence?{span(**place)}")] == [passer]
    early = span(MAY, MAY + 14 * MINUTE, **place)
    assert [each["deviceId"] for each in await get(served.admin, f"/reports/presence?{early}")] == [parked]
    around = {"latitude": 52.05, "longitude": -346.6 + 360, "radius": 10}
    assert len(await get(served.admin, f"/reports/presence?{span(**around)}")) == 2
    for wrong in (
        span(MAY, MAY + timedelta(days=8), **place),
        span(latitude=91, longitude=0),
        span(latitude=0, longitude=0, radius=5001),
        span(latitude=0),
    ):
        assert (await served.admin.get(f"/reports/presence?{wrong}")).status == 400, wrong


async def test_a_place_at_the_antimeridian(served):
    device_id = await served.device(served.admin, "1")
    await served.report(
        served.position(device_id, MAY, latitude=0, longitude=179.999),
        served.position(device_id, MAY + MINUTE, latitude=0, longitude=-179.999),
    )
    found = await get(served.admin, f"/reports/presence?{span(latitude=0, longitude=180, radius=50)}")
    assert [each["distance"] for each in found] == [pytest.approx(0, abs=0.1)]
    # Zero degrees of longitude lie on the other side of the earth.
    assert await get(served.admin, f"/reports/presence?{span(latitude=0, longitude=0, radius=50)}") == []


async def test_places_are_the_smallest_zones_that_the_reader_may_see(served):
    device_id = await served.device(served.admin, "1")
    ann = await served.user("ann", attributes={"language": "de", "distanceUnit": "mi"})
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    zones = {}
    for name, area in (("Region", "CIRCLE (52 13.4, 5000)"), ("Gate", "CIRCLE (52 13.4, 50)")):
        answer = await served.admin.post("/geofences", json={"name": name, "area": area})
        zones[name] = answer.json()["id"]
    await served.report(*drive(served, device_id))

    async def places(client):
        (trip,) = await get(client, f"/reports/trips?{span()}&deviceId={device_id}")
        stops = await get(client, f"/reports/stops?{span()}&deviceId={device_id}")
        (now,) = await get(client, f"/reports/devices?deviceId={device_id}")
        assert trip["startAddress"] is trip["endAddress"] is now["address"] is None
        assert [stop["address"] for stop in stops] == [None, None]
        assert now["place"] == trip["endPlace"] == stops[1]["place"]
        assert trip["startPlace"] == stops[0]["place"]
        return trip["startPlace"], trip["endPlace"]

    assert await places(served.admin) == ("Gate", "Zossen, 13 km S")
    assert await places(ann) == ("Dahme, 9 mi N", "Zossen, 8 mi S")
    for name in ("Region", "Gate"):
        await served.admin.post("/permissions", json={"userId": ann.id, "geofenceId": zones[name]})
        assert (await places(ann))[0] == name


async def test_an_address_goes_before_the_nearest_town_and_after_a_zone(starting, nominatim):
    geocoder = GeocoderSettings(type="nominatim", url=nominatim.url, per_second=0)
    async with starting(geocoder=geocoder) as served:
        device_id = await served.device(served.admin, "1")
        area = {"name": "Depot", "area": "CIRCLE (52 13.4, 100)"}
        await served.admin.post("/geofences", json=area)
        await served.report(*drive(served, device_id))
        (trip,) = await get(served.admin, f"/reports/trips?{span()}&deviceId={device_id}")
    assert (trip["startPlace"], trip["startAddress"]) == ("Depot", "Road 52.0000")
    assert (trip["endPlace"], trip["endAddress"]) == ("Road 52.1000", "Road 52.1000")
