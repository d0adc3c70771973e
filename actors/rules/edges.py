"""Edges and boxes in degrees, across the antimeridian too: the parts of which areas are made."""

import math
from collections.abc import Iterator, Sequence

__all__ = [
    "Bands",
    "Box",
    "BoxedEdge",
    "Edge",
    "Point",
    "boxes_between",
    "crosses",
    "edge_between",
    "extent_of",
    "moved_near",
]

Point = tuple[float, float]
"""Latitude and longitude in degrees."""
Edge = tuple[float, float, float, float]
"""Start and end, latitude first; longitudes continue past 180, so that no edge wraps around."""
BoxedEdge = tuple[float, float, float, float, Edge]
"""South, north, west and east of an edge, and the edge."""
Box = tuple[float, float, float, float]
"""South, west, north and east in degrees; longitudes from -180 to 180, west is not above east."""

MAX_BANDS = 64
"""Limit of the bands of latitude by which edges are indexed."""
EDGES_OF_A_BAND = 16
"""Edges for which there is one band, on average; to look at so many is as fast as to find the band."""
_SLACK = 1e-9
"""Degrees by which boxes are wider than asked for, so that rounding leaves nothing outside: 0.1 mm."""


def edge_between(start: Point, end: Point) -> Edge:
    """Return the edge from one point to the next, the shorter way round the earth."""
    step = end[1] - start[1]
    if abs(step) > 180:
        step = math.remainder(step, 360)
    return (*start, end[0], start[1] + step)


def moved_near(edge: Edge, longitude: float) -> Edge:
    """Return the edge by as many turns of 360 degrees further that its middle is nearest to a longitude."""
    y1, x1, y2, x2 = edge
    turn = 360 * round((longitude - (x1 + x2) / 2) / 360)
    return (y1, x1 + turn, y2, x2 + turn)


def crosses(edge: Edge, other: Edge) -> bool:
    """Whether two edges have a point in common; their longitudes are not taken modulo 360."""
    a, b, c, d = edge[:2], edge[2:], other[:2], other[2:]
    if max(a[0], b[0]) < min(c[0], d[0]) or max(c[0], d[0]) < min(a[0], b[0]):
        return False
    if max(a[1], b[1]) < min(c[1], d[1]) or max(c[1], d[1]) < min(a[1], b[1]):
        return False
    return _side(a, b, c) * _side(a, b, d) <= 0 and _side(c, d, a) * _side(c, d, b) <= 0


def _side(a: Point, b: Point, point: Point) -> float:
    turn = (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
    return (turn > 0) - (turn < 0)


def extent_of(edges: Sequence[Edge]) -> tuple[float, float, float, float]:
    """Return south, west, north and east of edges; longitudes are not limited to 180 degrees."""
    latitudes = [y for y1, _, y2, _ in edges for y in (y1, y2)]
    longitudes = [x for _, x1, _, x2 in edges for x in (x1, x2)]
    return min(latitudes), min(longitudes), max(latitudes), max(longitudes)


def boxes_between(south: float, west: float, north: float, east: float) -> list[Box]:
    """Return one box, or two where the span of longitudes passes the antimeridian."""
    south, west, north, east = south - _SLACK, west - _SLACK, north + _SLACK, east + _SLACK
    if east - west >= 360:
        return [(south, -180.0, north, 180.0)]
    turn = 360 * math.floor((west + 180) / 360)
    west, east = west - turn, east - turn
    if east <= 180:
        return [(south, west, north, east)]
    return [(south, west, north, 180.0), (south, -180.0, north, east - 360)]


class Bands:
    """Edges indexed by bands of latitude, so that a test looks at few of them."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.extent = extent_of(edges)
        self._south, self._west, self._north, self._east = self.extent
        self._is_narrow = self._east - self._west < 180
        self._count = max(1, min(MAX_BANDS, len(edges) // EDGES_OF_A_BAND))
        self._height = (self._north - self._south) / self._count or 1.0
        bands: list[list[BoxedEdge]] = [[] for _ in range(self._count)]
        for edge in edges:
            y1, x1, y2, x2 = edge
            south, north = sorted((y1, y2))
            for band in range(self._band(south), self._band(north) + 1):
                bands[band].append((south, north, min(x1, x2), max(x1, x2), edge))
        self._bands = tuple(tuple(band) for band in bands)

    def near(self, latitude: float, margin: float) -> Sequence[BoxedEdge]:
        """Return edges, among them all within `margin` degrees of a latitude; some may be there twice."""
        if not self._south - margin <= latitude <= self._north + margin:
            return ()
        if self._count == 1:
            return self._bands[0]
        first, last = self._band(latitude - margin), self._band(latitude + margin)
        if first == last:
            return self._bands[first]
        return [each for band in self._bands[first : last + 1] for each in band]

    def meridians(self, longitude: float, margin: float) -> list[float]:
        """Return the equivalents of a longitude, 360 degrees apart, that the edges span within `margin`."""
        if self._is_narrow and margin < 90 and self._west - margin <= longitude <= self._east + margin:
            return [longitude]
        first = math.ceil((self._west - margin - longitude) / 360)
        last = math.floor((self._east + margin - longitude) / 360)
        return [longitude + 360 * turn for turn in range(first, last + 1)]

    def pairs(self, segment: Edge, north: float = 0.0, east: float = 0.0) -> Iterator[tuple[Edge, Edge]]:
        """Yield the edges whose box is within `north` and `east` degrees of that of a segment.

        Each comes with the segment, moved by turns of 360 degrees to where that is so.
        """
        y1, x1, y2, x2 = segment
        middle, height = (y1 + y2) / 2, abs(y2 - y1) / 2 + north
        centre, width = (x1 + x2) / 2, abs(x2 - x1) / 2 + east
        for x in self.meridians(centre, width):
            moved = (y1, x1 + x - centre, y2, x2 + x - centre)
            for least_y, most_y, least_x, most_x, edge in self.near(middle, height):
                if least_y - height <= middle <= most_y + height and least_x - width <= x <= most_x + width:
                    yield edge, moved

    def _band(self, latitude: float) -> int:
        # Clamped before int(): the quotient is infinite where the bands are denormally narrow.
        return int(min(self._count - 1.0, max(0.0, (latitude - self._south) / self._height)))
