"""Where something is, in words (docs/reports.md#places)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Protocol

import msgspec
import trio

from motorpool.actors.geocoding.towns import Towns, read_towns
from motorpool.actors.rules.geofence_index import GeofenceIndex, index_geofence, prepare
from motorpool.actors.words.catalog import catalog_of
from motorpool.actors.words.preferences import Preferences
from motorpool.actors.words.printable import printable_line
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.database import Database
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.plain_tables import GEOFENCES
from motorpool.storage.records import Geofence, User

AT_ONCE: Final = 100
"""Places after which others get their turn: 10 ms at most."""
POINTS_OF_THE_COMPASS: Final = 8
STEPS: Final = 1000
"""In a degree, to which a place is rounded before its town is looked up: within 80 m towns are the same."""
MOST_REMEMBERED: Final = 10_000
"""Places near towns that one reader's report remembers: 3 MB."""


class Point(Protocol):
    """A position, or what is known of one."""

    @property
    def latitude(self) -> float:
        """Degrees, north positive."""

    @property
    def longitude(self) -> float:
        """Degrees, east positive."""


def smallest_first(rows: Collection[Geofence]) -> list[Geofence]:
    """Return geofences by their areas; those whose area is invalid are left out. To be called in a thread."""
    sizes = {row.id: geofence.area.square_metres for row in rows if (geofence := index_geofence(row))}
    return sorted((row for row in rows if row.id in sizes), key=lambda row: (sizes[row.id], row.id))


def zone_middles(rows: Iterable[Geofence]) -> Iterator[tuple[Geofence, tuple[float, float]]]:
    """Yield geofences with the middle of what surrounds them, as latitude and longitude in degrees.

    Those whose area is invalid are left out. To be called in a thread.
    """
    for row in rows:
        geofence = index_geofence(row)
        if geofence is None or not geofence.boxes:
            continue
        # There are two at the antimeridian.
        south, west, north, east = max(geofence.boxes, key=lambda box: (box[3] - box[1], box))
        yield row, ((south + north) / 2, (west + east) / 2)


class Zones:
    """The names of geofences by where they are."""

    def __init__(self, rows: Iterable[Geofence] = ()) -> None:
        known = [(row.name, geofence) for row in rows if (geofence := index_geofence(row)) is not None]
        # A place has the same name at any altitude.
        flat = [msgspec.structs.replace(each, floor=None, ceiling=None) for _, each in known]
        prepare(flat)
        self._index = GeofenceIndex(flat)
        self._names = {geofence.id: name for name, geofence in known}
        self._sizes = {geofence.id: (geofence.area.square_metres, geofence.id) for _, geofence in known}

    def name_at(self, latitude: float, longitude: float) -> str | None:
        """Return the name of the smallest geofence that contains a place; None: there is none."""
        if not self._names:
            return None
        found = [each for each in self._index.containing(latitude, longitude) if self._names[each].strip()]
        return self._names[min(found, key=self._sizes.__getitem__)] if found else None


def near_town(point: Point, towns: Towns, preferences: Preferences) -> str | None:
    """Return the town that a point is in, else the nearest one as in "Potsdam, 3 km NE"; None if unknown."""
    if not point.latitude and not point.longitude:
        return None
    town = towns.nearest(*_roughly(point))
    if town is None:
        return None
    if not town.metres:
        return town.name
    words = catalog_of(preferences.language)
    unit = preferences.distance
    turn = 360 / POINTS_OF_THE_COMPASS
    return words.near_town.format(
        town=town.name,
        distance=f"{max(1, round(town.metres * unit.per_base))} {unit.symbol}",
        direction=words.directions[round(town.bearing / turn) % POINTS_OF_THE_COMPASS],
    )


def _roughly(point: Point) -> tuple[float, float]:
    """Return the latitude and longitude by which a town is looked up."""
    return round(point.latitude * STEPS) / STEPS, round(point.longitude * STEPS) / STEPS


class Places:
    """Says where points are, to one reader."""

    def __init__(self, zones: Zones, towns: Towns, preferences: Preferences) -> None:
        self._zones = zones
        self._towns = towns
        self._preferences = preferences
        self._near_towns: dict[tuple[float, float], str | None] = {}

    async def in_words(self, points: Sequence[Point], addresses: Sequence[str | None]) -> list[str | None]:
        """Return where points are, some at a time."""
        found = []
        for number, (point, address) in enumerate(zip(points, addresses, strict=True), 1):
            found.append(self.place_in_words(point, address))
            if number % AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
        return found

    def place_in_words(self, point: Point, address: str | None) -> str | None:
        """Return where a point is: its zone, else its address, else the town it is in or near.

        None where nothing is known, as of a device that never had a fix.
        """
        latitude, longitude = point.latitude, point.longitude
        if not latitude and not longitude:
            return address
        zone = self._zones.name_at(latitude, longitude)
        if known := (zone and printable_line(zone)) or address:
            return known
        place = _roughly(point)
        if place not in self._near_towns:
            # Vehicles return to few places.
            if len(self._near_towns) >= MOST_REMEMBERED:
                self._near_towns.clear()
            self._near_towns[place] = near_town(point, self._towns, self._preferences)
        return self._near_towns[place]


async def read_places(
    database: Database, user: User, preferences: Preferences, *, among: Collection[int] | None = None
) -> Places:
    """Return the places of a user, with the geofences that they may see now. May raise StorageError.

    Of the geofences only those `among` these ids are looked at; None: all.
    """
    query = ListQuery(
        accessible_to=None if user.administrator else user.id,
        conditions=() if among is None else (Condition("id = any({0}::bigint[])", (sorted(among),)),),
    )
    rows = await GEOFENCES.list(database, query)
    zones = await trio.to_thread.run_sync(Zones, rows)
    towns = await trio.to_thread.run_sync(read_towns)
    return Places(zones, towns, preferences)
