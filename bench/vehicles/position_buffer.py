"""Positions that the platform has not acknowledged: kept, and sent again after a disconnection."""

from collections import deque

KEPT_POSITIONS = 2000
"""The oldest are dropped first; more than two hours at the default interval."""
BATCH_BYTES = 900
"""Largest size of the bodies in a batch, so that it fits one packet."""


class PositionBuffer:
    """Positions to send, and those sent but not acknowledged."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque(maxlen=KEPT_POSITIONS)
        self._unacknowledged: dict[int, list[bytes]] = {}

    @property
    def waiting(self) -> int:
        """Number of positions to send."""
        return len(self._waiting)

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
        while self._waiting and size + len(self._waiting[0]) + 2 <= BATCH_BYTES:
            batch.append(self._waiting.popleft())
            size += len(batch[-1]) + 2
        return batch

    def requeue_unacknowledged(self) -> None:
        """Put unacknowledged positions back, in front of later ones."""
        lost = [location for locations in self._unacknowledged.values() for location in locations]
        self._unacknowledged.clear()
        self._waiting = deque([*lost, *self._waiting], maxlen=KEPT_POSITIONS)
