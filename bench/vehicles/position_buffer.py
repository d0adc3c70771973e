"""Positions that the platform has not acknowledged: kept, and sent again after a disconnection."""

from collections import deque
from collections.abc import Iterator

KEPT_POSITIONS = 2000
"""The oldest are dropped first; more than two hours at the default interval."""
BATCH_BYTES = 900
"""Largest size of the bodies in a batch, so that it fits one packet."""


class PositionBuffer:
    """Positions to send, and those sent but not acknowledged.

    `archive`: positions from before the simulation, oldest first. They are made when they are sent, before
    all others.
    """

    def __init__(self, archive: Iterator[bytes] | None = None) -> None:
        self._archive = archive or iter(())
        self._next = next(self._archive, None)
        self._again: deque[bytes] = deque()
        """Positions sent but not acknowledged before the connection was lost."""
        self._waiting: deque[bytes] = deque(maxlen=KEPT_POSITIONS)
        self._unacknowledged: dict[int, list[bytes]] = {}

    @property
    def waiting(self) -> int:
        """Number of positions to send, without the archive."""
        return len(self._again) + len(self._waiting)

    @property
    def has_archive(self) -> bool:
        """Whether positions of the archive are still to be sent."""
        return self._next is not None

    @property
    def unacknowledged(self) -> int:
        """Number of positions sent and not yet acknowledged."""
        return sum(map(len, self._unacknowledged.values()))

    def add(self, location: bytes) -> None:
        """Add a position that cannot be sent now."""
        self._waiting.append(location)

    def mark_sent(self, serial: int, locations: list[bytes]) -> None:
        """Record that a message with this serial carries these positions."""
        # Bounded, even if the platform never acknowledges.
        while self.unacknowledged + len(locations) > KEPT_POSITIONS and self._unacknowledged:
            del self._unacknowledged[next(iter(self._unacknowledged))]
        self._unacknowledged[serial] = locations

    def acknowledge(self, serial: int) -> None:
        """Drop the positions of an acknowledged message."""
        self._unacknowledged.pop(serial, None)

    def take_batch(self) -> list[bytes]:
        """Take the oldest waiting positions, as many as fit one message."""
        batch: list[bytes] = []
        size = 0
        while (location := self._first()) is not None and size + len(location) + 2 <= BATCH_BYTES:
            self._drop_first()
            batch.append(location)
            size += len(location) + 2
        return batch

    def requeue_unacknowledged(self) -> None:
        """Put unacknowledged positions back, in front of later ones."""
        lost = [location for locations in self._unacknowledged.values() for location in locations]
        self._unacknowledged.clear()
        self._again.extendleft(reversed(lost))
        while len(self._again) > KEPT_POSITIONS:
            self._again.popleft()

    def _first(self) -> bytes | None:
        if self._again:
            return self._again[0]
        if self._next is not None:
            return self._next
        return self._waiting[0] if self._waiting else None

    def _drop_first(self) -> None:
        if self._again:
            self._again.popleft()
        elif self._next is not None:
            self._next = next(self._archive, None)
        else:
            self._waiting.popleft()
