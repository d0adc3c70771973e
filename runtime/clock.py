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
        wall = _read_wall()
        return wall + self._correction if self._correction else wall

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


class SharedTime:
    """The time of a clock that several programs share, such as the database's, in seconds since 1970.

    It goes by the monotonic clock, so it stands as still as that and never jumps with the wall; it is right
    to half the time that the last comparison took.
    """

    __slots__ = ("_clock", "_offset")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset: float | None = None

    def compare(self, reference: datetime, age_seconds: float) -> None:
        """Take the time of the shared clock, which showed `reference` at most `age_seconds` ago."""
        if self._offset is None or age_seconds <= CLOSE.total_seconds():
            self._offset = reference.timestamp() + age_seconds / 2 - self._clock.monotonic()

    def now(self) -> float:
        """The shared time; that of the wall clock until it was compared."""
        if self._offset is None:
            self._offset = self._clock.now().timestamp() - self._clock.monotonic()
        return self._clock.monotonic() + self._offset


def _read_wall() -> datetime:
    return datetime.now(UTC)
