"""The work for a position of a device that has the most of everything that quotas permit, counted.

Times depend on the machine; how often something is done does not.
"""

import base64
from contextlib import ExitStack
from datetime import timedelta
from unittest.mock import patch

import pytest
import trio
from tests.api.conftest import NOON

from motorpool.actors.events import deliveries
from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.actors.helpdesk import rule_selection
from motorpool.actors.rules import edge_columns, event_rules, geofence_index
from motorpool.actors.rules.expressions import Expression
from motorpool.api.settings import QuotaSettings
from motorpool.codecs.devices import CODECS

LOOPBACK = "127.0.0.1"
QUOTAS = QuotaSettings(
    user_tasks=30,
    device_geofences=20,
    device_geofence_points=4_000,
    device_computed_attributes=10,
    device_expression_characters=2_000,
    device_maintenances=20,
    device_notifications=20,
    device_scheduled_steps=20,
    device_linked_devices=10,
)
"""A tenth of what there may be, and less: all this is stored by requests."""
DAYS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
DTSTART:20200101T000000Z
DTEND:20200101T235959Z
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR"""
CORRIDORS, POINTS = 2, 1_982
CIRCLES = QUOTAS.device_geofences - CORRIDORS
AWAY, THERE = (52.0, 12.0), (52.0, 16.0)
"""Beside the corridors, on either side."""


def corridor(number):
    """From pole to pole and back, a thousand times, between the two places."""
    points = ((90 if each % 2 else -90, 13 + number + each * 0.0001) for each in range(POINTS))
    return f"LINESTRING ({', '.join(f'{y} {x:.4f}' for y, x in points)})"


class Counts:
    """How often what costs time was done since it was last asked."""

    def __init__(self, stack):
        self.counted = {}
        self._wrap(stack, edge_columns, "_metres_to", lambda _, found: found.size)
        self._wrap(stack, geofence_index, "_containing", lambda args, _: len(args[0]))
        self._wrap(stack, event_rules, "maintenance_events", lambda args, _: len(args[2]))
        self._wrap(stack, event_rules, "proximity_events", lambda args, _: len(args[2]))
        self._wrap(stack, rule_selection, "matches", lambda *_: 1)
        self._wrap(stack, deliveries, "concerns", lambda *_: 1)
        evaluate = Expression.evaluate_in

        def evaluated(expression, state):
            value = evaluate(expression, state)
            self._add("evaluate_in", 1)
            return value

        stack.enter_context(patch.object(Expression, "evaluate_in", evaluated))

    def _wrap(self, stack, module, name, size):
        wrapped = getattr(module, name)

        def count(*args, **named):
            found = wrapped(*args, **named)
            self._add(name, size(args, found))
            return found

        stack.enter_context(patch.object(module, name, count))

    def _add(self, name, number):
        self.counted[name] = self.counted.get(name, 0) + int(number)

    def take(self):
        counted, self.counted = self.counted, {}
        return counted


class Worst:
    """A user with one device, and what they store for it."""

    def __init__(self, served, client, port, device_id):
        self.served, self.client, self.port, self.device_id = served, client, port, device_id
        self.reports = 0

    async def make(self, path, client=None, **fields):
        answer = await (client or self.client).post(path, json=fields)
        assert answer.status == 200, answer.text
        return answer.json()["id"]

    async def link(self, key, numbers, client=None):
        links = [{"deviceId": self.device_id, key: number} for number in numbers]
        answer = await (client or self.client).post("/permissions/bulk", json=links)
        assert answer.status == 204, answer.text

    async def store_everything(self):
        data = base64.b64encode(DAYS.encode()).decode()
        calendar = await self.make("/calendars", name="days", data=data)
        areas = [corridor(number) for number in range(CORRIDORS)]
        areas += [f"CIRCLE ({THERE[0]} {THERE[1]}, {100 + number})" for number in range(CIRCLES)]
        fields = {"name": "x", "calendarId": calendar}
        geofences = [await self.make("/geofences", **fields, area=area) for area in areas[:CORRIDORS]]
        geofences += [await self.make("/geofences", **fields, area=area) for area in areas[CORRIDORS:]]
        await self.link("geofenceId", geofences)
        maintenance = {"name": "x", "type": "totalDistance", "start": 1, "period": 1}
        await self.link("maintenanceId", [await self.make("/maintenance", **maintenance) for _ in range(20)])
        notification = {"type": "geofenceEnter", "notificators": "web", "calendarId": calendar}
        await self.link(
            "notificationId", [await self.make("/notifications", **notification) for _ in range(20)]
        )
        step = {"commandId": await self.make("/commands", description="x", type="custom")}
        schedule = {"name": "x", "calendarId": calendar, "onStart": [step] * 10, "onEnd": [step] * 10}
        await self.link("scheduledCommandId", [await self.make("/scheduledcommands", **schedule)])
        others = [await self.served.device(self.client, f"other {number}") for number in range(10)]
        await self.link("linkedDeviceId", others)
        admin = self.served.admin
        expressions = [
            await self.make(
                "/attributes/computed",
                admin,
                description="x",
                attribute=f"sum{number}",
                type="number",
                expression="+".join(["1"] * 100),
            )
            for number in range(10)
        ]
        await self.link("attributeId", expressions, admin)
        rule = {"name": "x", "when": {"eventTypes": ["geofenceEnter"]}, "maxPerHour": 1}
        await self.make("/companies", name="x", attributes={"ticketRules": [rule] * 100})

    async def report(self, place):
        """Report a position, and wait until its events are done with."""
        self.reports += 1
        moment = NOON + timedelta(seconds=self.reports)
        query = f"id=1&lat={place[0]}&lon={place[1]}&timestamp={round(moment.timestamp())}"
        async with await trio.open_tcp_stream(LOOPBACK, self.port) as stream:
            request = f"POST /?{query} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            await stream.send_all(request.encode())
            assert b" 200 " in await stream.receive_some()
        waiting = "select (select count(*) from unmatched_events) + (select count(*) from ticket_rule_events)"
        with trio.fail_after(60):
            while await self.served.context.database.fetch_value(waiting):  # noqa: ASYNC110
                await trio.sleep(0.01)


@pytest.fixture
async def worst(starting, free_port):
    offset = free_port(CODECS["osmand"].port)
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=offset)}
    async with starting(protocols=("osmand",), quotas=QUOTAS, **places) as served:
        client = await served.user("worst", deviceLimit=-1)
        crossings = {"event.geofence.segmentCrossing": True, "proximityEnterDistance": 100}
        device_id = await served.device(client, "1", attributes=crossings)
        yield Worst(served, client, CODECS["osmand"].port + offset, device_id)


async def test_the_work_for_a_position_is_bounded_by_the_quotas(worst):
    await worst.store_everything()
    # What is computed once for all positions of the day is not counted.
    for place in (THERE, AWAY):
        await worst.report(place)
    with ExitStack() as stack:
        counts = Counts(stack)
        await worst.report(AWAY)
        near = counts.take()
        await worst.report(THERE)
        far = counts.take()
    edges = CORRIDORS * (POINTS - 1)
    # Beside all edges no distance is computed; across them five for each edge, and few for each circle.
    assert near.pop("_metres_to", 0) == 0
    assert 0 < far.pop("_metres_to") <= 5 * edges + 4 * CIRCLES
    # The position and both ends of the way, each compared with what is near.
    assert near.pop("_containing", 0) <= QUOTAS.device_geofences
    assert far.pop("_containing") <= 3 * QUOTAS.device_geofences
    once = {"evaluate_in": 10, "maintenance_events": 20}
    assert near == once
    # Each circle is entered: an event, of which each notification and each rule of tickets is asked once.
    asked = {"concerns": CIRCLES * 20, "matches": CIRCLES * 100}
    assert far == once | asked


async def test_no_more_of_any_kind_is_taken(worst):
    await worst.store_everything()
    text = {
        "/geofences": ("geofenceId", {"name": "x", "area": "CIRCLE (1 2, 3)"}),
        "/maintenance": ("maintenanceId", {"name": "x", "type": "hours"}),
        "/notifications": ("notificationId", {"type": "alarm"}),
    }
    for path, (key, body) in text.items():
        number = await worst.make(path, **body)
        answer = await worst.client.post("/permissions", json={"deviceId": worst.device_id, key: number})
        assert (answer.status, "a device would have 21" in answer.text) == (400, True), answer.text
    other = await worst.served.device(worst.client, "one more")
    body = {"deviceId": worst.device_id, "linkedDeviceId": other}
    assert (await worst.client.post("/permissions", json=body)).status == 400
