"""Who drove a device in a span of time, as users have entered it by hand (docs/drivers.md#by-hand).

The spans of a device do not overlap: who adds or changes one holds a lock on the row of the device.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec

from motorpool.storage.accounts.access import sees_device
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table

MOST = 20_000
"""Assignments of one device: eleven a day for five years."""

_Instant = Annotated[datetime, msgspec.Meta(tz=True)]
_Id = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]


class DriverAssignment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A driver who drove a device in a span of time (docs/drivers.md#by-hand)."""

    id: int = 0
    device_id: _Id
    """The device; it cannot be changed."""
    driver_id: _Id
    """The driver."""
    start_time: _Instant
    """When the span begins."""
    end_time: _Instant
    """When it ends; this instant is no longer part of it."""


def _access(user_id: int) -> Condition:
    """Who sees both the device and the driver sees the assignment."""
    return Condition(
        f"{sees_device('{0}', 'driver_assignments.device_id')} and exists"
        " (select from user_driver where user_id = {0} and driver_id = driver_assignments.driver_id)",
        (user_id,),
    )


TABLE = Table(
    "driver_assignments",
    DriverAssignment,
    sort="start_time",
    keywords=(),
    access=_access,
    immutable=frozenset({"device_id"}),
)


async def overlapping(
    q: Queries, device_id: int, start: datetime, end: datetime, *, but: int = 0
) -> list[DriverAssignment]:
    """Return the assignments of a device that have an instant in common with [start, end), in order."""
    return await TABLE.select(
        q,
        "where device_id = $1 and start_time < $3 and end_time > $2 and id <> $4 order by start_time",
        device_id,
        start,
        end,
        but,
    )


async def of_devices(
    q: Queries, device_ids: Sequence[int], start: datetime, end: datetime
) -> list[DriverAssignment]:
    """Return the assignments of devices that have an instant in common with [start, end), in order."""
    return await TABLE.select(
        q,
        "where device_id = any($1::bigint[]) and start_time < $3 and end_time > $2 order by start_time, id",
        list(device_ids),
        start,
        end,
    )


async def count(q: Queries, device_id: int) -> int:
    """Return how many assignments a device has."""
    return await TABLE.count(q, Condition("device_id = {0}", (device_id,)))
