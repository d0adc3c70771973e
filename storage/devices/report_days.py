"""Stored results of reports for finished days, until a position of the day changes (docs/decisions/0164).

A result is stored only if no position of the device that is late or deleted was committed since the report
began to read: those who commit such a change raise the device's version in the same transaction, and wait for
those who are storing a result. A device has a version only once a report has asked for it; until then a
change costs no more than a lock and looking for it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

import trio

from motorpool.storage.database.queries import Queries

LATE: Final = timedelta(hours=1)
"""A position whose fix is so old when it is stored may belong to a day that is kept; reports keep days that
have been over for twice as long, so the clocks of two servers may differ by this."""

VARIANTS: Final = 8
"""Results that are kept of one day: for other settings, or after other days before it."""

Key = tuple[datetime, datetime, bytes]
"""Beginning and end of the day, and the digest of the machine's state at its beginning."""
Day = tuple[datetime, datetime, bytes, bytes, bytes | None]
"""A key, the result, and what only whoever works out the next day needs, if anything."""

TRIES: Final = 5
PAUSE_SECONDS: Final = 0.01
"""How often, and how long apart, a report tries to give a device its first version while changes are being
committed; then it goes without."""

_GUARD: Final = 0x6D70_7264
"""Key of the advisory lock that transactions share which look for versions, and that a statement holds alone
which makes one. So those that have found none have ended before there is one. The function `expect_no_days`
shares it, too."""
_SHARE = f"select pg_advisory_xact_lock_shared({_GUARD})"
_ENROL = f"""
    insert into report_versions (device_id, version)
    select $1::bigint, 0 where pg_try_advisory_xact_lock({_GUARD}) on conflict do nothing returning version
"""
_LOCK = (
    "select device_id from report_versions where device_id = any($1::bigint[]) order by device_id for update"
)
_DROP = """
    with raised as (update report_versions set version = version + 1 where device_id = any($1::bigint[]))
    delete from report_days using unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[])
        as changed (device_id, first, last)
    where report_days.device_id = changed.device_id and begins <= last and ends > first
"""
_PRUNE = f"""
    delete from report_days where device_id = $1 and begins = any($2::timestamptz[]) and number in (
        select number from (
            select number, row_number() over (partition by begins order by number desc) as place
            from report_days where device_id = $1 and begins = any($2)
        ) as numbered where place > {VARIANTS}
    )
"""  # noqa: S608 - a constant
_STORE = """
    with present as (select from report_versions where device_id = $1 and version = $2 for share)
    insert into report_days (device_id, settings, begins, ends, state, result, carry)
    select $1, $3, begins, ends, state, result, carry
    from unnest($4::timestamptz[], $5::timestamptz[], $6::bytea[], $7::bytea[], $8::bytea[])
        as days (begins, ends, state, result, carry)
    where exists (select from present)
    on conflict do nothing
"""


async def version(q: Queries, device_id: int) -> int | None:
    """Return the version of a device's finished days, or None if no result can be stored now.

    Call it before reading positions, outside a transaction.
    """
    for attempt in range(TRIES):
        if attempt:
            await trio.sleep(PAUSE_SECONDS)
        found: int | None = await q.fetch_value(
            "select version from report_versions where device_id = $1", device_id
        )
        if found is None:
            found = await q.fetch_value(_ENROL, device_id)
        if found is not None:
            return found
    return None


async def read(
    q: Queries, device_id: int, settings: bytes, start: datetime, end: datetime
) -> dict[Key, bytes]:
    """Return the results for the days of a device in a span; `settings` is their digest."""
    rows = await q.fetch(
        "select begins, ends, state, result from report_days"
        " where device_id = $1 and settings = $2 and begins >= $3 and ends <= $4",
        device_id,
        settings,
        start,
        end,
    )
    return {(row[0], row[1], row[2]): row[3] for row in rows}


async def read_carry(q: Queries, device_id: int, settings: bytes, key: Key) -> bytes | None:
    """Return what is kept of a day for whoever works out the next one; None if the day was dropped."""
    found: bytes | None = await q.fetch_value(
        "select carry from report_days"
        " where device_id = $1 and settings = $2 and begins = $3 and ends = $4 and state = $5",
        device_id,
        settings,
        *key,
    )
    return found


async def store(q: Queries, device_id: int, known: int, settings: bytes, days: Sequence[Day]) -> None:
    """Store results, unless positions were changed since `version` returned `known`."""
    columns = [[day[index] for day in days] for index in range(5)]
    await q.execute(_STORE, device_id, known, settings, *columns)
    await q.execute(_PRUNE, device_id, columns[0])


async def drop(transaction: Queries, changed: Iterable[tuple[int, datetime]]) -> set[int]:
    """Drop the days in which positions are stored, changed or deleted, given by device and fix time.

    Call it in the transaction of the change, before rows of positions are locked. Return the ids of the
    devices that have a version.
    """
    return await _drop(transaction, [(device_id, time, time) for device_id, time in changed])


def expect_none(device_ids: Iterable[int]) -> str:
    """Return a statement that fails with VersionFound if `drop` might have something to drop.

    For the end of a transaction that changes positions; without the failure `drop` need not be called.
    """
    numbers = ",".join(map(str, device_ids))
    # A plain select would return a row, which a script after a COPY may not.
    return f"do $$ begin perform expect_no_days('{{{numbers}}}'); end $$"


async def drop_span(transaction: Queries, device_id: int, start: datetime, end: datetime) -> None:
    """Drop the days of a device in a span, both ends included, like `drop`."""
    await _drop(transaction, [(device_id, start, end)])


async def _drop(transaction: Queries, changed: Sequence[tuple[int, datetime, datetime]]) -> set[int]:
    # Three statements: each must see what was committed while the one before it waited.
    await transaction.execute_with_next(_SHARE)
    locked = {row[0] for row in await transaction.fetch(_LOCK, list({each[0] for each in changed}))}
    if locked:
        concerned = [each for each in changed if each[0] in locked]
        await transaction.execute(_DROP, *([each[index] for each in concerned] for index in range(3)))
    return locked


async def any_before(q: Queries, cutoff: datetime) -> bool:
    """Return whether days are kept that began before an instant, by one look in the index for each device."""
    found: bool = await q.fetch_value(
        "select exists (select from report_versions v, lateral (select from report_days"
        " where device_id = v.device_id and begins < $1 limit 1) as kept)",
        cutoff,
    )
    return found


async def drop_before(transaction: Queries, cutoff: datetime) -> None:
    """Drop all days that began before an instant, in the transaction that deletes positions."""
    # In the order of `_LOCK`, so that neither waits for the other for ever.
    await transaction.execute(
        "update report_versions set version = version + 1 where device_id in"
        " (select device_id from report_versions order by device_id for update)"
    )
    await transaction.execute("delete from report_days where begins < $1", cutoff)


async def drop_device(q: Queries, device_id: int) -> None:
    """Drop what is kept of a device that was deleted."""
    await q.execute("delete from report_versions where device_id = $1", device_id)
    await q.execute("delete from report_days where device_id = $1", device_id)
