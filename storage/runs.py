"""Run records: what came of each step for each device, from its firing to its end, and the history."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from motorpool.storage import commands
from motorpool.storage.database import Database
from motorpool.storage.queries import Queries, Row
from motorpool.storage.records import QueuedCommand, ScheduledCommandRun

__all__ = [
    "DelayedStep",
    "Outcome",
    "cancel",
    "cancel_for_device",
    "delayed",
    "delete_before",
    "fail_interrupted",
    "fetch",
    "history",
    "lock_with_following",
    "overdue",
    "queue_step",
    "revert_unsent",
    "schedule_following",
    "store_outcomes",
]

DROPPED_AT_ONCE = 5000


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How the sending of a step ended."""

    run_id: int
    status: str
    reason: str | None = None
    detail: str | None = None


class DelayedStep(msgspec.Struct, frozen=True, gc=False):
    """A step that waits for its time, and for nothing else."""

    schedule_id: int
    run_id: int
    due: datetime


# While it is not known whether the device has it, nobody is told more than before.
_SHOWN = """
    id, scheduled_command_id, phase, device_id, command_id, time,
    case status when 'sending' then 'pending' when 'delivering' then 'queued' else status end,
    case when status in ('skipped', 'failed') then reason end, detail
"""
# Whoever changes several records locks them in the order of their ids: nobody waits for another in a ring.
# One that was cancelled while it was being sent has its reason already.
_SETTLE = """
    with held as (
        select id from scheduled_command_runs
        where id = any($1::bigint[]) order by id for update
    )
    update scheduled_command_runs r set detail = came.detail,
        status = case when came.status = 'pending' and r.reason is not null then 'skipped'
            else came.status end,
        time = case when came.status = 'pending' and r.reason is null then r.time else $5 end,
        reason = case when came.status in ('skipped', 'pending') then coalesce(r.reason, came.reason)
            else came.reason end
    from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as came (id, status, reason, detail)
    where r.id = came.id and r.id in (select id from held)
        and r.status in ('sending', 'delivering') and came.status <> 'queued'
"""
# All that follow are moved by the same span: what a step is put off, those behind it are.
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
    returning r.id
"""
_CANCEL = _END.format(
    reason="'schedule_inactive'",
    which="r.scheduled_command_id = $1 and r.status in ('pending', 'sending', 'queued')",
)
_FORGET_DEVICE = _END.format(
    reason="'device_not_found'",
    which="r.id in (select run_id from queued_commands where device_id = $1) and r.status = 'queued'",
)
_FAIL_UNKNOWN = """
    with held as (
        select id, status from scheduled_command_runs
        where (status = 'sending' and $4) or (status = 'delivering' and time < $3)
        order by id for update
    )
    update scheduled_command_runs r set status = 'failed', reason = $2, time = $1
    from held where r.id = held.id
    returning r.id, held.status
"""


async def lock_with_following(q: Queries, run_ids: Sequence[int]) -> None:
    """Lock steps together with the pending ones that follow them, before a transaction changes both.

    Locked by `store_outcomes` and then by `schedule_following`, they could deadlock with `cancel`: the ids of
    the steps that follow lie between those of the others.
    """
    await q.execute(_LOCK, list(run_ids))


async def store_outcomes(q: Queries, outcomes: Sequence[Outcome], now: datetime) -> None:
    """Write down what came of steps that were being sent or delivered; `pending` is to be sent later.

    One that is queued was written down with its place there; it is held all the same, for `plan` after this.
    """
    await q.execute(
        _SETTLE,
        [each.run_id for each in outcomes],
        [each.status for each in outcomes],
        [each.reason for each in outcomes],
        [each.detail for each in outcomes],
        now,
    )


async def schedule_following(q: Queries, run_ids: Sequence[int]) -> list[DelayedStep]:
    """Set the times of the steps that follow these; return the next ones.

    The wait begins when the step before was sent, queued or skipped; after a missed one it was never put off.
    """
    return _planned(row for row in await q.fetch(_PLAN, list(run_ids)) if row[3])


async def queue_step(
    database: Database, run_id: int, command: QueuedCommand, *, now: datetime, minutes: int
) -> QueuedCommand | None:
    """Let a step that is being sent wait for its offline device; None where it has been cancelled meanwhile.

    Raises:
        StatementRejected: there is no such device, or too many commands wait for it.
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
            transaction, command, created=now, expires=now + timedelta(minutes=minutes), run_id=run_id
        )


