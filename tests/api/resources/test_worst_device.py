"""The work for a position of a device that has the most of everything that quotas permit, counted.

Times depend on the machine; how often something is done does not.
"""

import base64
import threading
from contextlib import ExitStack
from datetime import timedelta
from functools import wraps
from types import SimpleNamespace
from unittest.mock import patch
from urllib.parse import quote

import pytest
import trio
from tests.api.conftest import NOON

from motorpool.actors.events import batch_renderer, deliveries
from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.actors.helpdesk import rule_selection
from motorpool.actors.rules import edge_columns, event_rules, geofence_index
from motorpool.actors.rules.expressions import Expression
from motorpool.api.settings import QuotaSettings
from motorpool.codecs.calendars.calendar import Calendar
from motorpool.codecs.devices import CODECS

LOOPBACK = "127.0.0.1"
READERS = 5
"""Other users who are notified of the same."""
QUOTAS = QuotaSettings(
    user_tasks=30,
    user_calendar_cost=100_000,
    user_notified=20 * (1 + READERS),
    user_ticket_rules=50,
    device_geofences=20,
    device_geofence_points=4_000,
    device_computed_attributes=10,
    device_expression_characters=2_000,
    device_maintenances=20,
    device_notifications=20,
    device_scheduled_steps=20,
    device_linked_devices=10,
    sensor_limits=5,
)
"""A tenth of what there may be, and less: all this is stored by requests."""
LASTING = """BEGIN:VEVENT
UID:{number}
DTSTART:20200101T000000Z
DURATION:P3500D
RRULE:FREQ=DAILY
END:VEVENT
"""
"""Ten years long, and beginning anew every day."""
CALENDAR = f"""BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
{"".join(LASTING.format(number=number) for number in range(3))}END:VCALENDAR"""
"""Of those that cost much, which are evaluated in a thread of their own."""
LIGHT = "+".join(["1"] * 100)
HEAVY = f"('{'y' * 90}').replace('y', '{'y' * 9}').replace('y', 'yyyyy').length()"
"""Much more work than may be done on the loop."""
COMPUTED, HEAVY_ONES = 10, 2
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
        self._wrap(stack, event_rules, "sensor_events", lambda args, _: len(args[1]))
        self._wrap(stack, rule_selection, "matches", lambda *_: 1)
        self._wrap(stack, deliveries, "concerns", lambda *_: 1)
        self._wrap(stack, batch_renderer, "render", lambda *_: 1)
        # Windows of calendars.
        self._wrap(stack, Calendar, "windows", lambda *_: 1)
        self._wrap(stack, Calendar, "block_edges", lambda *_: 1)
        loop = threading.current_thread()

        def evaluated(args, _):
            here = "on the loop" if threading.current_thread() is loop else "in a thread"
            return f"evaluated {here}"

        step_of = Expression.step.__get__

        def counted_step(expression):
            step = SimpleNamespace(evaluate=step_of(expression))
            self._wrap(stack, step, "evaluate", lambda *_: 1, evaluated)
            return step.evaluate

        stack.enter_context(patch.object(Expression, "step", property(counted_step)))

    def _wrap(self, stack, owner, name, size, title=lambda *_: ""):
        wrapped = getattr(owner, name)

        @wraps(wrapped)
        def count(*args, **named):
            found = wrapped(*args, **named)
            key = title(args, found) or name
            self.counted[key] = self.counted.get(key, 0) + int(size(args, found))
            return found

        stack.enter_context(patch.object(owner, name, count))

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
        data = base64.b64encode(CALENDAR.encode()).decode()
        calendar = await self.make("/calendars", name="days", data=data)
        areas = [corridor(number) for number in range(CORRIDORS)]
        areas += [f"CIRCLE ({THERE[0]} {THERE[1]}, {100 + number})" for number in range(CIRCLES)]
        fields = {"name": "x", "calendarId": calendar}
        geofences = [await self.make("/geofences", **fields, area=area) for area in areas]
        await self.link("geofenceId", geofences)
        maintenance = {"name": "x", "type": "totalDistance", "start": 1, "period": 1}
        await self.link("maintenanceId", [await self.make("/maintenance", **maintenance) for _ in range(20)])
        await self.store_notifications(calendar, geofences[-1])
        step = {"commandId": await self.make("/commands", description="x", type="custom")}
        schedule = {"name": "x", "calendarId": calendar, "onStart": [step] * 10, "onEnd": [step] * 10}
        await self.link("scheduledCommandId", [await self.make("/scheduledcommands", **schedule)])
        others = [await self.served.device(self.client, f"other {number}") for number in range(10)]
        await self.link("linkedDeviceId", others)
        for number in range(10):
            await self.report(AWAY, f"other {number}")
        admin = self.served.admin
        expressions = [LIGHT] * (COMPUTED - HEAVY_ONES) + [HEAVY] * HEAVY_ONES
        computed = [
            await self.make(
                "/attributes/computed",
                admin,
                description="x",
                attribute=f"sum{number}",
                type="number",
                expression=expression,
                priority=COMPUTED - number,
            )
            for number, expression in enumerate(expressions)
        ]
        await self.link("attributeId", computed, admin)
        rule = {
            "name": "x",
            "when": {"eventTypes": ["geofenceEnter"], "calendarId": calendar},
            "maxPerHour": 1,
        }
        for name in ("one", "two"):
            rules = [rule] * (QUOTAS.user_ticket_rules // 2)
            await self.make("/companies", name=name, attributes={"ticketRules": rules})

    async def store_notifications(self, calendar, geofence):
        """Half of them for one geofence; all of them for other users as well."""
        fields = {"type": "geofenceEnter", "notificators": "web", "calendarId": calendar}
        one = fields | {"attributes": {"geofenceIds": str(geofence)}}
        numbers = [await self.make("/notifications", **each) for each in [fields, one] * 10]
        await self.link("notificationId", numbers)
        for number in range(READERS):
            reader = await self.make(
                "/users", name="reader", email=f"reader{number}@example.org", password="a long password"
            )
            links = [{"userId": reader, "deviceId": self.device_id}]
            links += [{"userId": reader, "notificationId": each} for each in numbers]
            for link in links:
                answer = await self.client.post("/permissions", json=link)
                assert answer.status == 204, answer.text

    async def report(self, place, device="1"):
        """Report a position, and wait until its events are done with."""
        self.reports += 1
        moment = NOON + timedelta(seconds=self.reports)
        query = f"id={quote(device)}&lat={place[0]}&lon={place[1]}&timestamp={round(moment.timestamp())}"
        async with await trio.open_tcp_stream(LOOPBACK, self.port) as stream:
            request = f"POST /?{query} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            await stream.send_all(request.encode())
            assert b" 200 " in await stream.receive_some()
        waiting = "select (select count(*) from unmatched_events) + (select count(*) from ticket_rule_events)"
        with trio.fail_after(120):
            while await self.served.context.database.fetch_value(waiting):  # noqa: ASYNC110
                await trio.sleep(0.01)


@pytest.fixture
async def worst(starting, free_port):
    offset = free_port(CODECS["osmand"].port)
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=offset)}
    async with starting(protocols=("osmand",), quotas=QUOTAS, **places) as served:
        client = await served.user("worst", deviceLimit=-1, userLimit=-1)
        settings = {"event.geofence.segmentCrossing": True, "proximityEnterDistance": 100}
        # It jumps from place to place.
        settings["position.implausibleSpeed"] = 0
        settings |= {f"sensorLimit.sum{number}.max": 0 for number in range(QUOTAS.sensor_limits)}
        device_id = await served.device(client, "1", attributes=settings)
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
    # What is too much for the loop is begun there, and then all of it is done in a thread.
    once = {
        "evaluated on the loop": COMPUTED - HEAVY_ONES,
        "evaluated in a thread": COMPUTED,
        "maintenance_events": 20,
        "proximity_events": 10,
        "sensor_events": 5,
    }
    assert near == once
    # Each circle is entered, which is an event. Notifications for other geofences are not asked; each rule of
    # tickets is once. There are two texts: with the zone, for the user who sees it, and without for others.
    assert far == once | {
        "concerns": 10,
        "matches": CIRCLES * QUOTAS.user_ticket_rules,
        "render": CIRCLES * 2,
    }


