"""Scheduled reports: their rows, and up to when the events of their calendars are done with."""

from datetime import datetime

from motorpool.storage.accounts import links
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.records import ScheduledReport
from motorpool.storage.schedules.watched_rows import WatchedRows

TABLE = Table(
    "scheduled_reports",
    ScheduledReport,
    sort="description",
    keywords=("description",),
    access=links.access_by_link(links.USER_REPORT),
)
WATCHED = WatchedRows("scheduled_reports")
"""Done with the end of an event once `take_end` has recorded it."""

_TAKE = f"""
    update scheduled_reports set watched_from = $3
    where id = $1 and calendar_id = $2 and watched_from < $3 returning {TABLE.select_list()}
"""  # noqa: S608 - constant names


async def take_end(q: Queries, report_id: int, calendar_id: int, at: datetime) -> ScheduledReport | None:
    """Record that an end is done with; None if it was already, or if the report follows another calendar.

    Call it in the transaction that does what is due: of several callers one gets the record.
    """
    row = await q.fetch_row(_TAKE, report_id, calendar_id, at)
    return None if row is None else TABLE.from_row(row)


async def delete_of_calendar(q: Queries, calendar_id: int) -> list[int]:
    """Delete the scheduled reports of a calendar; return their ids."""
    rows = await q.fetch("delete from scheduled_reports where calendar_id = $1 returning id", calendar_id)
    return sorted(row[0] for row in rows)
