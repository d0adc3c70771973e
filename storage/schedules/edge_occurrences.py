"""Starts scheduled commands: creates a run record for each device and step, and marks steps as being sent.

Both are committed before anything is sent (docs/decisions/0002). All functions work in bulk, because
thousands of scheduled commands may share an edge of a calendar window. One may be for thousands of devices:
its records are made for some of these after the others.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

import msgspec

from motorpool.storage.accounts import access, users
from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries, columns
from motorpool.storage.devices import command_log, commands

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


class Firing(msgspec.Struct, frozen=True, gc=False):
    """An occurrence whose run records are being made."""

    id: int
    schedule_id: int
    steps: int
    """Of each device."""


class Portion(msgspec.Struct, frozen=True, gc=False):
    """How many devices of a firing get their records next."""

    firing: Firing
    devices: int


class MadeRuns(NamedTuple):
    """What `make_runs` has done."""

    run_ids: list[int]
    """The records that were created, in their order."""
    first_steps: list[int]
    """Those of the first step of each device."""
    unfinished: frozenset[int]
    """Firings that have further devices."""


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
    log_id: int = 0
    """Of its row in the log of commands."""


# A scheduled command occurs at most once in what is asked. Rows are locked in the order of their ids:
# scheduled commands, then firings, then runs, then the queue. All other statements use the same order. What
# is locked takes along what is asked of it: PostgreSQL takes arrays for short, and would join two such lists
# by comparing each row with each.
_FIRE = """
    with held as materialized (
        select asked.* from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[],
            $6::bigint[]) as asked (schedule_id, calendar_id, at, phase, list, requested_by)
        join scheduled_commands s on s.id = asked.schedule_id order by s.id for update of s
    ),
    fired as (
        update scheduled_commands s set
            watched_from = case when held.phase = 'manual' then s.watched_from else held.at end
        from held
        where s.id = held.schedule_id and (held.phase = 'manual'
            or (s.active and s.calendar_id = held.calendar_id and s.watched_from < held.at))
        returning s.id, held.at, held.phase, held.requested_by,
            case held.list when 'start' then s.on_start else s.on_end end as steps
    )
    insert into unfinished_firings
        (firing, scheduled_command_id, phase, at, requested_by, command_ids, delays)
    select nextval('scheduled_command_firings'), fired.id, phase, at, requested_by, command_ids, delays
    from fired cross join lateral (
        select array_agg((value ->> 'commandId')::bigint order by place),
            array_agg(case when place = 1 then 0 else coalesce((value ->> 'delaySeconds')::integer, 0) end
                order by place)
        from jsonb_array_elements(fired.steps) with ordinality as list (value, place)
    ) as listed (command_ids, delays)
    where cardinality(command_ids) > 0 order by fired.id
    returning firing, scheduled_command_id, cardinality(command_ids)
"""
_LEAVE_OUT = """
    delete from unfinished_firings where firing in (
        select firing from (
            select firing, row_number() over (partition by scheduled_command_id order by firing desc)
                as number
            from unfinished_firings where scheduled_command_id = any($1::bigint[])
        ) as numbered where number > $2
    )
    returning firing, scheduled_command_id
"""
_UNFINISHED = """
    select firing, scheduled_command_id, cardinality(command_ids) from unfinished_firings order by firing
"""
# Of the devices of a portion there is one more than get their records now, by which it is seen whether it is
# the last portion.
_MAKE = """
    with recursive held as materialized (
        select asked.* from unnest($1::bigint[], $2::bigint[], $3::integer[])
            as asked (firing, schedule_id, devices)
        join scheduled_commands s on s.id = asked.schedule_id order by s.id for update of s
    ),
    portion as materialized (
        select f.*, held.devices from held join unfinished_firings f using (firing)
        where f.scheduled_command_id = held.schedule_id order by f.firing for update of f
    ),
    linked (firing, group_id) as (
        select portion.firing, g.group_id
            from portion join group_scheduled_command g using (scheduled_command_id)
        union select linked.firing, below.id
            from linked join groups below on below.group_id = linked.group_id
    ),
    target as materialized (
        select portion.*, device_id, number > devices as left_for_later from portion cross join lateral (
            select device_id, row_number() over (order by device_id) as number from (
                select device_id from device_scheduled_command d
                where d.scheduled_command_id = portion.scheduled_command_id
                union
                select d.id from linked join devices d on d.group_id = linked.group_id
                where linked.firing = portion.firing
            ) as reached
            where device_id > portion.after_device order by device_id limit portion.devices + 1
        ) as chosen
    ),
    unfinished as (
        update unfinished_firings f set after_device = last.device_id from (
            select firing, max(device_id) filter (where not left_for_later) as device_id from target
            group by firing having bool_or(left_for_later)
        ) as last
        where f.firing = last.firing
        returning f.firing
    ),
    finished as (
        delete from unfinished_firings f using portion where f.firing = portion.firing
            and f.firing not in (select firing from target where left_for_later)
    ),
    made as (
        insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id, command_id,
            delay_seconds, followed, time, status, requested_by)
        select scheduled_command_id, firing, phase, step.number - 1, device_id, command_id, delay,
            step.number < cardinality(command_ids), at + step.after * interval '1 second', 'pending',
            requested_by
        from target cross join lateral (
            select number, command_id, delay, sum(delay) over (order by number) as after
            from unnest(command_ids, delays) with ordinality as list (command_id, delay, number)
        ) as step
        where not left_for_later
        order by scheduled_command_id, device_id, step.number
        returning id, scheduled_command_id, phase, device_id, step, time
    )
    select id, scheduled_command_id, phase, device_id, step, time from made
    union all select firing, null, null, null, null, null from unfinished
    order by 1
