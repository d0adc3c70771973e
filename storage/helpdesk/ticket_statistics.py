"""Figures of tickets, counted by the database (docs/tickets.md#statistics).

`condition` selects tickets by the columns of `tickets`; `companies` is the part of it that names the
companies, which finds their entries and breaches. Spans are `[start, end)`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.helpdesk.helpdesk_records import TARGETS

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
    """For all tickets together."""
    median: float
    p90: int
    """By nearest rank."""


@dataclass(frozen=True, kw_only=True)
class Breaches:
    """Breaches of targets in a span of time."""

    first_response: int
    resolution: int
    tickets: int
    excused: int
    escalations: int


@dataclass(frozen=True, kw_only=True)
class Span:
    """The tickets and the span of time to count."""

    condition: Condition
    companies: Condition
    starts: Sequence[datetime]
    """Starts of the periods, ascending; the first is the start of the span."""
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


def _decided(target: str, name: str) -> str:
    """Return the period of the verdict on a target, and the verdict: 0 met, 1 breached, 2 excused."""
    return f"""
        case when {name}_verdict is not null and not is_cancelled and {_in_span(f"{name}_decided_at")}
            then width_bucket({name}_decided_at, $3::timestamptz[]) end as {name},
        case when {name}_verdict = 'met' then 0 when excused ? '{target}' then 2 else 1 end as {name}_what
    """


_TICKETS = {
    "created": ("created", "true"),
    **{
        f"{target} {verdict}": (name, f"{name}_what = {number}")
        for target, name in (("firstResponse", "first_response"), ("resolution", "resolution"))
        for number, verdict in enumerate(("met", "breached", "excused"))
    },
}
"""What is counted of tickets: the column of its period, and its condition."""
_MOVES = {
    "resolved": "counts and was_live and to_kind in ('resolved', 'closed')",
    "closed": "counts and to_kind = 'closed' and from_kind <> 'closed'",
    "cancelled": "to_kind = 'cancelled' and from_kind <> 'cancelled'",
    "reopened": "counts and not was_live and to_kind in ('new', 'open', 'pending')",
}
"""What is counted of moves from status to status, and its condition; tickets that are cancelled now count as
cancelled at least."""
_INSTANTS = ("created_at", "first_response_decided_at", "resolution_decided_at")
# The figures of a ticket are columns: a row for each of them takes twice as long.
_COUNT_TICKETS = f"""
    select grouping({{groups}}) as grouped, {{groups}},
        {", ".join(f"count({at}) filter (where {condition})" for at, condition in _TICKETS.values())}
    from (
        select coalesce(priority_id, 0) as priority, coalesce(team_id, 0) as team, coalesce(zone, '') as zone,
            case when {_in_span("created_at")}
                then width_bucket(created_at, $3::timestamptz[]) end as created,
            {_decided("firstResponse", "first_response")}, {_decided("resolution", "resolution")}
        from scope left join zones on zones.id = branch_id
        where ($4 or not is_cancelled) and ({" or ".join(_in_span(at) for at in _INSTANTS)})
    ) happened
    group by grouping sets ((), {{sets}})
"""  # noqa: S608 - constants
_COUNT_MOVES = f"""
    select grouping({{groups}}) as grouped, {{groups}},
        {", ".join(f"count(*) filter (where {condition})" for condition in _MOVES.values())}
    from (
        select coalesce(priority_id, 0) as priority, coalesce(team_id, 0) as team, coalesce(zone, '') as zone,
            width_bucket(event_time, $3::timestamptz[]) as period, was_live, from_kind, to_kind,
            ($4 or not is_cancelled) as counts
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
        left join zones on zones.id = branch_id
    ) moves
    group by grouping sets ((), {{sets}})
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
    """Return what happened to tickets in the span, but their moves: in all and by each of its groups."""
    periods = {column: column for column, _ in _TICKETS.values()} if span.by_period else {}
    groups = (*(group for group in span.groups if group != "period"), *periods)
    found = []
    for row in await _fetch_counts(q, _COUNT_TICKETS, span, groups):
        group, key = group_of(row, groups)
        numbers = zip(_TICKETS.items(), list(row.values())[-len(_TICKETS) :], strict=True)
        for (what, (column, _)), number in numbers:
            # A ticket is created in one period, and its targets are decided in others.
            if number and (group not in periods or group == column):
                found.append(Count("period" if group in periods else group, key, what, number))
    return found


async def count_moves(q: Queries, span: Span) -> list[Count]:
    """Return the moves of tickets from status to status in the span, in all and by each of its groups."""
    found = []
    for row in await _fetch_counts(q, _COUNT_MOVES, span, span.groups):
        numbers = zip(_MOVES, list(row.values())[-len(_MOVES) :], strict=True)
        found += [Count(*group_of(row, span.groups), what, number) for what, number in numbers if number]
    return found


async def _fetch_counts(q: Queries, sql: str, span: Span, groups: Sequence[str]) -> list[Row]:
    sets = ", ".join(f"({group})" for group in groups)
    sql = sql.replace("{groups}", ", ".join(groups)).replace("{sets}", sets)
    sql, args = statement_of(sql, span, 5)
    return await q.fetch(sql, span.starts[0], span.end, list(span.starts), span.with_cancelled, *args)


async def business_times(q: Queries, span: Span) -> list[Times]:
    """Return how long targets took that were done in the span, in all and by each of the span's groups."""
    places = ["place" if group == "zone" else group for group in span.groups]
    sets = ", ".join(f"(target, {group})" for group in places)
    sql = _TIMES.replace("{groups}", ", ".join(places)).replace("{sets}", sets)
    sql = _scope(span.condition.numbered(4)) + sql
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
    scope, args = _scope(span.condition.numbered(first)), span.condition.args
    if "{companies}" in sql:
        sql = sql.replace("{companies}", span.companies.numbered(first + len(args)))
        args = (*args, *span.companies.args)
    return scope + sql, args


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
