"""Figures of tickets, counted by the database (docs/tickets.md#statistics).

`condition` selects tickets by the columns of `tickets`; `companies` is the part of it that names the
companies, which finds their entries and breaches. Spans are `[start, end)`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.conditions import Condition
from motorpool.storage.helpdesk_records import TARGETS
from motorpool.storage.queries import Queries, Row

__all__ = [
    "GROUPS",
    "Breaches",
    "Count",
    "Span",
    "Times",
    "breaches",
    "business_times",
    "counts",
    "group_of",
    "names",
    "statement_of",
]

GROUPS = ("priority", "team", "zone", "period")


class Count(NamedTuple):
    """How often something happened."""

    group: str
    """One of `GROUPS`, or empty for all."""
    key: int | str
    """Its id (0: none), its zone (empty: none), or the number of its period, from 1."""
    what: str
    """`created`, `resolved`, `closed`, `cancelled`, `reopened`, or a target with `met`, `breached` or
    `excused`, such as `resolution met`; what is breached and excused is `excused` only."""
    number: int


class Times(NamedTuple):
    """Business minutes until a target was done."""

    group: str
    key: int | str
    target: str
    done: int
    minutes: int
    """Of all together."""
    median: float
    p90: int
    """By nearest rank."""


@dataclass(frozen=True, kw_only=True)
class Breaches:
    """What went wrong in a span of time."""

    first_response: int
    resolution: int
    tickets: int
    excused: int
    escalations: int


@dataclass(frozen=True, kw_only=True)
class Span:
    """What is counted, and when."""

    condition: Condition
    companies: Condition
    starts: Sequence[datetime]
    """Begins of the periods, ascending; the first is that of the span."""
    end: datetime
    with_cancelled: bool = False
    by_period: bool = True
    """Whether to group by period too, which costs a fifth of all grouping."""

    @property
    def groups(self) -> tuple[str, ...]:
        """By which of `GROUPS` to count."""
        return GROUPS if self.by_period else tuple(group for group in GROUPS if group != "period")


def _scope(condition: str) -> str:
    """Return the beginning of a statement: tickets with what their figures depend on.

    Not materialized: a hundred thousand of these rows do not fit into the memory of a statement.
    """
    return f"""
        with scope as not materialized (
            select id, priority_id, team_id, branch_id, status_kind,
                status_kind = 'cancelled' as is_cancelled, created_at, escalated_at,
                first_response_at, resolved_at, first_response_elapsed, resolution_elapsed,
                first_response_verdict, first_response_decided_at, resolution_verdict, resolution_decided_at,
                attributes -> 'slaExcused' as excused
            from tickets where {condition}
        ),
        zones as (select id, coalesce(attributes ->> 'zone', '') as zone from branches)
    """  # noqa: S608 - constants


def _in_span(at: str) -> str:
    return f"({at} >= $1 and {at} < $2)"


def _decided(first: int, target: str, name: str) -> str:
    return f"""
        case when {name}_verdict is not null and not is_cancelled and {_in_span(f"{name}_decided_at")}
            then width_bucket({name}_decided_at, $3::timestamptz[]) end as {name},
        case when {name}_verdict = 'met' then {first}
            when {name}_verdict is null then null
            when excused ? '{target}' then {first + 2} else {first + 1} end as {name}_what
    """


_WHAT = (
    "created",
    "resolved",
    "closed",
    "cancelled",
    "reopened",
    "firstResponse met",
    "firstResponse breached",
    "firstResponse excused",
    "resolution met",
    "resolution breached",
    "resolution excused",
)
"""By the numbers of the statement, since numbers are faster than texts."""
_INSTANTS = ("created_at", "first_response_decided_at", "resolution_decided_at")
# Tickets are read and grouped once for all that is counted of them: most of their instants are in one period.
_HAPPENED = f"""
    select what, priority_id, team_id, branch_id, period, count
    from (
        select priority_id, team_id, branch_id,
            case when {_in_span("created_at")}
                then width_bucket(created_at, $3::timestamptz[]) end as created,
            {_decided(5, "firstResponse", "first_response")}, {_decided(8, "resolution", "resolution")},
            count(*) as count
        from scope
        where ($4 or not is_cancelled) and ({" or ".join(_in_span(at) for at in _INSTANTS)})
        group by priority_id, team_id, branch_id,
            created, first_response, first_response_what, resolution, resolution_what
    ) grouped
    cross join lateral (values
        (0, created), (first_response_what, first_response), (resolution_what, resolution)
    ) as each (what, period)
    where period is not null
    union all
    select what, priority_id, team_id, branch_id, width_bucket(event_time, $3::timestamptz[]), count(*)
    from moves group by 1, 2, 3, 4, 5
"""  # noqa: S608 - constants
_COUNTS = f""",
    moves as (
        select what, priority_id, team_id, branch_id, event_time
        from (
            select ticket_id, event_time, from_kind in ('new', 'open', 'pending') as was_live,
                from_kind, to_kind
            from ticket_events
            -- Moves that count nowhere are left out before the join; `not in` would mislead the planner.
            where to_kind is not null and event_time >= $1 and event_time < $2 and {{companies}}
                and (to_kind in ('resolved', 'closed', 'cancelled')
                    or from_kind in ('resolved', 'closed', 'cancelled'))
        ) moved
        join scope on scope.id = ticket_id
        cross join lateral unnest(
            case when not $4 and is_cancelled then '{{}}'
                when was_live and to_kind = 'resolved' then '{{1}}'
                when was_live and to_kind = 'closed' then '{{1,2}}'
                when to_kind = 'closed' and from_kind <> 'closed' then '{{2}}'
                when not was_live and to_kind in ('new', 'open', 'pending') then '{{4}}'
            end::integer[]
            || case when to_kind = 'cancelled' and from_kind <> 'cancelled' then '{{3}}' end::integer[]
        ) as what
    )
    select grouping({{groups}}) as grouped, {{groups}}, what, sum(count)::bigint as count
    from (
        select what, coalesce(priority_id, 0) as priority, coalesce(team_id, 0) as team,
            coalesce(zone, '') as zone, period, count
        from ({_HAPPENED}) each left join zones on zones.id = branch_id
    ) happened
    group by grouping sets ((what), {{sets}})
