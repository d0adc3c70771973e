"""The tests of areas for many edges at once, in columns of numpy (docs/geofences.md#many-edges).

The results are those of `area_shapes`, which tests edge by edge and is faster for few. Numpy takes a tenth of
a second to import, so this module is imported where there are many.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from motorpool.actors.rules.area_shapes import (
    METRES_PER_DEGREE,
    SLACK,
    TURNS,
    Area,
    Circle,
    Corridor,
    Polygon,
)
from motorpool.actors.rules.distance import EARTH_RADIUS
from motorpool.actors.rules.edges import Bands, Edge, Point, edge_between, moved_home

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Truths = npt.NDArray[np.bool_]
Number = float | Floats
Edges = Floats | Edge | tuple[float, Floats, float, Floats]
"""A table, or a single edge, which may be moved differently for each of those that it is compared with."""

Y1, X1, Y2, X2, SOUTH, NORTH, WEST, EAST = range(8)
"""The rows of a table, which has a column for each edge."""

_tables: WeakKeyDictionary[Corridor | Bands, Floats] = WeakKeyDictionary()
"""The tables of those that were asked for."""


def table_of(edged: Corridor | Bands) -> Floats:
    """Return the edges of a corridor, or of a part of a polygon, as a table, which is made once."""
    table = _tables.get(edged)
    if table is None:
        table = _tables[edged] = _table(edged.edges)
    return table


def _table(edges: Sequence[Edge]) -> Floats:
    y1, x1, y2, x2 = np.array(edges, dtype=np.float64).T
    limits = np.minimum(y1, y2), np.maximum(y1, y2), np.minimum(x1, x2), np.maximum(x1, x2)
    return np.stack([y1, x1, y2, x2, *limits])


def prepare(area: Area) -> None:
    """Make the tables of an area, which takes a millisecond for 2,000 edges."""
    if isinstance(area, Polygon):
        for part in area.parts:
            table_of(part)
    elif isinstance(area, Corridor):
        table_of(area)


def which_contain(areas: Sequence[Area], latitude: float, longitude: float) -> list[bool]:
    """Return of each area whether it contains a point."""
    if not -180 <= longitude <= 180:
        longitude = math.remainder(longitude, 360)
    return _merged(
        areas,
        lambda lines: _within_reach_of_point(lines, latitude, longitude),
        lambda polygons: _around(polygons, latitude, longitude),
    )


def which_are_crossed(areas: Sequence[Area], start: Point, end: Point) -> list[bool]:
    """Return of each area whether a segment meets it; of a polygon, whether it meets one of its edges."""
    segment = edge_between(start, end)
    return _merged(
        areas,
        lambda lines: _within_reach_of_segment(lines, moved_home(segment)),
        lambda polygons: _with_edges_on(polygons, segment),
    )


def _merged(
    areas: Sequence[Area],
    test_lines: Callable[[list[Circle | Corridor]], Iterable[object]],
    test_polygons: Callable[[list[Polygon]], Iterable[object]],
) -> list[bool]:
    lines = [area for area in areas if not isinstance(area, Polygon)]
    polygons = [area for area in areas if isinstance(area, Polygon)]
    of_lines, of_polygons = (
        iter(test_lines(lines) if lines else ()),
        iter(test_polygons(polygons) if polygons else ()),
    )
    return [bool(next(of_polygons if isinstance(area, Polygon) else of_lines)) for area in areas]


class _Lines:
    """The edges of circles and corridors in one table, and how far the areas reach around a latitude."""

    def __init__(self, areas: Sequence[Circle | Corridor], latitude: float) -> None:
        corridors = [number for number, area in enumerate(areas) if isinstance(area, Corridor)]
        circles = [number for number, area in enumerate(areas) if isinstance(area, Circle)]
        tables = [table_of(area) for area in areas if isinstance(area, Corridor)]
        lengths = [table.shape[1] for table in tables]
        if circles:
            tables.append(_table([area.centre for area in areas if isinstance(area, Circle)]))
        self.table = np.concatenate(tables, axis=1) if len(tables) > 1 else tables[0]
        order = np.array(corridors + circles, dtype=np.intp)
        self.owner: Places = np.repeat(order, lengths + [1] * len(circles))
        """The index of the area of each edge."""
        metres = np.array([area.metres for area in areas])
        self.north, self.east, self.metres = np.stack([*_margins(latitude, metres), metres])[:, self.owner]

    def keep(self, kept: Truths) -> None:
        """Drop the other edges."""
        places = np.flatnonzero(kept)
        self.table, self.owner = self.table[:, places], self.owner[places]
        self.north, self.east, self.metres = self.north[places], self.east[places], self.metres[places]


def _within_reach_of_point(areas: Sequence[Circle | Corridor], y: float, x: float) -> Truths:
    found = np.zeros(len(areas), dtype=np.bool_)
    lines = _Lines(areas, abs(y))
    lines.keep((lines.table[SOUTH] - lines.north <= y) & (y <= lines.table[NORTH] + lines.north))
    for turn in TURNS:
        moved = x + turn
        table, east = lines.table, lines.east
        near = np.flatnonzero((table[WEST] - east <= moved) & (moved <= table[EAST] + east))
        if not near.size:
            continue
        edges = table[:, near]
        rise, run = edges[Y2] - edges[Y1], edges[X2] - edges[X1]
        # What passes the box around the point on one side is not within reach.
        side = rise * (moved - edges[X1]) - run * (y - edges[Y1])
        close = np.abs(side) <= np.abs(rise) * east[near] + np.abs(run) * lines.north[near]
        near = near[close]
        held = _metres_to(edges[:, close], y, moved) <= lines.metres[near]
        found[lines.owner[near[held]]] = True
    return found


def _within_reach_of_segment(areas: Sequence[Circle | Corridor], segment: Edge) -> Truths:
    found = np.zeros(len(areas), dtype=np.bool_)
    y1, x1, y2, x2 = segment
    south, north, west, east = min(y1, y2), max(y1, y2), min(x1, x2), max(x1, x2)
    lines = _Lines(areas, max(abs(y1), abs(y2)))
    lines.keep((lines.table[SOUTH] - lines.north <= north) & (south <= lines.table[NORTH] + lines.north))
    for turn in TURNS:
        near = np.flatnonzero(
            (lines.table[WEST] - lines.east <= east + turn) & (west + turn <= lines.table[EAST] + lines.east)
        )
        if not near.size:
            continue
        moved = (y1, x1 + turn, y2, x2 + turn)
        edges, margin = lines.table[:, near], (lines.north[near], lines.east[near])
        near = near[~(_is_beside(edges, moved, margin) | _is_beside(moved, edges, margin))]
        edges, metres = lines.table[:, near], lines.metres[near]
        held = (
            _cross(edges, moved)
            | (_metres_to(edges, moved[0], moved[1]) <= metres)
            | (_metres_to(edges, moved[2], moved[3]) <= metres)
            | (_metres_to(moved, edges[Y1], edges[X1]) <= metres)
            | (_metres_to(moved, edges[Y2], edges[X2]) <= metres)
        )
        found[lines.owner[near[held]]] = True
    return found


def _margins(latitude: float, metres: Floats) -> tuple[Floats, Floats]:
    """Return how far north and east a point within a distance may be: as `margins`."""
    north = (metres + SLACK) / METRES_PER_DEGREE
    ratio = np.sin(np.radians(north)) / math.cos(math.radians(latitude))
    east = np.degrees(np.arcsin(np.minimum(1.0, ratio)))
    return north, np.where(abs(latitude) + north >= 90, 180.0, east)


def _is_beside(line: Edges, other: Edges, margin: tuple[Floats, Floats]) -> Truths:
    """Whether boxes with these margins north and east, around all points of `other`, are beside `line`."""
    y1, x1, y2, x2 = line[:4]
    rise, run = y2 - y1, x2 - x1
    limit = np.abs(rise) * margin[1] + np.abs(run) * margin[0]
    first = rise * (other[X1] - x1) - run * (other[Y1] - y1)
    second = rise * (other[X2] - x1) - run * (other[Y2] - y1)
    beside: Truths = (np.minimum(first, second) > limit) | (np.maximum(first, second) < -limit)
    return beside


def _around(polygons: Sequence[Polygon], y: float, x: float) -> list[bool]:
    """Whether a point lies in polygons: as `Polygon.contains`."""
    asked = [
        (number, place, part, meridian)
        for number, polygon in enumerate(polygons)
        for place, part in enumerate(polygon.parts)
        for meridian in part.meridians(x, 0.0)
    ]
    found = [False] * len(polygons)
    if not asked:
        return found
    table, task = _joined([part for _, _, part, _ in asked])
    edges = np.flatnonzero((table[SOUTH] <= y) & (y < table[NORTH]))
    table, task = table[:, edges], task[edges]
    meridians = np.array([meridian for *_, meridian in asked])[task]
    rise, run = table[Y2] - table[Y1], table[X2] - table[X1]
    is_east = meridians < table[X1] + (y - table[Y1]) * run / rise
    odd = np.bincount(task[is_east], minlength=len(asked)) % 2 == 1
    inside = {(number, place) for (number, place, _, _), is_odd in zip(asked, odd, strict=True) if is_odd}
    for number, _ in inside:
        found[number] = not found[number]
    return found


def _with_edges_on(polygons: Sequence[Polygon], segment: Edge) -> list[bool]:
    """Whether a segment meets an edge of polygons: as `Bands.are_crossed`."""
    y1, x1, y2, x2 = segment
    west, east = min(x1, x2), max(x1, x2)
    centre = (west + east) / 2
    asked = [
        (number, part, meridian - centre)
        for number, polygon in enumerate(polygons)
        for part in polygon.parts
        for meridian in part.meridians(centre, (east - west) / 2)
    ]
    found = [False] * len(polygons)
    if not asked:
        return found
    table, task = _joined([part for _, part, _ in asked])
    turns = np.array([turn for *_, turn in asked])[task]
    near = np.flatnonzero(
        (table[SOUTH] <= max(y1, y2))
        & (table[NORTH] >= min(y1, y2))
        & (table[WEST] <= east + turns)
        & (table[EAST] >= west + turns)
    )
    table, task, turns = table[:, near], task[near], turns[near]
    for place in np.unique(task[_cross(table, (y1, x1 + turns, y2, x2 + turns))]).tolist():
        found[asked[place][0]] = True
    return found


def _joined(parts: Sequence[Bands]) -> tuple[Floats, Places]:
    """Return the edges of all parts in one table, and the index of the part of each."""
    tables = [table_of(part) for part in parts]
    task: Places = np.repeat(np.arange(len(parts)), [table.shape[1] for table in tables])
    return (np.concatenate(tables, axis=1) if len(tables) > 1 else tables[0]), task


def _cross(edges: Floats, segment: Edges) -> Truths:
    """Whether edges have a point in common with a segment: as `edges.crosses`."""
    y3, x3, y4, x4 = segment[:4]
    rise, run = edges[Y2] - edges[Y1], edges[X2] - edges[X1]
    first = rise * (x3 - edges[X1]) - run * (y3 - edges[Y1])
    second = rise * (x4 - edges[X1]) - run * (y4 - edges[Y1])
    apart = (np.minimum(first, second) > 0) | (np.maximum(first, second) < 0)
    rise, run = y4 - y3, x4 - x3
    first = rise * (edges[X1] - x3) - run * (edges[Y1] - y3)
    second = rise * (edges[X2] - x3) - run * (edges[Y2] - y3)
    apart |= (np.minimum(first, second) > 0) | (np.maximum(first, second) < 0)
    apart |= (edges[SOUTH] > max(y3, y4)) | (edges[NORTH] < min(y3, y4))
    apart |= (edges[WEST] > np.maximum(x3, x4)) | (edges[EAST] < np.minimum(x3, x4))
    crossed: Truths = ~apart
    return crossed


def _metres_to(edges: Edges, y: Number, x: Number) -> Floats:
    """Return the metres from points to edges, one of which may be a single one: as `_metres_to_edge`."""
    y1, x1, y2, x2 = edges[:4]
    shrink = np.cos(np.radians(y))
    north, east = y2 - y1, (x2 - x1) * shrink
    length = north * north + east * east
    along = ((y - y1) * north + (x - x1) * shrink * east) / np.where(length, length, 1.0)
    along = np.minimum(1.0, np.maximum(0.0, along))
    phi, to_phi = np.radians(y), np.radians(y1 + (y2 - y1) * along)
    across = np.sin((to_phi - phi) / 2) ** 2
    across += np.cos(phi) * np.cos(to_phi) * np.sin(np.radians(x1 + (x2 - x1) * along - x) / 2) ** 2
    metres: Floats = 2 * EARTH_RADIUS * np.arcsin(np.minimum(1.0, np.sqrt(across)))
    return metres
