"""Steps of scheduled commands that wait for their time: one heap for all of them."""

import heapq
from math import inf


class DelayedSteps:
    """Run ids by due time, on the monotonic clock: a delay is a span, whatever the wall clock does.

    An entry is only a reminder. Whether its step is still pending, the run record decides when it is due,
    so nothing needs to be removed when a step is cancelled, and adding a step twice does no harm.
    """

    __slots__ = ("_entries", "next_due")

    def __init__(self) -> None:
        self._entries: list[tuple[float, int]] = []
        self.next_due = inf
        """When the first step is due, in seconds of the monotonic clock; infinite when none waits."""

    def add(self, due: float, run_id: int) -> None:
        """Add the step of a run record, due at `due` in monotonic seconds."""
        heapq.heappush(self._entries, (due, run_id))
        self.next_due = self._entries[0][0]

    def pop_due(self, now: float, limit: int) -> list[int]:
        """Remove and return the steps that are due at `now`, earliest first, at most `limit`."""
        due: list[int] = []
        while self._entries and self._entries[0][0] <= now and len(due) < limit:
            due.append(heapq.heappop(self._entries)[1])
        self.next_due = self._entries[0][0] if self._entries else inf
        return due
