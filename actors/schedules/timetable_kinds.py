"""The kinds of timetables: the rows that follow calendars, what to search for in them, and the receiver."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Literal, Protocol

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
from motorpool.codecs.calendars.calendar import Calendar, Edge
from motorpool.codecs.calendars.recurrence_sets import Window
from motorpool.runtime import Kind
from motorpool.storage.reports import scheduled_reports
from motorpool.storage.schedules import scheduled_commands
from motorpool.storage.schedules.watched_rows import WatchedRows


class Occasion(Protocol):
    """What happens in a calendar at an instant."""

    @property
    def at(self) -> datetime:
        """The instant, UTC."""
        ...


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
    message: Callable[[int, Any, tuple[int, ...]], object]
    """Makes the message to the receiver of the calendar, the occasion, and the rows that follow it."""


def _edge(calendar: Calendar, after: datetime, zone: tzinfo) -> Edge | None:
    return calendar.next_edge(after, zone=zone)


def _edge_reached(calendar_id: int, edge: Edge, ids: tuple[int, ...]) -> EdgeReached:
    phase: Literal["start", "end"] = "start" if edge.opens else "end"
    return EdgeReached(calendar_id, edge.at, phase, ids)


SCHEDULED_COMMANDS = TimetableKind(
    TIMETABLE,
    "scheduled commands",
    ScheduleChanged,
    scheduled_commands.WATCHED,
    _edge,
    DISPATCHER,
    _edge_reached,
)


@dataclass(frozen=True)
class _Ended:
    """Events that end at the same instant."""

    windows: tuple[Window, ...]

    @property
    def at(self) -> datetime:
        return self.windows[0][1]


def _ended(calendar: Calendar, after: datetime, zone: tzinfo) -> _Ended | None:
    windows = calendar.next_ended(after, zone=zone)
    return _Ended(windows) if windows else None


def _events_ended(calendar_id: int, ended: _Ended, ids: tuple[int, ...]) -> EventsEnded:
    return EventsEnded(calendar_id, ended.at, tuple(begin for begin, _ in ended.windows), ids)


SCHEDULED_REPORTS = TimetableKind(
    REPORT_TIMETABLE,
    "scheduled reports",
    ScheduledReportChanged,
    scheduled_reports.WATCHED,
    _ended,
    SCHEDULED_REPORT_MAILS,
    _events_ended,
)
