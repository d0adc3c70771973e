"""Parses the area of a geofence (docs/geofences.md).

    CIRCLE (52.5 13.4, 250)                      radius in metres
    POLYGON ((52.5 13.4, 52.6 13.4, 52.6 13.5))  rings, closed or not: the outer one, then holes
    LINESTRING (52.5 13.4, 52.6 13.4)            a corridor along a line

Latitude comes first. Longitudes range from -360 to 360, because some maps write areas across the antimeridian
that way.
"""

import math
import re

from motorpool.actors.rules.area_shapes import CORRIDOR_METRES, Area, AreaError, Circle, Corridor, Polygon
from motorpool.actors.rules.edges import Point

MAX_POINTS = 10_000
"""Limit of the points of all rings together."""
MAX_SAVED_POINTS = 2_000
"""Limit for areas that are saved now; earlier releases stored up to MAX_POINTS.

A test of one point may have to look at every edge: about 2 ms where 2,000 of them are wound around it.
"""
MAX_TEXT_LENGTH = 1 << 20
"""Characters."""
MAX_SAVED_LENGTH = 100_000
"""Characters of areas that are saved now: fifty a point."""

_SHAPE = re.compile(r"\s*(CIRCLE|POLYGON|LINESTRING)\s*\((.*)\)\s*", re.DOTALL)
_RING = re.compile(r"\s*\(([^()]*)\)\s*")
_NEXT_RING = re.compile(r",\s*\(([^()]*)\)\s*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def read_area(text: str, *, most_points: int = MAX_POINTS, corridor_metres: float = CORRIDOR_METRES) -> Area:
    """Parse an area of at most `most_points` points; a corridor reaches `corridor_metres` to either side.

    Raises:
        AreaError: the text is malformed, or a number is not finite or out of range.
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise AreaError(f"longer than {MAX_TEXT_LENGTH} characters")
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise AreaError("not CIRCLE (…), POLYGON ((…)) or LINESTRING (…)")
    word, inner = found.groups()
    if word == "CIRCLE":
        return _circle(inner)
    if word == "LINESTRING":
        points = _points(inner, most_points)
        if len(points) < 2:
            raise AreaError("a LINESTRING needs at least 2 points")
        return Corridor(points, corridor_metres)
    return Polygon(*_rings(inner, most_points))


def _rings(inner: str, most_points: int) -> list[list[Point]]:
    rings: list[list[Point]] = []
    read = total = 0
    while not rings or read < len(inner):
        found = (_NEXT_RING if rings else _RING).match(inner, read)
        if found is None:
            raise AreaError("a POLYGON is a list of rings in brackets: POLYGON ((…), (…))")
        points = _points(found[1], most_points)
        total += len(points)
        if total > most_points:
            raise AreaError(f"more than {most_points} points")
        if len(points) > 1 and points[0] == points[-1]:
            points.pop()
        if len(points) < 3:
            raise AreaError(f"ring {len(rings) + 1} of the POLYGON needs at least 3 points")
        rings.append(points)
        read = found.end()
    return rings


def _circle(inner: str) -> Circle:
    parts = inner.split(",")
    if len(parts) != 2:
        raise AreaError("a CIRCLE is a point and a radius: CIRCLE (lat lon, metres)")
    latitude, longitude = _point(parts[0], 1)
    radius = _number(parts[1].strip(), "the radius")
    if radius < 0:
        raise AreaError("the radius is below 0")
    return Circle(latitude, longitude, radius)


def _points(inner: str, most_points: int) -> list[Point]:
    parts = inner.split(",")
    if len(parts) > most_points:
        raise AreaError(f"more than {most_points} points")
    return [_point(part, number) for number, part in enumerate(parts, 1)]


def _point(text: str, number: int) -> Point:
    words = text.split()
    if len(words) != 2:
        raise AreaError(f"point {number}: not a latitude and a longitude")
    latitude, longitude = _number(words[0], f"point {number}"), _number(words[1], f"point {number}")
    if abs(latitude) > 90:
        raise AreaError(f"point {number}: latitude {words[0][:20]} is beyond 90 (latitude comes first)")
    if abs(longitude) > 360:
        raise AreaError(f"point {number}: longitude {words[1][:20]} is beyond 360")
    return latitude, longitude


def _number(word: str, what: str) -> float:
    number = float(word) if _NUMBER.fullmatch(word) else math.nan
    if not math.isfinite(number):
        raise AreaError(f"{what}: {word[:20]!r} is no number")
    return number
