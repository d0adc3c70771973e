"""Starts scheduled commands: creates a run record for each device and step, and marks steps as being sent.

Both are committed before anything is sent (docs/decisions/0002). All functions work in bulk, because
thousands of scheduled commands may share an edge of a calendar window.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from motorpool.storage.accounts import access, users
from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries, columns
from motorpool.storage.devices import commands
from motorpool.storage.records import ScheduledCommandRun

MISSED_AFTER = timedelta(minutes=5)
"""A step that is overdue by more than this is skipped as missed."""

Phase = Literal["start", "end", "manual"]
_OPPOSITE = {"start": "end", "end": "start"}


class EdgeOccurrence(msgspec.Struct, frozen=True, gc=False):
    """An edge of a calendar window, or a manual request, that starts a scheduled command."""

    schedule_id: int
    calendar_id: int
    """The calendar of the edge; 0 for a manual request."""
    at: datetime
    """The time of the edge or of the request."""
    phase: Phase
    steps: Literal["start", "end"]
    """Which of the two step lists is sent."""
    user_id: int = 0
    """The user who made the request and whose rights apply to the steps; 0: the owner."""


class StartedStep(msgspec.Struct, frozen=True, gc=False):
    """A due step that is to be sent now, exactly once, or that has been skipped."""

    run_id: int
    schedule_id: int
    device_id: int
    phase: Phase
    due: datetime
    followed: bool
    """Whether another step follows it."""
    reason: str | None = None
    """Why it was skipped; None if it is to be sent."""
    type: str = ""
    text_channel: bool = False
    attributes: dict[str, Any] = {}
    queue_minutes: int = 0
    """Minutes that it may wait in the queue of an offline device; 0: it is not queued."""
    owner_id: int = 0
    """The user with whose rights it is sent."""


# A scheduled command occurs at most once in `asked`. Rows are locked in the order of their ids: scheduled
# commands, then runs, then the queue. All other statements use the same order.
_FIRE = """
    with recursive asked as (
        select * from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[],
            $6::bigint[]) as asked (schedule_id, calendar_id, at, phase, list, requested_by)
    ),
    held as materialized (
        select id from scheduled_commands where id = any($1::bigint[]) order by id for update
    ),
    fired as (
        update scheduled_commands s set
            watched_from = case when asked.phase = 'manual' then s.watched_from else asked.at end
        from asked
        where s.id = asked.schedule_id and s.id in (select id from held) and (asked.phase = 'manual'
            or (s.active and s.calendar_id = asked.calendar_id and s.watched_from < asked.at))
        returning s.id, asked.at, asked.phase, asked.requested_by,
            nextval('scheduled_command_firings') as firing,
            case asked.list when 'start' then s.on_start else s.on_end end as steps
    ),
    linked (id, group_id) as (
        select fired.id, g.group_id from fired
            join group_scheduled_command g on g.scheduled_command_id = fired.id
        union select linked.id, below.id from linked join groups below on below.group_id = linked.group_id
    ),
    targets (id, device_id) as (
        select fired.id, d.device_id from fired
            join device_scheduled_command d on d.scheduled_command_id = fired.id
        union select linked.id, d.id from linked join devices d on d.group_id = linked.group_id
    ),
    made as (
        insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id, command_id,
            delay_seconds, followed, time, status, requested_by)
        select fired.id, firing, phase, step.number, device_id, step.command_id, step.delay,
            step.number < step.last, at + step.after * interval '1 second', 'pending', requested_by
        from fired join targets on targets.id = fired.id
        cross join lateral (
            select number::integer - 1 as number, count(*) over () - 1 as last, command_id, delay,
                sum(delay) over (order by number) as after
            from (
                select place as number, (value ->> 'commandId')::bigint as command_id,
                    case when place = 1 then 0 else coalesce((value ->> 'delaySeconds')::integer, 0) end
                        as delay
                from jsonb_array_elements(fired.steps) with ordinality as list (value, place)
            ) as listed
        ) as step
        order by fired.id, device_id, step.number
        returning id, scheduled_command_id, phase, device_id, command_id, time, step
    )
    select * from made order by id
"""
# Steps of the opposite phase that still wait, for any device. Those of devices for which this phase does not
# fire are left out in Python: joined with records that were just made, which statistics do not count yet, it
# took more than half a minute for 10,000 devices.
_OPPOSITE_STEPS = """
    select r.id, r.scheduled_command_id, r.device_id
    from unnest($1::bigint[], $2::text[]) as opposite (schedule_id, phase)
    join scheduled_command_runs r on r.scheduled_command_id = opposite.schedule_id
        and r.phase = opposite.phase and r.status in ('pending', 'sending', 'queued')
    order by r.id for update of r
"""
# A step that is being sent only gets the reason: it is then not queued if its device is offline.
_SUPERSEDE = """
    update scheduled_command_runs r set
        status = case when r.status = 'sending' then r.status else 'skipped' end,
        time = case when r.status = 'sending' then r.time else $2 end,
        reason = 'superseded'
    where r.id = any($1::bigint[])
"""
_HAS_RUN = """
    update scheduled_commands set last_run = greatest($2::timestamptz, last_run) where id = any($1::bigint[])
