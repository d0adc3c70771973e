"""Names and addresses that reports show beside their figures."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from motorpool.actors.reports.sources import Sources, Viewer
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.database import Database
from motorpool.storage.database.tables import ListQuery, Table
from motorpool.storage.plain_tables import DRIVERS, GEOFENCES, MAINTENANCE
from motorpool.storage.records import Geofence, Maintenance

Visible = tuple[frozenset[int], frozenset[int]] | None
"""The geofences and the maintenance that a viewer may see; None: all."""


class Place(Protocol):
    """A place, and its address if that is stored."""

    @property
    def latitude(self) -> float:
        """Degrees, north positive."""

    @property
    def longitude(self) -> float:
        """Degrees, east positive."""

    @property
    def address(self) -> str | None:
        """None if none is stored."""


async def driver_names(database: Database, viewer: Viewer, unique_ids: Iterable[str]) -> dict[str, str]:
    """Return the names of drivers by their unique ids, of those that the viewer may see."""
    wanted = sorted(set(unique_ids))
    if not wanted:
        return {}
    query = ListQuery(
        accessible_to=None if viewer.user.administrator else viewer.user.id,
        conditions=(Condition("unique_id = any({0}::text[])", (wanted,)),),
    )
    return {driver.unique_id: driver.name for driver in await DRIVERS.list(database, query)}


async def visible_ids(database: Database, viewer: Viewer) -> Visible:
    """Return the geofences and the maintenance that the viewer may see."""
    if viewer.user.administrator:
        return None
    query = ListQuery(accessible_to=viewer.user.id)
    geofences = await GEOFENCES.ids(database, query)
    return frozenset(geofences), frozenset(await MAINTENANCE.ids(database, query))


async def with_addresses(sources: Sources, points: Sequence[Place]) -> list[str | None]:
    """Return the addresses of places: those stored with the positions, others from the geocoder."""
    found = [point.address for point in points]
    missing = [index for index, address in enumerate(found) if address is None]
    if missing and sources.addresses is not None:
        places = [(points[index].latitude, points[index].longitude) for index in missing]
        for index, address in zip(missing, await sources.addresses(places), strict=True):
            found[index] = address
    return found


async def names_by_id(
    database: Database, table: Table[Geofence] | Table[Maintenance], ids: Iterable[int]
) -> dict[int, str]:
    """Return the names of rows by their ids."""
    return {row.id: row.name for row in await table.fetch_many(database, sorted(set(ids) - {0}))}
