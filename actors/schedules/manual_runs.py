"""Runs that users ask for, while they wait for a transaction."""

from collections import deque
from typing import NamedTuple

from motorpool.actors.messages.scheduling import RunNow
from motorpool.actors.schedules.pending_run_replies import Reply
from motorpool.runtime import Clock, Deferred, Failure
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.schedules.edge_occurrences import EdgeOccurrence

MAX_QUEUED_RUNS = 100
"""Runs that wait; beyond it they fail."""


class ManualRun(NamedTuple):
    """A run that a user has asked for."""

    occurrence: EdgeOccurrence
    reply: Reply
    requested: float
    """On the monotonic clock."""


class ManualRuns:
    """Part of the dispatcher: first in, first out."""

    def __init__(self) -> None:
        self._runs: deque[ManualRun] = deque()

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, message: RunNow, clock: Clock) -> Reply | Failure:
        """Add a run; return its reply."""
        if len(self._runs) >= MAX_QUEUED_RUNS:
            return Failure(StorageUnavailable("too many runs wait for the database"))
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
