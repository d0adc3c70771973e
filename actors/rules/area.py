"""The area of a geofence: parses its text, and tests whether a point lies in it (docs/geofences.md).

    CIRCLE (52.5 13.4, 250)                      radius in metres
    POLYGON ((52.5 13.4, 52.6 13.4, 52.6 13.5))  the outer ring, closed or not
    LINESTRING (52.5 13.4, 52.6 13.4)            a corridor along a line

Latitude comes first. Longitudes range from -360 to 360, because some maps write areas across the antimeridian
that way.
"""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from motorpool.actors.rules.distance import EARTH_RADIUS, great_circle

__all__ = [
    "CORRIDOR_METRES",
    "MOST_POINTS",
    "Area",
    "AreaError",
    "Circle",
    "Corridor",
    "Polygon",
    "read_area",
]

CORRIDOR_METRES = 25.0
"""Default width of a corridor to either side of its line."""
MOST_POINTS = 10_000
MAX_TEXT_LENGTH = 1 << 20
"""Characters."""
METRES_PER_DEGREE = math.radians(1) * EARTH_RADIUS
MAX_BANDS = 64
"""Limit of the bands of latitude by which edges are indexed."""

Point = tuple[float, float]
"""Latitude and longitude in degrees."""
Edge = tuple[float, float, float, float]
"""Start and end, latitude first; longitudes continue past 180, so that no edge wraps around."""


class AreaError(ValueError):
    """The text is not a valid area; the message says why, in one line."""


@dataclass(frozen=True)
class Circle:
    """The points within a great-circle distance of a centre."""

    latitude: float
    longitude: float
    radius: float
    """Metres."""

    def contains(
        self, latitude: float, longitude: float, *, distance_metres: float = CORRIDOR_METRES
    ) -> bool:
        """Whether the point lies in it; `distance_metres` is for corridors only."""
        del distance_metres
        if abs(latitude - self.latitude) * METRES_PER_DEGREE > self.radius + 1:
            return False
        return great_circle(self.latitude, self.longitude, latitude, longitude) <= self.radius


class Polygon:
    """The points within a ring whose edges are straight in degrees, as on a map; the edges are undefined."""

    def __init__(self, ring: Sequence[Point]) -> None:
        path = _unwrapped(ring)
        if _width(path) > 720:
            raise AreaError("the ring winds round the earth more than twice")
        turn = path[-1][1] - path[0][1]
        if abs(turn) > 1:
            # The ring goes round a pole: close it by way of the nearer pole.
            pole = math.copysign(90.0, sum(latitude for latitude, _ in path))
            path += [(pole, path[-1][1]), (pole, path[0][1]), path[0]]
        elif _width(path) == 0 and _width(ring) == 360:
            path = [*ring, ring[0]]  # from -180 to 180: the whole circle and not an empty ring
        self._edges = _Bands([(*start, *end) for start, end in itertools.pairwise(path)])

    def contains(
        self, latitude: float, longitude: float, *, distance_metres: float = CORRIDOR_METRES
    ) -> bool:
        """Whether the point lies in it, by the even-odd rule; `distance_metres` is for corridors only."""
        del distance_metres
        edges = self._edges
        return any(self._encloses(latitude, x) for x in edges.meridians(longitude, 0.0))

    def _encloses(self, y: float, x: float) -> bool:
        inside = False
        for y1, x1, y2, x2 in self._edges.near(y, 0.0):
            if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
                inside = not inside
        return inside


class Corridor:
    """The points within some distance of a line."""

    def __init__(self, line: Sequence[Point]) -> None:
        # Each edge has its own longitudes: a line may go round the earth any number of times.
        edges = [(*start, end[0], start[1] + _step(start, end)) for start, end in itertools.pairwise(line)]
        self._edges = _Bands(edges)

    def contains(
        self, latitude: float, longitude: float, *, distance_metres: float = CORRIDOR_METRES
    ) -> bool:
        """Whether the point lies within `distance_metres` of the line."""
        margin = (distance_metres + 1) / METRES_PER_DEGREE
        shrink = max(math.cos(math.radians(min(90.0, abs(latitude) + margin))), 1e-6)
        return any(
            self._distance(edge, latitude, x) <= distance_metres
            for x in self._edges.meridians(longitude, min(180.0, margin / shrink))
            for edge in self._edges.near(latitude, margin)
        )

    @staticmethod
    def _distance(edge: Edge, y: float, x: float) -> float:
        """Return the metres to the edge, whose nearest point is found on the tangent plane at (y, x)."""
        y1, x1, y2, x2 = edge
        shrink = math.cos(math.radians(y))
        north, east = y2 - y1, (x2 - x1) * shrink
        length = north * north + east * east
        along = ((y - y1) * north + (x - x1) * shrink * east) / length if length else 0.0
        along = min(1.0, max(0.0, along))
        return great_circle(y, x, y1 + (y2 - y1) * along, x1 + (x2 - x1) * along)


