"""Days at a helpdesk over HTTP: tickets from the alarm of a vehicle to their automatic close, in business
hours, and what the company's webhook receives. Every expected instant and figure was worked out by hand.

The company works from Monday to Friday, 09:00 to 17:00 in Lisbon: 08:00 to 16:00 UTC in May.
"""

import base64
import hashlib
import hmac
import json
from collections import defaultdict
from datetime import datetime

import httpx
import pytest
import trio
from tests.actors.conftest import Time
from tests.api.conftest import start

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.api.settings import WebhookSettings
from motorpool.codecs.devices import CODECS

LOOPBACK = "127.0.0.1"
OFFICE_HOURS = b"""BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//example//helpdesk//EN\r
BEGIN:VEVENT\r
UID:1\r
DTSTART;TZID=Europe/Lisbon:20260105T090000\r
DTEND;TZID=Europe/Lisbon:20260105T170000\r
RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\r
END:VEVENT\r
END:VCALENDAR\r
"""
FRIDAY, MONDAY, THURSDAY = "2026-05-01T", "2026-05-04T", "2026-05-07T"
KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
EVERY_TYPE = [
    "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.commented",
    "ticket.noted", "ticket.sla_warning", "ticket.sla_breached", "ticket.escalated", "ticket.deleted",
]  # fmt: skip


@pytest.fixture
def time():
    """Time that stands still until the test goes on to another instant."""
    return Time()


class Receiver:
    """Keeps the messages to the webhook, fails where it is told to, and checks their signatures by itself."""

    def __init__(self, web_server):
        self.refused = set()
        """(ticket, sequence): messages of which the first attempt fails."""
        self.failed = []
        self.taken = []
        self.server = web_server(self._answer)

    def _answer(self, asked):
        assert self._is_genuine(asked.headers, asked.body)
        message = json.loads(asked.body)["data"]
        place = (message["ticketId"], message["sequence"])
        if place in self.refused:
            self.refused.remove(place)
            self.failed.append(asked)
            return 500, b"try again"
        self.taken.append(asked)
        return 200, b""

    @staticmethod
    def _is_genuine(headers, body):
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
        return headers["webhook-signature"] == f"v1,{expected}"

    def by_ticket(self):
        """The bodies of each ticket in the order in which they came."""
        found = defaultdict(list)
        for asked in self.taken:
            body = json.loads(asked.body)
            found[body["data"]["ticketId"]].append(body)
        return found


class Day:
    """The server, the people of the company, and the time."""

    def __init__(self, served, time, receiver, http):
        self.served = served
        self.time = time
        self.receiver = receiver
        self.http = http
        self.company = 0
        self._entries_seen = defaultdict(int)

    async def call(self, who, method, path, *, status=200, **sent):
        """A request of somebody; the answer's JSON, or its text where it is refused."""
        answer = await self.http.request(method, f"/api{path}", auth=(f"{who}@example.org", who), **sent)
        assert answer.status_code == status, answer.text
        return answer.json() if status == 200 else answer.text

    async def make(self, path, name, **fields):
        made = await self.call(
            "chief", "POST", path, json={"companyId": self.company, "name": name, **fields}
        )
        return made["id"]

    async def at(self, instant):
        """Go on to an instant, when all that was caused before has been done and delivered."""
        await self.delivered()
        target = datetime.fromisoformat(instant)
        await self.time.passes((target - self.served.clock.now()).total_seconds())
        await self.delivered()

    async def delivered(self):
        await self.until(lambda waiting: not waiting)

    async def until(self, condition):
        """Wait until it holds for the messages that wait."""
        for _ in range(3000):
            await self.time.settle()
            path = f"/companies/{self.company}/webhook/deliveries?state=waiting"
            waiting = await self.call("chief", "GET", path)
            if condition(waiting):
                return
        raise AssertionError(f"still waiting: {waiting}")

    async def news(self, ticket):
        """What was added to the history of a ticket since the last look, as types."""
        entries = await self.call("chief", "GET", f"/tickets/{ticket}/events")
        news = entries[self._entries_seen[ticket] :]
        self._entries_seen[ticket] = len(entries)
        return [entry["type"] for entry in news]

    async def levels(self, ticket):
        """State, due time (to the minute) and used minutes of the first response and of the resolution."""
        told = await self.call("carl", "GET", f"/tickets/{ticket}/sla")
        return tuple(
            (each["state"], each["due"] and each["due"][:16], each["elapsedMinutes"])
            for each in (told["firstResponse"], told["resolution"])
        )


