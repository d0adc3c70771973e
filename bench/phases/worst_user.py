"""A user who stores the most that quotas permit and has it evaluated as often as possible, beside others."""

import base64
import json
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Any, NamedTuple
from urllib.parse import urlencode

import httpx

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import Mark, RequestLoad, RequestResult, TerminalLoad, TerminalResult
from motorpool.bench.load.program import run_program
from motorpool.bench.options import BenchError, Step
from motorpool.bench.server import Server

EMAIL, PASSWORD = "worst@example.org", "the worst of all users"
DEVICES = 10
"""Each reports once a second, on the other side of the corridors each time."""
CORRIDORS, POINTS = 8, 2_000
CIRCLES = 240
"""Around one of the two places: all are entered or left with each position."""
MAINTENANCES = 200
NOTIFICATIONS = 500
COMPANIES, RULES = 2, 100
"""Rules of tickets, of each company."""
STEPS = 50
"""Of a scheduled command, which the user runs again and again."""
AT_ONCE = 4
"""Requests at a time."""
AWAY, THERE = (52.0, 12.0), (52.0, 32.0)
OWN_RATE = 10.0
"""Lists, edits, calendars and runs of the user, a second."""
OTHERS_RATE = 50.0
"""Requests of somebody else, a second."""
TIMEOUT_SECONDS = 120.0
CALENDARS, EVENTS = 4, 20
"""Each calendar costs nearly as much as one may, and all of them as much as those of a user may."""
LASTING = """BEGIN:VEVENT
UID:{number}
DTSTART:20200101T000000Z
DURATION:P3500D
RRULE:FREQ=DAILY
END:VEVENT
"""
"""Ten years long, and beginning anew every day."""


def measure(
    server: Server, summary: Summary, name: str, seconds: float, terminals: TerminalLoad, step: Step
) -> None:
    """Add what acknowledgements and requests of others take beside this user.

    Raises:
        BenchError: the server refuses what the quotas permit.
        LoadFailed: a load program fails.
    """
    step("the worst user stores what quotas permit")
    with server.client() as admin:
        token = admin.post("/session/token").raise_for_status().text
        body = {"name": "Worst", "email": EMAIL, "password": PASSWORD, "deviceLimit": -1}
        _checked(admin.post("/users", json=body))
    with server.client() as client:
        own_token = _checked(client.post("/session/token", auth=(EMAIL, PASSWORD))).text
        client.auth = _Bearer(own_token)
        rows = _store_everything(client)
    step(f"the worst user beside {len(terminals.phones)} terminals")
    with (
        run_program("terminals", terminals) as ingest,
        run_program(
            "requests", _requests(server, _reports(), float(DEVICES), seconds, device=True)
        ) as reports,
        run_program("requests", _requests(server, _own(rows, own_token), OWN_RATE, seconds)) as worst,
        run_program(
            "requests", _requests(server, (_request("GET", "/api/server", token),), OTHERS_RATE, seconds)
        ) as others,
    ):
        ingest.wait_for(Mark, TIMEOUT_SECONDS, lambda mark: mark.name == "ready")
        reported = reports.wait_for(RequestResult, seconds + TIMEOUT_SECONDS)
        own = worst.wait_for(RequestResult, seconds + TIMEOUT_SECONDS)
        answered = others.wait_for(RequestResult, seconds + TIMEOUT_SECONDS)
        stored = ingest.wait_for(TerminalResult, seconds + TIMEOUT_SECONDS)
    summary.add(name, "positions of the worst user", reported.answers / seconds, "messages/s")
    summary.add(name, "acknowledgement of the worst user, p99", reported.p99_ms, "ms")
    summary.add(name, "acknowledgement beside the worst user, p50", stored.p50_ms, "ms")
    summary.add(name, "acknowledgement beside the worst user, p99", stored.p99_ms, "ms", goals=(Goal(250),))
    summary.add(name, "requests beside the worst user, p50", answered.p50_ms, "ms")
    summary.add(name, "requests beside the worst user, p99", answered.p99_ms, "ms", goals=(Goal(250),))
    for who, result in (("others", answered), ("the worst user", own)):
        if result.failures:
            summary.note(f"{result.failures} requests of {who} failed: {'; '.join(result.reasons)}")


