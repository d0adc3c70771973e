"""Saved commands, and the queues of commands that wait for their devices, first in, first out.

A queued command may be a step of a scheduled command; its run record then changes in the same statement.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage.accounts import access, links
from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import Command, QueuedCommand

TABLE = Table(
    "commands",
    Command,
    sort="description",
    keywords=("description",),
    access=links.access_by_link(links.USER_COMMAND),
    not_stored=frozenset({"device_id"}),
)

MAX_QUEUED = 1000
"""Longest queue of a device, in commands."""

_QUEUED = Table("queued_commands", QueuedCommand, sort="id", keywords=())
_ENQUEUE = f"""
    with queued as (
        insert into queued_commands
            (device_id, type, text_channel, attributes, created, expires, run_id, user_id)
        select $1, $2, $3, $4, coalesce($5, now()), $6, $7, $8
        where (select count(*) from queued_commands where device_id = $1) < {MAX_QUEUED}
        returning {_QUEUED.select_list()}
    ),
    linked as (
        update ticket_commands command set status = 'queued', queued_command_id = queued.id
        from queued where command.id = $9
    ),
    logged as (
        update command_log l set state = 'QUEUED', queued_command_id = queued.id, expires = $6
        from queued where l.id = $10 and l.state = 'SENDING'
    )
    select * from queued
"""  # noqa: S608 - constants
# Runs are locked before the queue, in the same order as by statements that cancel. A step that has just been
# cancelled is not claimed.
# The user with whose rights it is sent may have lost them since it was queued. Of commands that earlier
# releases queued the user is not known.
_CLAIM = f"""
    with judged as (
        select q.id, q.run_id, coalesce(q.expires <= $2, false) as is_expired,
            coalesce(q.user_id, r.requested_by, s.id) is not null and not (
                u.id is not null and not u.disabled and (u.expiration_time is null or u.expiration_time > $2)
                and (u.administrator or {access.sees_device("u.id", "q.device_id")})
            ) as is_forbidden
        from queued_commands q
        left join scheduled_command_runs r on r.id = q.run_id
        left join scheduled_commands s on s.id = r.scheduled_command_id
        left join users u on u.id = coalesce(q.user_id, r.requested_by, s.owner_id)
        where q.id = $1 and not {nodes.is_dead("$3")} and not exists (
            select from homes
            where homes.device_id = q.device_id and homes.node <> $3 and {nodes.is_live("homes.node")}
        )
    ),
    claimed as (
        update scheduled_command_runs r set
            status = case when judged.is_expired or judged.is_forbidden then 'skipped' else 'delivering' end,
            reason = case when judged.is_expired then 'queue_expired'
                when judged.is_forbidden then 'no_permission' end,
            time = $2, sent_by = $3
        from judged where r.id = judged.run_id and r.status = 'queued'
        returning r.id
    ),
    gone as (
        delete from queued_commands q using judged
        where q.id = judged.id and (q.run_id is null or q.run_id in (select id from claimed))
        returning {_QUEUED.select_list(of="q")}, coalesce(q.run_id, 0) as run_id,
            coalesce(q.user_id, 0) as user_id, judged.is_expired, judged.is_forbidden
    ),
    linked as (
        update ticket_commands command set status = 'sending', changed_at = $2, queued_command_id = null
        from gone where command.queued_command_id = gone.id
        returning command.id
    ),
    logged as (
        update command_log l set state = case when gone.is_expired then 'EXPIRED' else 'SENDING' end,
            queued_command_id = null
        from gone where l.queued_command_id = gone.id
        returning l.id
    )
    select gone.*, coalesce((select id from linked), 0), coalesce((select id from logged), 0) from gone
"""  # noqa: S608 - constants
_WAITING = f"""
    select {_QUEUED.select_list(of="q")}, q.created, q.expires, coalesce(q.user_id, 0),
        coalesce(r.scheduled_command_id, 0)
    from queued_commands q left join scheduled_command_runs r on r.id = q.run_id
"""  # noqa: S608 - constant names
_CANCEL = """
    with ended as (
        update scheduled_command_runs r set status = 'skipped', reason = 'not_sent', detail = $2, time = $3
        from queued_commands q where q.id = $1 and r.id = q.run_id and r.status = 'queued'
        returning r.id
    ),
    gone as (
        delete from queued_commands where id = $1 and (run_id is null or run_id in (select id from ended))
        returning id
    ),
    logged as (
        update command_log l set state = 'CANCELLED', queued_command_id = null
        from gone where l.queued_command_id = gone.id and l.state = 'QUEUED'
        returning l.id
    )
    select (select id from logged) from gone
"""
_EXPIRE = """
    with held as (
        select r.id from queued_commands q join scheduled_command_runs r on r.id = q.run_id
        where (q.expires <= $1 or q.run_id = any($2::bigint[])) and r.status = 'queued'
        order by r.id for update of r
    ),
    expired as (
        update scheduled_command_runs r set status = 'skipped', reason = 'queue_expired', time = $1
        where r.id in (select id from held)
        returning r.id
    )
    delete from queued_commands where run_id in (select id from expired) or (expires <= $1 and run_id is null)
