"""Run records: the status of each step of a scheduled command for each device, and the history."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from motorpool.storage.database import nodes
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries, Row, columns
from motorpool.storage.devices import command_log, commands
from motorpool.storage.records import QueuedCommand, ScheduledCommandRun

DROPPED_AT_ONCE = 5000
"""Records that one call of `delete_before` deletes at most."""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The result of sending a step: its new status, and why it was skipped or failed."""

    run_id: int
    status: str
    reason: str | None = None
    detail: str | None = None
    answer_node: int | None = None
    """As in `storage/devices/command_log.py: Handover`."""


class DelayedStep(msgspec.Struct, frozen=True, gc=False):
    """A pending step that waits only for its due time."""

    schedule_id: int
    run_id: int
    due: datetime


# The internal states "sending" and "delivering" are shown as the state before them: their outcome is unknown.
_SHOWN = """
    id, scheduled_command_id, phase, device_id, command_id, time,
    case status when 'sending' then 'pending' when 'delivering' then 'queued' else status end,
    case when status in ('skipped', 'failed') then reason end, detail
"""
# Statements that change several records lock them in the order of their ids, which prevents deadlocks.
# A step that was cancelled while it was being sent already has its reason.
_SETTLE = """
    with held as (
        select result.* from unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
            as result (id, status, reason, detail)
        join scheduled_command_runs r using (id) order by r.id for update of r
    )
    update scheduled_command_runs r set detail = result.detail,
        status = case when result.status = 'pending' and r.reason is not null then 'skipped'
            else result.status end,
        time = case when result.status = 'pending' and r.reason is null then r.time else $5 end,
        reason = case when result.status in ('skipped', 'pending') then coalesce(r.reason, result.reason)
            else result.reason end
    from held as result
    where r.id = result.id and r.status in ('sending', 'delivering') and result.status <> 'queued'
"""
# A delay of one step delays all steps that follow it by the same interval.
_LOCK = """
    select from scheduled_command_runs
    where id in (
        select unnest($1::bigint[])
        union all
        select n.id from scheduled_command_runs r
        join scheduled_command_runs n on n.firing = r.firing and n.device_id = r.device_id
            and n.step > r.step and n.status = 'pending'
        where r.id = any($1::bigint[])
    )
    order by id for update
"""
_PLAN = """
    with moved as (
        select r.firing, r.device_id, r.step, n.id as next_id,
            case r.reason when 'missed' then interval '0'
                else r.time + n.delay_seconds * interval '1 second' - n.time end as span
        from scheduled_command_runs r
        join scheduled_command_runs n on n.firing = r.firing and n.device_id = r.device_id
            and n.step = r.step + 1 and n.status = 'pending'
        where r.id = any($1::bigint[])
    ),
    held as materialized (
        select n.id, moved.span, moved.next_id = n.id as is_next from moved
        join scheduled_command_runs n on n.firing = moved.firing and n.device_id = moved.device_id
            and n.step > moved.step and n.status = 'pending'
        order by n.id for update of n
    )
    update scheduled_command_runs n set time = n.time + held.span from held where n.id = held.id
    returning n.scheduled_command_id, n.id, n.time, held.is_next
"""
_WAITING = """
    select r.scheduled_command_id, r.id, r.time from scheduled_command_runs r
    where r.status = 'pending' and not exists (
        select from scheduled_command_runs before where before.firing = r.firing
            and before.device_id = r.device_id and before.step = r.step - 1
            and before.status in ('pending', 'sending'))
"""
_END = """
    with held as (select r.id from scheduled_command_runs r where {which} order by r.id for update)
    update scheduled_command_runs r set
        status = case when r.status = 'sending' then r.status else 'skipped' end,
        time = case when r.status = 'sending' then r.time else $2 end,
        reason = {reason}
    where r.id in (select id from held)
"""
_CANCEL = _END.format(
    reason="'schedule_inactive'",
    which="r.scheduled_command_id = $1 and r.status in ('pending', 'sending', 'queued')",
)
_UNQUEUE_CANCELLED = """
    delete from queued_commands where run_id in (
        select id from scheduled_command_runs
        where scheduled_command_id = $1 and time = $2 and reason = 'schedule_inactive')
"""
_FORGET_DEVICE = _END.format(
    reason="'device_not_found'",
    which="r.id in (select run_id from queued_commands where device_id = $1) and r.status = 'queued'",
)
_FAIL_UNKNOWN = f"""
    with judged as (
        select id, status, time, coalesce(sent_by, 0) = $5 as own, {nodes.is_live("sent_by")} as live
        from scheduled_command_runs where status in ('sending', 'delivering')
    ),
    held as (
        select id, status from scheduled_command_runs
        where id in (
            select id from judged where case
                when own then status = 'sending' and $6 or status = 'delivering' and time < $3
                else not live or status = 'delivering' and time < $4
            end
        ) and status in ('sending', 'delivering')
        order by id for update
    )
    update scheduled_command_runs r set status = 'failed', reason = $2, time = $1
    from held where r.id = held.id
    returning r.id, held.status
"""  # noqa: S608 - constants


