"""Stored tracks and events for tests of reports."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.actors.reports.brute_force import Point, metres

from motorpool.storage.events import events
from motorpool.storage.records import Event

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def stamp(when: datetime) -> str:
    return when.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def span(start: datetime = MAY, end: datetime = MAY + timedelta(days=1), **more: Any) -> str:
    return urlencode({"from": stamp(start), "to": stamp(end), **more}, doseq=True)


def week(seed: int, *, start: datetime = MAY, days: int = 7) -> list[Point]:
    """A week of a vehicle: drives, stops with a heartbeat, nights without a word, a ferry now and then."""
    chance = random.Random(seed)
    time, latitude, longitude, total = start, 52.0 + seed, 13.0, 0.0
    points: list[Point] = []

    def report(north: float, east: float, speed: float) -> None:
        nonlocal latitude, longitude, total
        latitude += north / 111_319.49
        longitude += east / 68_500
        point = Point(time, latitude, longitude, speed)
        way = round(metres(points[-1], point), 2) if points else 0.0
        total = round(total + way, 2)
        given = {"distance": way, "totalDistance": total, "hours": 60_000 * len(points)}
        points.append(Point(time, latitude, longitude, speed, len(points), given))

    while time < start + timedelta(days=days):
        for _ in range(chance.randrange(3, 25)):
            time += timedelta(seconds=chance.randrange(20, 90))
            report(chance.uniform(200, 900), chance.uniform(-400, 400), chance.uniform(10, 60))
        for _ in range(chance.randrange(2, 12)):
            time += timedelta(seconds=chance.randrange(60, 900))
            report(chance.uniform(-20, 20), chance.uniform(-20, 20), 0.0)
        if chance.random() < 0.3:
            time += timedelta(hours=chance.randrange(2, 9))
            report(chance.choice([0.0, 60_000.0]), 0.0, 0.0)
    return points


def positions(served: Any, device_id: int, points: list[Point]) -> list[Any]:
    return [
        served.position(
            device_id,
            point.time,
            latitude=point.latitude,
            longitude=point.longitude,
            speed=point.speed,
            attributes=point.attributes,
        )
        for point in points
    ]


async def happen(database: Any, *found: Event) -> list[Event]:
    await events.assign_ids(database, found)
    await events.insert_many(database, found)
    return list(found)