async def test_no_more_of_any_kind_is_taken(worst):
    await worst.store_everything()
    admin, device = worst.served.admin, {"deviceId": worst.device_id}
    refused = []

    async def attempt(path, client=None, **body):
        answer = await (client or worst.client).post(path, json=body)
        assert answer.status == 400, (path, answer.text)
        refused.append(answer.text.rpartition("(quotas.")[2].rstrip(")"))

    (calendar, *_) = (await worst.client.get("/calendars")).json()
    await attempt("/calendars", name="one more", data=calendar["data"])
    rule = {"name": "x", "when": {"eventTypes": ["geofenceEnter"]}}
    await attempt("/companies", name="x", attributes={"ticketRules": [rule]})
    number = await worst.make("/geofences", name="x", area="CIRCLE (1 2, 3)")
    await attempt("/permissions", **device, geofenceId=number)
    number = await worst.make("/maintenance", name="x", type="hours")
    await attempt("/permissions", **device, maintenanceId=number)
    number = await worst.make("/notifications", admin, type="alarm")
    await attempt("/permissions", admin, **device, notificationId=number)
    steps = [{"commandId": await worst.make("/commands", description="x", type="custom")}]
    schedule = {"name": "x", "calendarId": calendar["id"], "onStart": steps, "onEnd": []}
    number = await worst.make("/scheduledcommands", **schedule)
    await attempt("/permissions", **device, scheduledCommandId=number)
    expression = {"description": "x", "attribute": "x", "type": "number", "expression": "1"}
    number = await worst.make("/attributes/computed", admin, **expression)
    await attempt("/permissions", admin, **device, attributeId=number)
    limits = {f"sensorLimit.sum{number}.max": 0 for number in range(QUOTAS.sensor_limits + 1)}
    await attempt("/devices", name="x", uniqueId="x", attributes=limits)
    other = await worst.served.device(worst.client, "one more")
    await attempt("/permissions", **device, linkedDeviceId=other)
    number = await worst.make("/notifications", type="alarm")
    reader = next(
        each["id"] for each in (await worst.client.get("/users")).json() if each["name"] == "reader"
    )
    await attempt("/permissions", userId=reader, notificationId=number)
    assert refused == [
        "user_calendar_cost",
        "user_ticket_rules",
        "device_geofences",
        "device_maintenances",
        "device_notifications",
        "device_scheduled_steps",
        "device_computed_attributes",
        "sensor_limits",
        "device_linked_devices",
        "user_notified",
    ]
