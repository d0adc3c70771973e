"""Positions that the platform has not acknowledged: kept, and sent again after a break."""

from collections import deque

KEPT_POSITIONS = 2000
"""The oldest are forgotten first; two hours and more at the usual interval."""
BATCH_BYTES = 900
"""Of bodies in a batch, so that it fits one packet."""


class Logbook:
    """What was reported and what the platform confirmed."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque(maxlen=KEPT_POSITIONS)
        self._under_way: dict[int, list[bytes]] = {}

    @property
    def waiting(self) -> int:
        """Positions that have to be sent."""
        return len(self._waiting)

    @property
    def under_way(self) -> int:
        """Positions sent and not yet acknowledged."""
        return sum(map(len, self._under_way.values()))

    def keep(self, location: bytes) -> None:
        """Keep a position that cannot be sent now."""
        self._waiting.append(location)

    def sent(self, serial: int, locations: list[bytes]) -> None:
        """Remember what a message carried."""
        # A platform that never acknowledges must not fill the memory.
        while self.under_way + len(locations) > KEPT_POSITIONS and self._under_way:
            del self._under_way[next(iter(self._under_way))]
        self._under_way[serial] = locations

    def acknowledged(self, serial: int) -> None:
        """Forget what the platform has stored."""
        self._under_way.pop(serial, None)

    def take_batch(self) -> list[bytes]:
        """Take the oldest waiting positions, as many as fit one message."""
        batch: list[bytes] = []
        size = 0
        while self._waiting and size + len(self._waiting[0]) + 2 <= BATCH_BYTES:
            batch.append(self._waiting.popleft())
            size += len(batch[-1]) + 2
        return batch

    def line_lost(self) -> None:
        """Put back what was under way, before what came later."""
        lost = [location for locations in self._under_way.values() for location in locations]
        self._under_way.clear()
        self._waiting = deque([*lost, *self._waiting], maxlen=KEPT_POSITIONS)
