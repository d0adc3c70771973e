"""A recorded week of a fleet, through the port of the devices: each event that is stored, against an
independent checker; and a server that is killed in the middle of a day.
"""

import itertools
from base64 import b64encode
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import trio
from tests.api.conftest import NOON, start
from tests.journeys.event_checker import check, check_pair
from tests.journeys.recorded_week import (
    CALENDAR,
    FENCES,
    GROUPS,
    NUMBERS,
    SERVICES,
    Change,
    Report,
    recorded_day,
    recorded_pair,
    recorded_week,
)

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.codecs.devices import CODECS
from motorpool.runtime import SystemClock

LOOPBACK = "127.0.0.1"
PIPELINED = 16
"""Messages that a vehicle sends before it waits for answers."""
EVENTS = """
    select id, type, event_time, device_id, position_id, geofence_id, maintenance_id, attributes
    from events where device_id = any($1::bigint[]) order by id
"""
POSITIONS = "select id, device_id, fix_time, geofence_ids, attributes from positions order by id"


class Fleet:
    """The rows of a fleet, made by `call(method, path, json)`: a request of an administrator."""

    def __init__(self, call):
        self._call = call
        self.ids = {}
        """Name -> id, of everything."""
        self._rows = {}

    async def make(self, path, name, **fields):
        row = await self._call("POST", path, {"name": name, **fields})
        self.ids[name] = row["id"]
        return row

    async def build(self, vehicles):
        calendar = b64encode(CALENDAR.encode()).decode()
        office = (await self.make("/calendars", "office", data=calendar))["id"]
        for name, attributes in GROUPS.items():
            await self.make("/groups", name, attributes=attributes)
        for vehicle in vehicles:
            self._rows[vehicle.number] = await self.make(
                "/devices",
                vehicle.number,
                uniqueId=vehicle.number,
                attributes=vehicle.attributes,
                groupId=self.ids.get(vehicle.group, 0),
                calendarId=office if vehicle.office_hours else 0,
            )
        for fence in FENCES:
            await self.make(
                "/geofences",
                fence.name,
                area=fence.area,
                attributes=fence.attributes,
                calendarId=office if fence.office_hours else 0,
            )
            for kind, owners in (("deviceId", fence.vehicles), ("groupId", fence.groups)):
                for owner in owners:
                    await self._link({kind: self.ids[owner], "geofenceId": self.ids[fence.name]})
        for service in SERVICES:
            await self.make(
                "/maintenance", service.name, type=service.type, start=service.start, period=service.period
            )
            for vehicle in vehicles:
                row = {"deviceId": self.ids[vehicle.number], "maintenanceId": self.ids[service.name]}
                await self._link(row)

    async def _link(self, pair):
        await self._call("POST", "/permissions", pair)

    async def change(self, number, change):
        """Apply a change; it holds from the next message on."""
        row = self._rows[number] | {
            "attributes": change.attributes,
            "groupId": self.ids.get(change.group, 0),
        }
        self._rows[number] = await self._call("PUT", f"/devices/{row['id']}", row)


class Sender:
    """A vehicle that sends messages, several at a time, and knows which were acknowledged."""

    def __init__(self, port, number, steps, on_progress=lambda: None):
        self.port, self._number, self._steps = port, number, steps
        self._on_progress = on_progress
        self.acknowledged = 0
        """Steps that are done with."""

    async def go_on(self, change=None):
        """Send from the first message that was not acknowledged; returns if the server closes."""
        stream = await trio.open_tcp_stream(LOOPBACK, self.port)
        async with stream:
            while self.acknowledged < len(self._steps):
                step = self._steps[self.acknowledged]
                if isinstance(step, Change):
                    await change(self._number, step)
                    self.acknowledged += 1
                    continue
                waiting = itertools.takewhile(
                    lambda each: isinstance(each, Report), self._steps[self.acknowledged :]
                )
                batch = list(itertools.islice(waiting, PIPELINED))
                # One without a location is alone: coming again after later ones, it would be a new message
                # at their place.
                alone = next((n for n, each in enumerate(batch) if each.latitude is None), len(batch))
                batch = batch[: max(1, alone)]
                if not await self.send(stream, batch):
                    return

    async def send(self, stream, batch):
        """Send messages and await their answers; return whether all came."""
        requests = (
            f"POST /?{urlencode(report.query(self._number))} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            for report in batch
        )
        answered = b""
        try:
            await stream.send_all("".join(requests).encode())
            while (done := answered.count(b"\r\n\r\n")) < len(batch):
                if not (received := await stream.receive_some()):
                    return False
                answered += received
        except trio.BrokenResourceError:
            return False
        finally:
            self.acknowledged += (done := answered.count(b"\r\n\r\n"))
            self._on_progress()
        assert answered.count(b"HTTP/1.1 200") == done, answered
        return True


