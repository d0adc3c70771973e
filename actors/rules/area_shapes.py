"""Shapes of areas: containment of a point, intersection with a segment, and bounding boxes.

Points are latitude and longitude in degrees, distances are metres. The edges of a shape, and segments, are
straight in degrees and take the shorter way round the earth (docs/geofences.md#accuracy).
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from motorpool.actors.rules.distance import EARTH_RADIUS, great_circle
from motorpool.actors.rules.edges import (
    Bands,
    Box,
    Edge,
    Point,
    boxes_between,
    crosses,
    edge_between,
    extent_of,
    moved_home,
    moved_near,
)

CORRIDOR_METRES = 25.0
"""Default width of a corridor to either side of its line."""
METRES_PER_DEGREE = math.radians(1) * EARTH_RADIUS
CORRIDOR_BOXES = 32
"""Limit of the boxes around a corridor, each around a run of its edges."""
EDGES_OF_A_BOX = 3
"""Edges of a corridor that are not worth more than one box."""
SMALL_DEGREES = 0.1
EXACTNESS = 0.9
"""Share of a distance to a short edge, as computed, that the true one has at least; at 80 degrees of latitude
the tangent plane is wrong by 4 % over two tenths of a degree."""
TURNS = (0.0, 360.0, -360.0)
"""What leads to the equivalents of a longitude that may be near an edge, where both are `moved_home`."""
RING_EDGES_A_STEP = 8
"""Edges of rings that are tested in the time of one edge of a corridor."""
SLACK = 1.0
"""Metres by which boxes and margins exceed the exact distance, since the distance is rounded."""


class AreaError(ValueError):
    """The text is not a valid area; the message says why, in one line."""


@dataclass(frozen=True)
class Circle:
    """The points within a great-circle distance of a centre."""

    latitude: float
    longitude: float
    radius: float
    """Metres."""

    def contains(self, latitude: float, longitude: float) -> bool:
        """Whether the point lies in it."""
        if abs(latitude - self.latitude) * METRES_PER_DEGREE > self.radius + SLACK:
            return False
        east = longitude - self.longitude
        if not -180 <= east <= 180:
            longitude = self.longitude + math.remainder(east, 360)
        return great_circle(self.latitude, self.longitude, latitude, longitude) <= self.radius

    def is_crossed(self, start: Point, end: Point) -> bool:
        """Whether a point of the segment lies in it."""
        centre = self.centre
        segment = moved_home(edge_between(start, end))
        north, east = margins(max(abs(start[0]), abs(end[0])), self.radius)
        return any(
            _metres_to_edge(moved, *centre[:2]) <= self.radius
            for moved in _turned(segment)
            if _are_near(centre, moved, north, east)
        )

    def boxes(self) -> list[Box]:
        """Return boxes that together contain it."""
        y, x = self.latitude, self.longitude
        return _boxes_around((y, x, y, x), self.radius)

    def holds(self, box: Box) -> bool | None:
        """Whether all points within a small box lie in it, or none; None: neither is known to be so."""
        south, west, north, east = box
        metres = great_circle(self.latitude, self.longitude, (south + north) / 2, (west + east) / 2)
        reach = _reach(box)
        if metres + reach <= self.radius:
            return True
        return False if metres - reach > self.radius else None

    @property
    def metres(self) -> float:
        """The radius."""
        return self.radius

    @property
    def centre(self) -> Edge:
        """The centre as an edge from -180 to 180 degrees: a circle is a corridor along it."""
        x = self.longitude
        if not -180 <= x <= 180:
            x = math.remainder(x, 360)
        return self.latitude, x, self.latitude, x

    def steps(self, south: float, north: float) -> int:
        """Return how much there is to be tested for points between two latitudes: a measure of the time."""
        del south, north
        return 1

    @property
    def square_metres(self) -> float:
        """How large it is."""
        return math.pi * self.radius**2


class Polygon:
    """The points within an odd number of rings: within the outer one, and in none of its holes.

    Whether the points of an edge lie in it is undefined.
    """

    def __init__(self, *rings: Sequence[Point]) -> None:
        # Rings that span no more than the whole circle together with the first are tested as one with it.
        first, *others = map(_ring_edges, rings)
        self.square_metres = max(0.0, _square_metres(first) - sum(map(_square_metres, others)))
        """How large it is, without its holes."""
        _, west, _, east = extent_of(first)
        parts = [first]
        for ring in others:
            _, ring_west, _, ring_east = extent_of(ring)
            turn = 360 * round((west + east - ring_west - ring_east) / 720)
            least, most = min(west, ring_west + turn), max(east, ring_east + turn)
            if most - least <= 360:
                west, east = least, most
                first += [(y1, x1 + turn, y2, x2 + turn) for y1, x1, y2, x2 in ring]
            else:
                parts.append(ring)
        self.parts = tuple(Bands(part) for part in parts)
        """What is tested as one: the point lies in the polygon if it lies in an odd number of parts."""

    def contains(self, latitude: float, longitude: float) -> bool:
        """Whether the point lies in it, by the even-odd rule."""
        inside = False
        for edges in self.parts:
            for x in edges.meridians(longitude, 0.0):
                if _encloses(edges, latitude, x):
                    inside = not inside
                    break
        return inside

    def is_crossed(self, start: Point, end: Point) -> bool:
        """Whether the segment meets an edge: so it does if just one of its ends lies in it."""
        segment = edge_between(start, end)
        return any(edges.are_crossed(segment) for edges in self.parts)

    def holds(self, box: Box) -> bool | None:
        """Whether all points within a small box lie in it, or none; None: neither is known to be so.

        Where either is, no segment within the box meets an edge. Points on its border may.
        """
        south, west, north, east = box
        middle, centre = (south + north) / 2, (west + east) / 2
        height, width = (north - south) / 2, (east - west) / 2
        for edges in self.parts:
            for x in edges.meridians(centre, width):
                for least_y, most_y, least_x, most_x, _ in edges.near(middle, height):
                    if least_y <= north and most_y >= south and least_x <= x + width and most_x >= x - width:
                        return None
        return self.contains(middle, centre)

    def boxes(self) -> list[Box]:
        """Return boxes that together contain it."""
        return [box for edges in self.parts for box in boxes_between(*edges.extent)]

    def steps(self, south: float, north: float) -> int:
        """Return how much there is to be tested for points between two latitudes: a measure of the time."""
        return sum(part.count(south, north) for part in self.parts) // RING_EDGES_A_STEP


class Corridor:
    """The points within a distance of a line, in metres."""

    def __init__(self, line: Sequence[Point], metres: float = CORRIDOR_METRES) -> None:
        # Each edge has its own longitudes: a line may go round the earth any number of times.
        self.edges = [moved_home(edge_between(start, end)) for start, end in itertools.pairwise(line)]
        """In their order; the middle of each is from -180 to 180 degrees."""
        self.metres = metres
        self._bands = Bands(self.edges)
        south, _, north, _ = self._bands.extent
        furthest = max(abs(south), abs(north)) + (metres + SLACK) / METRES_PER_DEGREE
        self._margins = margins(furthest, metres)
        """How far north and east of an edge a point within the distance may be, nearest to a pole."""

    def contains(self, latitude: float, longitude: float) -> bool:
        """Whether the point lies in it."""
        if not -180 <= longitude <= 180:
            longitude = math.remainder(longitude, 360)
        north, east = self._margins
        for x in self._bands.meridians(longitude, east):
            for least_y, most_y, least_x, most_x, edge in self._bands.near(latitude, north):
                if (
                    least_y - north <= latitude <= most_y + north
                    and least_x - east <= x <= most_x + east
                    and _metres_to_edge(edge, latitude, x) <= self.metres
                ):
                    return True
        return False

    def is_crossed(self, start: Point, end: Point) -> bool:
        """Whether a point of the segment lies in it."""
        segment = moved_home(edge_between(start, end))
        north, east = self._margins
        for edge, moved in self._bands.pairs(segment, north, east):
            if _are_within(edge, moved, self.metres):
                return True
        return False

    def holds(self, box: Box) -> bool | None:
        """False if no point within a small box lies in it; None: that is not known."""
        south, west, north, east = box
        middle, centre = (south + north) / 2, (west + east) / 2
        point = (middle, centre, middle, centre)
        height, width = (north - south) / 2 + self._margins[0], (east - west) / 2 + self._margins[1]
        most = self.metres + _reach(box)
        for edge, (_, x, _, _) in self._bands.pairs(point, height, width):
            if _metres_to_edge(edge, middle, x) * EXACTNESS <= most or not _is_small(edge):
                return None
        return False

    def boxes(self) -> list[Box]:
        """Return boxes that together contain it."""
        run = max(EDGES_OF_A_BOX, -(-len(self.edges) // CORRIDOR_BOXES))
        boxes: list[Box] = []
        for first in range(0, len(self.edges), run):
            edges = self.edges[first : first + 1]
            for edge in self.edges[first + 1 : first + run]:
                edges.append(moved_near(edge, edges[-1][3]))
            boxes += _boxes_around(extent_of(edges), self.metres)
        return boxes

    def steps(self, south: float, north: float) -> int:
        """Return how much there is to be tested for points between two latitudes: a measure of the time."""
        margin = (self.metres + SLACK) / METRES_PER_DEGREE
        return self._bands.count(south - margin, north + margin)

    @property
    def square_metres(self) -> float:
        """How large it is, roughly: where it overlaps itself, that counts each time."""
        length = sum(great_circle(*edge) for edge in self.edges)
        return length * 2 * self.metres + math.pi * self.metres**2


Area = Circle | Polygon | Corridor


def _ring_edges(ring: Sequence[Point]) -> list[Edge]:
    path = [ring[0]]
    for point in (*ring[1:], ring[0]):
        _, _, latitude, longitude = edge_between(path[-1], point)
        path.append((latitude, longitude))
    longitudes = [x for _, x in path]
    width = max(longitudes) - min(longitudes)
    if width > 720:
        raise AreaError("the ring winds round the earth more than twice")
    if abs(path[-1][1] - path[0][1]) > 1:
        # The ring goes round a pole: close it by way of the nearer pole.
        pole = math.copysign(90.0, sum(latitude for latitude, _ in path))
        path += [(pole, path[-1][1]), (pole, path[0][1]), path[0]]
    elif width == 0 and max(x for _, x in ring) - min(x for _, x in ring) == 360:
        path = [*ring, ring[0]]  # from -180 to 180: the whole circle and not an empty ring
    return [(*start, *end) for start, end in itertools.pairwise(path)]


def _square_metres(ring: Sequence[Edge]) -> float:
    """Return the area of a ring on a sphere: what lies between its edges and the equator, with signs."""
    strips = sum(
        (x2 - x1) * (math.sin(math.radians(y1)) + math.sin(math.radians(y2))) for y1, x1, y2, x2 in ring
    )
    return abs(math.radians(strips) / 2) * EARTH_RADIUS**2


def _encloses(edges: Bands, y: float, x: float) -> bool:
    inside = False
    for south, north, _, _, (y1, x1, y2, x2) in edges.near(y, 0.0):
        if south <= y < north and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            inside = not inside
    return inside


def _metres_to_edge(edge: Edge, y: float, x: float) -> float:
    """Return the metres to the edge, whose nearest point is found on the tangent plane at (y, x)."""
    y1, x1, y2, x2 = edge
    shrink = math.cos(math.radians(y))
    north, east = y2 - y1, (x2 - x1) * shrink
    length = north * north + east * east
    along = ((y - y1) * north + (x - x1) * shrink * east) / length if length else 0.0
    along = min(1.0, max(0.0, along))
    return great_circle(y, x, y1 + (y2 - y1) * along, x1 + (x2 - x1) * along)


def _are_within(edge: Edge, other: Edge, metres: float) -> bool:
    """Whether two edges are no further from each other than a distance."""
    y1, x1, y2, x2 = other
    from_start = _metres_to_edge(edge, y1, x1)
    if from_start <= metres:
        return True
    length = (abs(y2 - y1) + abs(x2 - x1)) * METRES_PER_DEGREE
    if from_start * EXACTNESS > metres + length and _is_small(edge) and _is_small(other):
        return False  # no point of the other edge is so much nearer than its start
    # Edges that do not cross are nearest to each other at an end of one of them.
    return (
        crosses(edge, other)
        or _metres_to_edge(edge, y2, x2) <= metres
        or _metres_to_edge(other, *edge[:2]) <= metres
        or _metres_to_edge(other, *edge[2:]) <= metres
    )


def _is_small(edge: Edge) -> bool:
    """Whether distances to the edge have EXACTNESS: it is short, and not close to a pole."""
    y1, x1, y2, x2 = edge
    return -80 < y1 < 80 and abs(y2 - y1) < SMALL_DEGREES and abs(x2 - x1) < SMALL_DEGREES


def _reach(box: Box) -> float:
    """Return how far from the middle of a small box its points are at most, in metres, and a little more."""
    south, west, north, east = box
    shrink = math.cos(math.radians((south + north) / 2))
    return METRES_PER_DEGREE * math.hypot((north - south) / 2, (east - west) / 2 * shrink) + SLACK


def _turned(segment: Edge) -> Iterator[Edge]:
    y1, x1, y2, x2 = segment
    for turn in TURNS:
        yield y1, x1 + turn, y2, x2 + turn


def _are_near(edge: Edge, other: Edge, north: float, east: float) -> bool:
    """Whether the boxes of two edges are within `north` and `east` degrees of each other."""
    y1, x1, y2, x2 = edge
    y3, x3, y4, x4 = other
    return (
        min(y1, y2) - north <= max(y3, y4)
        and min(y3, y4) - north <= max(y1, y2)
        and min(x1, x2) - east <= max(x3, x4)
        and min(x3, x4) - east <= max(x1, x2)
    )


def margins(latitude: float, metres: float) -> tuple[float, float]:
    """Return how far north and east of a point at this latitude one within a distance may be, in degrees.

    A metre more, since distances are rounded.
    """
    metres += SLACK
    north = metres / METRES_PER_DEGREE
    if abs(latitude) + north >= 90:
        return north, 180.0
    ratio = math.sin(math.radians(north)) / math.cos(math.radians(latitude))
    return north, math.degrees(math.asin(min(1.0, ratio)))


def _boxes_around(extent: tuple[float, float, float, float], metres: float) -> list[Box]:
    south, west, north, east = extent
    margin, width = margins(max(abs(south), abs(north)), metres)
    return boxes_between(south - margin, west - width, north + margin, east + width)
