"""Deletes old rows of tables that are not partitioned, in batches that each keep their locks for a moment."""

from datetime import datetime
from typing import Literal

from motorpool.storage.database.queries import Queries

DELETED_AT_ONCE = 5000
"""Rows that one call of `delete_before` deletes at most."""

_TIMES = {"events": "event_time", "audit": "action_time", "statistics": "capture_time"}
"""Tables and the indexed column that holds the server's time at which a row was written."""


async def delete_before(
    q: Queries, table: Literal["events", "audit", "statistics"], instant: datetime
) -> int:
    """Delete rows written before this instant, the oldest first, at most DELETED_AT_ONCE; return how many."""
    time = _TIMES[table]
    tag = await q.execute(
        f"delete from {table} where id in"  # noqa: S608 - constants
        f" (select id from {table} where {time} < $1 order by {time} limit $2)",
        instant,
        DELETED_AT_ONCE,
    )
    return int(tag.rpartition(" ")[2])
