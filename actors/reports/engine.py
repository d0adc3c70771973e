"""When the engine of a device ran, and when the device stood meanwhile (docs/reports.md#idling). Pure."""

from datetime import timedelta
from typing import Final, NamedTuple

from motorpool.actors.rules.distance import great_circle
from motorpool.actors.rules.engine import engine_state
from motorpool.actors.rules.trip_detection import FAST_KNOTS
from motorpool.storage.reports.engine_rows import Reading

MAX_GAP: Final = timedelta(minutes=15)
"""Between readings that are farther apart the engine is not known to have run."""
MAX_METRES: Final = 50.0
"""A device that is no farther from where it halted still stands there."""
COARSE: Final = timedelta(hours=1)
"""Some counters of engine hours advance by whole hours."""
MILLISECOND: Final = timedelta(milliseconds=1)


class Engine:
    """Whether the engine of a device runs, at each of its readings in order."""

    def __init__(self, charging_voltage: float = 0.0) -> None:
        """`charging_voltage` is in volts, 0: unknown."""
        self._charging_voltage = charging_voltage
        self._runs = False
        self._last: Reading | None = None
        self._last_hours: Reading | None = None
        self.since_last = timedelta()
        """How long it ran between the last two readings, as far as they tell."""
        self.is_told = False
        """Whether the last reading says if it runs."""
        self.counted: int | None = None
        """Milliseconds by which its counter of hours has advanced since the last reading that had one; None
        if the present one has none."""

    def add(self, reading: Reading) -> bool:
        """Add a reading; return whether the engine runs there.

        One that does not tell (`engine_state`) changes nothing, but not after a gap longer than MAX_GAP.
        """
        gap = reading.fix_time - self._last.fix_time if self._last is not None else timedelta()
        is_known = self._runs and gap <= MAX_GAP
        self.since_last = gap if is_known else timedelta()
        self._last = reading
        state = engine_state(reading.rpm, reading.ignition, reading.power, self._charging_voltage)
        self.is_told = state is not None
        self._runs = is_known if state is None else state
        self._count(reading)
        return self._runs

    def _count(self, reading: Reading) -> None:
        self.counted = None
        if reading.hours is None:
            return
        before, self._last_hours = self._last_hours, reading
        self.counted = 0
        if before is not None and before.hours is not None:
            more = round(reading.hours - before.hours)
            # A counter that was set, or belongs to another engine, tells nothing.
            if 0 <= more <= (reading.fix_time - before.fix_time + COARSE) // MILLISECOND:
                self.counted = more


class Idling(NamedTuple):
    """A span in which a device stood with its engine running."""

    first: Reading
    last: Reading

    @property
    def duration(self) -> timedelta:
        """From its first reading to its last."""
        return self.last.fix_time - self.first.fix_time


class IdlingFinder:
    """Finds the spans in which a device stands with its engine running, from its readings in order."""

    def __init__(self, least: timedelta) -> None:
        self._least = least
        self._first: Reading | None = None
        self._last: Reading | None = None
        """The first and the last reading of the present span."""
        self._seen: Reading | None = None

    def add(self, reading: Reading, *, runs: bool) -> Idling | None:
        """Add a reading, and whether the engine runs there; return the span that it has ended, if that is
        long enough. Places where the device cannot have been do not count.
        """
        if reading.is_implausible:
            return None
        first, last, seen = self._first, self._last, self._seen
        self._seen = reading
        stands = reading.speed < FAST_KNOTS
        if first is not None and seen is not None and _is_near(first, seen, reading):
            if stands:
                # Also the one that says that the engine was switched off since.
                self._last = last = reading
            if runs:
                # A single speed is noise, as long as the device comes back to rest where it was.
                return None
        self._first = self._last = reading if stands and runs else None
        return self._found(first, last)

    def end(self) -> Idling | None:
        """Return the last span, at the end of the readings."""
        return self._found(self._first, self._last)

    def _found(self, first: Reading | None, last: Reading | None) -> Idling | None:
        if first is None or last is None or last.fix_time - first.fix_time < self._least:
            return None
        return Idling(first, last)


def _is_near(first: Reading, before: Reading, reading: Reading) -> bool:
    """Return whether a device is still where it was first, and was not silent since the one before."""
    if reading.fix_time - before.fix_time > MAX_GAP:
        return False
    way = great_circle(first.latitude, first.longitude, reading.latitude, reading.longitude)
    return way <= MAX_METRES
