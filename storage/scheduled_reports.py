"""Scheduled reports: their rows, and the time from which their calendars are watched."""

from datetime import datetime

from motorpool.storage import links
from motorpool.storage.queries import Queries
from motorpool.storage.records import ScheduledReport
from motorpool.storage.tables import Table

__all__ = ["TABLE", "delete_of_calendar", "restart_calendar", "watch_from"]

TABLE = Table(
    "scheduled_reports",
    ScheduledReport,
    sort="description",
    keywords=("description",),
    access=links.access_by_link(links.USER_REPORT),
)

# Rows are locked in the order of their ids.
_RESTART = """
    update scheduled_reports set watched_from = $2 where id in (
        select id from scheduled_reports where $1::bigint is null or calendar_id = $1 order by id for update
    )
"""


async def watch_from(q: Queries, report_id: int, now: datetime) -> None:
    """Watch the calendar from `now` on; events that ended earlier are ignored."""
    await q.execute("update scheduled_reports set watched_from = $2 where id = $1", report_id, now)


async def restart_calendar(q: Queries, calendar_id: int | None, now: datetime) -> None:
    """Watch this calendar, or with None every calendar, from `now` on."""
    await q.execute(_RESTART, calendar_id, now)


async def delete_of_calendar(q: Queries, calendar_id: int) -> list[int]:
    """Delete the scheduled reports of a calendar; return their ids."""
    rows = await q.fetch("delete from scheduled_reports where calendar_id = $1 returning id", calendar_id)
    return sorted(row[0] for row in rows)