def rounded(attributes):
    """Attributes of which the sums need not agree to the last digit."""
    return {name: round(value, 1) if name == "totalDistance" else value for name, value in attributes.items()}


def described(event, names, places):
    """A row of the table as the checker describes events."""
    return (
        event["type"],
        event["event_time"],
        places.get(event["position_id"]),
        rounded(event["attributes"]),
        names.get(("geofence", event["geofence_id"]), ""),
        names.get(("maintenance", event["maintenance_id"]), ""),
    )


def expected(made):
    return (made.type, made.time, made.position, rounded(made.attributes), made.fence, made.service)


def names_of(ids):
    fences = {("geofence", ids[fence.name]): fence.name for fence in FENCES}
    return fences | {("maintenance", ids[service.name]): service.name for service in SERVICES}


async def test_a_recorded_week_makes_the_events_that_an_independent_checker_works_out(
    database, tmp_path, free_port
):
    port = CODECS["osmand"].port
    offset = free_port(port)
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=offset)}
    vehicles = recorded_week(2)
    async with start(database, data=tmp_path, protocols=("osmand",), **places) as served:

        async def call(method, path, json):
            answer = await served.admin.call(method, "/api" + path, json=json)
            assert answer.status < 300, answer.text
            return answer.json() if answer.status == 200 else None

        fleet = Fleet(call)
        await fleet.build(vehicles)
        async with trio.open_nursery() as nursery:
            for vehicle in vehicles:
                sender = Sender(port + offset, vehicle.number, vehicle.steps)
                nursery.start_soon(sender.go_on, fleet.change)
    names = names_of(fleet.ids)
    events = await database.fetch(EVENTS, [fleet.ids[number] for number in NUMBERS])
    positions = await database.fetch(POSITIONS)
    kinds = Counter()
    for vehicle in vehicles:
        device_id = fleet.ids[vehicle.number]
        answer = check(vehicle, NOON)
        rows = [row for row in positions if row["device_id"] == device_id]
        assert [(row["fix_time"], in_words(row, names)) for row in rows] == [
            (position.fix_time, position.fences) for position in answer.positions
        ]
        indices = {row["id"]: index for index, row in enumerate(rows)}
        found = [described(event, names, indices) for event in events if event["device_id"] == device_id]
        motions = [each for each in found if each[0] in {"deviceMoving", "deviceStopped"}]
        assert motions == [expected(made) for made in answer.motions], vehicle.number
        assert [each for each in found if each not in motions] == [
            expected(made) for made in answer.events
        ], vehicle.number
        kinds.update(each[0] for each in found)
    assert min(kinds[kind] for kind in EVERY_KIND) >= 3, kinds