"""  # noqa: S608 - constants
_TIMES = """,
    places as (
        select id, zone, case when zone = '' then 0 else dense_rank() over (order by zone) end as place
        from zones
    ),
    dated as (
        select coalesce(priority_id, 0) as priority, coalesce(team_id, 0) as team,
            coalesce(place, 0) as place, width_bucket(at, $3::timestamptz[]) as period, target,
            floor(date_part('epoch', elapsed) / 60) as minutes
        from scope left join places on places.id = branch_id
        cross join lateral (values
            (0, first_response_at, first_response_elapsed), (1, resolved_at, resolution_elapsed)
        ) as done (target, at, elapsed)
        where not is_cancelled and at >= $1 and at < $2 and elapsed is not null
    )
    select figures.*, coalesce(zone, '') as zone
    from (
        select grouping({groups}) as grouped, {groups}, target,
            count(*) as done, sum(minutes)::bigint as minutes,
            percentile_cont(0.5) within group (order by minutes) as median,
            percentile_disc(0.9) within group (order by minutes)::integer as p90
        from dated
        group by grouping sets ((target), {sets})
    ) figures
    left join (select distinct place, zone from places) named using (place)
"""
_BREACHES = """
    select count(*) filter (where target = 'firstResponse') as first_response,
        count(*) filter (where target = 'resolution') as resolution,
        count(distinct ticket_id) as tickets,
        count(*) filter (where excused ? target) as excused,
        (select count(*) from scope
            where escalated_at >= $1 and escalated_at < $2 and ($3 or not is_cancelled)) as escalations
    from (
        select ticket_id, target from ticket_breaches
        where target in ('firstResponse', 'resolution') and due >= $1 and due < $2 and {companies}
    ) breached
    join scope on scope.id = ticket_id
    where $3 or not is_cancelled
"""


async def counts(q: Queries, span: Span) -> list[Count]:
    """Return what happened in the span, in all and by each of the span's groups."""
    sql, args = statement_of(_grouped(_COUNTS, "what", span.groups), span, 5)
    rows = await q.fetch(sql, span.starts[0], span.end, list(span.starts), span.with_cancelled, *args)
    return [Count(*group_of(row, span.groups), _WHAT[row["what"]], row["count"]) for row in rows]


async def business_times(q: Queries, span: Span) -> list[Times]:
    """Return how long targets took that were done in the span, in all and by each of the span's groups."""
    places = ["place" if group == "zone" else group for group in span.groups]
    sql = _scope(span.condition.numbered(4)) + _grouped(_TIMES, "target", places)
    rows = await q.fetch(sql, span.starts[0], span.end, list(span.starts), *span.condition.args)
    columns = ("done", "minutes", "median", "p90")
    return [
        Times(*group_of(row, span.groups), TARGETS[row["target"]], *(row[column] for column in columns))
        for row in rows
    ]


async def breaches(q: Queries, span: Span) -> Breaches:
    """Return what was breached and escalated in the span."""
    sql, args = statement_of(_BREACHES, span, 4)
    row = await q.fetch_row(sql, span.starts[0], span.end, span.with_cancelled, *args)
    assert row is not None
    return Breaches(**dict(row.items()))


def statement_of(sql: str, span: Span, first: int) -> tuple[str, tuple[object, ...]]:
    """Return the statement on the tickets of a span, and its arguments from the `first` on."""
    companies = span.companies.numbered(first + len(span.condition.args))
    return _scope(span.condition.numbered(first)) + sql.replace("{companies}", companies), (
        *span.condition.args,
        *span.companies.args,
    )


def _grouped(sql: str, what: str, groups: Sequence[str]) -> str:
    """Return the statement that counts `what` by each of these groups."""
    sets = ", ".join(f"({what}, {group})" for group in groups)
    return sql.replace("{groups}", ", ".join(groups)).replace("{sets}", sets)


def group_of(row: Row, groups: Sequence[str]) -> tuple[str, int | str]:
    """Return the group of a row of grouping sets, and its key; empty for the row of all.

    The column `grouped` is `grouping()` of the groups in this order.
    """
    for place, name in enumerate(reversed(groups)):
        if not row["grouped"] >> place & 1:
            return name, row[name]
    return "", 0


_NAMES = """
    select 'status' as what, id, name from ticket_statuses where id = any($1::bigint[])
    union all select 'priority', id, name from ticket_priorities where id = any($2::bigint[])
    union all select 'team', id, name from teams where id = any($3::bigint[])
    union all select 'category', id, name from ticket_categories where id = any($4::bigint[])
    union all select 'assignee', id, name from users where id = any($5::bigint[])
"""


async def names(q: Queries, wanted: Mapping[str, Iterable[int]]) -> dict[tuple[str, int], str]:
    """Return names by group (status, priority, team, category or assignee) and id."""
    ids = [sorted(wanted.get(name, ())) for name in ("status", "priority", "team", "category", "assignee")]
    return {(row["what"], row["id"]): row["name"] for row in await q.fetch(_NAMES, *ids)}
