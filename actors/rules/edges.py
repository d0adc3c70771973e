"""Edges and boxes in degrees, across the antimeridian too: the parts of which areas are made."""

import math
from collections.abc import Iterator, Sequence

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
    y1, x1 = start
    y2, x2 = end
    if not -180 <= x2 - x1 <= 180:
        x2 = x1 + math.remainder(x2 - x1, 360)
    return y1, x1, y2, x2


def moved_near(edge: Edge, longitude: float) -> Edge:
    """Return the edge by as many turns of 360 degrees further that its middle is nearest to a longitude."""
    y1, x1, y2, x2 = edge
    turn = 360 * round((longitude - (x1 + x2) / 2) / 360)
    return (y1, x1 + turn, y2, x2 + turn)


def moved_home(edge: Edge) -> Edge:
    """Return the edge by as many turns of 360 degrees further that its middle is from -180 to 180 degrees."""
    return edge if -360 <= edge[1] + edge[3] <= 360 else moved_near(edge, 0.0)


def crosses(edge: Edge, other: Edge) -> bool:
    """Whether two edges have a point in common; their longitudes are not taken modulo 360."""
    y1, x1, y2, x2 = edge
    y3, x3, y4, x4 = other
    if (y1 < y3 and y1 < y4 and y2 < y3 and y2 < y4) or (y1 > y3 and y1 > y4 and y2 > y3 and y2 > y4):
        return False
    if (x1 < x3 and x1 < x4 and x2 < x3 and x2 < x4) or (x1 > x3 and x1 > x4 and x2 > x3 and x2 > x4):
        return False
    north, east = y2 - y1, x2 - x1
    side, other_side = north * (x3 - x1) - east * (y3 - y1), north * (x4 - x1) - east * (y4 - y1)
    if (side > 0 and other_side > 0) or (side < 0 and other_side < 0):
        return False
    north, east = y4 - y3, x4 - x3
    side, other_side = north * (x1 - x3) - east * (y1 - y3), north * (x2 - x3) - east * (y2 - y3)
    return not ((side > 0 and other_side > 0) or (side < 0 and other_side < 0))


def extent_of(edges: Sequence[Edge]) -> tuple[float, float, float, float]:
    """Return south, west, north and east of edges; longitudes are not limited to 180 degrees."""
    latitudes = [y for y1, _, y2, _ in edges for y in (y1, y2)]
    longitudes = [x for _, x1, _, x2 in edges for x in (x1, x2)]
    return min(latitudes), min(longitudes), max(latitudes), max(longitudes)


def boxes_between(south: float, west: float, north: float, east: float) -> list[Box]:
    """Return one box, or two where the span of longitudes passes the antimeridian."""
    south, west, north, east = south - _SLACK, west - _SLACK, north + _SLACK, east + _SLACK
    if west >= -180 and east <= 180:
        return [(south, west, north, east)]
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
        self.edges = edges
        self.extent = extent_of(edges)
        self._south, self._west, self._north, self._east = self.extent
        self._is_narrow = self._east - self._west < 180
        self._count = max(1, min(MAX_BANDS, len(edges) // EDGES_OF_A_BAND))
        self._height = (self._north - self._south) / self._count or 1.0
        bands: list[list[BoxedEdge]] = [[] for _ in range(self._count)]
        for edge in edges:
            y1, x1, y2, x2 = edge
            south, north = sorted((y1, y2))
            boxed = (south, north, min(x1, x2), max(x1, x2), edge)
            for band in range(self._band(south), self._band(north) + 1):
                bands[band].append(boxed)
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

    def count(self, south: float, north: float) -> int:
        """Return the number of edges that `near` returns for these latitudes."""
        if not (self._south <= north and south <= self._north):
            return 0
        return sum(map(len, self._bands[self._band(south) : self._band(north) + 1]))

    def meridians(self, longitude: float, margin: float) -> list[float]:
        """Return the equivalents of a longitude, 360 degrees apart, that the edges span within `margin`."""
        if self._is_narrow and margin < 90 and self._west - margin <= longitude <= self._east + margin:
            return [longitude]
        first = math.ceil((self._west - margin - longitude) / 360)
        last = math.floor((self._east + margin - longitude) / 360)
        return [longitude + 360 * turn for turn in range(first, last + 1)]

    def are_crossed(self, segment: Edge) -> bool:
        """Whether a segment, moved by any turns of 360 degrees, has a point in common with an edge."""
        y1, x1, y2, x2 = segment
        south, north = (y1, y2) if y1 < y2 else (y2, y1)
        west, east = (x1, x2) if x1 < x2 else (x2, x1)
        centre = (west + east) / 2
        near = self.near((south + north) / 2, (north - south) / 2)
        for x in self.meridians(centre, (east - west) / 2):
            turn = x - centre
            moved = (y1, x1 + turn, y2, x2 + turn)
            least, most = west + turn, east + turn
            for edge_south, edge_north, edge_west, edge_east, edge in near:
                if (
                    edge_south <= north
                    and edge_north >= south
                    and edge_west <= most
                    and edge_east >= least
                    and crosses(edge, moved)
                ):
                    return True
        return False

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
