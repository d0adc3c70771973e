"""The towns of the world, and which of them a place is at or near (docs/decisions/0320-places-in-words.md).

The list is written when the console is built (api/console/world/build.mjs) from GeoNames, CC BY 4.0.
"""

import gzip
import heapq
import math
import unicodedata
from bisect import bisect_left
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import msgspec

from motorpool.actors.rules.distance import EARTH_RADIUS, great_circle

FILE: Final = Path(__file__).with_name("towns.json.gz")
PEOPLE_A_SQUARE_METRE: Final = 0.01
"""How densely the core of a town is taken to be settled, which gives its radius: 2 km for 140,000 people."""
LEAST_RADIUS: Final = 1000.0
"""Metres: who is this close to the centre of a town is in it, however few people live there."""
NEAR_DEGREES: Final = 1.0
"""Towns within this distance are looked for first; more than the radius of any."""


class TownColumns(msgspec.Struct, frozen=True):
    """The towns from south to north, as columns of equal length."""

    name: list[str]
    population: list[int]
    latitude: list[float]
    """Degrees, north positive; ascending."""
    longitude: list[float]
    """Degrees, east positive."""
    country: list[str] = []
    """Codes of two letters."""


class FoundTown(msgspec.Struct, frozen=True):
    """A town that was found by its name."""

    name: str
    country: str
    """Code of two letters; empty: not known."""
    latitude: float
    """Degrees, north positive."""
    longitude: float
    """Degrees, east positive."""


class NearTown(msgspec.Struct, frozen=True):
    """The town that a place is in, or else the nearest one."""

    name: str
    metres: float
    """From the centre of the town; 0: the place is in it."""
    bearing: float
    """Direction from there to the place: degrees from north, clockwise, from 0 to 360."""


class Towns:
    """Finds towns by where they are. Immutable, and safe to be used by threads."""

    def __init__(self, columns: TownColumns) -> None:
        # With numpy its import takes a tenth of a second, which servers that show no places do not need.
        import numpy  # noqa: PLC0415 - see above

        self._numpy = numpy
        self._columns = columns
        self._names = columns.name
        self._latitudes = numpy.radians(numpy.array(columns.latitude, dtype=float))
        self._longitudes = numpy.radians(numpy.array(columns.longitude, dtype=float))
        across = numpy.cos(self._latitudes)
        self._directions = numpy.column_stack(
            (
                across * numpy.cos(self._longitudes),
                across * numpy.sin(self._longitudes),
                numpy.sin(self._latitudes),
            )
        )
        """Unit vectors from the centre of the earth, which know neither poles nor an antimeridian."""
        people = numpy.array(columns.population, dtype=float)
        metres = numpy.maximum(LEAST_RADIUS, numpy.sqrt(people / PEOPLE_A_SQUARE_METRE / math.pi))
        self._radii = metres / EARTH_RADIUS
        self._within = numpy.cos(self._radii)
        """Cosine of the radius: the direction to a place in the town has a larger one."""

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def _by_name(self) -> list[tuple[str, int]]:
        """Names as `fold` writes them, with the numbers of their towns, in order."""
        return sorted((fold(name), number) for number, name in enumerate(self._names))

    def search(self, keyword: str, limit: int, near: tuple[float, float] | None = None) -> list[FoundTown]:
        """Return towns whose name begins with the keyword, accents and case aside; to be called in a thread.

        Those that are called so come first, then those nearest to a place in degrees, else the largest.
        """
        wanted = fold(keyword)
        if not wanted:
            return []
        first = bisect_left(self._by_name, (wanted, -1))
        end = bisect_left(self._by_name, (wanted + "\U0010ffff", -1))
        columns = self._columns

        def order(found: tuple[str, int]) -> tuple[bool, float]:
            name, number = found
            if near is None:
                return name != wanted, -columns.population[number]
            away = great_circle(*near, columns.latitude[number], columns.longitude[number])
            return name != wanted, away

        best = heapq.nsmallest(limit, self._by_name[first:end], key=order)
        return [
            FoundTown(
                columns.name[number],
                columns.country[number] if columns.country else "",
                columns.latitude[number],
                columns.longitude[number],
            )
            for _, number in best
        ]

    def nearest(self, latitude: float, longitude: float) -> NearTown | None:
        """Return the town that a place in degrees is in, else the nearest one; None without any.

        Of several towns that the place is in it is the one to whose centre it is nearest, by their radii.
        """
        if not self._names or not (-90 <= latitude <= 90 and math.isfinite(longitude)):
            return None
        phi, theta = math.radians(latitude), math.radians(longitude)
        across = math.cos(phi)
        place = self._numpy.array((across * math.cos(theta), across * math.sin(theta), math.sin(phi)))
        near = math.radians(NEAR_DEGREES)
        # What is no further than this lies between two parallels.
        first, end = (int(each) for each in self._latitudes.searchsorted((phi - near, phi + near)))
        cosines = self._directions[first:end] @ place
        (inside,) = (cosines >= self._within[first:end]).nonzero()
        if inside.size:
            shares = [math.acos(min(1.0, cosines[at])) / self._radii[first + at] for at in inside]
            return NearTown(self._names[first + int(inside[shares.index(min(shares))])], 0.0, 0.0)
        found = int(cosines.argmax()) if first < end else -1
        if found < 0 or cosines[found] < math.cos(near):
            first, cosines = 0, self._directions @ place
            found = int(cosines.argmax())
        angle = math.acos(max(-1.0, min(1.0, float(cosines[found]))))
        found += first
        bearing = _bearing(float(self._latitudes[found]), float(self._longitudes[found]), phi, theta)
        return NearTown(self._names[found], angle * EARTH_RADIUS, bearing)


def fold(text: str) -> str:
    """Return a name without accents, in lower case, with single spaces."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(each for each in parts if not unicodedata.combining(each)).split())


def _bearing(phi: float, theta: float, to_phi: float, to_theta: float) -> float:
    """Return the direction in which the great circle from one point to another begins; all in radians."""
    turn = to_theta - theta
    east = math.sin(turn) * math.cos(to_phi)
    north = math.cos(phi) * math.sin(to_phi) - math.sin(phi) * math.cos(to_phi) * math.cos(turn)
    return math.degrees(math.atan2(east, north)) % 360


@cache
def read_towns(path: Path = FILE) -> Towns:
    """Return the towns of a file, once read; none if there is no file, as in a server without a console.

    To be called in a thread: the first call takes some tenths of a second.
    """
    try:
        content = gzip.decompress(path.read_bytes())
    except FileNotFoundError:
        return Towns(TownColumns([], [], [], []))
    return Towns(msgspec.json.decode(content, type=TownColumns))
