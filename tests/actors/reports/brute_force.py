"""Trips and stops worked out from raw positions, slowly and by themselves (docs/reports.md#trips-and-stops).

Nothing of `actors/rules` or `actors/reports` is imported: this is what those are checked against.
"""

from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from math import asin, cos, radians, sin, sqrt
from typing import Any

MIN_DISTANCE, MIN_DURATION, STOP_GAP = 200.0, 180.0, 3600.0


@dataclass(frozen=True)
class Point:
    """A raw position."""

    time: datetime
    latitude: float
    longitude: float
    speed: float = 0.0
    distance: float = 0.0
    number: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Interval:
    """A trip or a stop."""

    moving: bool
    start: Point
    end: Point
    top_speed: float


def metres(one: Point, other: Point) -> float:
    phi, psi = radians(one.latitude), radians(other.latitude)
    turned = sin((psi - phi) / 2) ** 2
    turned += cos(phi) * cos(psi) * sin(radians(other.longitude - one.longitude) / 2) ** 2
    return 2 * 6_378_137 * asin(min(1.0, sqrt(turned)))


def seconds(one: Point, other: Point) -> float:
    return (other.time - one.time).total_seconds()


def turns(
    points: list[Point], min_distance: float = MIN_DISTANCE, min_duration: float = MIN_DURATION
) -> list[tuple[bool, int]]:
    """Where the device started (True) and stopped, as indices."""
    found: list[tuple[bool, int]] = []
    moving, anchor, begin = False, 0, 0
    for now in range(1, len(points)):
        point, before = points[now], points[now - 1]
        gap = seconds(before, point)
        if (
            gap > STOP_GAP
            and point.distance >= min_distance
            and point.distance / gap > min_distance / min_duration
        ):
            found += [(False, now - 1)] * moving + [(True, now - 1), (False, now)]
            moving, anchor, begin = False, now, now
            continue
        old = [k for k in range(begin, now) if seconds(points[k], point) >= min_duration]
        oldest = max(old, default=begin)
        if moving:
            if old and all(metres(points[k], point) < min_distance for k in range(oldest, now)):
                found.append((False, now))
                moving, anchor = False, now
        elif metres(points[anchor], point) >= min_distance:
            start = now
            for k in range(now - 1, oldest - 1, -1):
                if points[k].time <= points[anchor].time:
                    break
                took = seconds(points[k], points[start])
                if start != now and metres(points[k], points[start]) * min_duration <= min_distance * took:
                    break
                start = k
            found.append((True, start))
            moving, anchor = True, start
    return found


def intervals(points: list[Point], start: datetime, end: datetime) -> list[Interval]:
    """What an unbroken machine that began with the first point knows at `end`, cut at both times."""
    points = [point for point in points if point.time <= end]
    first = next((index for index, point in enumerate(points) if point.time >= start), None)
    if first is None:
        return []
    edges = [(False, 0), *turns(points), (None, len(points) - 1)]
    found = []
    for (moving, one), (_, other) in pairwise(edges):
        begins, ends = max(one, first), max(other, first)
        if begins < ends:
            top = max(point.speed for point in points[begins : ends + 1])
            found.append(Interval(bool(moving), points[begins], points[ends], top))
    return found
