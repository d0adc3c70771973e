"""What timetable, scheduled commands and dispatcher tell each other, and what the API asks of them.

An edge of a calendar goes from the timetable to the scheduled command, from there as a turn to the
dispatcher, which commits run records, sends the steps to the devices and tells the scheduled command which
steps follow.
"""

from datetime import datetime
from typing import Literal

import msgspec

from motorpool.runtime import Kind, Request
from motorpool.storage.edge_occurrences import EdgeOccurrence
from motorpool.storage.records import ScheduledCommandRun
from motorpool.storage.runs import Planned

__all__ = [
    "DISPATCHER",
    "SCHEDULED_COMMAND",
    "TIMETABLE",
    "Begin",
    "CalendarsChanged",
    "DispatcherMessage",
    "EdgeReached",
    "Fire",
    "RunNow",
    "ScheduleEdited",
    "ScheduledCommandMessage",
    "SchedulesChanged",
    "StepsDue",
    "StepsPlanned",
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


class LookDue(msgspec.Struct, frozen=True, gc=False):
    """Time to see whether anybody has lost news; told by timetable and dispatcher to themselves."""


TimetableMessage = SchedulesChanged | CalendarsChanged | EdgesDue | LookDue
TIMETABLE: Kind[None, TimetableMessage] = Kind("timetable")


class EdgeReached(msgspec.Struct, frozen=True, gc=False):
    """A window of its calendar has begun or ended."""

    calendar_id: int
    at: datetime
    opens: bool


class StepsPlanned(msgspec.Struct, frozen=True, gc=False):
    """These steps of the scheduled command have a time, and wait for nothing else."""

    steps: tuple[Planned, ...]


class ScheduleEdited(msgspec.Struct, frozen=True, gc=False):
    """Its row was changed or deleted; told after the commit."""


class StepsDue(msgspec.Struct, frozen=True, gc=False):
    """Time for the next step; told by the scheduled command to itself."""


ScheduledCommandMessage = EdgeReached | StepsPlanned | ScheduleEdited | StepsDue
SCHEDULED_COMMAND: Kind[int, ScheduledCommandMessage] = Kind("scheduled_command")


class Fire(msgspec.Struct, frozen=True, gc=False):
    """It is a scheduled command's turn."""

    firing: EdgeOccurrence


class Begin(msgspec.Struct, frozen=True, gc=False):
    """It is these steps' turn."""

    run_ids: tuple[int, ...]


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


class AnswerDue(msgspec.Struct, frozen=True, gc=False):
    """Whoever wanted a run now has waited long enough; told by the dispatcher to itself."""

    number: int


DispatcherMessage = Fire | Begin | RunNow | QueueExpired | AnswerDue | LookDue
DISPATCHER: Kind[None, DispatcherMessage] = Kind("dispatcher")
