"""Input of a replay of stored positions, and the events that it is compared with."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import positions
from motorpool.storage.events import events
from motorpool.storage.records import Event, Position
from motorpool.storage.rules.fold_rows import Motion


class StoredEvent(NamedTuple):
    """An event, and the time of the device's clock in its position."""

    event: Event
    device_time: datetime


_EVENTS = f"""
    select {events.TABLE.select_list(of="e")}, p.device_time from events e
    join positions p on p.id = e.position_id and p.device_id = e.device_id
    where e.device_id = $1 and e.type = any($2::text[]) and p.fix_time between $3 and $4
    order by e.id
"""  # noqa: S608 - constant names
_MOTION = """
    select type = 'deviceMoving' as is_moving, position_id from events
    where device_id = $1 and type in ('deviceMoving', 'deviceStopped') and event_time < $2
    order by event_time desc, id desc limit 1
"""


async def latest_before(q: Queries, device_id: int, instant: datetime) -> Position | None:
    """Return what was the latest position of a device before an instant of fix times."""
    condition = f"fix_time < $2 and {positions.CAN_BE_LATEST} order by fix_time desc, id desc limit 1"
    found = await positions.TABLE.select(q, f"where device_id = $1 and {condition}", device_id, instant)
    return found[0] if found else None


async def last_motion_before(q: Queries, device_id: int, instant: datetime) -> Motion | None:
    """Return the last event of motion before an instant, if its position is still stored."""
    row = await q.fetch_row(_MOTION, device_id, instant)
    found = await positions.TABLE.fetch_many(q, [row["position_id"]]) if row is not None else []
    return Motion(row["is_moving"], found[0]) if row is not None and found else None


async def positions_as_stored(
    q: Queries, device_id: int, start: datetime, end: datetime
) -> AsyncGenerator[list[Position], None]:
    """Yield the positions of a device with fix times in a span, both ends included, by their ids.

    Holds a connection meanwhile, see `Queries.stream`.
    """
    condition = "where device_id = $1 and fix_time between $2 and $3 order by id"
    sql = f"select {positions.TABLE.select_list()} from positions {condition}"  # noqa: S608 - constants
    async for rows in q.stream(sql, device_id, start, end):
        yield [positions.TABLE.from_row(row) for row in rows]


async def events_of_positions(
    q: Queries, device_id: int, start: datetime, end: datetime, types: Sequence[str]
) -> list[StoredEvent]:
    """Return the events of these types of positions with fix times in a span, both ends included."""
    found = []
    for row in await q.fetch(_EVENTS, device_id, list(types), start, end):
        values = dict(row.items())
        device_time = values.pop("device_time")
        found.append(StoredEvent(events.TABLE.from_row(values), device_time))
    return found
