"""Monthly partitions of `positions`: created ahead of time, and dropped once all their rows are too old.

The first and last partition, positions_early and positions_late, are unbounded. The months lie between them
without gaps:

    (minvalue … first month) early | 2026-10 | 2026-11 | … | (after the last month … maxvalue) late
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from motorpool.storage.database.queries import Queries

MONTHS_BEHIND = 1
"""Past months created on a new database, because devices report late."""
MONTHS_AHEAD = 2
"""Months created after the current one."""
MAX_MONTHS = 24
"""Most months that one call creates, so that a wrong clock does not create thousands of tables."""

_LOCK = 0x6D70_7061
"""Key of the advisory lock that serializes changes of partitions."""
_LOCK_SECONDS = 2.0
"""Longest wait for a table lock, in seconds; other statements on the table queue behind it meanwhile."""
_STATEMENT_SECONDS = 600.0
"""Statement timeout while partitions are changed."""
_LAYOUT = """
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'positions'::regclass order by c.relname
"""
_NAME = re.compile(r"positions_(\d{4})_(\d\d)")
_EARLY_END = re.compile(r"TO \('(\d{4})-(\d\d)-01 00:00:00\+00'\)")
LATEST = """
    select * from positions where device_id = d.id and fix_time <= server_time + interval '1 day'
        and not attributes ? 'implausible'
    order by fix_time desc, id desc limit 1
"""
"""The latest position of a device `d`."""


@dataclass(frozen=True, order=True)
class _Month:
    """A calendar month in UTC."""

    year: int
    month: int

    def later(self, months: int) -> "_Month":
        count = self.year * 12 + self.month - 1 + months
        return _Month(count // 12, count % 12 + 1)

    @property
    def start(self) -> str:
        """The first instant of the month as an SQL literal."""
        return f"'{self.year:04}-{self.month:02}-01 00:00:00+00'"

    @property
    def table(self) -> str:
        return f"positions_{self.year:04}_{self.month:02}"


@dataclass(frozen=True)
class _Layout:
    early_end: _Month
    """The end of positions_early, which is the start of the first month."""
    months: tuple[_Month, ...]

    @property
    def late_start(self) -> _Month:
        return self.months[-1].later(1) if self.months else self.early_end


async def ensure_partitions(q: Queries, now: datetime) -> None:
    """Create missing partitions around `now`; rows of these months in the unbounded partitions move there.

    Raises:
        StorageUnavailable: The table could not be locked in time; try again later.
    """
    present = _month_of(now)
    end = present.later(MONTHS_AHEAD + 1)
    if _is_ready(await _layout(q), end):
        return
    async with q.transaction(seconds=_STATEMENT_SECONDS) as transaction:
        await _lock(transaction)
        layout = await _layout(transaction)
        if _is_ready(layout, end):
            return
        await transaction.execute("alter table positions detach partition positions_late")
        first = layout.late_start
        if not layout.months:
            first = present.later(-MONTHS_BEHIND)
            await _move_early_end(transaction, first)
        end = min(end, first.later(MAX_MONTHS))
        month = first
        while month < end:
            await _create_month(transaction, month)
            month = month.later(1)
        await transaction.execute(
            "alter table positions attach partition positions_late"
            f" for values from ({end.start}) to (maxvalue)"
        )


async def _move_early_end(transaction: Queries, end: _Month) -> None:
    await transaction.execute(
        f"""
        alter table positions detach partition positions_early;
        with moved as (delete from positions_late where fix_time < {end.start} returning *)
            insert into positions_early select * from moved;
        with moved as (delete from positions_early where fix_time >= {end.start} returning *)
            insert into positions_late select * from moved;
        alter table positions attach partition positions_early for values from (minvalue) to ({end.start});
        """  # noqa: S608 - month names
    )


async def _create_month(transaction: Queries, month: _Month) -> None:
    start, end = month.start, month.later(1).start
    await transaction.execute(
        f"""
        create table {month.table} partition of positions for values from ({start}) to ({end});
        with moved as (
            delete from positions_late where fix_time >= {start} and fix_time < {end} returning *
        ) insert into {month.table} select * from moved;
        """  # noqa: S608 - month names
    )


async def drop_months(q: Queries, cutoff: datetime) -> int:
    """Drop the months that end before `cutoff`; return how many positions were deleted.

    Positions received since, and the latest of each device, are kept in the first partition.
    """
    kept_from = _month_of(cutoff)
    if not _expired(await _layout(q), kept_from):
        return 0
    async with q.transaction(seconds=_STATEMENT_SECONDS) as transaction:
        await _lock(transaction)
        expired = _expired(await _layout(transaction), kept_from)
        if not expired:
            return 0
        edge = expired[-1].later(1)
        received = f"'{cutoff.astimezone(UTC).isoformat()}'::timestamptz"
        await transaction.execute(
            f"""
            create temporary table kept on commit drop as
                select newest.* from devices d cross join lateral ({LATEST}) as newest
                where newest.fix_time >= {expired[0].start} and newest.fix_time < {edge.start}
                and newest.server_time < {received}
                {
                "".join(
                    f"union all select * from {month.table} where server_time >= {received} "
                    for month in expired
                )
            }
            """  # noqa: S608 - month names
        )
        dropped = 0
        for month in expired:
            dropped += await transaction.fetch_value(f"select count(*) from {month.table}")  # noqa: S608 - month names
        # From here on writers are blocked until the commit.
        await transaction.execute("alter table positions detach partition positions_early")
        for month in expired:
            await transaction.execute(f"drop table {month.table}")
        await transaction.execute(
            "alter table positions attach partition positions_early"
            f" for values from (minvalue) to ({edge.start})"
        )
        return dropped - await transaction.affected("insert into positions select * from kept")


async def _lock(transaction: Queries) -> None:
    await transaction.execute(f"set local lock_timeout = {round(_LOCK_SECONDS * 1000)}")
    await transaction.execute("select pg_advisory_xact_lock($1)", _LOCK)


async def _layout(q: Queries) -> _Layout:
    early_end: _Month | None = None
    months = []
    for row in await q.fetch(_LAYOUT):
        if row["name"] == "positions_early":
            found = _EARLY_END.search(row["bound"])
            assert found is not None
            early_end = _Month(int(found[1]), int(found[2]))
        elif found := _NAME.fullmatch(row["name"]):
            months.append(_Month(int(found[1]), int(found[2])))
    assert early_end is not None
    return _Layout(early_end, tuple(sorted(months)))


def _is_ready(layout: _Layout, end: _Month) -> bool:
    return bool(layout.months) and layout.late_start >= end


def _expired(layout: _Layout, kept_from: _Month) -> list[_Month]:
    return [month for month in layout.months if month < kept_from]


def _month_of(when: datetime) -> _Month:
    when = when.astimezone(UTC)
    return _Month(when.year, when.month)
