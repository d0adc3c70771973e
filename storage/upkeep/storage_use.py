"""What takes room in the database, by the sizes and estimates that PostgreSQL keeps: no table is read."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from motorpool.storage.database.queries import Queries

WEEK = timedelta(days=7)

_TABLES = """
    with recursive parts as (
        select c.oid as top, c.oid as part from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        union all
        select parts.top, i.inhrelid from parts join pg_inherits i on i.inhparent = parts.part
    )
    select parts.top::regclass::text as name, count(*) filter (where c.relispartition)::int as partitions,
        sum(pg_total_relation_size(parts.part))::bigint as size,
        sum(c.reltuples) filter (where c.reltuples >= 0 and c.relkind = 'r')::bigint as rows
    from parts join pg_class c on c.oid = parts.part and c.relkind in ('r', 'p')
    group by parts.top order by size desc, name
"""
_TIMES = {
    "positions": "fix_time",
    "events": "event_time",
    "command_log": "time",
    "audit": "action_time",
    "statistics": "capture_time",
}
"""Tables that grow, and the time of a row."""


class TableUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a table takes, with its partitions and indexes."""

    name: str
    bytes: int
    """On the disk."""
    rows: int | None
    """By the estimate of PostgreSQL; null where it has none yet, of tables with few."""
    partitions: int
    """Number of its partitions; 0 if it has none."""
    daily_rows: int | None
    """Rows of the last week, a day, by the estimate of PostgreSQL; null without one, and for tables that do
    not grow so."""


async def tables(q: Queries, now: datetime) -> list[TableUse]:
    """Return what each table takes, the largest first."""
    found = await q.fetch(_TABLES)
    daily = {name: await _daily_rows(q, name, time, now) for name, time in _TIMES.items()}
    return [
        TableUse(
            name=row["name"],
            bytes=row["size"],
            rows=row["rows"],
            partitions=row["partitions"],
            daily_rows=min(daily[row["name"]], row["rows"]) if row["name"] in daily and row["rows"] else None,
        )
        for row in found
    ]


async def _daily_rows(q: Queries, table: str, time: str, now: datetime) -> int:
    """Return what the planner expects of the rows of the last week, a day."""
    since = (now - WEEK).isoformat()
    plan: Any = await q.fetch_value(f"explain (format json) select from {table} where {time} >= '{since}'")
    (root,) = msgspec.json.decode(plan) if isinstance(plan, str | bytes) else plan
    return int(root["Plan"]["Plan Rows"]) // WEEK.days