async def lock_with_later_steps(q: Queries, run_ids: Sequence[int]) -> None:
    """Lock steps together with the pending ones that follow them, before a transaction changes both.

    Locked by `store_outcomes` and then by `schedule_next_steps`, they could deadlock with `cancel`: the ids
    of the following steps lie between the others.
    """
    await q.execute(_LOCK, list(run_ids))


async def store_outcomes(q: Queries, outcomes: Sequence[Outcome], now: datetime) -> None:
    """Store the results of steps that were being sent or delivered; `pending` means to be sent later.

    A queued step was already updated by `queue_step`. Its row is locked nevertheless, because
    `schedule_next_steps` reads it next.
    """
    rows = ((each.run_id, each.status, each.reason, each.detail) for each in outcomes)
    await q.execute(_SETTLE, *columns(rows), now)


async def schedule_next_steps(q: Queries, run_ids: Sequence[int]) -> list[DelayedStep]:
    """Set the due times of the steps that follow these; return the immediate successors.

    The delay of a step begins when its predecessor was sent, queued or skipped. After a missed step the
    planned times are kept.
    """
    return _delayed_steps(row for row in await q.fetch(_PLAN, list(run_ids)) if row[3])


async def queue_step(
    database: Database, run_id: int, command: QueuedCommand, *, now: datetime, minutes: int, log_id: int = 0
) -> QueuedCommand | None:
    """Queue a step that is being sent until its device is online. Return None if it has been cancelled.

    `minutes` is how long it may wait in the queue, `log_id` its row in the log of commands.

    Raises:
        StatementRejected: There is no such device, or its queue is full.
    """
    async with database.transaction() as transaction:
        held = await transaction.fetch_value(
            "update scheduled_command_runs set status = 'queued', time = $2"
            " where id = $1 and status = 'sending' and reason is null returning true",
            run_id,
            now,
        )
        if not held:
            return None
        return await commands.enqueue(
            transaction,
            command,
            created=now,
            expires=now + timedelta(minutes=minutes),
            run_id=run_id,
            log_id=log_id,
        )


async def cancel(q: Queries, schedule_id: int, now: datetime) -> None:
    """Skip the pending and queued steps of a scheduled command with the reason `schedule_inactive`.

    The caller must have updated or deleted the scheduled command's row before in the same transaction:
    `fire` and `make_runs` lock that row first.
    """
    await q.execute("delete from unfinished_firings where scheduled_command_id = $1", schedule_id)
    await q.execute(_CANCEL, schedule_id, now)
    # A statement of its own, as in `remove_runs`; there may be too many to pass their ids.
    await q.execute(_UNQUEUE_CANCELLED, schedule_id, now)


async def cancel_for_device(q: Queries, device_id: int, now: datetime) -> None:
    """Skip the queued steps of a device that is about to be deleted, in the same transaction."""
    # With this lock no other transaction can add to the queue of the device.
    await q.execute("select from devices where id = $1 for update", device_id)
    gone = await q.fetch(f"{_FORGET_DEVICE} returning r.id", device_id, now)
    await commands.remove_runs(q, [row[0] for row in gone])


