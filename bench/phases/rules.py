"""Everything that rules can be configured with, on the vehicles of the scenario `ingest`."""

import base64
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import httpx

from motorpool.bench.options import BenchError
from motorpool.bench.server import Server

GEOFENCES = 1000
SOUTH, WEST, HEIGHT, WIDTH = 52.45, 13.3, 0.45, 0.55
"""Degrees; the vehicles drive within (`bench/load/messages.py`)."""
AT_ONCE = 4
"""Requests at a time; more would queue."""
MAX_LINKS = 1000
"""Links of one request."""
COMPUTED: tuple[tuple[str, str, str, int], ...] = (
    ("odometerKilometres", "odometer / 1000.0", "Number", -1),
    ("kilometresPerHour", "speed * 1.852", "Number", 0),
    ("isFast", "speed > 50", "Boolean", 0),
    ("isCovered", "rssi > 10 && sat > 4", "Boolean", 0),
    ("fuelGallons", "fuel * 0.264172", "Number", 0),
    ("warning", "fuel < 5 ? 'lowFuel' : null", "String", 0),
    ("isBraking", "(input & 16) != 0", "Boolean", 0),
    ("temperature", "temp1 ?? 0", "Number", 0),
    ("heading", "course >= 180 ? 'west' : 'east'", "String", 0),
    ("isInYard", "geofenceIds != null", "Boolean", 0),
)
"""Name, expression, type and priority of ten computed attributes."""
ATTRIBUTES = {
    "speedLimit": 1.0,
    "fuelDropThreshold": 5,
    "fuelIncreaseThreshold": 5,
    "event.geofence.segmentCrossing": True,
    "event.behavior.accelerationThreshold": 3.0,
    "event.behavior.brakingThreshold": 3.0,
    "filter.invalid": True,
    "filter.zero": True,
    "filter.duplicate": True,
    "filter.accuracy": 1000,
    "filter.maxSpeed": 1_000_000,
    "processing.copyAttributes": "driverUniqueId,fuel",
    "processing.useLinkedDriver": True,
    "processing.computedAttributes.lastAttributes": True,
    "processing.computedAttributes.deviceAttributes": True,
}
"""Of the group; no filter drops a position of the vehicles."""
ALWAYS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Motorpool//Bench//EN
BEGIN:VEVENT
UID:always
DTSTART:20200101T000000Z
DTEND:20200102T000000Z
RRULE:FREQ=DAILY
SUMMARY:Always
END:VEVENT
END:VCALENDAR
"""


def configure_rules(server: Server, phones: Sequence[str]) -> None:
    """Create the devices of these phones in a group to which every kind of rule is linked.

    Raises:
        BenchError: the server refuses something.
    """
    with server.client() as client, ThreadPoolExecutor(AT_ONCE) as pool:

        def create(path: str, body: dict[str, Any]) -> int:
            return int(_checked(client.post(path, json=body)).json()["id"])

        def create_all(path: str, bodies: Sequence[dict[str, Any]]) -> list[int]:
            return list(pool.map(lambda body: create(path, body), bodies))

        group = create("/groups", {"name": "Bench", "attributes": ATTRIBUTES})
        data = base64.b64encode(ALWAYS.encode()).decode()
        calendar = create("/calendars", {"name": "Always", "data": data})
        linked = {
            "geofenceId": create_all("/geofences", _geofences(calendar)),
            "attributeId": create_all("/attributes/computed", _computed_attributes()),
            "maintenanceId": create_all("/maintenance", _maintenances()),
            "driverId": [create("/drivers", {"name": "Ann", "uniqueId": "bench-driver"})],
        }
        for key, ids in linked.items():
            for first in range(0, len(ids), MAX_LINKS):
                links = [{"groupId": group, key: number} for number in ids[first : first + MAX_LINKS]]
                _checked(client.post("/permissions/bulk", json=links))
        devices = [
            {"name": phone, "uniqueId": phone, "groupId": group, "calendarId": calendar} for phone in phones
        ]
        create_all("/devices", devices)


def check_rules(server: Server, phones: Sequence[str]) -> None:
    """Check that the latest positions of these phones are what the rules make of them.

    Raises:
        BenchError: one lacks a computed attribute, or the driver of its device.
    """
    asked = frozenset(phones)
    with server.client() as client:
        devices = {
            device["id"]: device["uniqueId"]
            for device in _checked(client.get("/devices", params={"all": "true"})).json()
            if device["uniqueId"] in asked
        }
        wanted = {name for name, *_ in COMPUTED} - {"warning"} | {"driverUniqueId"}
        found = set()
        for position in _checked(client.get("/positions")).json():
            phone = devices.get(position["deviceId"])
            if phone is None:
                continue
            found.add(phone)
            if missing := wanted - position["attributes"].keys():
                raise BenchError(f"a position of {phone} lacks {', '.join(sorted(missing))}")
    if missing_phones := asked - found:
        raise BenchError(f"{len(missing_phones)} devices with rules have no position")


def _geofences(calendar_id: int) -> list[dict[str, Any]]:
    random = Random(1)
    bodies = []
    for number in range(GEOFENCES):
        y, x = SOUTH + random.random() * HEIGHT, WEST + random.random() * WIDTH
        if number % 3 == 0:
            area = f"CIRCLE ({y:.6f} {x:.6f}, {random.uniform(100, 500):.0f})"
        elif number % 3 == 1:
            size = random.uniform(0.001, 0.005)
            turns = [step * math.tau / 24 for step in range(24)]
            ring = ", ".join(
                f"{y + size * math.sin(t):.6f} {x + 1.6 * size * math.cos(t):.6f}" for t in turns
            )
            area = f"POLYGON (({ring}))"
        else:
            line = [(y, x)]
            for _ in range(20):
                line.append((line[-1][0] + random.gauss(0, 0.002), line[-1][1] + random.gauss(0, 0.003)))
            area = f"LINESTRING ({', '.join(f'{y:.6f} {x:.6f}' for y, x in line)})"
        bodies.append(
            {
                "name": f"Geofence {number}",
                "area": area,
                "calendarId": calendar_id if number % 10 == 0 else 0,
                "attributes": {"speedLimit": 30} if number % 5 == 0 else {},
            }
        )
    return bodies


def _computed_attributes() -> list[dict[str, Any]]:
    return [
        {
            "description": name,
            "attribute": name,
            "expression": expression,
            "type": kind,
            "priority": priority,
        }
        for name, expression, kind, priority in COMPUTED
    ]


def _maintenances() -> list[dict[str, Any]]:
    return [
        {"name": "Tyres", "type": "totalDistance", "start": 1000, "period": 10_000},
        {"name": "Oil", "type": "odometer", "start": 100, "period": 1_000_000},
        {"name": "Engine", "type": "hours", "start": 3_600_000, "period": 360_000_000},
    ]


def _checked(answer: httpx.Response) -> httpx.Response:
    if not answer.is_success:
        what = f"{answer.request.method} {answer.request.url.path}"
        raise BenchError(f"{what} answered {answer.status_code}: {answer.text[:200]}")
    return answer
