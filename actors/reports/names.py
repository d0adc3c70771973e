"""Names and addresses that reports show beside their figures."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from motorpool.actors.geocoding.places import Point, read_places
from motorpool.actors.reports.sources import Sources, Viewer
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.database import Database
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.plain_tables import DRIVERS, GEOFENCES, MAINTENANCE
from motorpool.storage.records import Event, User


class AddressedPoint(Point, Protocol):
    """A position, or what is known of one, with its address if that is known."""

    @property
    def address(self) -> str | None:
        """The address stored with it."""


Visible = tuple[frozenset[int], frozenset[int]] | None
"""The geofences and the maintenance that a viewer may see; None: all."""


async def driver_names(database: Database, viewer: Viewer, unique_ids: Iterable[str]) -> dict[str, str]:
    """Return the names of drivers by their unique ids, of those that the viewer may see."""
    wanted = sorted(set(unique_ids))
    if not wanted:
        return {}
    query = ListQuery(
        accessible_to=viewer.sees_only,
        conditions=(Condition("unique_id = any({0}::text[])", (wanted,)),),
    )
    return {driver.unique_id: driver.name for driver in await DRIVERS.list(database, query)}


async def visible_ids(database: Database, user: User) -> Visible:
    """Return the geofences and the maintenance that a user may see."""
    if user.administrator:
        return None
    query = ListQuery(accessible_to=user.id)
    geofences = await GEOFENCES.ids(database, query)
    return frozenset(geofences), frozenset(await MAINTENANCE.ids(database, query))


def may_see(event: Event, visible: Visible) -> bool:
    """Return whether a viewer may see the geofence or the maintenance that an event is about."""
    if visible is None:
        return True
    geofences, maintenance = visible
    return (not event.geofence_id or event.geofence_id in geofences) and (
        not event.maintenance_id or event.maintenance_id in maintenance
    )


async def with_addresses(sources: Sources, points: Sequence[AddressedPoint]) -> list[str | None]:
    """Return the addresses of places: those stored with the positions, others from the geocoder."""
    found = [point.address for point in points]
    missing = [index for index, address in enumerate(found) if address is None]
    if missing and sources.addresses is not None:
        places = [(points[index].latitude, points[index].longitude) for index in missing]
        for index, address in zip(missing, await sources.addresses(places), strict=True):
            found[index] = address
    return found


async def in_words(
    sources: Sources, viewer: Viewer, points: Sequence[Point], addresses: Sequence[str | None]
) -> list[str | None]:
    """Return where points are, in words of the viewer; the geofences are those of the first call for them."""
    if viewer.places is None:
        viewer.places = await read_places(sources.database, viewer.user, viewer.preferences)
    return await viewer.places.in_words(points, addresses)
