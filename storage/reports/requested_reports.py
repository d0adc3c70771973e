"""Reports that are to be mailed, each rendered by one server (docs/decisions/0163)."""

from datetime import datetime
from typing import Any, NamedTuple

from motorpool.storage.database.queries import Queries

MAX_WAITING = 20
"""Reports of one user that may wait."""
MAX_ATTEMPTS = 3
"""A report that a server did not finish so often is dropped."""


class RequestedReport(NamedTuple):
    """A report that a server has claimed."""

    id: int
    user_id: int
    report: dict[str, Any]
    attempts: int
    """Including this one."""
    claimed_until: datetime


async def add(q: Queries, user_id: int, report: object, *, now: datetime) -> bool:
    """Store a request; return whether it was, or too many of the user wait already."""
    stored = await q.fetch_value(
        "insert into report_mails (user_id, report, created) select $1, $2, $3"
        " where (select count(*) from report_mails where user_id = $1) < $4 returning id",
        user_id,
        report,
        now,
        MAX_WAITING,
    )
    return stored is not None


async def claim(q: Queries, *, now: datetime, until: datetime) -> RequestedReport | None:
    """Claim the report that waits longest and that no server works at; None if there is none.

    The reports of different users take turns.
    """
    row = await q.fetch_row(
        "update report_mails set claimed_until = $2, attempts = attempts + 1 where id = ("
        "  select id from report_mails mine where claimed_until is null or claimed_until <= $1"
        "  order by (select count(*) from report_mails other where other.user_id = mine.user_id"
        "    and other.claimed_until > $1), id limit 1 for update skip locked"
        ") returning id, user_id, report, attempts, claimed_until",
        now,
        until,
    )
    return None if row is None else RequestedReport(*row.values())


async def finish(q: Queries, claimed: RequestedReport) -> bool:
    """Delete a claimed report; return whether it was still this server's."""
    deleted = await q.fetch_value(
        "delete from report_mails where id = $1 and claimed_until = $2 returning true",
        claimed.id,
        claimed.claimed_until,
    )
    return deleted is True