"""
MAX_QUEUE_MINUTES = 30 * 24 * 60
"""Longest time that a command may wait for its device."""
OWNER_DELETED = "the owner of the scheduled command was deleted"
# The rights are those for sending manually (docs/users.md#restrictions,
# docs/permissions.md#access-to-devices), checked at the time of sending: of the user who asked for the run,
# else of the owner.
_START_STEPS = f"""
    with judged as (
        select r.id, r.time as due,
            case
                when r.time < $3 then 'missed'
                when d.id is null then 'device_not_found'
                when c.id is null then 'command_not_found'
                when u.id is null or u.disabled or u.expiration_time <= $2 then 'no_permission'
                when not u.administrator and not (
                    (
                        exists (select from user_command uc where uc.user_id = u.id and uc.command_id = c.id)
                        or (r.requested_by is not null and not {users.restricted("limit_commands", "u")})
                    )
                    and {access.sees_device("u.id", "d.id")}
                ) then 'no_permission'
            end as reason,
            case when r.requested_by is null and s.id is not null and s.owner_id is null
                then '{OWNER_DELETED}' end as detail,
            coalesce(c.type, '') as type, coalesce(c.text_channel, false) as text_channel,
            coalesce(c.attributes, '{{}}') as attributes, coalesce(u.id, 0) as owner_id,
            case when jsonb_typeof(s.attributes -> 'queueMaxMinutes') = 'number' then trunc(least(greatest(
                (s.attributes ->> 'queueMaxMinutes')::numeric, 0), {MAX_QUEUE_MINUTES}))::integer
            else 0 end as queue_minutes
        from scheduled_command_runs r
        left join scheduled_commands s on s.id = r.scheduled_command_id
        left join users u on u.id = coalesce(r.requested_by, s.owner_id)
        left join devices d on d.id = r.device_id
        left join commands c on c.id = r.command_id
        where r.id = any($1::bigint[]) and r.status = 'pending' and not {nodes.is_dead("$4")}
        order by r.id for update of r
    )
    update scheduled_command_runs r set
        status = case when judged.reason is null then 'sending' else 'skipped' end,
        sent_by = case when judged.reason is null then $4::bigint end,
        time = case when judged.reason is null then r.time else $2 end,
        reason = judged.reason,
        detail = case when judged.reason = 'no_permission' then judged.detail end
    from judged where r.id = judged.id
    returning r.id, r.scheduled_command_id, r.device_id, r.phase, judged.due, r.followed, judged.reason,
        judged.type, judged.text_channel, judged.attributes, judged.queue_minutes, judged.owner_id
"""  # noqa: S608 - constant names


async def create_runs(
    q: Queries, firings: Sequence[EdgeOccurrence], now: datetime
) -> list[tuple[ScheduledCommandRun, int]]:
    """Create the run records of these occurrences; return each with the index of its step.

    A scheduled command may occur only once in `firings`. Edges that a scheduled command has already passed
    and edges of inactive ones create no records. A phase fires for the devices that it creates records for:
    steps of the opposite phase that still wait for one of these are skipped as superseded. A phase without
    steps or devices supersedes nothing. Must run in a transaction.
    """
    if not firings:
        return []
    asked = ((*msgspec.structs.astuple(each)[:-1], each.user_id or None) for each in firings)
    made = await q.fetch(_FIRE, *columns(asked))
    running = {row[1] for row in made if row[6] == 0 and row[5] >= now - MISSED_AFTER}
    if running:
        await q.defer_to_commit(_HAS_RUN, list(running), now)
    opposite = {row[1]: _OPPOSITE[row[2]] for row in made if row[2] in _OPPOSITE}
    if opposite:
        await _supersede(q, opposite, {(row[1], row[3]) for row in made}, now)
    return [
        (ScheduledCommandRun(row[0], row[1], row[2], row[3], row[4], row[5], "pending"), row[6])
        for row in made
    ]


async def _supersede(
    q: Queries, opposite: Mapping[int, str], fired: Set[tuple[int, int]], now: datetime
) -> None:
    """Skip the waiting steps of the opposite phase of each scheduled command, for the devices it fires for.

    `fired` has pairs of a scheduled command and such a device.
    """
    waiting = await q.fetch(_OPPOSITE_STEPS, *columns(opposite.items()))
    gone = [row[0] for row in waiting if (row[1], row[2]) in fired]
    if gone:
        await q.execute(_SUPERSEDE, gone, now)
        await commands.remove_runs(q, gone)


async def start_steps(q: Queries, run_ids: Sequence[int], now: datetime, node: int = 0) -> list[StartedStep]:
    """Mark due steps as `sending` or skip them, in one statement; steps that are not pending are left out.

    They are returned in the order of `run_ids`. The caller, on the server `node`, must hand each step without
    a reason to its device exactly once, after the commit. A server that has been declared dead starts none.
    """
    rows = await q.fetch(_START_STEPS, list(run_ids), now, now - MISSED_AFTER, node)
    started = {row[0]: StartedStep(*row.values()) for row in rows}
    return [started[run_id] for run_id in dict.fromkeys(run_ids) if run_id in started]
