"""Where time comes from: one injected clock with a monotonic and a wall face."""

from datetime import UTC, datetime
from typing import Protocol

import trio


class Clock(Protocol):
    """Two faces of time. Deadlines use the monotonic one, records the wall."""

    def monotonic(self) -> float:
        """Seconds since some start; must be Trio's own clock, which deadlines are kept by."""
        ...

    def now(self) -> datetime:
        """The wall's instant, aware, in UTC. It may jump in either direction."""
        ...


class SystemClock:
    """Trio's clock and the computer's wall clock."""

    __slots__ = ()

    def monotonic(self) -> float:
        """Seconds of Trio's clock, which a test may drive (`trio.testing.MockClock`)."""
        return trio.current_time()

    def now(self) -> datetime:
        """The computer's idea of UTC."""
        return datetime.now(UTC)