async def cancel(q: Queries, schedule_id: int, now: datetime) -> None:
    """End what is pending or queued of a scheduled command as `schedule_inactive`.

    Its own row must have been changed or deleted before, in the same transaction: firing locks it first.
    """
    gone = await q.fetch(_CANCEL, schedule_id, now)
    await commands.remove_runs(q, [row[0] for row in gone])


async def cancel_for_device(q: Queries, device_id: int, now: datetime) -> None:
    """End what waits in the queue of a device that is about to be deleted, in the same transaction."""
    # From here on nothing more comes into its queue.
    await q.execute("select from devices where id = $1 for update", device_id)
    gone = await q.fetch(_FORGET_DEVICE, device_id, now)
    await commands.remove_runs(q, [row[0] for row in gone])


async def fail_interrupted(
    q: Queries, now: datetime, reason: str, *, delivering_before: datetime, sending: bool
) -> dict[int, bool]:
    """Fail the steps of which nobody knows whether they were sent; those being sent only after a start.

    Those that left their queue since `delivering_before` are being delivered by devices of this life.
    Return which, and whether those that follow have no time yet: a queued step has given them theirs.
    """
    rows = await q.fetch(_FAIL_UNKNOWN, now, reason, delivering_before, sending)
    return {row[0]: row[1] == "sending" for row in rows}


async def revert_unsent(q: Queries, keep: Sequence[int], now: datetime) -> None:
    """Make pending again what was begun and is known not to have been handed to any device.

    That is what is `sending` and not in `keep`; what was cancelled meanwhile is skipped.
    """
    await q.execute(
        "update scheduled_command_runs set"
        " status = case when reason is null then 'pending' else 'skipped' end,"
        " time = case when reason is null then time else $2 end"
        " where status = 'sending' and not id = any($1::bigint[])",
        list(keep),
        now,
    )


async def delayed(q: Queries, schedule_id: int | None = None) -> list[DelayedStep]:
    """Return the steps that wait for their time and no other step, all or those of a scheduled command."""
    of_one = " and ($1::bigint is null or r.scheduled_command_id = $1)"
    return _planned(await q.fetch(_WAITING + of_one, schedule_id))


async def overdue(q: Queries, before: datetime, limit: int) -> list[int]:
    """Return steps whose time came before this instant, and which wait for no other step, oldest first."""
    rows = await q.fetch(f"{_WAITING} and r.time < $1 order by r.time limit $2", before, limit)
    return [row[1] for row in rows]


async def fetch(q: Queries, run_ids: Iterable[int]) -> list[ScheduledCommandRun]:
    """Return records by their ids, in the order they were made."""
    rows = await q.fetch(
        f"select {_SHOWN} from scheduled_command_runs where id = any($1::bigint[]) order by id",  # noqa: S608 - names of our own
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
    """Return the history of a scheduled command within [start, end], newest first and nothing pending."""
    rows = await q.fetch(
        f"select {_SHOWN} from scheduled_command_runs"  # noqa: S608 - names of our own
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
    """Delete records that ended before, some thousands at most; return how many."""
    tag = await q.execute(
        "delete from scheduled_command_runs where id in (select id from scheduled_command_runs"
        " where time < $1 and status in ('sent', 'delivered', 'skipped', 'failed') limit $2)",
        instant,
        DROPPED_AT_ONCE,
    )
    return int(tag.rpartition(" ")[2])


def _planned(rows: Iterable[Row]) -> list[DelayedStep]:
    return [DelayedStep(row[0], row[1], row[2]) for row in rows]
