"""Firings whose run records are still to be made: some devices of each, in turn."""

from collections import deque
from collections.abc import Collection, Iterable

from motorpool.storage.schedules.edge_occurrences import Firing, Portion

PORTION_ROWS = 1000
"""Records that are made in one transaction, or those of one device if they are more."""


class FiringQueue:
    """Part of the dispatcher: the firings of a scheduled command, one after the other; these take turns.

    So one with thousands of devices does not hold up others, and each device gets the steps of its phases in
    the order of the edges.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, deque[Firing]] = {}
        """By scheduled command; the one that waits longest for its turn comes first."""

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, firings: Iterable[Firing]) -> None:
        """Add firings, which are newer than those that wait."""
        for firing in firings:
            self._waiting.setdefault(firing.schedule_id, deque()).append(firing)

    def take(self) -> list[Portion]:
        """Return the portions to make next, at most one of each scheduled command."""
        chosen: list[Firing] = []
        rows = 0
        for waiting in self._waiting.values():
            rows += waiting[0].steps
            if chosen and rows > PORTION_ROWS:
                break
            chosen.append(waiting[0])
        share = PORTION_ROWS // max(1, len(chosen))
        return [Portion(firing, max(1, share // firing.steps)) for firing in chosen]

    def made(self, portions: Iterable[Portion], unfinished: Collection[int]) -> None:
        """Note that portions were made; `unfinished` are the firings that have further devices."""
        for firing in (portion.firing for portion in portions):
            # They may have been cleared meanwhile.
            waiting = self._waiting.pop(firing.schedule_id, None)
            if waiting and waiting[0] == firing and firing.id not in unfinished:
                waiting.popleft()
            if waiting:
                self._waiting[firing.schedule_id] = waiting

    def discard(self, firing_ids: Collection[int]) -> None:
        """Remove firings that were left out."""
        for schedule_id, waiting in list(self._waiting.items()):
            self._waiting[schedule_id] = deque(each for each in waiting if each.id not in firing_ids)
            if not self._waiting[schedule_id]:
                del self._waiting[schedule_id]

    def replace(self, firings: Iterable[Firing]) -> None:
        """Wait for these, the oldest first, instead of those that wait."""
        self._waiting.clear()
        self.add(firings)
