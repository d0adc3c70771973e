"""Deletes rows of tables that are not partitioned once they are too old, and users who have expired."""

from datetime import datetime
from typing import Literal

from motorpool.storage.database.queries import Queries
from motorpool.storage.schedules import scheduled_commands

DELETED_AT_ONCE = 5000
"""Rows that one call of `delete_before` deletes at most."""

Kept = Literal["events", "command_log", "audit", "statistics"]
_TIMES = {
    "events": "event_time",
    "command_log": "time",
    "audit": "action_time",
    "statistics": "capture_time",
}
"""Tables and the indexed column that holds the server's time at which a row was written."""
_STAY = {"events": " and id not in (select event_id from kept_files)"}
"""What is left: without its event a file that a user keeps would be found by nobody."""


async def delete_before(q: Queries, table: Kept, instant: datetime) -> int:
    """Delete rows written before this instant, the oldest first, at most DELETED_AT_ONCE; return how many.

    Events that name files which users keep stay. Locks are kept for a moment.
    """
    time, stay = _TIMES[table], _STAY.get(table, "")
    return await q.affected(
        f"delete from {table} where id in"  # noqa: S608 - constants
        f" (select id from {table} where {time} < $1{stay} order by {time} limit $2)",
        instant,
        DELETED_AT_ONCE,
    )


async def delete_temporary_users(q: Queries, now: datetime) -> list[int]:
    """Delete expired temporary users, which sharing creates; return their ids."""
    async with q.transaction() as transaction:
        rows = await transaction.fetch(
            "select id from users where temporary and expiration_time <= $1 order by id for update", now
        )
        expired = [row[0] for row in rows]
        if expired:
            await scheduled_commands.release_owners(transaction, expired, now)
            await transaction.execute("delete from users where id = any($1::bigint[])", expired)
    return expired
