"""Finds fills and losses in the levels of a tank (docs/reports.md#fuel). Pure.

The fuel moves in the tank and senders are noisy, so levels are smoothed by a running median: it keeps the
edge of a change that holds, and drops what does not.
"""

from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from math import inf
from typing import Final, NamedTuple

from motorpool.actors.reports.engine import Engine
from motorpool.actors.rules.distance import great_circle
from motorpool.storage.reports.engine_rows import Reading

BUCKET: Final = timedelta(seconds=30)
"""Levels that are told more often are taken together."""
WINDOW: Final = 5
"""Levels of the running median."""
TANK_SHARE: Final = 0.05
LEAST_LITRES: Final = 10.0
SMALL_TANK_SHARE: Final = 0.25
"""What makes a fill or a loss, if that is not set: this share of the tank, but at least these litres or that
share of a small one."""
MOST_USE: Final = 40.0
"""Litres per hour that an engine at rest may use, with what it drives."""
OVERFULL: Final = 1.2
"""Levels above this share of the tank are errors of the sender."""
AWAY: Final = 1000.0
"""Metres. A device that sleeps at rest may wake on the way; up to here hardly any fuel was used."""
HOUR: Final = timedelta(hours=1)


class Level(NamedTuple):
    """How much was in the tank at a reading."""

    reading: Reading
    litres: float
    engine_hours: float
    """How long the engine has run since the first reading, in hours."""


class Change(NamedTuple):
    """A fill or a loss."""

    reading: Reading
    """The first one after its steepest part."""
    before: float
    after: float
    """Litres in the tank."""

    @property
    def litres(self) -> float:
        """How much; positive."""
        return abs(self.after - self.before)


def least_change(litres: float, capacity: float) -> float:
    """Return the least change that counts, by its setting and the size of the tank; of both, 0 is unknown."""
    if litres > 0:
        return litres
    if capacity <= 0:
        return LEAST_LITRES
    return max(TANK_SHARE * capacity, min(LEAST_LITRES, SMALL_TANK_SHARE * capacity))


class FuelWatch:
    """Follows the tank of a device, from its readings in order."""

    def __init__(
        self,
        capacity: float,
        least_fill: float,
        least_loss: float,
        stops: Sequence[tuple[datetime, datetime]],
        charging_voltage: float = 0.0,
    ) -> None:
        """`capacity` is in litres, 0: unknown; `stops` are when the device stood, in order."""
        self.fills: list[Change] = []
        self.losses: list[Change] = []
        self._capacity = capacity
        self._least_loss = least_loss
        self._stops = deque(stops)
        self._is_volume: bool | None = None
        self._engine = Engine(charging_voltage)
        self._engine_hours = 0.0
        self._smoother = _Smoother()
        self._fill = _RiseFinder(least_fill)
        self._loss: _RiseFinder | None = None
        """That of the present stop."""
        self._rest: Level | None = None
        """The last level there."""

    def add(self, reading: Reading) -> list[Level]:
        """Add a reading; return the smoothed levels that are known now."""
        self._engine.add(reading)
        self._engine_hours += self._engine.since_last / HOUR
        litres = self._litres(reading)
        if litres is None:
            return []
        return self._watch(self._smoother.add(Level(reading, litres, self._engine_hours)))

    def end(self) -> list[Level]:
        """Return the last levels, at the end of the readings; now all fills and losses are known."""
        found = self._watch(self._smoother.end())
        _add(self.fills, self._fill.end())
        self._leave_stop()
        return found

    def _litres(self, reading: Reading) -> float | None:
        """Return the level of a reading; None if it tells none, or one that cannot be.

        Volume and share of the tank may differ, so the first of them that is told counts. Senders without a
        signal tell a level of 0.
        """
        volume, share = reading.fuel, reading.fuel_level
        most = OVERFULL * self._capacity or inf
        if volume is not None and not 0 < volume <= most:
            volume = None
        if share is not None and not (0 < share <= 100 and self._capacity):
            share = None
        if self._is_volume is None and (volume is not None or share is not None):
            self._is_volume = volume is not None
        if self._is_volume:
            return volume
        return None if share is None else share / 100 * self._capacity

    def _watch(self, levels: list[Level]) -> list[Level]:
        for level in levels:
            _add(self.fills, self._fill.add(level, level.litres))
            time = level.reading.fix_time
            while self._stops and self._stops[0][1] < time:
                self._stops.popleft()
                if self._rest is not None and _metres(self._rest, level) <= AWAY:
                    self._watch_loss(level)
                self._leave_stop()
            if self._stops and self._stops[0][0] <= time:
                self._watch_loss(level)
        return levels

    def _watch_loss(self, level: Level) -> None:
        if self._loss is None:
            self._loss = _RiseFinder(self._least_loss)
        self._rest = level
        # What the engine may have used is no loss.
        missing = -(level.litres + MOST_USE * level.engine_hours)
        _add(self.losses, self._loss.add(level, missing))

    def _leave_stop(self) -> None:
        if self._loss is not None:
            _add(self.losses, self._loss.end())
        self._loss = self._rest = None