async def fail_interrupted(
    q: Queries,
    now: datetime,
    reason: str,
    *,
    delivering_before: datetime,
    delivering_elsewhere_before: datetime | None = None,
    sending: bool,
    node: int = 0,
) -> dict[int, bool]:
    """Fail the steps of which it is not known whether they were sent.

    These are the steps of servers that are dead; the `delivering` steps that left the queue before
    `delivering_before`, or at another server before `delivering_elsewhere_before` if that is given; and, with
    `sending`, the steps that this server, `node`, is sending: only at startup. Return the ids of the failed
    steps, each with whether the steps that follow still need due times: those after a queued step have them.
    """
    elsewhere = delivering_elsewhere_before or delivering_before
    rows = await q.fetch(_FAIL_UNKNOWN, now, reason, delivering_before, elsewhere, node, sending)
    return {row[0]: row[1] == "sending" for row in rows}


async def revert_unsent(q: Queries, keep: Sequence[int], now: datetime, node: int = 0) -> None:
    """Make steps pending again that were started but certainly not handed to a device.

    These are the `sending` steps of this server, `node`, that are not in `keep`. Those that have been
    cancelled are skipped instead.
    """
    await q.execute(
        "update scheduled_command_runs set"
        " status = case when reason is null then 'pending' else 'skipped' end,"
        " time = case when reason is null then time else $2 end"
        " where status = 'sending' and coalesce(sent_by, 0) = $3 and not id = any($1::bigint[])",
        list(keep),
        now,
        node,
    )
    await command_log.forget_unsent(q)


async def delayed(q: Queries) -> list[DelayedStep]:
    """Return the pending steps that wait only for their due time."""
    return _delayed_steps(await q.fetch(_WAITING))


async def overdue(q: Queries, before: datetime, limit: int) -> list[int]:
    """Return pending steps that were due before this instant and wait for no other step, oldest first."""
    rows = await q.fetch(f"{_WAITING} and r.time < $1 order by r.time limit $2", before, limit)
    return [row[1] for row in rows]


async def fetch(q: Queries, run_ids: Iterable[int]) -> list[ScheduledCommandRun]:
    """Return records by their ids, in the order of creation."""
    rows = await q.fetch(
        f"select {_SHOWN} from scheduled_command_runs where id = any($1::bigint[]) order by id",  # noqa: S608 - constant names
        list(run_ids),
    )
    return [ScheduledCommandRun(*row.values()) for row in rows]


async def history(
    q: Queries,
    schedule_id: int,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    device_id: int | None = None,
    limit: int,
) -> list[ScheduledCommandRun]:
    """Return the runs of a scheduled command within [start, end], newest first, without pending ones."""
    rows = await q.fetch(
        f"select {_SHOWN} from scheduled_command_runs"  # noqa: S608 - constant names
        " where scheduled_command_id = $1 and status not in ('pending', 'sending')"
        " and ($2::timestamptz is null or time >= $2) and ($3::timestamptz is null or time <= $3)"
        " and ($4::bigint is null or device_id = $4) order by time desc, id desc limit $5",
        schedule_id,
        start,
        end,
        device_id,
        limit,
    )
    return [ScheduledCommandRun(*row.values()) for row in rows]


async def delete_before(q: Queries, instant: datetime) -> int:
    """Delete records that ended before this instant, at most DROPPED_AT_ONCE; return how many."""
    return await q.affected(
        "delete from scheduled_command_runs where id in (select id from scheduled_command_runs"
        " where time < $1 and status in ('sent', 'delivered', 'skipped', 'failed') limit $2)",
        instant,
        DROPPED_AT_ONCE,
    )


def _delayed_steps(rows: Iterable[Row]) -> list[DelayedStep]:
    return [DelayedStep(row[0], row[1], row[2]) for row in rows]
