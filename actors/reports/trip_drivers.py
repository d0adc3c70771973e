"""Who drove on trips (docs/drivers.md#who-drove)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from motorpool.actors.rules.assigned_drivers import assigned_driver
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import driver_assignments
from motorpool.storage.plain_tables import DRIVERS
from motorpool.storage.records import Driver


class Way(NamedTuple):
    """A trip, as far as its driver depends on it."""

    start: datetime
    end: datetime
    reported: str | None
    """The unique id of the driver, as the device reported it."""


class TripDriver(NamedTuple):
    """The driver of a trip as far as somebody may know; all None if unknown or not accessible."""

    driver_id: int | None
    unique_id: str | None
    """Also of drivers that are not accessible, if the device reported it."""
    name: str | None


NOBODY = TripDriver(None, None, None)


async def trip_drivers(
    q: Queries, device_id: int, ways: Sequence[Way], *, accessible_to: int | None
) -> list[TripDriver]:
    """Return who drove on trips of a device, as a user may know; None: as it is."""
    if not ways:
        return []
    assigned = await driver_assignments.overlapping(
        q, device_id, min(way.start for way in ways), max(way.end for way in ways)
    )
    by_hand = [assigned_driver(way.start, way.end, assigned) for way in ways]
    drivers = await _drivers(
        q,
        ids={number for number in by_hand if number is not None},
        unique_ids={
            way.reported for way, number in zip(ways, by_hand, strict=True) if number is None and way.reported
        },
        accessible_to=accessible_to,
    )
    by_id = {driver.id: driver for driver in drivers}
    by_unique_id = {driver.unique_id: driver for driver in drivers}
    found = []
    for way, number in zip(ways, by_hand, strict=True):
        driver = by_unique_id.get(way.reported or "") if number is None else by_id.get(number)
        if driver is not None:
            found.append(TripDriver(driver.id, driver.unique_id, driver.name))
        elif number is None and way.reported is not None:
            found.append(NOBODY._replace(unique_id=way.reported))
        else:
            found.append(NOBODY)
    return found


async def _drivers(
    q: Queries, *, ids: Iterable[int], unique_ids: Iterable[str], accessible_to: int | None
) -> list[Driver]:
    wanted = (sorted(ids), sorted(unique_ids))
    if not any(wanted):
        return []
    named = Condition("id = any({0}::bigint[]) or unique_id = any({1}::text[])", wanted)
    return await DRIVERS.list(q, ListQuery(accessible_to=accessible_to, conditions=(named,)))
