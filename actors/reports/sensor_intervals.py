"""The values of a sensor in intervals of time (docs/reports.md#sensors). Pure."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import chain, pairwise, takewhile
from typing import Final

from motorpool.actors.reports.days import midnight_before, midnights
from motorpool.actors.rules.sensor_limits import SensorLimit

MOST: Final = 1000
"""Intervals of a span."""
DAY: Final = timedelta(days=1)
STEPS: Final = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=6),
    DAY,
)
"""Intervals that are chosen by the length of the span."""
MAX_GAP: Final = timedelta(hours=1)
"""A value counts until the next one, but no longer than this."""


def interval_of(span: timedelta, wanted: timedelta) -> timedelta:
    """Return `wanted`, or the shortest interval of which at most MOST make up the span if that is longer.

    More than a day is rounded up to whole days.
    """
    shortest = next((step for step in STEPS if span <= step * MOST), DAY)
    found = max(shortest, span / MOST, wanted)
    return found if found <= DAY else DAY * -(-found // DAY)


def cut(start: datetime, end: datetime, interval: timedelta, zone: tzinfo) -> list[datetime]:
    """Return where the intervals of a span begin, the first of them at `start`.

    An interval of less than a day begins whenever the local clock shows a multiple of its length, and at each
    midnight; one of whole days begins at midnight. When clocks are changed an interval is longer or shorter
    than usual, and an hour that comes twice is two intervals of an hour.
    """
    found = [start]
    for begin in takewhile(lambda begin: begin <= end, _begins(start, interval, zone)):
        # A day that a zone left out begins with the next one.
        if begin > found[-1]:
            found.append(begin)
    return found


def _begins(start: datetime, interval: timedelta, zone: tzinfo) -> Iterator[datetime]:
    """Yield where intervals begin, in order, on the day of `start` and later."""
    try:
        if interval >= DAY:
            yield from midnights(start, zone, interval // DAY)
            return
        for midnight, after in pairwise(chain([midnight_before(start, zone)], midnights(start, zone))):
            if after - midnight == DAY:
                yield from (midnight + number * interval for number in range(-(-DAY // interval)))
            else:
                yield from sorted({midnight, *_shown(midnight.astimezone(zone).date(), interval, zone)})
    except OverflowError:  # at the ends of the calendar
        return


def _shown(day: date, interval: timedelta, zone: tzinfo) -> Iterator[datetime]:
    """Yield when on a local day the clock shows a multiple of an interval; twice where it is put back."""
    clock = datetime.combine(day, time())
    while clock.date() == day:
        for fold in (0, 1):
            instant = clock.replace(tzinfo=zone, fold=fold).astimezone(UTC)
            if instant.astimezone(zone).replace(tzinfo=None) == clock:
                yield instant
        clock += interval


@dataclass(slots=True)
class Figures:
    """The values of an interval."""

    count: int = 0
    total: float = 0.0
    minimum: float | None = None
    maximum: float | None = None
    last: float | None = None
    outside: timedelta = timedelta()
    """Time out of range."""

    @property
    def mean(self) -> float | None:
        """The mean of the values, however long each of them counted; None without values."""
        return round(self.total / self.count, 6) if self.count else None


class SensorSeries:
    """Sorts the values of a sensor into intervals, in the order of time."""

    def __init__(self, begins: Sequence[datetime], limit: SensorLimit | None) -> None:
        self._begins = begins
        self._limit = limit
        self._since: datetime | None = None
        """The instant of the last value, if that was out of range."""
        self.intervals: dict[int, Figures] = {}
        """By their place in `begins`, of those with values or time out of range."""

    def add(self, instant: datetime, value: float) -> None:
        """Add a value that is not older than the one before."""
        if self._limit is not None:
            was_out = self._since is not None
            self.end(instant)
            is_out = not self._limit.is_back(value) if was_out else self._limit.crossed(value) is not None
            self._since = instant if is_out else None
        figures = self._interval(bisect_right(self._begins, instant) - 1)
        figures.count += 1
        figures.total += value
        figures.minimum = value if figures.minimum is None else min(figures.minimum, value)
        figures.maximum = value if figures.maximum is None else max(figures.maximum, value)
        figures.last = value

    def end(self, instant: datetime) -> None:
        """Have the last value count until an instant."""
        since, self._since = self._since, None
        if since is None:
            return
        until = min(instant, since + MAX_GAP)
        place = bisect_right(self._begins, since) - 1
        while since < until:
            ends = self._begins[place + 1] if place + 1 < len(self._begins) else until
            self._interval(place).outside += min(ends, until) - since
            since, place = ends, place + 1

    def _interval(self, place: int) -> Figures:
        found = self.intervals.get(place)
        if found is None:
            found = self.intervals[place] = Figures()
        return found
