"""The table `captures`: a row for each capture, which any server of a cluster reads (docs/video.md#captures).

The server that makes a capture writes its row. What a server leaves that has ended is settled by the others,
or when it starts again.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

import msgspec

from motorpool.storage.accounts import access
from motorpool.storage.database import nodes
from motorpool.storage.database.conditions import Condition, all_of
from motorpool.storage.database.queries import Queries, columns

CaptureStatus = Literal["RECORDING", "COMPLETE", "FAILED"]

KEPT_OF_DEVICE: Final = 1_000
"""Captures of one device that have ended; the oldest go when another one begins."""
KEPT: Final = 100_000
"""Captures that have ended in all."""
LISTED: Final = 1_000
"""Captures of one list at most."""
KEPT_WITHOUT_FILE: Final = timedelta(days=30)
"""How long captures that have failed or whose file was removed are kept after their end."""


class CaptureRecord(msgspec.Struct, frozen=True):
    """A capture, as stored."""

    id: str
    device_id: int
    channel: int
    """1 to 31; 0 where it is not known."""
    live: bool
    """Whether it holds the live stream; else a playback."""
    file_name: str
    started_at: datetime
    completed_at: datetime | None = None
    status: CaptureStatus = "RECORDING"
    size: int = 0
    """Bytes of the file; of one that is recording, as of a few seconds ago."""
    reason: str | None = None
    """Why it has ended; None while it is recording."""
    start_time: datetime | None = None
    """When the earliest of what it holds of a recording was recorded; None while unknown."""
    end_time: datetime | None = None
    """When the latest was."""
    interrupted: bool = False
    """Its server ended while it was recording."""
    removed: bool = False
    """Its file was removed, by age or quota."""
    node: int = 0
    """The server that makes or made it."""


class FoundFile(msgspec.Struct, frozen=True):
    """A file of a capture that has no row."""

    id: str
    """A new one."""
    device_id: int
    file_name: str
    started_at: datetime
    completed_at: datetime
    size: int
    """In bytes."""


class CaptureChange(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a capture that is recording; None: unchanged."""

    id: str
    size: int | None = None
    span: tuple[datetime, datetime] | None = None
    """When what it holds was recorded."""
    status: CaptureStatus = "RECORDING"
    completed_at: datetime | None = None
    reason: str | None = None
    interrupted: bool = False


_NAMES = CaptureRecord.__struct_fields__
_COLUMNS = ", ".join(_NAMES)
_SELECT = f"select {_COLUMNS} from captures where "  # noqa: S608 - constant names
_ADD = f"""
    insert into captures (id, device_id, channel, live, file_name, started_at, status, node)
    select $1, $2, $3, $4, $5, $6, 'RECORDING', $7
    where $8 > (select count(*) from captures where device_id = $2 and status = 'RECORDING')
    returning {_COLUMNS}
"""  # noqa: S608 - constant names
_FORGET = """
    delete from captures where number in (
        select number from captures where device_id = $1 and status <> 'RECORDING'
            and not exists (select from kept_files where name = file_name)
        order by started_at desc, number desc offset $2
    ) and device_id = $1
"""
_WITHOUT_ROW = """
    select name from unnest($1::text[]) as name
    where not exists (select from captures where file_name = name)
"""
# The audit log has the channel of each capture that was made.
_ADD_FOUND = """
    with found as (
        select * from unnest(
            $1::text[], $2::bigint[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[]
        ) as found (id, device_id, file_name, started_at, completed_at, size)
    ), made as (
        select attributes ->> 'fileName' as file_name, max((attributes ->> 'channel')::integer) as channel
        from audit where action_type = 'capture' and attributes ->> 'fileName' = any($3::text[])
        group by 1
    )
    insert into captures (id, device_id, channel, live, file_name, started_at, completed_at, status, size,
        reason, node)
    select found.id, device_id, coalesce(channel, 0), false, file_name, started_at, completed_at, 'COMPLETE',
        size, $7, 0
    from found left join made using (file_name)
    where exists (select from devices where devices.id = found.device_id)
    order by started_at
    on conflict (file_name) do nothing
"""
# Rows that another transaction is deleting, with their device, are left.
_SAVE = """
    with changed as (
        select * from unnest(
            $1::text[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::timestamptz[],
            $7::text[], $8::boolean[]
        ) as changed (id, size, start_time, end_time, status, completed_at, reason, interrupted)
    ), found as (
        select id from captures where id = any($1::text[]) and status = 'RECORDING'
        order by id for update skip locked
    )
    update captures set
        size = coalesce(changed.size, captures.size),
        start_time = coalesce(changed.start_time, captures.start_time),
        end_time = coalesce(changed.end_time, captures.end_time),
        status = changed.status, completed_at = changed.completed_at, reason = changed.reason,
        interrupted = changed.interrupted,
        continuation = case when changed.status = 'RECORDING' then captures.continuation end
    from changed join found using (id) where captures.id = changed.id
    returning captures.id
"""
_DELETE_OLD = """
    delete from captures where id in (
        select id from captures
        where completed_at < $1 and (status = 'FAILED' or status = 'COMPLETE' and removed)
        order by id for update skip locked
    )
"""
# Those without a file go first.
_DELETE_EXCESS = """
    with excess as (
        select id from captures where status <> 'RECORDING'
            and not exists (select from kept_files where name = file_name)
        order by status = 'COMPLETE' and not removed, started_at, number
        limit greatest(0, (select count(*) from captures where status <> 'RECORDING') - $1)
    )
    delete from captures where id in (
        select captures.id from captures join excess using (id) order by id for update of captures skip locked
    )
"""


