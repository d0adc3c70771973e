"""Input of reports: narrow rows of positions in the order of time, and events of many devices.

Positions that were more than a day ahead of their arrival are left out, as they never were the latest
(docs/decisions/0022).
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import NamedTuple

from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.devices import position_rows, positions
from motorpool.storage.events import events as event_rows
from motorpool.storage.records import Event, Position

TIMELY = "fix_time <= server_time + interval '1 day'"
SPAN = f"device_id = $1 and fix_time between $2 and $3 and {TIMELY}"
"""A device, and the ends of a span, both included."""
_DISTANCE = (
    "case when jsonb_typeof(attributes -> 'distance') = 'number'"
    " then (attributes -> 'distance')::float8 else 0.0 end"
)
TRACK = f"select id, fix_time, latitude, longitude, {_DISTANCE}, speed from positions"  # noqa: S608 - constants
"""The columns of `Fix` in their order."""
_ROUTE = "select id, fix_time, longitude, latitude from positions"


async def stream_track(
    q: Queries, device_id: int, start: datetime, end: datetime, *, batch: int = 1000
) -> AsyncGenerator[list[Row], None]:
    """Yield the positions of a device by fix time as id, time, latitude, longitude, distance and speed.

    Both ends are included. `distance` is the attribute: metres since the position before. Holds a connection
    until exhausted or closed.
    """
    sql = f"{TRACK} where {SPAN} order by fix_time, id"
    async with aclosing(q.stream(sql, device_id, start, end, batch=batch)) as batches:
        async for rows in batches:
            yield rows


async def pages_of_track(
    q: Queries, device_id: int, start: datetime, end: datetime, *, select: str = TRACK, batch: int = 5000
) -> AsyncGenerator[list[Row], None]:
    """Yield what `stream_track` does, or other columns; one statement for a short track.

    No connection is kept between pages, however slow the consumer is.
    """
    after = (start, -1)
    while True:
        rows = await q.fetch(
            f"{select} where {SPAN} and (fix_time, id) > ($2, $4) order by fix_time, id limit {int(batch)}",
            device_id,
            after[0],
            end,
            after[1],
        )
        if rows:
            yield rows
        if len(rows) < batch:
            return
        after = (rows[-1]["fix_time"], rows[-1]["id"])


async def pages_of_route(
    q: Queries, device_id: int, start: datetime, end: datetime
) -> AsyncGenerator[list[tuple[float, float]], None]:
    """Yield longitude and latitude of a device's positions by fix time, page by page as `pages_of_track`."""
    async with aclosing(pages_of_track(q, device_id, start, end, select=_ROUTE)) as pages:
        async for rows in pages:
            yield [(row["longitude"], row["latitude"]) for row in rows]


class MotionEvent(NamedTuple):
    """An event of motion, and where its position lies."""

    is_moving: bool
    time: datetime
    position: Row | None
    """As of `stream_track`; None if the position was deleted."""


async def last_motion_event(q: Queries, device_id: int, before: datetime) -> MotionEvent | None:
    """Return the last event `deviceMoving` or `deviceStopped` before an instant."""
    event = await q.fetch_row(
        "select type, event_time, position_id from events where device_id = $1 and event_time < $2"
        " and type in ('deviceMoving', 'deviceStopped') order by event_time desc, id desc limit 1",
        device_id,
        before,
    )
    if event is None:
        return None
    position = await q.fetch_row(
        f"{TRACK} where id = $1 and fix_time between $2 and $3",
        event["position_id"],
        event["event_time"] - timedelta(days=1),
        event["event_time"] + timedelta(days=1),
    )
    return MotionEvent(event["type"] == "deviceMoving", event["event_time"], position)


async def end_positions(
    q: Queries, device_id: int, ids: Sequence[int], start: datetime, end: datetime
) -> dict[int, Position]:
    """Return which of the positions lie in a span, by id."""
    rows = await q.fetch(
        f"select {', '.join(position_rows.COLUMNS)} from positions"  # noqa: S608 - constants
        " where id = any($1::bigint[]) and fix_time between $2 and $3 and device_id = $4",
        list(ids),
        start,
        end,
        device_id,
    )
    return {row["id"]: positions.TABLE.from_row(row) for row in rows}


async def count_positions(q: Queries, device_id: int, start: datetime, end: datetime, *, most: int) -> int:
    """Return how many positions a device has in a span, at most `most`."""
    return int(
        await q.fetch_value(
            f"select count(*) from (select from positions where {SPAN} limit $4) as found",  # noqa: S608 - constants
            device_id,
            start,
            end,
            most,
        )
    )


async def first_fix_time(q: Queries, device_id: int, start: datetime, end: datetime) -> datetime | None:
    """Return the fix time of the first position in a span."""
    found: datetime | None = await q.fetch_value(
        f"select fix_time from positions where {SPAN} order by fix_time limit 1",  # noqa: S608 - constants
        device_id,
        start,
        end,
    )
    return found


class PeriodEnds(NamedTuple):
    """The first and the last position of a device in a period, and the highest speed in knots."""

    first: Position
    last: Position
    max_speed: float


async def period_ends(
    q: Queries, device_id: int, start: datetime, end: datetime, *, cuts: Sequence[datetime] = ()
) -> list[PeriodEnds]:
    """Return the ends of each period that holds a position, in order.

    The span is cut at `cuts`, which are in order; an instant of a cut belongs to the period after it.
    """
    periods = await q.fetch(
        f"select min(fix_time), max(fix_time), max(speed) from positions where {SPAN}"  # noqa: S608 - constants
        " group by width_bucket(fix_time, $4::timestamptz[]) order by 1",
        device_id,
        start,
        end,
        list(cuts),
    )
    if not periods:
        return []
    times = sorted({time for row in periods for time in (row[0], row[1])})
    rows = await q.fetch(
        f"select {', '.join(position_rows.COLUMNS)} from positions"  # noqa: S608 - constants
        f" where device_id = $1 and fix_time = any($2::timestamptz[]) and {TIMELY} order by fix_time, id",
        device_id,
        times,
    )
    first: dict[datetime, Row] = {}
    last: dict[datetime, Row] = {}
    for row in rows:
        first.setdefault(row["fix_time"], row)
        last[row["fix_time"]] = row
    return [
        PeriodEnds(positions.TABLE.from_row(first[row[0]]), positions.TABLE.from_row(last[row[1]]), row[2])
        for row in periods
        if row[0] in first and row[1] in last
    ]


async def stream_events(
    q: Queries,
    device_ids: Sequence[int],
    start: datetime,
    end: datetime,
    *,
    types: Iterable[str] = (),
    batch: int = 1000,
) -> AsyncGenerator[list[Event], None]:
    """Yield the events of devices, by device and then by time, both ends included; without types all.

    No connection is kept between batches, however slow the consumer is.
    """
    wanted = list(types)
    after = (-1, start, -1)
    while True:
        rows = await q.fetch(
            f"select {event_rows.TABLE.select_list()} from events"  # noqa: S608 - constant names
            " where device_id = any($1::bigint[]) and event_time between $2 and $3"
            " and (cardinality($4::text[]) = 0 or type = any($4))"
            " and (device_id, event_time, id) > ($5, $6, $7)"
            f" order by device_id, event_time, id limit {int(batch)}",
            list(device_ids),
            start,
            end,
            wanted,
            *after,
        )
        if rows:
            yield [event_rows.TABLE.from_row(row) for row in rows]
        if len(rows) < batch:
            return
        after = (rows[-1]["device_id"], rows[-1]["event_time"], rows[-1]["id"])
