"""Runs that users ask for, while they wait for a transaction, and then for outcomes to reply with."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import trio

from motorpool.actors.messages.scheduling import RunNow
from motorpool.actors.schedules.step_outcomes import StepOutcomes
from motorpool.runtime import Clock, Deferred, Failure
from motorpool.storage.database.database import Database
from motorpool.storage.errors import Overloaded, StorageError
from motorpool.storage.records import ScheduledCommandRun
from motorpool.storage.schedules import runs
from motorpool.storage.schedules.edge_occurrences import EdgeOccurrence

MAX_QUEUED_RUNS = 100
"""Runs that wait; beyond it they fail."""
MAX_QUEUED_RUNS_OF_USER = 2
"""The same of one user, so that others have their turn in time: a run may take a second."""
READ_AT_ONCE = 1000
"""Records that are read by one statement."""
REPLY_SECONDS = 3.0
"""A run is answered after this at the latest, whether or not its first steps have an outcome."""

Reply = Deferred[list[ScheduledCommandRun] | Failure]


class ManualRun(NamedTuple):
    """A run that a user has asked for."""

    occurrence: EdgeOccurrence
    reply: Reply
    requested: float
    """On the monotonic clock."""


class ManualRuns:
    """Part of the dispatcher: first in, first out."""

    def __init__(self, database: Database, outcomes: StepOutcomes) -> None:
        self._database = database
        self._outcomes = outcomes
        self._runs: deque[ManualRun] = deque()
        self._reading = trio.Lock()

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, message: RunNow, clock: Clock) -> Reply | Failure:
        """Add a run; return its reply."""
        waiting = [run.occurrence.user_id for run in self._runs]
        if len(waiting) >= MAX_QUEUED_RUNS or waiting.count(message.user_id) >= MAX_QUEUED_RUNS_OF_USER:
            return Failure(Overloaded("too many runs wait for the database"))
        reply: Reply = Deferred()
        occurrence = EdgeOccurrence(
            message.schedule_id, 0, clock.now(), "manual", message.steps, message.user_id
        )
        self._runs.append(ManualRun(occurrence, reply, clock.monotonic()))
        return reply

    def take(self) -> ManualRun:
        """Remove and return the first one."""
        return self._runs.popleft()

    def fail_all(self, error: Exception) -> None:
        """Answer all with an error."""
        while self._runs:
            self._runs.popleft().reply.answer(Failure(error))

    async def answer(self, reply: Reply, run_ids: Sequence[int]) -> None:
        """Answer with these run records, once the outcomes of those in flight are committed."""
        outcomes = self._outcomes
        with trio.move_on_after(REPLY_SECONDS):
            while not outcomes.in_flight.isdisjoint(run_ids):
                await outcomes.changed.wait()
        async with self._reading:
            try:
                found: list[ScheduledCommandRun] = []
                for start in range(0, len(run_ids), READ_AT_ONCE):
                    found += await runs.fetch(self._database, run_ids[start : start + READ_AT_ONCE])
                reply.answer(found)
            except StorageError as error:
                reply.answer(Failure(error))
