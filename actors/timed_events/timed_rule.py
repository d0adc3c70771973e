"""What the rules of timed events have in common."""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import msgspec

from motorpool.actors.messages.changes import Change
from motorpool.storage.records import Event

MIN_PERIOD = timedelta(minutes=1)
"""Shorter periods of repetition count as this."""


class Batch(msgspec.Struct, frozen=True):
    """Events of subjects whose instants have come."""

    due: Mapping[int, datetime]
    """The instant of each subject."""
    events: Sequence[tuple[int, Event]]
    """Each with the id of its subject."""
    kind: str = ""
    """Type of the marks, if it is not that of the rule."""


class InstantHeap:
    """The next instant of each of many subjects."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int]] = []
        """May have entries that no longer hold."""
        self._instants: dict[int, datetime] = {}

    def __len__(self) -> int:
        return len(self._instants)

    def put(self, subject_id: int, instant: datetime) -> None:
        """Set the instant of a subject, in place of the one it had."""
        self._instants[subject_id] = instant
        heapq.heappush(self._heap, (instant, subject_id))
        if len(self._heap) > 2 * len(self._instants) + 1000:
            self._heap = [(at, number) for number, at in self._instants.items()]
            heapq.heapify(self._heap)

    def discard(self, subject_id: int) -> None:
        """Remove a subject, if it is there."""
        self._instants.pop(subject_id, None)

    def first(self) -> datetime | None:
        """Return the earliest instant; None if there is none."""
        while self._heap:
            instant, subject_id = self._heap[0]
            if self._instants.get(subject_id) == instant:
                return instant
            heapq.heappop(self._heap)
        return None

    def due(self, now: datetime, limit: int) -> list[int]:
        """Return up to `limit` subjects whose instants have come, earliest first; they stay in the heap."""
        found: dict[int, datetime] = {}
        while len(found) < limit and (instant := self.first()) is not None and instant <= now:
            subject_id = heapq.heappop(self._heap)[1]
            found[subject_id] = instant
        for subject_id, instant in found.items():
            heapq.heappush(self._heap, (instant, subject_id))
        return list(found)


class TimedRule(ABC):
    """A rule whose events come at instants. Methods that wait may raise StorageError and ActorError."""

    kind: ClassVar[str]
    """Type of the marks in `storage/rules/timed_events.py`."""

    def __init__(self) -> None:
        self.instants = InstantHeap()

    @abstractmethod
    def note(self, change: Change) -> bool:
        """Note what a change concerns; return whether `load` must be called."""

    @abstractmethod
    async def load(self, now: datetime) -> None:
        """Read the configuration, first all, later what was noted, and set the instants of subjects."""

    @abstractmethod
    async def collect(self, now: datetime) -> Batch:
        """Return events of subjects whose instants have come.

        It moves the instants of subjects that have no event. Those of the batch stay until `settle`.
        """

    @abstractmethod
    async def settle(self, batch: Batch, now: datetime) -> None:
        """Set the next instants of a batch that was stored, here or by another server."""


def newest_instant(first: datetime, period: timedelta | None, now: datetime) -> datetime | None:
    """Return the newest of `first` and each `period` after it up to `now`; None if there is none."""
    if now < first:
        return None
    if period is None:
        return first
    return first + (now - first) // max(period, MIN_PERIOD) * max(period, MIN_PERIOD)


def instant_of(milliseconds: float) -> datetime | None:
    """Return the instant of milliseconds since 1970; None where that is none between 1970 and 9000."""
    if not 0 <= milliseconds < 2.2e14:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