async def add(transaction: Queries, record: CaptureRecord, *, per_device: int) -> bool:
    """Store a capture that begins; False where its device is gone or records `per_device` already."""
    # The limit holds for parallel ones too.
    device = "select id from devices where id = $1 for no key update"
    if await transaction.fetch_value(device, record.device_id) is None:
        return False
    stored = await transaction.fetch_value(
        _ADD,
        record.id,
        record.device_id,
        record.channel,
        record.live,
        record.file_name,
        record.started_at,
        record.node,
        per_device,
    )
    if stored is None:
        return False
    await transaction.defer_to_commit(_FORGET, record.device_id, KEPT_OF_DEVICE)
    return True


async def fetch(q: Queries, capture_id: str) -> CaptureRecord | None:
    """Return one capture; None where there is none, whatever text is given."""
    if not (capture_id.isascii() and capture_id.isalnum()):
        return None
    return (await by_ids(q, [capture_id])).get(capture_id)


async def by_ids(q: Queries, ids: Collection[str]) -> dict[str, CaptureRecord]:
    """Return the captures that exist, by id."""
    if not ids:
        return {}
    return {record.id: record for record in await _select(q, "id = any($1::text[])", list(ids))}


async def newest(
    q: Queries,
    *,
    device_id: int | None = None,
    visible_to: int | None = None,
    node: int | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
    limit: int = LISTED,
) -> list[CaptureRecord]:
    """Return captures, those that began last first.

    `visible_to` is the user who sees their devices, and `node` the server that made them. They began within
    [start, end]. What is None does not restrict them.
    """
    conditions: list[Condition] = []
    if device_id is not None:
        conditions.append(Condition("device_id = {0}", (device_id,)))
    if visible_to is not None:
        visible = access.devices_of_user(visible_to)
        conditions.append(
            Condition(f"device_id in (select id from devices where {visible.sql})", visible.args)  # noqa: S608 - constants
        )
    if node is not None:
        conditions.append(Condition("node = {0}", (node,)))
    if start is not None:
        conditions.append(Condition("started_at >= {0}", (start,)))
    if end is not None:
        # Clients know the milliseconds of a time.
        conditions.append(Condition("started_at < {0}::timestamptz + interval '1 millisecond'", (end,)))
    chosen = all_of(*conditions)
    ordered = f"{chosen.numbered(2)} order by started_at desc, number desc limit $1"
    return await _select(q, ordered, limit, *chosen.args)


