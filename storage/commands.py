"""Saved commands, and commands that wait for their device: first come, first sent.

One that waits may be a step of a scheduled command: its run record changes in the same statement.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage import links
from motorpool.storage.errors import StatementRejected
from motorpool.storage.queries import Queries
from motorpool.storage.records import Command, QueuedCommand
from motorpool.storage.tables import Table

__all__ = ["MAX_QUEUED", "TABLE", "ClaimedCommand", "claim", "enqueue", "expire", "queued_for", "remove_runs"]

TABLE = Table(
    "commands",
    Command,
    sort="description",
    keywords=("description",),
    access=links.access_by_link(links.USER_COMMAND),
    not_stored=frozenset({"device_id"}),
)

MAX_QUEUED = 1000
"""Commands that may wait for one device."""

_QUEUED = Table("queued_commands", QueuedCommand, sort="id", keywords=())
_PUT = f"""
    insert into queued_commands (device_id, type, text_channel, attributes, created, expires, run_id)
    select $1, $2, $3, $4, coalesce($5, now()), $6, $7
    where (select count(*) from queued_commands where device_id = $1) < {MAX_QUEUED}
    returning {_QUEUED.select_list()}
"""  # noqa: S608 - constants
# The run first, then the queue: whoever cancels locks them in this order. A step that was cancelled a moment
# ago is not taken.
_TAKE = f"""
    with told as (
        update scheduled_command_runs r set
            status = case when q.expires <= $2 then 'skipped' else 'delivering' end,
            reason = case when q.expires <= $2 then 'queue_expired' end,
            time = $2
        from queued_commands q where q.id = $1 and r.id = q.run_id and r.status = 'queued'
        returning r.id
    )
    delete from queued_commands where id = $1 and (run_id is null or run_id in (select id from told))
    returning {_QUEUED.select_list()}, coalesce(run_id, 0), coalesce(expires <= $2, false)
"""  # noqa: S608 - constants
_EXPIRE = """
    with held as (
        select r.id from queued_commands q join scheduled_command_runs r on r.id = q.run_id
        where (q.expires <= $1 or q.run_id = any($2::bigint[])) and r.status = 'queued'
        order by r.id for update of r
    ),
    told as (
        update scheduled_command_runs r set status = 'skipped', reason = 'queue_expired', time = $1
        where r.id in (select id from held)
        returning r.id
    )
    delete from queued_commands where run_id in (select id from told) or (expires <= $1 and run_id is null)
"""


class ClaimedCommand(msgspec.Struct, frozen=True):
    """A command that left the queue to be sent."""

    command: QueuedCommand
    run_id: int = 0
    """The step of a scheduled command that it is, to be settled once it is known what came of it."""


async def enqueue(
    q: Queries,
    command: QueuedCommand,
    *,
    created: datetime | None = None,
    expires: datetime | None = None,
    run_id: int = 0,
) -> QueuedCommand:
    """Let a command wait behind those that wait already; return it with its id.

    `run_id` is the step of a scheduled command that it is.

    Raises:
        StatementRejected: there is no such device, or too many commands wait for it.
    """
    row = await q.fetch_row(
        _PUT,
        command.device_id,
        command.type,
        command.text_channel,
        command.attributes,
        created,
        expires,
        run_id or None,
    )
    if row is None:
        raise StatementRejected(f"{MAX_QUEUED} commands wait for the device already")
    return _QUEUED.from_row(row)


async def queued_for(q: Queries, device_id: int) -> list[QueuedCommand]:
    """Return what waits for a device, oldest first."""
    rows = await q.fetch(
        f"select {_QUEUED.select_list()} from queued_commands where device_id = $1 order by id",  # noqa: S608 - names of our own
        device_id,
    )
    return [_QUEUED.from_row(row) for row in rows]


async def claim(q: Queries, queued_id: int, now: datetime) -> ClaimedCommand | None:
    """Take a command out of the queue, committed before it is sent; None where it is gone or too old."""
    row = await q.fetch_row(_TAKE, queued_id, now)
    if row is None:
        return None
    *values, run_id, too_old = row.values()
    return None if too_old else ClaimedCommand(QueuedCommand(*values), run_id)


async def remove_runs(q: Queries, run_ids: Sequence[int]) -> None:
    """Take out steps whose records say, since a statement before this one, that they wait no longer.

    In that statement itself a step that came into the queue a moment ago would not be seen.
    """
    if run_ids:
        await q.execute("delete from queued_commands where run_id = any($1::bigint[])", list(run_ids))


async def expire(q: Queries, now: datetime, run_ids: Sequence[int] = ()) -> int:
    """Take out what has waited past its time, and these steps in any case; return how many."""
    tag = await q.execute(_EXPIRE, now, list(run_ids))
    return int(tag.rpartition(" ")[2])
