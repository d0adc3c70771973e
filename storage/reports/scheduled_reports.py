"""Scheduled reports: their rows, and up to when the events of their calendars are done with."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from motorpool.storage.accounts import links
from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.database.tables import Table
from motorpool.storage.records import ScheduledReport
from motorpool.storage.schedules.scheduled_commands import WatchedSchedule

TABLE = Table(
    "scheduled_reports",
    ScheduledReport,
    sort="description",
    keywords=("description",),
    access=links.access_by_link(links.USER_REPORT),
)

_WATCHED = "select id, calendar_id, watched_from from scheduled_reports"
# Rows are locked in the order of their ids.
_WATCH_ANEW = """
    update scheduled_reports set watched_from = $2
    where id in (select id from scheduled_reports where {which} order by id for update)
"""
_RESTART = _WATCH_ANEW.format(which="$1::bigint is null or calendar_id = $1::bigint")
_TURN_BACK = _WATCH_ANEW.format(which="watched_from > $1")
_BEHIND = """
    select r.id, r.calendar_id, r.watched_from
    from unnest($1::bigint[], $2::timestamptz[]) as latest (calendar_id, at)
    join scheduled_reports r on r.calendar_id = latest.calendar_id and r.watched_from < latest.at
"""
_TAKE = f"""
    update scheduled_reports set watched_from = $3
    where id = $1 and calendar_id = $2 and watched_from < $3 returning {TABLE.select_list()}
"""  # noqa: S608 - constant names


async def watch_from(q: Queries, report_id: int, now: datetime) -> None:
    """Watch the calendar from `now` on; events that ended earlier are ignored."""
    await q.execute("update scheduled_reports set watched_from = $2 where id = $1", report_id, now)


async def restart_calendar(q: Queries, calendar_id: int | None, now: datetime) -> None:
    """Watch this calendar, or with None every calendar, from `now` on."""
    await q.execute(_RESTART, calendar_id, now)


async def restart_ahead_of_clock(q: Queries, now: datetime, patience: timedelta) -> int:
    """Watch from `now` on where the stored time is ahead of it by more than `patience`; return how many.

    That happens after the system clock was wrong.
    """
    tag = await q.execute(_TURN_BACK, now + patience, now)
    return int(tag.rpartition(" ")[2])


async def active(q: Queries, ids: Sequence[int] | None = None) -> list[WatchedSchedule]:
    """Return what is known of all scheduled reports, or of those with the given ids."""
    if ids is None:
        return _watched(await q.fetch(_WATCHED))
    return _watched(await q.fetch(f"{_WATCHED} where id = any($1::bigint[])", list(ids)))


async def active_of_calendars(q: Queries, calendar_ids: Iterable[int]) -> list[WatchedSchedule]:
    """Return the scheduled reports of these calendars."""
    return _watched(await q.fetch(f"{_WATCHED} where calendar_id = any($1::bigint[])", list(calendar_ids)))


async def missing_edge(q: Queries, latest: Sequence[tuple[int, datetime]]) -> list[WatchedSchedule]:
    """Return the scheduled reports that are not done with the latest end of an event of their calendar.

    `latest` holds pairs of a calendar and the last end that was reported of it.
    """
    return _watched(await q.fetch(_BEHIND, [each[0] for each in latest], [each[1] for each in latest]))


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


def _watched(rows: Iterable[Row]) -> list[WatchedSchedule]:
    return [WatchedSchedule(row[0], row[1], row[2]) for row in rows]