@pytest.fixture
async def day(database, time, tmp_path, free_port, web_server):
    time.databases.append(database)
    port = CODECS["osmand"].port
    offset = free_port(port)
    receiver = Receiver(web_server)
    settings = {
        "webhook": WebhookSettings(allow=(f"{LOOPBACK}/32",)),
        "device": DeviceSettings(host=LOOPBACK),
        "port": PortSettings(offset=offset),
    }
    # A connection for each request: the server would close one that idles while hours pass.
    limits = httpx.Limits(max_keepalive_connections=0)
    async with (
        start(database, data=tmp_path, listen=True, protocols=("osmand",), **settings) as served,
        httpx.AsyncClient(
            base_url=f"http://{LOOPBACK}:{served.port}", limits=limits, timeout=None, trust_env=False
        ) as http,
    ):
        made = Day(served, time, receiver, http)
        made.device_port = port + offset
        try:
            yield made
        finally:
            time.let_go()


async def open_for_business(day):
    """Configure the company: people, teams, hours, priorities, categories and statuses."""
    await day.served.user("chief", userLimit=10, deviceLimit=10)
    for name in ("ann", "bob", "carl"):
        user = {"name": name, "email": f"{name}@example.org", "password": name}
        setattr(day, name, (await day.call("chief", "POST", "/users", json=user))["id"])
    webhook = {"url": f"{day.receiver.server.url}/tickets", "secret": SECRET, "events": EVERY_TYPE}
    attributes = {"ticketWebhook": webhook, "autoCloseDays": 3, "timezone": "Europe/Lisbon"}
    company = await day.call("chief", "POST", "/companies", json={"name": "North", "attributes": attributes})
    day.company = company["id"]
    for user in (day.ann, day.bob, day.carl):
        link = {"userId": user, "companyId": day.company}
        await day.call("chief", "POST", "/permissions", status=204, json=link)
    day.workshop = await day.make("/teams", "Workshop")
    day.standby = await day.make("/teams", "Standby")
    for team, user in ((day.workshop, day.ann), (day.workshop, day.bob), (day.standby, day.bob)):
        await day.call("chief", "PUT", f"/teams/{team}/members/{user}", status=204)
    day.branch = await day.make("/branches", "Porto", attributes={"zone": "North"})
    day.contact = await day.make("/contacts", "Carla Costa", branchId=day.branch, email="carla@example.org")
    hours = base64.b64encode(OFFICE_HOURS).decode()
    calendar = await day.call("chief", "POST", "/calendars", json={"name": "Office", "data": hours})
    hours = {"calendarId": calendar["id"]}
    day.crash = await day.make(
        "/ticketpriorities",
        "Crash",
        level=1,
        firstResponseMinutes=30,
        resolutionMinutes=120,
        attributes={"warnPercent": 0},
        **hours,
    )
    escalation = {"warnPercent": 50, "escalateTeamId": day.standby, "escalatePriorityId": day.crash}
    day.office = await day.make(
        "/ticketpriorities",
        "Office",
        level=2,
        firstResponseMinutes=60,
        resolutionMinutes=240,
        attributes=escalation,
        **hours,
    )
    standard = await day.call("chief", "POST", "/tickets/defaults", json={"companyId": day.company})
    day.status = {each["name"]: each["id"] for each in standard["statuses"]}
    vehicle = next(each["id"] for each in standard["categories"] if each["name"] == "Vehicle")
    day.engine = await day.make(
        "/ticketcategories", "Engine", parentId=vehicle, teamId=day.workshop, priorityId=day.office
    )
    device = {"name": "Truck 7", "uniqueId": "truck-7", "attributes": {"branchId": day.branch}}
    day.device = (await day.call("chief", "POST", "/devices", json=device))["id"]
    rule = {
        "name": "SOS",
        "when": {"eventTypes": ["alarm"], "alarms": ["sos"]},
        "then": {"categoryId": day.engine, "subject": "Emergency button"},
    }
    company["attributes"]["ticketRules"] = [rule]
    await day.call("chief", "PUT", f"/companies/{day.company}", json=company)
    link = {"userId": day.ann, "deviceId": day.device}
    await day.call("chief", "POST", "/permissions", status=204, json=link)


