"""Positions: copied in by the writer, read by device and time."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from datetime import datetime

from motorpool.storage.database.cleaning import text_bytes
from motorpool.storage.database.id_blocks import allocate_block
from motorpool.storage.database.queries import Queries, affected_rows
from motorpool.storage.database.tables import Table
from motorpool.storage.devices import report_days
from motorpool.storage.devices.position_rows import COLUMNS, copy_data
from motorpool.storage.errors import Conflict, VersionFound
from motorpool.storage.events import events as event_rows
from motorpool.storage.records import Event, Position

CAN_BE_LATEST = "fix_time <= server_time + interval '1 day' and not attributes ? 'implausible'"
"""A fix further ahead is kept but never the latest (docs/decisions/0022), nor is an implausible one."""
TABLE = Table("positions", Position, sort="fix_time", keywords=(), non_references=frozenset({"device_id"}))
"""For reads only; `store` writes."""
_SELECT = f"select {TABLE.select_list()} from positions"  # noqa: S608 - constants
_NEWEST = f"{CAN_BE_LATEST} order by fix_time desc, id desc limit 1"
_LATEST = (
    f"select p.* from unnest($1::bigint[]) with ordinality as wanted (device_id, place) cross join lateral"  # noqa: S608 - constants
    f" ({_SELECT} where device_id = wanted.device_id and {_NEWEST}) p order by wanted.place"
)
_SPAN = "device_id = $1 and fix_time between $2 and $3"
_PURGE_ROWS = 5000
_ROWS_OF_KEYS = 20_000
# The keys in the attributes of some rows, how many rows these were, and the last of them.
_KEYS = f"""
    with part as materialized (
        select fix_time, id, attributes from positions
        where {_SPAN} and (fix_time, id) > ($2, $4) order by fix_time, id limit {_ROWS_OF_KEYS}
    )
    select array(select distinct key from part, jsonb_object_keys(attributes) as key),
        (select count(*) from part), last.fix_time, last.id
    from (select fix_time, id from part order by fix_time desc, id desc limit 1) as last
"""  # noqa: S608 - constants


async def allocate_ids(q: Queries, count: int) -> range:
    """Return `count` ids that no other caller gets."""
    return await allocate_block(q, "positions", count)


async def store(
    q: Queries,
    rows: Sequence[bytes],
    ids: Sequence[int],
    *,
    events: Sequence[Event] = (),
    now: datetime | None = None,
    late: Sequence[tuple[int, datetime]] = (),
    with_days: set[int] | None = None,
) -> int:
    """Commit packed rows and the events that came with them, all or none. `ids` are the rows' ids.

    `late` are device and fix time of the rows that may lie in a day of which reports keep a result
    (storage/devices/report_days.py). `with_days` are devices of which reports are known to keep results: a
    hint, to which those are added that are found.

    Events are left to the notifier as by `events.insert_many`; return how many.
    Events without an id get theirs here, in place. After StorageUnavailable the same call may be made
    again: what an earlier one did commit is neither doubled nor lost.
    """
    if events:
        await event_rows.assign_ids(q, events)
    hint = set() if with_days is None else with_days
    try:
        return await _store(q, rows, events, now, late, hint)
    except Conflict:
        # An earlier try was committed after all; its answer was lost.
        kept = {row[0] for row in await q.fetch("select id from positions where id = any($1::bigint[])", ids)}
        known = await event_rows.existing(q, [event.id for event in events])
        return await _store(
            q,
            [row for row, row_id in zip(rows, ids, strict=True) if row_id not in kept],
            [event for event in events if event.id not in known],
            now,
            late,
            hint,
        )


async def _store(
    q: Queries,
    rows: Sequence[bytes],
    events: Sequence[Event],
    now: datetime | None,
    late: Sequence[tuple[int, datetime]],
    with_days: set[int],
) -> int:
    if not late or not rows:
        return await _put(q, rows, events, now)
    device_ids = {device_id for device_id, _ in late}
    if with_days.isdisjoint(device_ids):
        try:
            return await _put(q, rows, events, now, then=report_days.expect_none(device_ids))
        except VersionFound:
            pass
    async with q.transaction() as transaction:
        with_days |= await report_days.drop(transaction, late)
        left = await event_rows.insert_many(transaction, events, now=now) if events else 0
        await transaction.copy_binary("positions", COLUMNS, copy_data(rows), at_commit=True)
        return left


async def _put(
    q: Queries, rows: Sequence[bytes], events: Sequence[Event], now: datetime | None, then: str = ""
) -> int:
    """Store all or none by one script: a burst of events takes no more round trips than positions alone."""
    if not rows:
        return await event_rows.insert_many(q, events, now=now) if events else 0
    if not events:
        await q.copy_binary("positions", COLUMNS, copy_data(rows), then=then)
        return 0
    then = f"{then}; {event_rows.insertion(events, now)}" if then else event_rows.insertion(events, now)
    return affected_rows(await q.copy_binary("positions", COLUMNS, copy_data(rows), then=then))


async def latest(q: Queries, device_ids: Iterable[int]) -> list[Position]:
    """Return the latest position of each of the devices that has one, in the order asked."""
    return [TABLE.from_row(row) for row in await q.fetch(_LATEST, list(device_ids))]


async def stream_between(
    q: Queries, device_id: int, start: datetime, end: datetime, *, batch: Callable[[], int] = lambda: 250
) -> AsyncGenerator[list[Position], None]:
    """Return a device's positions by fix time, piece by piece; no connection is kept between the pieces.

    `batch()` is how many the next piece has; by default it is some milliseconds of work, with the attributes
    that trackers send.
    """
    after: tuple[datetime, int] = (start, -1)
    while True:
        most = int(batch())
        condition = f"where {_SPAN} and (fix_time, id) > ($2, $4) order by fix_time, id limit {most}"
        found = await TABLE.select(q, condition, device_id, after[0], end, after[1])
        if not found:
            return
        yield found
        if len(found) < most:
            return
        after = (found[-1].fix_time, found[-1].id)


async def count_between(q: Queries, device_id: int, start: datetime, end: datetime, *, limit: int) -> int:
    """Return how many positions a device has in a span, both ends included, or `limit` if it has more."""
    sql = f"select count(*) from (select from positions where {_SPAN} limit $4) as found"  # noqa: S608 - constants
    return int(await q.fetch_value(sql, device_id, start, end, limit))


async def attribute_keys(
    q: Queries, device_id: int, start: datetime, end: datetime
) -> AsyncGenerator[set[str], None]:
    """Yield the keys of attributes that a device's positions of a span have, by some thousand positions."""
    after: tuple[datetime, int] = (start, -1)
    count = _ROWS_OF_KEYS
    while count == _ROWS_OF_KEYS:
        row = await q.fetch_row(_KEYS, device_id, after[0], end, after[1])
        if row is None:
            return
        yield set(row[0])
        count, after = row[1], (row[2], row[3])