"""


class ClaimedCommand(msgspec.Struct, frozen=True):
    """A command that has been removed from the queue to be sent."""

    command: QueuedCommand
    run_id: int = 0
    """The run record of the step that it is, whose outcome is to be stored; 0 if it is not a step."""
    user_id: int = 0
    """Who queued it; 0 for a step, or if it was queued by an earlier release."""
    is_forbidden: bool = False
    """Whether it must not be sent: the user with whose rights it was queued has lost them."""
    ticket_command_id: int = 0
    """Of its row in `ticket_commands`, if it was sent for a ticket; else 0."""
    log_id: int = 0
    """Of its row in the log; 0 if it was queued by an earlier release."""


class WaitingCommand(QueuedCommand, frozen=True, rename="camel"):
    """A queued command with what its users want to know of it."""

    created: datetime | None = None
    """When it was queued."""
    expires: datetime | None = None
    """When it is removed without being sent; null is never."""
    user_id: int = 0
    """Who queued it; 0 for a step of a scheduled command."""
    scheduled_command_id: int = 0
    """The scheduled command of which it is a step; else 0."""


async def enqueue(
    q: Queries,
    command: QueuedCommand,
    *,
    created: datetime | None = None,
    expires: datetime | None = None,
    run_id: int = 0,
    user_id: int = 0,
    ticket_command_id: int = 0,
    log_id: int = 0,
) -> QueuedCommand:
    """Append a command to the queue of its device; return it with its id.

    `run_id` is its run record if it is a step of a scheduled command, else 0; `user_id` is who queues it.
    `ticket_command_id` is its row in `ticket_commands`, if it is sent for a ticket.
    `log_id` is its row in the log.

    Raises:
        StatementRejected: There is no such device, or its queue is full.
    """
    row = await q.fetch_row(
        _ENQUEUE,
        command.device_id,
        command.type,
        command.text_channel,
        command.attributes,
        created,
        expires,
        run_id or None,
        user_id or None,
        ticket_command_id or None,
        log_id or None,
    )
    if row is None:
        raise StatementRejected(f"{MAX_QUEUED} commands wait for the device already")
    return _QUEUED.from_row(row)


async def queued_for(q: Queries, device_id: int) -> list[QueuedCommand]:
    """Return the queued commands of a device, oldest first."""
    return await _QUEUED.select(q, "where device_id = $1 order by id", device_id)


async def devices_with_queue(q: Queries, device_ids: Sequence[int]) -> set[int]:
    """Return which of the devices have queued commands."""
    rows = await q.fetch(
        "select id from unnest($1::bigint[]) as device (id)"
        " where exists (select from queued_commands where device_id = device.id)",
        list(device_ids),
    )
    return {row[0] for row in rows}


async def next_queued(q: Queries, device_id: int, last: int) -> int | None:
    """Return the id of the first queued command of a device after the id `last`; None if there is none."""
    found: int | None = await q.fetch_value(
        "select id from queued_commands where device_id = $1 and id > $2 order by id limit 1", device_id, last
    )
    return found


async def waiting_for(q: Queries, device_id: int) -> list[WaitingCommand]:
    """Return the queued commands of a device with their senders, oldest first."""
    rows = await q.fetch(f"{_WAITING} where q.device_id = $1 order by q.id", device_id)
    return [WaitingCommand(*row.values()) for row in rows]


async def waiting(q: Queries, queued_id: int) -> WaitingCommand | None:
    """Return a queued command with its sender; None if it is not queued."""
    row = await q.fetch_row(f"{_WAITING} where q.id = $1", queued_id)
    return None if row is None else WaitingCommand(*row.values())


async def cancel(q: Queries, queued_id: int, now: datetime) -> tuple[int, ...] | None:
    """Remove a command from the queue without sending it; return None if it has left it.

    Return its row in the log of commands, if it has one. A step of a scheduled command becomes skipped.
    """
    row = await q.fetch_row(_CANCEL, queued_id, "a user has removed it from the queue", now)
    return None if row is None else tuple(filter(None, row.values()))


async def claim(q: Queries, queued_id: int, now: datetime, node: int = 0) -> ClaimedCommand | None:
    """Remove a command from the queue so that it can be sent; None if it is gone or has expired.

    The removal must be committed before the command is sent, by the server `node`. One that has been declared
    dead gets none, nor does one that was frozen and whose device has gone on to another that lives.
    """
    row = await q.fetch_row(_CLAIM, queued_id, now, node)
    if row is None:
        return None
    *values, run_id, user_id, is_expired, is_forbidden, ticket_command_id, log_id = row.values()
    if is_expired:
        return None
    return ClaimedCommand(QueuedCommand(*values), run_id, user_id, is_forbidden, ticket_command_id, log_id)


async def remove_runs(q: Queries, run_ids: Sequence[int]) -> None:
    """Remove steps from the queues after an earlier statement changed their run records.

    This is a statement of its own because the snapshot of the earlier one may not contain steps that were
    queued concurrently.
    """
    if run_ids:
        await q.execute("delete from queued_commands where run_id = any($1::bigint[])", list(run_ids))


async def expire(q: Queries, now: datetime, run_ids: Sequence[int] = ()) -> int:
    """Remove expired commands, and these steps in any case, from the queues; return how many."""
    return await q.affected(_EXPIRE, now, list(run_ids))
