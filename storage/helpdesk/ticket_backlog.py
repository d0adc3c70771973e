"""The tickets of a company that are worked on: now, and at instants before (docs/tickets.md#statistics)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk.helpdesk_records import OUTSIDE_ZONE
from motorpool.storage.helpdesk.ticket_lists import LIVE, OPEN_DUE, OVERDUE
from motorpool.storage.helpdesk.ticket_statistics import Span, group_of, statement_of

BACKLOG_GROUPS = ("kind", "status", "priority", "team", "category", "assignee", "zone", "age")
AGES = ("1 day", "3 days", "7 days", "14 days", "30 days")
"""Boundaries between groups of ages; a day has 24 hours."""


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """The tickets that are worked on."""

    total: int
    unassigned: int
    orphaned: int
    paused: int
    outside_zone: int
    overdue: int
    due_soon: int
    groups: Mapping[str, Mapping[int | str, int]]
    """By one of `BACKLOG_GROUPS`, and its key: how many; 0 and an empty text stand for none."""


_AT_ENDS = """
    select 'live' as what, width_bucket(created_at, $1::timestamptz[]) as place, count(*) as count
    from scope where status_kind in ('new', 'open', 'pending') and ($2 or not is_cancelled) group by place
    union all
    select case when grouping(created) = 0 then 'created' else 'changed' end, coalesce(created, changed),
        sum(change)::bigint
    from (
        select width_bucket(created_at, $1::timestamptz[]) as created,
            width_bucket(event_time, $1::timestamptz[]) as changed, change
        from (
            select ticket_id, event_time, (to_kind in ('new', 'open', 'pending'))::integer
                - (from_kind in ('new', 'open', 'pending'))::integer as change
            from ticket_events
            where to_kind is not null and event_time >= ($1::timestamptz[])[1] and {companies}
        ) moves
        join scope on scope.id = ticket_id
        where change <> 0 and ($2 or not is_cancelled)
    ) changes
    where created < changed
    group by grouping sets ((created), (changed))
"""


async def backlog_at(q: Queries, span: Span, ends: Sequence[datetime]) -> list[int]:
    """Return how many tickets were worked on just before each of these instants, which are ascending.

    Counted back from the present by the changes of status since.
    """
    sql, args = statement_of(_AT_ENDS, span, 3)
    rows = await q.fetch(sql, list(ends), span.with_cancelled, *args)
    # A ticket counts from the first end after its creation on; a change is undone for the ends up to it.
    added = [0] * (len(ends) + 1)
    for row in rows:
        added[row["place"]] += -row["count"] if row["what"] == "created" else row["count"]
    found, live = [], 0
    for change in added[:-1]:
        live += change
        found.append(live)
    return found


_MEMBER = "select from user_team member join teams each on each.id = member.team_id"
_LEFT_ALONE = f"""
    coalesce(team.disabled, false) or t.assignee_id is not null and (
        assignee.disabled
        or t.team_id is not null and not exists (
            select from user_team member where member.user_id = t.assignee_id and member.team_id = t.team_id)
        or t.team_id is null and not assignee.administrator and not exists (
            select from user_company link
            where link.user_id = t.assignee_id and link.company_id = t.company_id)
            and not exists ({_MEMBER} where member.user_id = t.assignee_id and each.company_id = t.company_id)
    )
"""  # noqa: S608 - constants
_BACKLOG = """
    with live as (
        select t.status_kind as kind, t.status_id as status, coalesce(t.priority_id, 0) as priority,
            coalesce(t.team_id, 0) as team, coalesce(t.category_id, 0) as category,
            coalesce(t.assignee_id, 0) as assignee, coalesce(branch.attributes ->> 'zone', '') as zone,
            width_bucket($1 - t.created_at, {ages}) as age,
            {left_alone} as is_orphaned, t.sla_paused,
            zone_pause.ticket_id is not null as is_outside, coalesce({late}, false) as is_late,
            coalesce(t.first_due between $1 and $1 + interval '60 minutes', false)
                or coalesce(t.last_due between $1 and $1 + interval '60 minutes', false) as is_soon
        from (
            select *, {first} as first_due, {resolution} as last_due from tickets where {live} and {condition}
        ) t
        left join branches branch on branch.id = t.branch_id
        left join teams team on team.id = t.team_id
        left join users assignee on assignee.id = t.assignee_id
        left join ticket_pauses zone_pause on zone_pause.ticket_id = t.id and zone_pause.ends is null
            and zone_pause.reason = '{outside}'
    )
    select grouping({groups}) as grouped, {groups}, count(*) as count,
        count(*) filter (where assignee = 0) as unassigned, count(*) filter (where is_orphaned) as orphaned,
        count(*) filter (where sla_paused) as paused,
        count(*) filter (where is_outside) as outside_zone, count(*) filter (where is_late) as overdue,
        count(*) filter (where is_soon) as due_soon
    from live group by grouping sets ((), {sets})
"""


async def backlog(q: Queries, condition: Condition, now: datetime) -> Backlog:
    """Return the tickets that are worked on now, in all and by each of `BACKLOG_GROUPS`."""
    sql = _BACKLOG.format(
        ages=f"array[{', '.join(repr(age) for age in AGES)}]::interval[]",
        left_alone=_LEFT_ALONE,
        late=OVERDUE.format("$1"),
        outside=OUTSIDE_ZONE,
        first=OPEN_DUE["firstResponse"],
        resolution=OPEN_DUE["resolution"],
        live=LIVE,
        condition=condition.numbered(2),
        groups=", ".join(BACKLOG_GROUPS),
        sets=", ".join(f"({name})" for name in BACKLOG_GROUPS),
    )
    groups: dict[str, dict[int | str, int]] = {name: {} for name in BACKLOG_GROUPS}
    whole: dict[str, Any] = {}
    for row in await q.fetch(sql, now, *condition.args):
        group, key = group_of(row, BACKLOG_GROUPS)
        if group:
            groups[group][key] = row["count"]
        else:
            columns = ("unassigned", "orphaned", "paused", "outside_zone", "overdue", "due_soon")
            whole = {"total": row["count"], **{column: row[column] for column in columns}}
    return Backlog(**whole, groups=groups)