async def recording(q: Queries, node: int) -> list[CaptureRecord]:
    """Return the captures that a server makes now, oldest first."""
    return await _select(q, "status = 'RECORDING' and node = $1 order by number", node)


async def recording_into(q: Queries, file_name: str) -> str | None:
    """Return the id of the capture that writes a file; None if none does."""
    found: str | None = await q.fetch_value(
        "select id from captures where file_name = $1 and status = 'RECORDING'", file_name
    )
    return found


async def abandoned(q: Queries, node: int) -> list[CaptureRecord]:
    """Return the captures that are recording by their rows, but that no live server makes.

    `node` is the server that asks: it lives.
    """
    dead = f"node <> $1 and not {nodes.is_live('captures.node')}"
    return await _select(q, f"status = 'RECORDING' and (abandoned or {dead}) order by number", node)


async def save(q: Queries, changes: Sequence[CaptureChange]) -> frozenset[str]:
    """Write these changes, one at least, of captures that are recording; the first end of each counts.

    Return the ids of those whose row was locked, of which nothing was written.
    """
    rows = (
        (each.id, each.size, *(each.span or (None, None)), *msgspec.structs.astuple(each)[3:])
        for each in changes
    )
    saved = await q.fetch(_SAVE, *columns(rows))
    left = {change.id for change in changes} - {row[0] for row in saved}
    if not left:
        return frozenset()
    open_ones = "select id from captures where id = any($1::text[]) and status = 'RECORDING'"
    return frozenset(row[0] for row in await q.fetch(open_ones, list(left)))


async def offer(q: Queries, capture_id: str, node: int, continuation: bytes) -> None:
    """Let another server go on with a capture of `node` that is recording."""
    await q.execute(
        "update captures set continuation = $3 where id = $1 and node = $2 and status = 'RECORDING'",
        capture_id,
        node,
        continuation,
    )


async def take_over(q: Queries, capture_id: str, node: int) -> bytes | None:
    """Go on at `node` with a capture that another server has offered; return what it has told.

    None: it is not offered.
    """
    told: bytes | None = await q.fetch_value(
        "update captures set node = $2 where id = $1 and node <> $2 and status = 'RECORDING'"
        " and continuation is not null returning continuation",
        capture_id,
        node,
    )
    return told


async def take_back(q: Queries, capture_id: str, node: int) -> bool:
    """Offer a capture of `node` no longer; return whether no other server has gone on with it."""
    return (
        await q.fetch_value(
            "update captures set continuation = null where id = $1 and node = $2 returning true",
            capture_id,
            node,
        )
        is True
    )


async def abandon(q: Queries, node: int) -> None:
    """Mark the captures that a server was recording as abandoned."""
    await q.execute("update captures set abandoned = true where status = 'RECORDING' and node = $1", node)


async def note_removed(q: Queries, names: Collection[str], reason: str) -> None:
    """Record that these files are no longer there, and why."""
    await q.execute(
        "update captures set removed = true, reason = $2"
        " where file_name = any($1::text[]) and status <> 'RECORDING'",
        list(names),
        reason,
    )


async def without_row(q: Queries, names: Collection[str]) -> frozenset[str]:
    """Return which of these files have no row."""
    return frozenset(row[0] for row in await q.fetch(_WITHOUT_ROW, list(names)))


async def add_found(q: Queries, files: Sequence[FoundFile], reason: str) -> None:
    """Store complete captures for files, one at least; those that have a row or no device are left out.

    `reason` is shown in place of why they ended.
    """
    await q.execute(_ADD_FOUND, *columns(map(msgspec.structs.astuple, files)), reason)


async def delete_old(q: Queries, now: datetime) -> None:
    """Delete the captures that ended long ago and have no file, and the oldest of more than KEPT."""
    await q.execute(_DELETE_OLD, now - KEPT_WITHOUT_FILE)
    await q.execute(_DELETE_EXCESS, KEPT)


async def _select(q: Queries, condition: str, *arguments: object) -> list[CaptureRecord]:
    return [CaptureRecord(*row.values()) for row in await q.fetch(_SELECT + condition, *arguments)]
