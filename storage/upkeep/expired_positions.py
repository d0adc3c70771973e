"""Deletes positions that are too old: whole months by dropping their partitions, other rows in batches."""

from datetime import datetime

from motorpool.storage.database import partitions
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import report_days

_DEVICES_AT_ONCE = 100
_ROWS_AT_ONCE = 5000
_DELETE_LATE = f"""
    delete from positions where (id, fix_time) in (
        select id, fix_time from positions_late where server_time < $1 limit {_ROWS_AT_ONCE}
    )
"""  # noqa: S608 - constants
_DELETE = f"""
    delete from positions where (id, fix_time) in (
        select old.id, old.fix_time from unnest($1::bigint[]) as d (id)
        cross join lateral ({partitions.LATEST}) as newest
        cross join lateral (
            select id, fix_time from positions
            where device_id = d.id and fix_time < $2 and server_time < $2 and id <> newest.id
            limit {_ROWS_AT_ONCE}
        ) as old
        limit {_ROWS_AT_ONCE}
    )
"""  # noqa: S608 - constants


async def delete_before(q: Queries, cutoff: datetime) -> int:
    """Delete positions received and fixed before `cutoff`, except the latest of each device; return how many.

    Whole months are dropped as partitions, the remaining rows are deleted in batches. Rows of the last
    partition, with fix times after all months, go once they were received before `cutoff`.
    """
    dropped = await partitions.drop_months(q, cutoff)
    while count := await _execute(q, _DELETE_LATE, cutoff):
        dropped += count
    dropped += await _drop_rows(q, cutoff)
    # Days may be kept of positions that an earlier run deleted, if it was cut off before it came to them.
    if dropped or await report_days.any_before(q, cutoff):
        async with q.transaction() as transaction:
            await report_days.drop_before(transaction, cutoff)
    return dropped


async def _drop_rows(q: Queries, cutoff: datetime) -> int:
    # Cheap as long as no row is that old.
    if not await q.fetch_value("select exists (select from positions where fix_time < $1)", cutoff):
        return 0
    dropped = 0
    last = 0
    while True:
        rows = await q.fetch(
            "select id from devices where id > $1 order by id limit $2", last, _DEVICES_AT_ONCE
        )
        if not rows:
            return dropped
        ids = [row[0] for row in rows]
        last = ids[-1]
        count = _ROWS_AT_ONCE
        while count == _ROWS_AT_ONCE:
            count = await _execute(q, _DELETE, ids, cutoff)
            dropped += count


async def _execute(q: Queries, sql: str, *arguments: object) -> int:
    """Return the number of rows concerned."""
    return await q.affected(sql, *arguments)
