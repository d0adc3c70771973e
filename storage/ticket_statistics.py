"""Figures of tickets, counted by the database (docs/tickets.md#statistics).

`condition` selects tickets by the columns of `tickets`; `companies` is the part of it that names the
companies, which finds their entries and breaches. Spans are `[start, end)`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.conditions import Condition
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
    `excused`, such as `resolution met`; what is excused was breached as well."""
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


def _scope(condition: str) -> str:
    """Return the beginning of a statement: tickets with what their figures depend on."""
    return f"""
        with scope as (
            select id, coalesce(priority_id, 0) as priority, coalesce(team_id, 0) as team,
                coalesce(zone, '') as zone, status_kind, status_kind = 'cancelled' as is_cancelled,
                created_at, escalated_at, first_response_at, resolved_at,
                first_response_elapsed, resolution_elapsed,
                first_response_verdict, first_response_decided_at, resolution_verdict, resolution_decided_at,
                coalesce(attributes -> 'slaExcused' ? 'firstResponse', false) as first_excused,
                coalesce(attributes -> 'slaExcused' ? 'resolution', false) as resolution_excused
            from tickets left join (select id as zone_of, attributes ->> 'zone' as zone from branches) zones
                on zone_of = branch_id
            where {condition}
        )
    """  # noqa: S608 - constants


_COUNTS = """,
    happened as (
        select priority, team, zone, what, at from scope cross join lateral (values
            (case when $4 or not is_cancelled then 'created' end, created_at),
            (case when not is_cancelled then 'firstResponse ' || first_response_verdict end,
                first_response_decided_at),
            (case when not is_cancelled and first_excused and first_response_verdict = 'breached'
                then 'firstResponse excused' end, first_response_decided_at),
            (case when not is_cancelled then 'resolution ' || resolution_verdict end, resolution_decided_at),
            (case when not is_cancelled and resolution_excused and resolution_verdict = 'breached'
                then 'resolution excused' end, resolution_decided_at)
        ) as fact (what, at)
        where what is not null
        union all
        select priority, team, zone, what, event_time
        from (
            select ticket_id, event_time, type, attributes ->> 'fromKind' as from_kind,
                attributes ->> 'toKind' as to_kind
            from ticket_events
            where type in ('statusChanged', 'reopened') and event_time >= $1 and event_time < $2
                and {companies}
        ) entries
        join scope on scope.id = ticket_id
        cross join lateral (values
            (case when type = 'reopened' and ($4 or not is_cancelled) then 'reopened' end),
            (case when type = 'statusChanged' and ($4 or not is_cancelled)
                and to_kind in ('resolved', 'closed') and from_kind in ('new', 'open', 'pending')
                then 'resolved' end),
            (case when type = 'statusChanged' and ($4 or not is_cancelled) and to_kind = 'closed'
                and from_kind <> 'closed' then 'closed' end),
            (case when type = 'statusChanged' and to_kind = 'cancelled' and from_kind <> 'cancelled'
                then 'cancelled' end)
        ) as fact (what)
        where what is not null
    ),
    dated as (
        select *, width_bucket(at, $3::timestamptz[]) as period from happened where at >= $1 and at < $2
    )
    select grouping(priority, team, zone, period) as grouped, priority, team, zone, period, what,
        count(*) as count
    from dated group by grouping sets ((what), (what, priority), (what, team), (what, zone), (what, period))
"""
_TIMES = """,
    dated as (
        select priority, team, zone, width_bucket(at, $3::timestamptz[]) as period, target,
            floor(extract(epoch from elapsed) / 60)::integer as minutes
        from scope cross join lateral (values
            ('firstResponse', first_response_at, first_response_elapsed),
            ('resolution', resolved_at, resolution_elapsed)
        ) as done (target, at, elapsed)
        where not is_cancelled and at >= $1 and at < $2 and elapsed is not null
    )
    select grouping(priority, team, zone, period) as grouped, priority, team, zone, period, target,
        count(*) as done, sum(minutes) as minutes,
        percentile_cont(0.5) within group (order by minutes) as median,
        percentile_disc(0.9) within group (order by minutes) as p90
    from dated
    group by grouping sets ((target), (target, priority), (target, team), (target, zone), (target, period))
"""
_BREACHES = """
    select count(*) filter (where target = 'firstResponse') as first_response,
        count(*) filter (where target = 'resolution') as resolution,
        count(distinct ticket_id) as tickets,
        count(*) filter (
            where case target when 'firstResponse' then first_excused else resolution_excused end
        ) as excused,
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
    """Return what happened in the span, in all and by each of `GROUPS`."""
    sql, args = statement_of(_COUNTS, span, 5)
    rows = await q.fetch(sql, span.starts[0], span.end, list(span.starts), span.with_cancelled, *args)
    return [Count(*_group(row), row["what"], row["count"]) for row in rows]


async def business_times(q: Queries, span: Span) -> list[Times]:
    """Return how long targets took that were done in the span, in all and by each of `GROUPS`."""
    sql = _scope(span.condition.numbered(4)) + _TIMES
    rows = await q.fetch(sql, span.starts[0], span.end, list(span.starts), *span.condition.args)
    columns = ("target", "done", "minutes", "median", "p90")
    return [Times(*_group(row), *(row[column] for column in columns)) for row in rows]


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


def _group(row: Row) -> tuple[str, int | str]:
    """Return the group of a row of grouping sets, and its key."""
    for place, name in enumerate(reversed(GROUPS)):
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