async def alarm(day):
    """Have the truck press its emergency button; return the ticket that a rule opens within a minute."""
    fix = {"id": "truck-7", "lat": 41.15, "lon": -8.61, "timestamp": 1777637400, "alarm": "sos"}
    statuses = []

    async def send():
        answer = await day.http.get(f"http://{LOOPBACK}:{day.device_port}/", params=fix)
        statuses.append(answer.status_code)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        while not statuses:
            # Positions are stored in batches, some tenths of a second after they came.
            await day.time.passes(0.1)
    assert statuses == [200]
    for _ in range(500):
        tickets = await day.call("ann", "GET", "/tickets", params={"deviceId": day.device})
        if tickets:
            return tickets[0]
        await day.time.passes(0.1)
    raise AssertionError("the alarm opened no ticket")


async def test_days_at_a_helpdesk(day, time):
    # Trio goes by the fixture `time` only because the test itself names it.
    assert day.time is time
    await open_for_business(day)
    status = day.status

    # Friday. The alarm of a truck becomes a ticket: four business hours end on Monday at 09:09 in Lisbon.
    await day.at(f"{FRIDAY}12:09:00Z")
    made = await alarm(day)
    first = made["id"]
    assert (made["number"], made["teamId"], made["priorityId"]) == (1, day.workshop, day.office)
    assert (made["channel"], made["deviceId"], made["branchId"]) == ("device", day.device, day.branch)
    assert made["attributes"]["positionSnapshot"]["latitude"] == 41.15
    event = await day.call("ann", "GET", f"/events/{made['eventId']}")
    assert (event["type"], event["attributes"]["alarm"]) == ("alarm", "sos")
    assert await day.news(first) == ["created"]
    assert await day.levels(first) == (
        ("running", f"{FRIDAY}13:09", 0),
        ("running", f"{MONDAY}08:09", 0),
    )

    # Two people take it at once; the message about it fails once, and comes again some seconds later.
    await day.at(f"{FRIDAY}12:20:00Z")
    day.receiver.refused.add((first, 2))
    take = {"assigneeId": day.ann, "expectAssigneeId": 0}
    assert (await day.call("ann", "POST", f"/tickets/{first}/assign", json=take))["assigneeId"] == day.ann
    take = {"assigneeId": day.bob, "expectAssigneeId": 0}
    refused = await day.call("bob", "POST", f"/tickets/{first}/assign", status=400, json=take)
    assert refused == f"already assigned to user {day.ann}"
    assert await day.news(first) == ["assigned"]
    await day.until(lambda waiting: any(each["attempts"] for each in waiting))
    await day.time.passes(7)
    await day.delivered()

    # An answer that waits for the contact is the first response, and stops the resolution clock.
    await day.at(f"{FRIDAY}12:30:00Z")
    answer = {"text": "Please come by", "statusId": status["Waiting for contact"]}
    await day.call("ann", "POST", f"/tickets/{first}/comments", json=answer)
    assert await day.news(first) == ["comment", "firstResponse", "statusChanged", "slaPaused"]
    assert await day.levels(first) == (("met", f"{FRIDAY}13:09", 20), ("paused", None, 20))

    # The contact's words resume it: 219 minutes are left, 150 of them today.
    await day.at(f"{FRIDAY}13:30:00Z")
    words = {"text": "I am here", "onBehalfOfContact": True}
    await day.call("bob", "POST", f"/tickets/{first}/comments", json=words)
    assert await day.news(first) == ["comment", "statusChanged", "slaResumed"]
    assert (await day.levels(first))[1] == ("running", f"{MONDAY}09:09", 20)

    await day.at(f"{FRIDAY}14:00:00Z")
    note = {"text": "The button sticks", "internal": True}
    await day.call("ann", "POST", f"/tickets/{first}/comments", json=note)
    assert await day.news(first) == ["comment"]
    entries = await day.call("carl", "GET", f"/tickets/{first}/events")
    assert "The button sticks" not in [entry["text"] for entry in entries]

    await day.at(f"{FRIDAY}15:00:00Z")
    done = await day.call(
        "ann", "POST", f"/tickets/{first}/transition", json={"statusId": status["Resolved"]}
    )
    assert (done["statusKind"], done["resolvedAt"]) == ("resolved", f"{FRIDAY}15:00:00Z")
    assert await day.news(first) == ["statusChanged"]
    assert (await day.levels(first))[1] == ("met", f"{MONDAY}09:09", 110)

    # A second ticket, of a linked user who is no agent; nobody answers, so it is warned of at half its time.
    await day.at(f"{FRIDAY}15:20:00Z")
    fields = {"companyId": day.company, "subject": "Smoke", "categoryId": day.engine}
    second = (await day.call("carl", "POST", "/tickets", json=fields))["id"]
    assert await day.levels(second) == (
        ("running", f"{MONDAY}08:20", 0),
        ("running", f"{MONDAY}11:20", 0),
    )
    await day.at(f"{FRIDAY}15:49:59Z")
    assert await day.news(second) == ["created"]
    await day.at(f"{FRIDAY}15:50:01Z")
    assert await day.news(second) == ["slaWarning"]

    # Monday. A third one, by mistake; its reporter cancels it.
    await day.at(f"{MONDAY}08:05:00Z")
    assert await day.news(second) == []
    fields = {"companyId": day.company, "subject": "Smoke again", "categoryId": day.engine}
    third = (await day.call("carl", "POST", "/tickets", json=fields))["id"]
    await day.at(f"{MONDAY}08:15:00Z")
    ended = await day.call(
        "carl", "POST", f"/tickets/{third}/transition", json={"statusId": status["Cancelled"]}
    )
    assert (ended["number"], ended["statusKind"]) == (3, "cancelled")
    assert [state for state, _, _ in await day.levels(third)] == ["cancelled", "cancelled"]

    # The second breaches its first response just after the due time, and goes to those on standby.
    await day.at(f"{MONDAY}08:20:00Z")
    assert await day.news(second) == []
    await day.at(f"{MONDAY}08:20:01Z")
    assert await day.news(second) == ["slaBreached", "escalated", "slaRecalculated"]
    moved = await day.call("chief", "GET", f"/tickets/{second}")
    assert (moved["teamId"], moved["priorityId"]) == (day.standby, day.crash)
    assert (moved["firstResponseBreached"], moved["escalatedAt"]) == (True, f"{MONDAY}08:20:01Z")
    assert await day.levels(second) == (
        ("overdue", f"{MONDAY}08:20", 60),
        ("running", f"{MONDAY}09:20", 60),
    )

    # The contact reopens the first: 129 minutes are left, and half the time is over in nine.
    await day.at(f"{MONDAY}08:30:00Z")
    words = {"text": "It rang again", "onBehalfOfContact": True}
    await day.call("ann", "POST", f"/tickets/{first}/comments", json=words)
    assert await day.news(first) == ["comment", "statusChanged", "reopened"]
    assert (await day.levels(first))[1] == ("running", f"{MONDAY}10:39", 110)
    await day.at(f"{MONDAY}08:40:01Z")
    assert await day.news(first) == ["slaWarning"]

    # The second: a late answer, resolved in time, closed by hand.
    await day.at(f"{MONDAY}08:50:00Z")
    await day.call("bob", "POST", f"/tickets/{second}/comments", json={"text": "On my way"})
    assert await day.news(second) == ["comment", "firstResponse"]
    await day.at(f"{MONDAY}09:10:00Z")
    for who, name, instant in (("bob", "Resolved", "09:10"), ("chief", "Closed", "09:15")):
        await day.at(f"{MONDAY}{instant}:00Z")
        await day.call(who, "POST", f"/tickets/{second}/transition", json={"statusId": status[name]})
    assert await day.news(second) == ["statusChanged", "statusChanged"]
    assert await day.levels(second) == (
        ("missed", f"{MONDAY}08:20", 90),
        ("met", f"{MONDAY}09:20", 110),
    )

    # The first breaches its resolution after all. Ann is not on standby: nobody has it then.
    await day.at(f"{MONDAY}10:40:01Z")
    assert await day.news(first) == ["slaBreached", "escalated"]
    moved = await day.call("chief", "GET", f"/tickets/{first}")
    assert (moved["teamId"], moved["assigneeId"], moved["reopenCount"]) == (day.standby, 0, 1)
    await day.at(f"{MONDAY}11:00:00Z")
    await day.call("bob", "POST", f"/tickets/{first}/assign", json={"assigneeId": day.bob})
    await day.at(f"{MONDAY}11:30:00Z")
    done = {"statusId": status["Resolved"], "comment": "New button"}
    await day.call("bob", "POST", f"/tickets/{first}/transition", json=done)
    assert await day.news(first) == ["assigned", "comment", "statusChanged"]
    assert (await day.levels(first))[1] == ("missed", f"{MONDAY}10:39", 290)

    # Thursday. Three days later it is closed by itself.
    await day.at(f"{THURSDAY}11:29:59Z")
    assert await day.news(first) == []
    await day.at(f"{THURSDAY}11:30:01Z")
    assert await day.news(first) == ["statusChanged"]
    closed = await day.call("chief", "GET", f"/tickets/{first}")
    assert (closed["statusKind"], closed["closedAt"]) == ("closed", f"{THURSDAY}11:30:01Z")

    await check_statistics(day, second)
    await day.call("chief", "DELETE", f"/tickets/{third}", status=204)
    await day.delivered()
    await check_messages(day, first, second, third)