"""
# Steps of the opposite phase that still wait, for devices in the range of the portion.
_OPPOSITE_STEPS = """
    select r.id, r.scheduled_command_id, r.device_id
    from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
        as opposite (schedule_id, phase, first, last)
    join scheduled_command_runs r on r.scheduled_command_id = opposite.schedule_id
        and r.device_id between opposite.first and opposite.last
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
# else of the owner. A step that was to be tried again has its row in the log already, perhaps only since this
# statement began: which row it is, the insert tells. The ids are looked up in one object, as above.
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
            else 0 end as queue_minutes, c.description, u.name as user_name, r.device_id,
            r.scheduled_command_id
        from scheduled_command_runs r
        left join scheduled_commands s on s.id = r.scheduled_command_id
        left join users u on u.id = coalesce(r.requested_by, s.owner_id)
        left join devices d on d.id = r.device_id
        left join commands c on c.id = r.command_id
        where r.id = any($1::bigint[]) and r.status = 'pending' and not {nodes.is_dead("$4")}
        order by r.id for update of r
    ),
    logged as (
        insert into command_log (device_id, type, description, text_channel, attributes, origin, user_id,
            user_name, run_id, scheduled_command_id, time, state)
        select device_id, type, {command_log.short("description")}, text_channel,
            {command_log.bounded("attributes")}, 'SCHEDULE', owner_id, user_name, id, scheduled_command_id,
            $2, 'SENDING'
        from judged where reason is null order by id
        on conflict (run_id) where run_id is not null do update set state = 'SENDING'
        returning id, run_id
    ),
    log_ids as materialized (select jsonb_object_agg(run_id, id) as of_runs from logged)
    update scheduled_command_runs r set
        status = case when judged.reason is null then 'sending' else 'skipped' end,
        sent_by = case when judged.reason is null then $4::bigint end,
        time = case when judged.reason is null then r.time else $2 end,
        reason = judged.reason,
        detail = case when judged.reason = 'no_permission' then judged.detail end
    from judged where r.id = judged.id
    returning r.id, r.scheduled_command_id, r.device_id, r.phase, judged.due, r.followed, judged.reason,
        judged.type, judged.text_channel, judged.attributes, judged.queue_minutes, judged.owner_id,
        coalesce((select (of_runs ->> judged.id::text)::bigint from log_ids), 0)
"""  # noqa: S608 - constant names


async def fire(q: Queries, occurrences: Sequence[EdgeOccurrence]) -> list[Firing]:
    """Begin the firings of these occurrences; `make_runs` creates their records.

    A scheduled command may occur only once in `occurrences`. Edges that a scheduled command has already
    passed, edges of inactive ones, and phases without steps begin nothing. Must run in a transaction.
    """
    asked = ((*msgspec.structs.astuple(each)[:-1], each.user_id or None) for each in occurrences)
    return [Firing(*row.values()) for row in await q.fetch(_FIRE, *columns(asked))]


async def leave_out(q: Queries, schedule_ids: Iterable[int], most: int) -> dict[int, int]:
    """End the oldest firings of scheduled commands that have more than `most` unfinished ones.

    Return the scheduled commands by the ids of these firings.
    """
    rows = await q.fetch(_LEAVE_OUT, list(schedule_ids), most)
    return {row[0]: row[1] for row in rows}


async def unfinished(q: Queries) -> list[Firing]:
    """Return the firings of which some devices have no records yet, the oldest first."""
    return [Firing(*row.values()) for row in await q.fetch(_UNFINISHED)]


async def make_runs(q: Queries, portions: Sequence[Portion], now: datetime) -> MadeRuns:
    """Create the run records of the next devices of these firings.

    A scheduled command may occur only once in `portions`, and must have no older firing that is unfinished.
    A phase fires for the devices that it creates records for: steps of the opposite phase that still wait for
    one of these are skipped as superseded. So a phase without devices supersedes nothing. Must run in a
    transaction.
    """
    asked = ((each.firing.id, each.firing.schedule_id, each.devices) for each in portions)
    rows = await q.fetch(_MAKE, *columns(asked))
    made = [row for row in rows if row[1] is not None]
    running = {row[1] for row in made if row[4] == 0 and row[5] >= now - MISSED_AFTER}
    if running:
        await q.defer_to_commit(_HAS_RUN, list(running), now)
    if opposite := {row[1]: _OPPOSITE[row[2]] for row in made if row[2] in _OPPOSITE}:
        await _supersede(q, opposite, {(row[1], row[3]) for row in made}, now)
    return MadeRuns(
        [row[0] for row in made],
        [row[0] for row in made if row[4] == 0],
        frozenset(row[0] for row in rows if row[1] is None),
    )


async def _supersede(
    q: Queries, opposite: Mapping[int, str], fired: Set[tuple[int, int]], now: datetime
) -> None:
    """Skip the waiting steps of the opposite phase of each scheduled command, for the devices it fires for.

    `fired` has pairs of a scheduled command and such a device.
    """
    ranges: dict[int, tuple[int, int]] = {}
    for schedule_id, device_id in fired:
        first, last = ranges.get(schedule_id, (device_id, device_id))
        ranges[schedule_id] = min(first, device_id), max(last, device_id)
    asked = ((schedule_id, phase, *ranges[schedule_id]) for schedule_id, phase in opposite.items())
    waiting = await q.fetch(_OPPOSITE_STEPS, *columns(asked))
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
