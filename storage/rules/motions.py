"""When devices last started or stopped moving, of the events of motion."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.queries import Queries


class LastMotion(NamedTuple):
    """The last event of motion of a device."""

    device_id: int
    is_moving: bool
    since: datetime


_LAST = """
    select w.device_id, e.type = 'deviceMoving' as is_moving, e.event_time
    from unnest($1::bigint[]) as w (device_id)
    cross join lateral (
        select type, event_time from events
        where device_id = w.device_id and type in ('deviceMoving', 'deviceStopped')
        order by event_time desc, id desc limit 1
    ) e
    order by w.device_id
"""


async def last_motions(q: Queries, device_ids: Sequence[int]) -> list[LastMotion]:
    """Return the last motion of each device that has one, by device id."""
    return [LastMotion(row[0], row[1], row[2]) for row in await q.fetch(_LAST, list(device_ids))]