async def check_statistics(day, second):
    """Compare with what was counted by hand; then excuse the breach of the second ticket."""
    query = {
        "companyId": day.company, "from": f"{FRIDAY}00:00:00Z", "to": f"{THURSDAY}23:00:00Z",
        "period": "day", "timezone": "Europe/Lisbon",
    }  # fmt: skip
    told = await day.call("ann", "GET", "/tickets/stats", params=query)
    # The first ticket was resolved twice; the cancelled one counts nowhere else.
    assert told["volume"] == {
        "created": 2, "resolved": 3, "closed": 2, "cancelled": 1, "reopened": 1, "reopenRate": 33.3,
        "repeat": 0,
    }  # fmt: skip
    # Answered after 20 and 90 minutes, resolved after 290 and 110; the first was resolved in time at first.
    assert told["firstResponse"] == {
        "decided": 2, "met": 1, "breached": 1, "attainment": 50.0,
        "averageMinutes": 55.0, "medianMinutes": 55.0, "p90Minutes": 90,
    }  # fmt: skip
    assert told["resolution"] == {
        "decided": 2, "met": 2, "breached": 0, "attainment": 100.0,
        "averageMinutes": 200.0, "medianMinutes": 200.0, "p90Minutes": 290,
    }  # fmt: skip
    assert told["breaches"] == {"firstResponse": 1, "resolution": 1, "tickets": 2, "excused": 0}
    assert (told["escalations"], told["backlog"]["total"]) == (2, 0)
    # Friday, the weekend, Monday to Thursday.
    assert [
        (each["created"], each["resolved"], each["backlogAtEnd"]) for each in told["periods"]
    ] == [(2, 1, 1), (0, 0, 1), (0, 0, 1), (0, 2, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)]  # fmt: skip
    await day.call(
        "chief", "PUT", f"/tickets/{second}", json={"attributes": {"slaExcused": ["firstResponse"]}}
    )
    told = await day.call("ann", "GET", "/tickets/stats", params=query)
    assert (told["breaches"]["excused"], told["firstResponse"]["attainment"]) == (1, 100.0)


