"""What events of drivers' hours are made from: when devices drove, who was reported, and what is settled."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.queries import Queries

MARKS = "driverHours."
"""How the types of marks begin that say which limits of a driver have had their event."""
MOTIONS = frozenset({"deviceMoving", "deviceStopped"})


class Motion(NamedTuple):
    """A device started or stopped."""

    device_id: int
    is_moving: bool
    time: datetime
    reported: str | None
    """The unique id of the driver whom the device reported there."""


_MOTIONS = """
    select e.device_id, e.type = 'deviceMoving', e.event_time, p.attributes ->> 'driverUniqueId'
    from events e left join positions p
        on p.id = e.position_id and p.device_id = e.device_id and p.fix_time = e.event_time
    where e.device_id = any($1::bigint[]) and e.event_time >= $2
        and e.type in ('deviceMoving', 'deviceStopped')
    order by e.device_id, e.event_time, e.id
"""


async def motions(q: Queries, device_ids: Sequence[int], since: datetime) -> list[Motion]:
    """Return the starts and stops of devices, by device and time."""
    return [Motion(*row.values()) for row in await q.fetch(_MOTIONS, list(device_ids), since)]


async def moved_since(q: Queries, since: datetime) -> list[int]:
    """Return the devices that started or stopped since an instant, in order."""
    rows = await q.fetch(
        "select distinct device_id from events where event_time >= $1"
        " and type in ('deviceMoving', 'deviceStopped') order by device_id",
        since,
    )
    return [row[0] for row in rows]


async def marks(q: Queries, driver_ids: Sequence[int]) -> dict[tuple[str, int], datetime]:
    """Return the marks by type and driver; those of all other drivers are removed."""
    await q.execute(
        "delete from timed_event_marks where starts_with(type, $1) and subject_id <> all($2::bigint[])",
        MARKS,
        list(driver_ids),
    )
    rows = await q.fetch(
        "select type, subject_id, fired_until from timed_event_marks where starts_with(type, $1)", MARKS
    )
    return {(row[0], row[1]): row[2] for row in rows}