Area = Circle | Polygon | Corridor


class _Bands:
    """Edges indexed by bands of latitude, so that a test looks at few of them."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        latitudes = [y for y1, _, y2, _ in edges for y in (y1, y2)]
        longitudes = [x for _, x1, _, x2 in edges for x in (x1, x2)]
        self._south, self._north = min(latitudes), max(latitudes)
        self._west, self._east = min(longitudes), max(longitudes)
        self._count = max(1, min(MAX_BANDS, len(edges) // 8))
        self._height = (self._north - self._south) / self._count or 1.0
        bands: list[list[Edge]] = [[] for _ in range(self._count)]
        for edge in edges:
            low, high = sorted((edge[0], edge[2]))
            for band in range(self._band(low), self._band(high) + 1):
                bands[band].append(edge)
        self._bands = tuple(tuple(band) for band in bands)

    def near(self, latitude: float, margin: float) -> Iterator[Edge]:
        """Yield the edges within `margin` degrees of a latitude; an edge may be yielded more than once."""
        if self._south - margin <= latitude <= self._north + margin:
            for band in range(self._band(latitude - margin), self._band(latitude + margin) + 1):
                yield from self._bands[band]

    def meridians(self, longitude: float, margin: float) -> list[float]:
        """Return the equivalents of a longitude, 360 degrees apart, that the edges span within `margin`."""
        first = math.ceil((self._west - margin - longitude) / 360)
        last = math.floor((self._east + margin - longitude) / 360)
        return [longitude + 360 * turn for turn in range(first, last + 1)]

    def _band(self, latitude: float) -> int:
        # Clamped before int(): the quotient is infinite where the bands are denormally narrow.
        return int(min(self._count - 1.0, max(0.0, (latitude - self._south) / self._height)))


def _unwrapped(ring: Sequence[Point]) -> list[Point]:
    """Return the closed ring with continuous longitudes."""
    path = [ring[0]]
    for point in (*ring[1:], ring[0]):
        path.append((point[0], path[-1][1] + _step(path[-1], point)))
    return path


def _step(start: Point, end: Point) -> float:
    """Return the degrees to the east from one point to the next, the shorter way round."""
    step = end[1] - start[1]
    return math.remainder(step, 360) if abs(step) > 180 else step


def _width(points: Sequence[Point]) -> float:
    return max(x for _, x in points) - min(x for _, x in points)


_SHAPE = re.compile(r"\s*(CIRCLE|POLYGON|LINESTRING)\s*\((.*)\)\s*", re.DOTALL)
_RING = re.compile(r"\s*\(([^()]*)\)\s*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def read_area(text: str) -> Area:
    """Parse an area of at most MOST_POINTS points.

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
        points = _points(inner)
        if len(points) < 2:
            raise AreaError("a LINESTRING needs at least 2 points")
        return Corridor(points)
    ring = _RING.fullmatch(inner)
    if ring is None:
        several = inner.count("(") > 1
        raise AreaError(
            "a POLYGON has one ring: no holes" if several else "a POLYGON has two pairs of brackets"
        )
    points = _points(ring[1])
    if len(points) > 1 and points[0] == points[-1]:
        points.pop()
    if len(points) < 3:
        raise AreaError("a POLYGON needs at least 3 points")
    return Polygon(points)


def _circle(inner: str) -> Circle:
    parts = inner.split(",")
    if len(parts) != 2:
        raise AreaError("a CIRCLE is a point and a radius: CIRCLE (lat lon, metres)")
    latitude, longitude = _point(parts[0], 1)
    radius = _number(parts[1].strip(), "the radius")
    if radius < 0:
        raise AreaError("the radius is below 0")
    return Circle(latitude, longitude, radius)


def _points(inner: str) -> list[Point]:
    parts = inner.split(",")
    if len(parts) > MOST_POINTS:
        raise AreaError(f"more than {MOST_POINTS} points")
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
