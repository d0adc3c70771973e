"""Which of a set of geofences contain a point, and which a segment crosses (docs/geofences.md#index).

Few geofences are tested by their boxes one by one; many are found by an R-tree of the boxes. What the boxes
leave is tested exactly: few edges one by one, many in columns of numpy (`edge_columns`). Beside the tree, it
is remembered of small tiles of the earth which geofences contain all of them, and which are to be tested.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import compress
from math import floor, isfinite, nan
from typing import Final

import msgspec

from motorpool.actors.rules.area import read_area
from motorpool.actors.rules.area_shapes import CORRIDOR_METRES, Area, AreaError
from motorpool.actors.rules.edges import Box, boxes_between, edge_between
from motorpool.actors.rules.position_event import read_finite
from motorpool.storage.records import Geofence

Place = tuple[float, float, float]
"""Latitude and longitude in degrees, altitude in metres."""
LINEAR_BOXES: Final = 64
"""Most boxes that are tested one by one, which is faster than a query of the tree."""
CELLS_A_DEGREE: Final = 100
"""Cells of a degree; what the tree finds for a cell is remembered, as vehicles stay in one for a while."""
TILES_A_DEGREE: Final = 800
"""Tiles of a degree, 140 m from south to north: a vehicle stays in one for several positions."""
MAX_TILES: Final = 4096
"""Limit of the tiles that are remembered for one set of geofences."""
_TILES_IN_A_ROW: Final = 1 << 20
"""More than there are around the earth, so that row and column make one number."""
FEW_STEPS: Final = 128
"""Most edges of corridors that are tested one by one, which is faster than numpy."""
MAX_CELLS: Final = 4096
"""Limit of the cells that are remembered for one set of geofences."""


class IndexedGeofence(msgspec.Struct, frozen=True):
    """What the rules know of a geofence."""

    id: int
    area: Area
    floor: float | None = None
    """Metres of altitude below which nothing is inside; None: no limit."""
    ceiling: float | None = None
    """Metres of altitude above which nothing is inside; None: no limit."""
    speed_limit: float = 0.0
    """Knots; 0: none."""
    calendar_id: int = 0
    """0: none."""
    boxes: tuple[Box, ...] = ()
    """Boxes that together contain the area, from which they are set."""
    steps: int = 0
    """How much there is to be tested in all of the area, from which it is set."""

    def __post_init__(self) -> None:
        """Set what follows from the area once, and not for each index."""
        msgspec.structs.force_setattr(self, "boxes", tuple(self.area.boxes()))
        msgspec.structs.force_setattr(self, "steps", self.area.steps(-90, 90))

    def contains(self, latitude: float, longitude: float, altitude: float = 0.0) -> bool:
        """Whether the point lies in the area, and not below the floor or above the ceiling."""
        return bool(_containing((self,), latitude, longitude, altitude))

    def is_crossed(self, start: Place, end: Place) -> bool:
        """Whether the segment meets the geofence while neither of its ends lies in it.

        The segment is taken to be within floor and ceiling if a part of its span of altitudes is.
        """
        if not self.reaches(start[2], end[2]):
            return False
        meets = self.area.is_crossed(start[:2], end[:2])
        return meets and not self.contains(*start) and not self.contains(*end)

    @property
    def has_all_altitudes(self) -> bool:
        """Whether it has neither floor nor ceiling."""
        return self.floor is None and self.ceiling is None

    def reaches(self, altitude: float, other: float) -> bool:
        """Whether an altitude between these two is not below the floor or above the ceiling."""
        if self.floor is not None and altitude < self.floor and other < self.floor:
            return False
        return not (self.ceiling is not None and altitude > self.ceiling and other > self.ceiling)


def index_geofence(row: Geofence) -> IndexedGeofence | None:
    """Return what the rules know of a stored geofence; None if its area is invalid.

    An attribute that is not a number counts as absent, a negative distance or speed limit as 0.
    """
    attributes = row.attributes
    distance = read_finite(attributes.get("polylineDistance"))
    width = CORRIDOR_METRES if distance is None else max(0.0, distance)
    try:
        area = read_area(row.area, corridor_metres=width)
    except AreaError:
        return None
    return IndexedGeofence(
        id=row.id,
        area=area,
        floor=read_finite(attributes.get("floor")),
        ceiling=read_finite(attributes.get("ceiling")),
        speed_limit=max(0.0, read_finite(attributes.get("speedLimit")) or 0.0),
        calendar_id=row.calendar_id,
    )


class _Tile(msgspec.Struct, frozen=True, gc=False):
    """What is known of a small part of the earth."""

    south: float
    west: float
    north: float
    east: float
    inside: tuple[int, ...] = ()
    """The ids of the geofences that contain all of it, at any altitude; in ascending order."""
    near: tuple[IndexedGeofence, ...] = ()
    """Those that have to be tested: the others neither contain a point of it nor have an edge there."""


_UNSEEN: Final = _Tile(nan, nan, nan, nan)
_SEEN_ONCE: Final = _Tile(nan, nan, nan, nan)
"""What is remembered of a tile after one position there. It is examined at the second: many have only one."""


class GeofenceIndex:
    """A set of geofences, indexed by where they are. Immutable; made once for each set."""

    __slots__ = ("_boxes", "_geofences", "_tiles")

    def __init__(self, geofences: Iterable[IndexedGeofence] = ()) -> None:
        self._geofences = {geofence.id: geofence for geofence in geofences}
        boxes = [(box, geofence) for geofence in self._geofences.values() for box in geofence.boxes]
        self._boxes: _Boxes | None = None
        if boxes:
            self._boxes = _Boxes([box for box, _ in boxes], [geofence for _, geofence in boxes])
        self._tiles: dict[int, _Tile | None] | None = {} if len(boxes) > LINEAR_BOXES else None
        """By row and column; None of a tile: nothing is known, since too much would have to be tested."""

    def __len__(self) -> int:
        return len(self._geofences)

    def get(self, geofence_id: int) -> IndexedGeofence | None:
        """Return a geofence of the set by its id, None if it is not in it."""
        return self._geofences.get(geofence_id)

    def containing(self, latitude: float, longitude: float, altitude: float = 0.0) -> list[int]:
        """Return the ids of the geofences that contain a point, in ascending order.

        Degrees, and metres of altitude; [] if there are none, and for a point that is not on Earth.
        """
        if self._boxes is None or not -90 <= latitude <= 90:
            return []
        if not -180 <= longitude <= 180:
            if not isfinite(longitude):
                return []
            longitude = math.remainder(longitude, 360)
        if self._tiles is not None:
            tile = self._tile_at(latitude, longitude)
            if tile is not None:
                ids = [*tile.inside]
                if tile.near:
                    ids += [
                        each.id
                        for each in tile.near
                        if each.area.contains(latitude, longitude) and each.reaches(altitude, altitude)
                    ]
                    ids.sort()
                return ids
        found = self._boxes.meeting(latitude, longitude, latitude, longitude)
        if not found:
            return []
        # Each once: a geofence may have several boxes.
        near = {geofence.id: geofence for geofence in found}
        return sorted([each.id for each in _containing(near.values(), latitude, longitude, altitude)])

    def crossed(self, start: Place, end: Place, inside: Sequence[int] = ()) -> list[int]:
        """Return the ids of the geofences that a segment meets while neither of its ends is inside.

        In ascending order; [] if there are none. The segment goes the shorter way round the earth. `inside`
        are ids of geofences that contain an end, as far as they are known.
        """
        (y1, x1, z1), (y2, x2, z2) = start, end
        if self._boxes is None or not isfinite(y1 + x1 + z1 + y2 + x2 + z2):
            return []
        if self._tiles is not None:
            number = floor(y2 * TILES_A_DEGREE) * _TILES_IN_A_ROW + floor(x2 * TILES_A_DEGREE)
            tile = self._tiles.get(number)
            # The way between two positions mostly lies in one tile.
            if tile is not None and tile.south <= y1 < tile.north and tile.west <= x1 < tile.east:
                ids = [each.id for each in tile.near if each.id not in inside and each.is_crossed(start, end)]
                ids.sort()
                return ids
        y1, x1, y2, x2 = edge_between(start[:2], end[:2])
        south, north = (y1, y2) if y1 < y2 else (y2, y1)
        west, east = (x1, x2) if x1 < x2 else (x2, x1)
        found: dict[int, IndexedGeofence] = {}
        for box in boxes_between(south, west, north, east):
            for geofence in self._boxes.meeting(*box):
                if geofence.id not in inside:
                    found[geofence.id] = geofence
        if not found:
            return []
        return sorted([geofence.id for geofence in _crossed(found.values(), start, end)])

    def _tile_at(self, latitude: float, longitude: float) -> _Tile | None:
        """Return what is known of the tile of a point on Earth, in which there is a position now."""
        assert self._tiles is not None
        row, column = floor(latitude * TILES_A_DEGREE), floor(longitude * TILES_A_DEGREE)
        number = row * _TILES_IN_A_ROW + column
        # Some positions are processed in threads, which may clear the table at any moment.
        tile = self._tiles.get(number, _UNSEEN)
        if tile is _UNSEEN:
            if len(self._tiles) >= MAX_TILES:
                self._tiles.clear()
            self._tiles[number] = _SEEN_ONCE
            return None
        if tile is _SEEN_ONCE:
            tile = self._tiles[number] = self._examine(row, column)
        return tile

    def _examine(self, row: int, column: int) -> _Tile | None:
        """Return what is known of a tile; None if too much would have to be tested for that."""
        assert self._boxes is not None
        # A little wider than the tile, as its borders are rounded.
        south, west = (row - 0.01) / TILES_A_DEGREE, (column - 0.01) / TILES_A_DEGREE
        box = south, west, south + 1.02 / TILES_A_DEGREE, west + 1.02 / TILES_A_DEGREE
        found = {geofence.id: geofence for geofence in self._boxes.meeting(*box)}
        if len(found) > LINEAR_BOXES or _are_many(found.values(), south, box[2]):
            return None
        held = [(geofence, geofence.area.holds(box)) for geofence in found.values()]
        whole = [each.id for each, holds in held if holds and each.has_all_altitudes]
        near = [each for each, holds in held if holds is None or (holds and not each.has_all_altitudes)]
        return _Tile(*box, tuple(sorted(whole)), tuple(near))


def prepare(geofences: Collection[IndexedGeofence]) -> None:
    """Prepare geofences for indexes; in a thread, since areas with many edges and imports take long."""
    if sum(len(geofence.boxes) for geofence in geofences) > LINEAR_BOXES:
        import shapely  # noqa: F401, PLC0415
    large = [each.area for each in geofences if each.steps > FEW_STEPS]
    if large:
        from motorpool.actors.rules import edge_columns  # noqa: PLC0415

        for area in large:
            edge_columns.prepare(area)


def _containing(
    geofences: Collection[IndexedGeofence], latitude: float, longitude: float, altitude: float
) -> Collection[IndexedGeofence]:
    """Return those of the geofences that contain a point."""
    if not _are_many(geofences, latitude, latitude):
        return [
            each
            for each in geofences
            if each.area.contains(latitude, longitude) and each.reaches(altitude, altitude)
        ]
    from motorpool.actors.rules import edge_columns  # noqa: PLC0415 - imported where there are many edges

    level = [each for each in geofences if each.reaches(altitude, altitude)]
    held = edge_columns.which_contain([each.area for each in level], latitude, longitude)
    return list(compress(level, held))


def _crossed(geofences: Collection[IndexedGeofence], start: Place, end: Place) -> Collection[IndexedGeofence]:
    """Return those of the geofences that a segment meets while neither of its ends lies in them."""
    if not _are_many(geofences, min(start[0], end[0]), max(start[0], end[0])):
        return [each for each in geofences if each.is_crossed(start, end)]
    from motorpool.actors.rules import edge_columns  # noqa: PLC0415 - as above

    level = [each for each in geofences if each.reaches(start[2], end[2])]
    held = edge_columns.which_are_crossed([each.area for each in level], start[:2], end[:2])
    met = list(compress(level, held))
    ends = {each.id for place in (start, end) for each in _containing(met, *place)}
    return [each for each in met if each.id not in ends]


def _are_many(geofences: Collection[IndexedGeofence], south: float, north: float) -> bool:
    """Whether there is much to be tested for points between two latitudes."""
    # Bands of latitudes are only counted where all of them would be many.
    steps = 0
    for geofence in geofences:
        steps += geofence.steps
    if steps <= FEW_STEPS:
        return False
    steps = 0
    for geofence in geofences:
        steps += geofence.area.steps(south, north)
        if steps > FEW_STEPS:
            return True
    return False


_BoxedGeofence = tuple[Box, IndexedGeofence]


class _Boxes:
    """Boxes, each with its geofence, which may have several: few in a list, many in an R-tree."""

    def __init__(self, boxes: Sequence[Box], geofences: Sequence[IndexedGeofence]) -> None:
        self._boxes = boxes
        self._geofences = geofences
        self._few: list[_BoxedGeofence] | None = None
        """All of them, to be tested one by one; None: they are in the tree."""
        if len(boxes) <= LINEAR_BOXES:
            self._few = list(zip(boxes, geofences, strict=True))
            return
        # With numpy below it, its import takes a tenth of a second, which few servers need.
        import shapely  # noqa: PLC0415

        self._box = shapely.box
        south, west, north, east = zip(*boxes, strict=True)
        self._tree = shapely.STRtree(shapely.box(west, south, east, north))
        self._cells: dict[tuple[int, int], list[_BoxedGeofence] | None] = {}
        """The boxes that meet a cell; None: too many to be tested one by one."""

    def meeting(self, south: float, west: float, north: float, east: float) -> Sequence[IndexedGeofence]:
        """Return the geofences of the boxes that have a point in common with a box."""
        few = self._few
        if few is None:
            row = floor((south + north) * (CELLS_A_DEGREE / 2))
            column = floor((west + east) * (CELLS_A_DEGREE / 2))
            # The way between two positions mostly lies in one cell, or hardly out of it as tiles do.
            if (
                row - 0.005 < south * CELLS_A_DEGREE
                and column - 0.005 < west * CELLS_A_DEGREE
                and north * CELLS_A_DEGREE < row + 1.005
                and east * CELLS_A_DEGREE < column + 1.005
            ):
                # Some positions are processed in threads, which may clear the table at any moment.
                try:
                    few = self._cells[row, column]
                except KeyError:
                    few = self._remember((row, column))
            if few is None:
                geofences = self._geofences
                return [geofences[place] for place in self._query(south, west, north, east)]
        if not few:
            return ()
        return [
            geofence
            for (least_y, least_x, most_y, most_x), geofence in few
            if least_y <= north and most_y >= south and least_x <= east and most_x >= west
        ]

    def _query(self, south: float, west: float, north: float, east: float) -> list[int]:
        found: list[int] = self._tree.query(self._box(west, south, east, north)).tolist()
        return found

    def _remember(self, cell: tuple[int, int]) -> list[_BoxedGeofence] | None:
        # A little wider than the cell, as its borders are rounded.
        south, west = (cell[0] - 0.01) / CELLS_A_DEGREE, (cell[1] - 0.01) / CELLS_A_DEGREE
        size = 1.02 / CELLS_A_DEGREE
        places = self._query(south, west, south + size, west + size)
        few = None
        if len(places) <= LINEAR_BOXES:
            few = [(self._boxes[n], self._geofences[n]) for n in places]
        if len(self._cells) >= MAX_CELLS:
            self._cells.clear()
        self._cells[cell] = few
        return few


EMPTY: Final = GeofenceIndex()
"""No geofences."""
