"""One scheduled command: it sleeps until an edge of its calendar or the time of its next step.

Asleep it takes no memory: the timetable keeps the edges, one for each calendar, and wakes it. While steps
wait for their time it stays. All that it knows stands in the run records as well; what is lost with it the
dispatcher finds there.
"""

import heapq
from collections.abc import Iterable
from typing import Literal, assert_never

from motorpool.actors.messages.scheduling import (
    DISPATCHER,
    SCHEDULED_COMMAND,
    Begin,
    EdgeReached,
    Fire,
    ScheduledCommandMessage,
    ScheduleEdited,
    StepsDue,
    StepsPlanned,
)
from motorpool.runtime import Actor, DynamicSpec, MailboxFull, Restart
from motorpool.runtime.timer_heap import Timer
from motorpool.storage import runs
from motorpool.storage.database import Database
from motorpool.storage.edge_occurrences import EdgeOccurrence
from motorpool.storage.errors import StorageError
from motorpool.storage.runs import Planned

__all__ = ["ScheduledCommandActor", "scheduled_command_spec"]

IDLE_SECONDS = 4.0
"""Being born costs little."""
SLICE = 500
"""Steps of one message."""


class ScheduledCommandActor(Actor[ScheduledCommandMessage]):
    """Says whose turn it is; the dispatcher does the rest, for many at once."""

    __slots__ = ("_database", "_id", "_steps", "_timer")

    def __init__(self, schedule_id: int, database: Database) -> None:
        self._id = schedule_id
        self._database = database
        self._steps: list[tuple[float, int]] = []
        """A heap of (time on the monotonic clock, run): a delay is a span, whatever the wall clock does."""
        self._timer: Timer | None = None

    def may_leave(self) -> bool:
        """Not while steps wait."""
        return not self._steps

    def handle(self, message: ScheduledCommandMessage) -> object:
        """One message."""
        match message:
            case EdgeReached():
                phase: Literal["start", "end"] = "start" if message.opens else "end"
                return self._tell(
                    Fire(EdgeOccurrence(self._id, message.calendar_id, message.at, phase, phase))
                )
            case StepsPlanned():
                return self._plan(message.steps)
            case StepsDue():
                return self._begin()
            case ScheduleEdited():
                return self._read_again() if self._steps else None
            case _:
                assert_never(message)

    def _plan(self, steps: Iterable[Planned]) -> None:
        clock = self.context.clock
        now, moment = clock.now(), clock.monotonic()
        for step in steps:
            heapq.heappush(self._steps, (moment + (step.due - now).total_seconds(), step.run_id))
        self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._steps:
            seconds = self._steps[0][0] - self.context.clock.monotonic()
            self._timer = self.context.after(max(0.0, seconds), StepsDue())

    def _begin(self) -> object:
        moment = self.context.clock.monotonic()
        due: list[int] = []
        while self._steps and self._steps[0][0] <= moment and len(due) < SLICE:
            due.append(heapq.heappop(self._steps)[1])
        self._arm()
        return self._tell(Begin(tuple(due))) if due else None

    async def _read_again(self) -> None:
        """Forget what was cancelled."""
        try:
            waiting = await runs.waiting(self._database, self._id)
        except StorageError as error:
            # What is cancelled is not begun, whoever asks for it.
            self.context.log.warning("steps that wait not read again: %s", error)
            return
        self._steps.clear()
        self._plan(waiting)

    def _tell(self, message: Fire | Begin) -> object:
        dispatcher = self.context.system.ref(DISPATCHER)
        try:
            dispatcher.tell_nowait(message)
        except MailboxFull:
            return dispatcher.tell(message)
        return None


def scheduled_command_spec(database: Database) -> DynamicSpec[int, ScheduledCommandMessage]:
    """The scheduled commands of the tree, one actor each while it has something to wait for."""
    return DynamicSpec(
        kind=SCHEDULED_COMMAND,
        name="scheduled_commands",
        factory=lambda schedule_id: ScheduledCommandActor(schedule_id, database),
        restart=Restart.TRANSIENT,
        mailbox_size=1_000,
        idle_seconds=IDLE_SECONDS,
    )