async def check_messages(day, first, second, third):
    """Every change has its message, once and in order; the receiver has checked every signature."""
    ids = [asked.headers["webhook-id"] for asked in day.receiver.taken]
    assert len(ids) == len({*ids})
    messages = day.receiver.by_ticket()
    kinds = {
        ticket: [body["type"].removeprefix("ticket.") for body in bodies]
        for ticket, bodies in messages.items()
    }
    assert kinds == {
        first: [
            "created", "assigned", "commented", "status_changed", "commented", "status_changed", "noted",
            "status_changed", "commented", "status_changed", "sla_warning", "sla_breached", "escalated",
            "assigned", "commented", "status_changed", "status_changed",
        ],
        second: [
            "created", "sla_warning", "sla_breached", "escalated", "commented", "status_changed",
            "status_changed", "updated",
        ],
        third: ["created", "status_changed", "deleted"],
    }  # fmt: skip
    for bodies in messages.values():
        assert [body["data"]["sequence"] for body in bodies] == list(range(1, len(bodies) + 1))
        versions = [body["data"]["version"] for body in bodies]
        assert versions == sorted(versions)
        for body in bodies[:-1]:
            assert body["data"]["ticket"]["version"] == body["data"]["version"]
    # The attempt that failed had the same id, and an earlier timestamp.
    (failed,) = day.receiver.failed
    (again,) = [
        each for each in day.receiver.taken if each.headers["webhook-id"] == failed.headers["webhook-id"]
    ]
    assert again.body == failed.body
    assert 4 <= int(again.headers["webhook-timestamp"]) - int(failed.headers["webhook-timestamp"]) <= 8
    breach = messages[second][2]
    assert breach["timestamp"] == breach["data"]["event"]["eventTime"] == f"{MONDAY}08:20:00Z"
    assert breach["data"]["event"]["attributes"]["target"] == "firstResponse"
