"""Messages of the timetable and the dispatcher of scheduled commands.

The timetable reports each edge of a calendar to the dispatcher, together with the scheduled commands that
follow the calendar. The dispatcher commits run records, sends the steps to the devices, and keeps the steps
that wait for their time.
"""

from datetime import datetime
from typing import Literal

import msgspec

from motorpool.runtime import Kind, Request
from motorpool.storage.records import ScheduledCommandRun

__all__ = [
    "DISPATCHER",
    "TIMETABLE",
    "CalendarsChanged",
    "DispatcherMessage",
    "EdgeReached",
    "RunNow",
    "SchedulesChanged",
    "StepsDue",
    "TimetableMessage",
]


class SchedulesChanged(msgspec.Struct, Request[None], frozen=True, gc=False):
    """Rows of these scheduled commands were made, changed or deleted; told after the commit."""

    ids: tuple[int, ...]


class CalendarsChanged(msgspec.Struct, Request[None], frozen=True, gc=False):
    """These calendars, or where none is named any of them, have other windows now; told after the commit."""

    ids: tuple[int, ...] = ()


class EdgesDue(msgspec.Struct, frozen=True, gc=False):
    """Time for the next edge; told by the timetable to itself."""


class CheckDue(msgspec.Struct, frozen=True, gc=False):
    """Time to see whether anybody has lost news; told by timetable and dispatcher to themselves."""


TimetableMessage = SchedulesChanged | CalendarsChanged | EdgesDue | CheckDue
TIMETABLE: Kind[None, TimetableMessage] = Kind("timetable")


class EdgeReached(msgspec.Struct, frozen=True, gc=False):
    """A window of a calendar has begun or ended; sent by the timetable to the dispatcher.

    The run records decide whether an edge is new to a scheduled command: sending one twice does no harm.
    """

    calendar_id: int
    at: datetime
    """The instant of the edge."""
    phase: Literal["start", "end"]
    """Whether a window begins or ends."""
    schedule_ids: tuple[int, ...]
    """Scheduled commands that follow the calendar: some of them, where they do not fit into one message."""


class StepsDue(msgspec.Struct, frozen=True, gc=False):
    """A delayed step is due; sent by the dispatcher to itself."""


class RunNow(msgspec.Struct, Request[list[ScheduledCommandRun]], frozen=True, gc=False):
    """Run a scheduled command at once, active or not.

    The answer is all records that this makes, as they are once every first step is settled, or after a while.
    """

    schedule_id: int
    steps: Literal["start", "end"] = "start"
    """Which list."""


class QueueExpired(msgspec.Struct, frozen=True, gc=False):
    """A step has waited long enough for its device; told by the dispatcher to itself."""

    run_id: int


class ReplyDue(msgspec.Struct, frozen=True, gc=False):
    """Whoever wanted a run now has waited long enough; told by the dispatcher to itself."""

    number: int


DispatcherMessage = EdgeReached | StepsDue | RunNow | QueueExpired | ReplyDue | CheckDue
DISPATCHER: Kind[None, DispatcherMessage] = Kind("dispatcher")
