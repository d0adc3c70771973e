"""The source of time: one injected clock with monotonic and wall time."""

from datetime import UTC, datetime
from typing import Protocol

import trio


class Clock(Protocol):
    """Monotonic time for deadlines, wall time for records."""

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
        """The computer's wall time, in UTC."""
        return datetime.now(UTC)
