"""Messages of the timetable and the dispatcher of scheduled commands.

The timetable reports each edge of a calendar to the dispatcher, together with the scheduled commands that
follow the calendar. The dispatcher commits run records, sends the steps to the devices, and keeps the steps
that wait for their time.
"""

from datetime import datetime
from typing import Literal

import msgspec

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.runtime import Kind, Request
from motorpool.storage.records import ScheduledCommandRun


class EdgesDue(msgspec.Struct, frozen=True, gc=False):
    """The next edge is due; sent by the timetable to itself."""


class CheckDue(msgspec.Struct, frozen=True, gc=False):
    """A periodic check for lost messages is due; sent by the timetable and the dispatcher to themselves."""


TimetableMessage = ApplyChanges | EdgesDue | CheckDue
TIMETABLE: Kind[None, TimetableMessage] = Kind("timetable")
REPORT_TIMETABLE: Kind[None, TimetableMessage] = Kind("report_timetable")
"""The same for scheduled reports."""


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


class RunNow(msgspec.Struct, Request[list[ScheduledCommandRun]], frozen=True, gc=False):
    """Run a scheduled command at once, active or not.

    The answer is the run records that this creates, once every first step has an outcome, or after 3 s.
    """

    schedule_id: int
    steps: Literal["start", "end"] = "start"
    """Which of its two lists of steps."""
    user_id: int = 0
    """The user who asks, with whose rights the steps are sent; 0: with the owner's rights."""


class QueueExpired(msgspec.Struct, frozen=True, gc=False):
    """A step has waited as long as it may for its device; sent by the dispatcher to itself."""

    run_id: int


DispatcherMessage = EdgeReached | RunNow | QueueExpired | CheckDue
DISPATCHER: Kind[None, DispatcherMessage] = Kind("dispatcher")


class EventsEnded(msgspec.Struct, frozen=True, gc=False):
    """Events of a calendar have ended; sent by the timetable of scheduled reports to their mailer.

    The rows of scheduled reports decide whether it is new to them: sending one twice does no harm.
    """

    calendar_id: int
    at: datetime
    """When they ended."""
    begins: tuple[datetime, ...]
    """When each of them began."""
    report_ids: tuple[int, ...]
    """Scheduled reports that follow the calendar: some of them, where they do not fit into one message."""


SCHEDULED_REPORT_MAILS: Kind[None, EventsEnded] = Kind("scheduled_mails")