async def test_a_truck_and_its_trailer_make_the_events_that_the_checker_works_out(
    database, tmp_path, free_port
):
    port = CODECS["osmand"].port
    offset = free_port(port)
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=offset)}
    distances = {"proximityEnterDistance": 100, "proximityExitDistance": 200, "unaccompaniedDistance": 120}
    reports = recorded_pair(1)
    async with start(database, data=tmp_path, protocols=("osmand",), **places) as served:
        ids = {
            number: await served.device(served.admin, number, attributes=distances)
            for number in ("truck", "trailer")
        }
        for number, other in (("truck", "trailer"), ("trailer", "truck")):
            pair = {"deviceId": ids[number], "linkedDeviceId": ids[other]}
            assert (await served.admin.post("/permissions", json=pair)).status == 204
        # What is not in memory yet would make no event.
        assert (await served.admin.get("/devices")).status == 200
        async with AsyncExitStack() as stack:
            streams = {
                number: await stack.enter_async_context(await trio.open_tcp_stream(LOOPBACK, port + offset))
                for number in ids
            }
            for number, report in reports:
                sender = Sender(port, number, (report,))
                assert await sender.send(streams[number], (report,))
    rows = await database.fetch(EVENTS, list(ids.values()))
    names = {number: name for name, number in ids.items()}
    linked = {"proximityEnter", "proximityExit", "unaccompaniedMotion"}
    found = [(names[row["device_id"]], row["type"], row["event_time"]) for row in rows]
    expected_events = check_pair(reports, enter=100, leave=200, alone=120)
    assert [each for each in found if each[1] in linked] == expected_events
    assert min(Counter(each[1] for each in expected_events)[kind] for kind in linked) >= 3


EVERY_KIND = (
    "commandResult",
    "deviceMoving",
    "deviceStopped",
    "deviceOverspeed",
    "deviceFuelDrop",
    "deviceFuelIncrease",
    "sensorOutOfRange",
    "sensorInRange",
    "geofenceEnter",
    "geofenceExit",
    "geofenceCrossed",
    "alarm",
    "ignitionOn",
    "ignitionOff",
    "maintenance",
    "driverChanged",
    "media",
)
"""Those that positions make without a second vehicle."""


def in_words(row, names):
    """Names of the geofences around a position, in the order in which they were made."""
    return tuple(names[("geofence", number)] for number in sorted(row["geofence_ids"] or ()))


async def test_after_a_server_was_killed_the_events_are_those_of_an_unbroken_day(
    database, database_url, tmp_path, start_server
):
    # The filter keeps the message that became the latest without having been acknowledged from coming twice.
    vehicles = [
        replace(day, attributes={**day.attributes, "filter.duplicate": True})
        for day in (recorded_day(number, 2) for number in NUMBERS)
    ]
    total = sum(len(vehicle.steps) for vehicle in vehicles)
    senders = []
    settings = {"MOTORPOOL_DATABASE": database_url, "MOTORPOOL_DATA": str(tmp_path / "data")}
    with start_server(settings) as server:
        killed = server.process

        def kill_half_way():
            if sum(sender.acknowledged for sender in senders) > total // 2 and killed.poll() is None:
                killed.kill()

        fleet = Fleet(partial(request_of, server))
        await fleet.build(vehicles)
        senders += [
            Sender(server.osmand_port, vehicle.number, vehicle.steps, kill_half_way) for vehicle in vehicles
        ]
        await send_all(senders)
        killed.wait()
        password = server.password
    before = [sender.acknowledged for sender in senders]
    assert total // 2 < sum(before) < total
    with start_server(settings) as server:
        server.password = password
        for sender in senders:
            sender.port = server.osmand_port
        await send_all(senders)
    assert [sender.acknowledged for sender in senders] == [len(vehicle.steps) for vehicle in vehicles]
    now = SystemClock().now()
    names = names_of(fleet.ids)
    for vehicle in vehicles:
        events = await database.fetch(EVENTS, [fleet.ids[vehicle.number]])
        found = Counter(without_position(described(event, names, {})) for event in events)
        answer = check(vehicle, now)
        wanted = Counter(without_position(expected(made)) for made in answer.events + answer.motions)
        repeated = {without_position(expected(made)) for made in answer.repeated}
        for each in found:
            if each in repeated:
                # A message that comes twice has them twice.
                assert found[each] >= wanted[each] > 0
                found[each] = wanted[each]
        assert found == wanted, vehicle.number


async def send_all(senders):
    async with trio.open_nursery() as nursery:
        for sender in senders:
            nursery.start_soon(sender.go_on)


async def request_of(server, method, path, json):
    with server.client() as client:
        answer = client.request(method, path, json=json)
    assert answer.is_success, answer.text
    return answer.json() if answer.status_code == 200 else None


def without_position(event):
    kind, time, _, attributes, *others = event
    return kind, time, tuple(sorted(attributes.items())), *others
