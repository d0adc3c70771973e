"""When tickets have to be looked at by the ticket clock (docs/tickets.md#the-ticket-clock).

`tickets.next_clock_at` is the truth; what a server remembers of it is a hint. Rows that another transaction
has locked are left to it, so several servers share the work and none waits for another.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from motorpool.storage.database.queries import Queries

MAX_FAILURES = 3
"""A ticket that could not be settled so often in a row is tried again after `LONG_RETRY`."""
RETRY = timedelta(seconds=1)
"""Delay before the next attempt until then."""
LONG_RETRY = timedelta(minutes=5)


class DueTicket(NamedTuple):
    """A ticket that is due, locked by the transaction."""

    id: int
    failures: int
    """Attempts to settle it that have failed in a row."""


async def take_due(transaction: Queries, *, now: datetime, limit: int) -> list[DueTicket]:
    """Lock the tickets that are due and that no other transaction has locked, the longest due first."""
    rows = await transaction.fetch(
        "select id, clock_failures from tickets where next_clock_at <= $1"
        " order by next_clock_at, id limit $2 for update skip locked",
        now,
        limit,
    )
    return [DueTicket(*row.values()) for row in rows]


async def next_instant(q: Queries) -> datetime | None:
    """Return the earliest instant at which a ticket is due, perhaps a past one; None if none is."""
    found: datetime | None = await q.fetch_value(
        "select next_clock_at from tickets where next_clock_at is not null order by next_clock_at, id limit 1"
    )
    return found


async def postpone(q: Queries, ids: Sequence[int], *, now: datetime) -> list[int]:
    """Count a failure of each of these tickets; return those that wait for `LONG_RETRY`."""
    rows = await q.fetch(
        "update tickets set clock_failures = clock_failures + 1,"
        "  next_clock_at = case when clock_failures + 1 < $2 then $3::timestamptz else $4::timestamptz end"
        " where id = any($1::bigint[]) returning id, clock_failures",
        sorted(ids),
        MAX_FAILURES,
        now + RETRY,
        now + LONG_RETRY,
    )
    return sorted(row["id"] for row in rows if row["clock_failures"] >= MAX_FAILURES)


async def reset_failures(q: Queries, ids: Sequence[int]) -> None:
    """Reset the failures of tickets that have been settled."""
    await q.execute("update tickets set clock_failures = 0 where id = any($1::bigint[])", sorted(ids))


async def look_at_resolved(
    q: Queries, *, now: datetime, after_id: int, limit: int, company_ids: Sequence[int] | None = None
) -> int | None:
    """Have the clock look at resolved tickets, which may have to be closed; return the last one's id.

    Of the companies named, those that are not due yet; without names, of every company that closes tickets
    by itself (`autoCloseDays`), those that are never due: they were resolved before it did, or no status
    could follow. Continues behind `after_id`; returns None when there were fewer than `limit`.
    """
    chosen = (
        "next_clock_at is null and company_id in"
        " (select id from companies where attributes -> 'autoCloseDays' > '0'::jsonb)"
    )
    arguments: list[object] = []
    if company_ids is not None:
        chosen = "(next_clock_at is null or next_clock_at > $1) and company_id = any($4::bigint[])"
        arguments = [sorted(company_ids)]
    rows = await q.fetch(
        "update tickets set next_clock_at = $1 where id in ("  # noqa: S608 - constant text
        f"  select id from tickets where status_kind = 'resolved' and id > $2 and {chosen}"
        "  order by id limit $3 for update skip locked) returning id",
        now,
        after_id,
        limit,
        *arguments,
    )
    return max(row["id"] for row in rows) if len(rows) == limit else None
