"""Input of reports: narrow rows of positions in the order of time, and events of many devices.

Positions that were more than a day ahead of their arrival are left out, as they never were the latest
(docs/decisions/0022).
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.devices import position_rows, positions
from motorpool.storage.events import events as event_rows
from motorpool.storage.records import Event, Position

TIMELY = "fix_time <= server_time + interval '1 day'"
SPAN = f"device_id = $1 and fix_time between $2 and $3 and {TIMELY}"
"""A device, and the ends of a span, both included."""
_IGNITION = (
    "case when jsonb_typeof(attributes -> 'ignition') = 'boolean'"
    " then (attributes -> 'ignition')::boolean end"
)
_AHEAD = "greatest(extract(epoch from fix_time - server_time)::float8, 0.0)"
TRACK = f"select id, fix_time, latitude, longitude, speed, valid, {_IGNITION}, {_AHEAD} from positions"  # noqa: S608 - constants
"""The columns of a point of a track in their order."""
_TRACK_SPAN = f"{SPAN} and not outdated"
"""Those that say where the device was: the others repeat the location of the position before."""
PLAUSIBLE = "not attributes ? 'implausible'"
"""Where the device can have been; tracks have the others too, which the state machine knows to leave out."""
_ROUTE = "select id, fix_time, longitude, latitude from positions"


async def stream_track(
    q: Queries, device_id: int, start: datetime, end: datetime, *, batch: int = 1000
) -> AsyncGenerator[list[Row], None]:
    """Yield the positions of a device by fix time as the columns of TRACK, both ends included.

    Holds a connection until exhausted or closed.
    """
    sql = f"{TRACK} where {_TRACK_SPAN} order by fix_time, id"
    async with aclosing(q.stream(sql, device_id, start, end, batch=batch)) as batches:
        async for rows in batches:
            yield rows


async def pages_of_track(
    q: Queries, device_id: int, start: datetime, end: datetime
) -> AsyncGenerator[list[Row], None]:
    """Yield what `stream_track` does; one statement for a short track.

    No connection is kept between pages, however slow the consumer is.
    """
    async with aclosing(_pages(q, f"{TRACK} where {_TRACK_SPAN}", device_id, start, end)) as pages:
        async for rows in pages:
            yield rows


async def pages_of_route(
    q: Queries, device_id: int, start: datetime, end: datetime
) -> AsyncGenerator[list[tuple[float, float]], None]:
    """Yield longitude and latitude of a device's positions by fix time, page by page as `pages_of_track`.

    Implausible ones are left out.
    """
    async with aclosing(_pages(q, f"{_ROUTE} where {SPAN} and {PLAUSIBLE}", device_id, start, end)) as pages:
        async for rows in pages:
            yield [(row["longitude"], row["latitude"]) for row in rows]


async def _pages(
    q: Queries, select: str, device_id: int, start: datetime, end: datetime, *, batch: int = 5000
) -> AsyncGenerator[list[Row], None]:
    after = (start, -1)
    while True:
        rows = await q.fetch(
            f"{select} and (fix_time, id) > ($2, $4) order by fix_time, id limit {int(batch)}",
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


async def last_of_track(q: Queries, device_id: int, until: datetime) -> Row | None:
    """Return the last position of a device up to an instant, as of `stream_track`."""
    return await q.fetch_row(
        f"{TRACK} where device_id = $1 and fix_time <= $2 and {TIMELY} and not outdated"
        " order by fix_time desc, id desc limit 1",
        device_id,
        until,
    )


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


async def period_ends(
    q: Queries, device_id: int, start: datetime, end: datetime, *, cuts: Sequence[datetime] = ()
) -> list[tuple[Position, Position]]:
    """Return the first and the last position of each period that holds one, in order.

    The span is cut at `cuts`, which are in order; an instant of a cut belongs to the period after it.
    """
    periods = await q.fetch(
        f"select min(fix_time), max(fix_time) from positions where {SPAN}"  # noqa: S608 - constants
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
        (positions.TABLE.from_row(first[row[0]]), positions.TABLE.from_row(last[row[1]]))
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


class Speeding(NamedTuple):
    """A moment of a trip at which a device was faster than allowed."""

    time: datetime
    start: datetime
    end: datetime
    """The trip, both ends included."""
    limit: float
    """Knots."""


_KNOWN = f"device_id = $1 and {TIMELY} and not outdated and {PLAUSIBLE}"
_SPEEDING = f"""
    select coalesce(began.at, given.time), coalesce(ended.at, given.until)
    from unnest($2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::float8[])
        with ordinality as given (time, since, until, speed_limit, number)
    left join lateral (
        select max(fix_time) as at from positions where {_KNOWN}
            and fix_time between given.since and given.time and speed <= given.speed_limit
    ) slower on true
    left join lateral (
        select min(fix_time) as at from positions where {_KNOWN}
            and fix_time between coalesce(slower.at, given.since) and given.time
            and speed > given.speed_limit
    ) began on true
    left join lateral (
        select min(fix_time) as at from positions where {_KNOWN}
            and fix_time > given.time and fix_time <= given.until and speed <= given.speed_limit
    ) ended on true
    order by given.number
"""  # noqa: S608 - constants


async def speeding_spans(
    q: Queries, device_id: int, episodes: Sequence[Speeding]
) -> list[tuple[datetime, datetime]]:
    """Return for each moment when the device became faster than the limit, and when it was no longer.

    It is faster from the first position that says so to the first that does not, within the trip.
    """
    if not episodes:
        return []
    times, starts, ends, limits = (list(each) for each in zip(*episodes, strict=True))
    rows = await q.fetch(_SPEEDING, device_id, times, starts, ends, limits)
    return [(row[0], row[1]) for row in rows]
