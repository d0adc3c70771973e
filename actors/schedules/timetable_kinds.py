"""The kinds of timetables: the rows that follow calendars, what to search for in them, and the receiver."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from motorpool.actors.messages.changes import RowChanged, ScheduleChanged, ScheduledReportChanged
from motorpool.actors.messages.scheduling import (
    DISPATCHER,
    REPORT_TIMETABLE,
    SCHEDULED_REPORT_MAILS,
    TIMETABLE,
    EdgeReached,
    EventsEnded,
    TimetableMessage,
)
from motorpool.codecs.calendars.calendar import Calendar
from motorpool.runtime import Kind
from motorpool.storage.reports import scheduled_reports
from motorpool.storage.schedules import scheduled_commands
from motorpool.storage.schedules.watched_rows import WatchedRows


class Occasion(NamedTuple):
    """What happens in a calendar at an instant."""

    at: datetime
    """The instant, UTC."""
    detail: Any
    """What the message says of it besides."""


@dataclass(frozen=True)
class TimetableKind:
    """What a timetable reads, finds and sends."""

    timetable: Kind[None, TimetableMessage]
    noun: str
    """Plural, for the log."""
    change: type[RowChanged]
    """The fact that a row was changed."""
    rows: WatchedRows
    find: Callable[[Calendar, datetime, tzinfo], Occasion | None]
    """Returns the next occasion after an instant."""
    receiver: Kind[None, Any]
    message: Callable[[int, datetime, Any, tuple[int, ...]], object]
    """Makes the message to the receiver of the calendar, the occasion, and the rows that follow it."""


def _edge(calendar: Calendar, after: datetime, zone: tzinfo) -> Occasion | None:
    edge = calendar.next_edge(after, zone=zone)
    return None if edge is None else Occasion(edge.at, "start" if edge.opens else "end")


SCHEDULED_COMMANDS = TimetableKind(
    TIMETABLE,
    "scheduled commands",
    ScheduleChanged,
    scheduled_commands.WATCHED,
    _edge,
    DISPATCHER,
    EdgeReached,
)


def _ended(calendar: Calendar, after: datetime, zone: tzinfo) -> Occasion | None:
    windows = calendar.next_ended(after, zone=zone)
    return Occasion(windows[0][1], tuple(begin for begin, _ in windows)) if windows else None


SCHEDULED_REPORTS = TimetableKind(
    REPORT_TIMETABLE,
    "scheduled reports",
    ScheduledReportChanged,
    scheduled_reports.WATCHED,
    _ended,
    SCHEDULED_REPORT_MAILS,
    EventsEnded,
)