def _metres(one: Level, other: Level) -> float:
    here, there = one.reading, other.reading
    return great_circle(here.latitude, here.longitude, there.latitude, there.longitude)


def _add(found: list[Change], change: Change | None) -> None:
    if change is not None:
        found.append(change)


class _Smoother:
    """The running median of levels."""

    def __init__(self) -> None:
        self._first: Level | None = None
        """The first level of the present bucket."""
        self._bucket: list[float] = []
        self._window: deque[Level] = deque(maxlen=WINDOW)
        self._left = 0
        """Levels at the end of the window that have not been returned."""

    def add(self, level: Level) -> list[Level]:
        first = self._first
        if first is not None and level.reading.fix_time - first.reading.fix_time < BUCKET:
            self._bucket.append(level.litres)
            return []
        found = self._close_bucket()
        self._first, self._bucket = level, [level.litres]
        return found

    def end(self) -> list[Level]:
        found = self._close_bucket()
        return found + self._take(self._left)

    def _close_bucket(self) -> list[Level]:
        if self._first is None:
            return []
        self._window.append(self._first._replace(litres=_median(self._bucket)))
        self._first = None
        self._left += 1
        return self._take(self._left - WINDOW // 2)

    def _take(self, count: int) -> list[Level]:
        """Return the next levels, each with the median of itself and its neighbours on both sides."""
        found: list[Level] = []
        if count <= 0:
            return found
        levels = list(self._window)
        litres = [level.litres for level in levels]
        for _ in range(count):
            at = len(levels) - self._left
            # The first and the last one have the median of three, and not their own level.
            radius = max(1, min(at, len(levels) - 1 - at, WINDOW // 2))
            begin = min(max(0, at - radius), len(levels) - 2 * radius - 1)
            level = levels[at]
            if begin >= 0:
                level = level._replace(litres=_median(litres[begin : begin + 2 * radius + 1]))
            found.append(level)
            self._left -= 1
        return found


def _median(values: list[float]) -> float:
    """Return the median; `statistics.median` takes three times as long for so few."""
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


class _RiseFinder:
    """Finds where values rise by `least` or more, before they fall by half of that again."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._values: tuple[float, float, float] | None = None
        """The lowest, the highest since, and the last one."""
        self._low: Level | None = None
        self._high: Level | None = None
        self._steepest: Level | None = None
        self._jump = 0.0

    def add(self, level: Level, value: float) -> Change | None:
        if self._values is None:
            self._restart(level, value)
            return None
        low, high, last = self._values
        if value - last > self._jump:
            self._jump, self._steepest = value - last, level
        found = None
        if value <= max(low, high - self._least / 2):
            found = self.end()
            self._restart(level, value)
        elif value > high:
            self._high = level
            self._values = low, value, value
        else:
            self._values = low, high, value
        return found

    def end(self) -> Change | None:
        """Return the present rise."""
        if self._values is None or self._low is None or self._high is None or self._steepest is None:
            return None
        low, high, _ = self._values
        if high - low < self._least:
            return None
        return Change(self._steepest.reading, self._low.litres, self._high.litres)

    def _restart(self, level: Level, value: float) -> None:
        self._values = value, value, value
        self._low = self._high = level
        self._steepest, self._jump = None, 0.0
