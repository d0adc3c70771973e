"""The source of time: one injected clock with monotonic and wall time."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Protocol

import trio

_log = logging.getLogger(__name__)

TOLERANCE = timedelta(seconds=2)
"""A clock that differs by less is not corrected."""
CLOSE = timedelta(seconds=1)
"""A correction that is right to this is kept; one of less is needed no longer."""


class Clock(Protocol):
    """Monotonic time for deadlines, wall time for records."""

    def monotonic(self) -> float:
        """Seconds since some start; must be Trio's own clock, which deadlines are kept by."""
        ...

    def now(self) -> datetime:
        """The wall's instant, aware, in UTC. It may jump in either direction."""
        ...


class SystemClock:
    """Trio's clock and the computer's wall clock.

    Programs that share a database compare their clocks with the database's (`compare`). A clock that is off
    by more than a few seconds is corrected, so that stored times mean the same to all of them.
    """

    __slots__ = ("_correction",)

    def __init__(self) -> None:
        self._correction = timedelta()

    def monotonic(self) -> float:
        """Seconds of Trio's clock, which a test may drive (`trio.testing.MockClock`)."""
        return trio.current_time()

    def now(self) -> datetime:
        """The computer's wall time, in UTC, corrected."""
        return _read_wall() + self._correction

    def compare(self, reference: datetime, age_seconds: float) -> None:
        """Compare with another clock, which showed `reference` at most `age_seconds` ago."""
        age = timedelta(seconds=age_seconds)
        if age > CLOSE:
            return
        difference = reference + age / 2 - _read_wall()
        if abs(difference) <= (CLOSE if self._correction else TOLERANCE):
            difference = timedelta()
        if abs(difference - self._correction) <= CLOSE:
            return
        self._correction = difference
        _log.warning(
            "the clock of this machine is corrected by %.1f s, to agree with the database's: set it by NTP",
            difference.total_seconds(),
        )


def _read_wall() -> datetime:
    return datetime.now(UTC)