async def delete_between(q: Queries, device_id: int, start: datetime, end: datetime) -> int:
    """Delete a device's positions of a span, both ends included; return how many."""
    async with q.transaction() as transaction:
        await report_days.drop_span(transaction, device_id, start, end)
        sql = f"delete from positions where {_SPAN}"  # noqa: S608 - constants
        return await transaction.affected(sql, device_id, start, end)


async def delete(q: Queries, position_id: int) -> bool:
    """Delete one position; whether there was one."""
    async with q.transaction() as transaction:
        found = await transaction.fetch_row(
            "select device_id, fix_time from positions where id = $1", position_id
        )
        if found is None:
            return False
        # Before the row is locked, as by all who change positions.
        await report_days.drop(transaction, [(found[0], found[1])])
        return await transaction.affected("delete from positions where id = $1", position_id) > 0


async def set_addresses(q: Queries, addressed: Iterable[Position]) -> set[int]:
    """Store the addresses of stored positions; return the ids of those that exist and had none."""
    rows = list(addressed)
    async with q.transaction() as transaction:
        horizon = await transaction.fetch_value("select now()") - report_days.LATE
        late = [(row.device_id, row.fix_time) for row in rows if row.fix_time < horizon]
        if late:
            await report_days.drop(transaction, late)
        return await _set_addresses(transaction, rows)


async def _set_addresses(q: Queries, rows: Sequence[Position]) -> set[int]:
    changed = await q.fetch(
        "update positions p set address = given.address"
        " from unnest($1::bigint[], $2::timestamptz[], $3::text[]) as given (id, fix_time, address)"
        " where p.id = given.id and p.fix_time = given.fix_time and p.address is null returning p.id",
        [row.id for row in rows],
        [row.fix_time for row in rows],
        [text_bytes(row.address or "").decode() for row in rows],
    )
    return {row[0] for row in changed}


async def purge_deleted(q: Queries) -> int:
    """Delete what deleted devices left behind, in small steps; return how many rows.

    Called from time to time: rows may still have been on their way when the device was deleted, so a
    device is forgotten only by a call that finds nothing more.
    """
    purged = 0
    for row in await q.fetch("select device_id from deleted_devices order by device_id"):
        found = 0
        for table in ("positions", "events"):
            key = "id, fix_time" if table == "positions" else "id"
            sql = (
                f"delete from {table} where ({key}) in"  # noqa: S608 - constants
                f" (select {key} from {table} where device_id = $1 limit {_PURGE_ROWS})"
            )
            while count := await q.affected(sql, row[0]):
                found += count
        if not found:
            await report_days.drop_device(q, row[0])
            await q.execute("delete from deleted_devices where device_id = $1", row[0])
        purged += found
    return purged