class _Bearer(httpx.Auth):
    """A token, since passwords are slow to check."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the token."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


class _Rows(NamedTuple):
    """Some of what the user has stored."""

    calendar: dict[str, Any]
    corridor: dict[str, Any]
    schedule: dict[str, Any]


def _own(rows: _Rows, token: str) -> list[str]:
    """Return what the user asks for: much to read, much to evaluate, much to send, and edits."""
    end = datetime.now(UTC)
    span = urlencode({"from": (end - timedelta(days=1)).isoformat(), "to": end.isoformat(), "limit": 1000})
    windows = urlencode({"from": (end - timedelta(days=366)).isoformat(), "to": end.isoformat()})
    calendar = json.dumps(rows.calendar)
    return [
        _request("GET", "/api/geofences?limit=500", token),
        _request("PUT", f"/api/geofences/{rows.corridor['id']}", token, json.dumps(rows.corridor)),
        _request("GET", f"/api/events?{span}", token),
        _request("POST", f"/api/calendars/windows?{windows}", token, calendar),
        _request("PUT", f"/api/calendars/{rows.calendar['id']}", token, calendar),
        _request("POST", f"/api/scheduledcommands/{rows.schedule['id']}/run", token),
    ]


def _calendar() -> dict[str, Any]:
    events = "".join(LASTING.format(number=number) for number in range(EVENTS))
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//bench//\n{events}END:VCALENDAR\n"
    return {"name": "Lasting", "data": base64.b64encode(text.encode()).decode()}


def _store_everything(client: httpx.Client) -> _Rows:
    """Store the most of each kind for devices in one group.

    Raises:
        BenchError: the server refuses something.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:

        def create_all(path: str, bodies: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
            return list(pool.map(lambda body: _create(client, path, body), bodies))

        crossings = {"event.geofence.segmentCrossing": True}
        group = _create(client, "/groups", {"name": "Worst", "attributes": crossings})["id"]
        calendars = create_all("/calendars", [_calendar()] * CALENDARS)
        calendar_ids = [each["id"] for each in calendars]
        geofences = create_all("/geofences", _geofences(calendar_ids))
        maintenance = {"name": "x", "type": "totalDistance", "start": 1, "period": 1}
        notifications = [
            {"type": "geofenceEnter", "notificators": "web", "calendarId": each}
            for each in islice(cycle(calendar_ids), NOTIFICATIONS)
        ]
        command = _create(client, "/commands", {"description": "x", "type": "custom"})["id"]
        steps = {"onStart": [{"commandId": command}] * STEPS, "onEnd": [{"commandId": command}] * STEPS}
        schedule = _create(
            client, "/scheduledcommands", {"name": "x", "calendarId": calendar_ids[0], **steps}
        )
        linked = {
            "geofenceId": geofences,
            "maintenanceId": create_all("/maintenance", [maintenance] * MAINTENANCES),
            "notificationId": create_all("/notifications", notifications),
            "scheduledCommandId": [schedule],
        }
        for key, rows in linked.items():
            for first in range(0, len(rows), 1000):
                links = [{"groupId": group, key: row["id"]} for row in rows[first : first + 1000]]
                _checked(client.post("/permissions/bulk", json=links))
        rules = [
            {
                "name": "x",
                "when": {"eventTypes": ["geofenceEnter"], "calendarId": each},
                "maxPerHour": 1,
            }
            for each in islice(cycle(calendar_ids), RULES)
        ]
        for _ in range(COMPANIES):
            company = _create(client, "/companies", {"name": "Worst", "attributes": {"ticketRules": rules}})
            _checked(client.post("/tickets/defaults", params={"companyId": company["id"]}))
        names = [f"worst-{number}" for number in range(DEVICES)]
        create_all("/devices", [{"name": each, "uniqueId": each, "groupId": group} for each in names])
    return _Rows(calendars[0], geofences[0], schedule)


def _geofences(calendar_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Corridors between the two places, from pole to pole and across each other; circles around one place."""
    areas = []
    for number in range(CORRIDORS):
        north, south = (90, -90) if number % 2 else (60, 40)
        points = ((north if each % 2 else south, 14 + number + each * 0.005) for each in range(POINTS))
        areas.append(f"LINESTRING ({', '.join(f'{y} {x:.3f}' for y, x in points)})")
    areas += [f"CIRCLE ({THERE[0]} {THERE[1]}, {100 + number})" for number in range(CIRCLES)]
    return [
        {"name": "x", "area": area, "calendarId": each}
        for area, each in zip(areas, cycle(calendar_ids), strict=False)
    ]


def _create(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    created: dict[str, Any] = _checked(client.post(path, json=body)).json()
    return created


def _checked(answer: httpx.Response) -> httpx.Response:
    if not answer.is_success:
        what = f"{answer.request.method} {answer.request.url.path}"
        raise BenchError(f"{what} answered {answer.status_code}: {answer.text[:200]}")
    return answer


def _requests(
    server: Server, messages: Sequence[str], rate: float, seconds: float, *, device: bool = False
) -> RequestLoad:
    return RequestLoad(
        host=server.host,
        port=server.osmand_port if device else httpx.URL(server.url).port or 80,
        messages=tuple(messages),
        rate=rate,
        seconds=seconds,
    )


def _reports() -> list[str]:
    """Return positions of all devices, first at one place and then at the other."""
    return [
        _request("POST", f"/?id=worst-{number}&lat={place[0]}&lon={place[1]}")
        for place in (AWAY, THERE)
        for number in range(DEVICES)
    ]


def _request(method: str, path: str, token: str = "", body: str = "") -> str:
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(body)}\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    return f"{head}\r\n{body}"
