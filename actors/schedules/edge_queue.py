"""Edges that wait to be committed, in the order in which they were reached."""

from collections import deque

from motorpool.actors.messages.scheduling import EdgeReached
from motorpool.runtime import Signal
from motorpool.storage.schedules.edge_occurrences import EdgeOccurrence

MAX_QUEUED_EDGES = 20_000
"""Edge occurrences that wait for a transaction; beyond it the timetable waits."""


class EdgeQueue:
    """Part of the dispatcher: an occurrence for each scheduled command that follows the calendar."""

    def __init__(self) -> None:
        self._occurrences: deque[EdgeOccurrence] = deque()
        self._taken = Signal()

    def __len__(self) -> int:
        return len(self._occurrences)

    @property
    def is_full(self) -> bool:
        """Whether no edge is to be added now."""
        return len(self._occurrences) >= MAX_QUEUED_EDGES

    def add(self, edge: EdgeReached) -> None:
        """Add the occurrences of an edge."""
        for schedule_id in edge.schedule_ids:
            self._occurrences.append(
                EdgeOccurrence(schedule_id, edge.calendar_id, edge.at, edge.phase, edge.phase)
            )

    async def wait_for_room(self) -> None:
        """Wait until the queue is not full."""
        while self.is_full:
            await self._taken.wait()

    def take(self, limit: int) -> list[EdgeOccurrence]:
        """Remove and return the first occurrences, at most one of each scheduled command."""
        chosen: dict[int, EdgeOccurrence] = {}
        while self._occurrences and len(chosen) < limit and self._occurrences[0].schedule_id not in chosen:
            occurrence = self._occurrences.popleft()
            chosen[occurrence.schedule_id] = occurrence
        self._taken.set()
        return list(chosen.values())

    def clear(self) -> None:
        """Remove all."""
        self._occurrences.clear()
        self._taken.set()
