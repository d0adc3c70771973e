"""Business time: the part of a span within business hours, and the instant at which a budget is used up.

Pure, and exact to the millisecond: spans of UTC, which the clocks on walls cannot disturb
(docs/service-levels.md#business-time).
"""

import bisect
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain

Pause = tuple[datetime, datetime | None]
"""A span in which a clock stands, excluding its end; None while it lasts."""
WindowSource = Callable[[datetime, datetime], Iterable[tuple[datetime, datetime]]]
"""Returns the windows within [start, end), clipped to it: in order, in UTC, merged."""

HORIZON = timedelta(days=1830)
"""How far ahead a due time is looked for by default."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
EARLIEST, LATEST = datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 1, 1, tzinfo=UTC)
PIECE = timedelta(days=92)
"""Windows are expanded in steps of at least this length."""


class BusinessTime:
    """The windows of business hours, merged, without holidays; expanded as far as they were needed.

    An instance remembers all windows that it expanded, so one that is kept answers by bisection alone.
    Not safe for use by several threads at a time.
    """

    def __init__(
        self,
        source: WindowSource | None,
        holidays: WindowSource | None = None,
        horizon: timedelta = HORIZON,
    ) -> None:
        """Take the windows without the holidays; without a source every minute counts."""
        self._source = source
        self._holidays = holidays
        self._horizon = horizon
        # What was expanded, [first, last), and its windows in milliseconds since 1970. `_before[i]` is the
        # business time from `_first` to the start of window i.
        self._first = self._last = 0
        self._starts = array("q")
        self._ends = array("q")
        self._before = array("q")
        if source is None and holidays is None:
            self._first, self._last = _to_milliseconds(EARLIEST), _to_milliseconds(LATEST)
            self._append([(self._first, self._last)])

    @property
    def size(self) -> int:
        """Number of windows that it remembers."""
        return len(self._starts)

    def is_expanded(self, start: datetime, end: datetime) -> bool:
        """Return whether the windows of [start, end) are known."""
        return self._first <= _to_milliseconds(start) and _to_milliseconds(end) <= self._last

    def expand(self, start: datetime, end: datetime) -> None:
        """Compute the windows of [start, end) now; later calls within it are cheap."""
        self._cover(_to_milliseconds(start), _to_milliseconds(end))

    def seconds_between(self, start: datetime, end: datetime, pauses: Sequence[Pause] = ()) -> timedelta:
        """Return how much of [start, end) lies within business hours and outside of pauses."""
        begin, finish = _to_milliseconds(start), _to_milliseconds(end)
        if finish <= begin:
            return timedelta(0)
        self._cover(begin, finish)
        total = self._used(finish) - self._used(begin)
        for pause, resume in merge_pauses(pauses):
            first = max(begin, _to_milliseconds(pause))
            last = finish if resume is None else min(finish, _to_milliseconds(resume))
            if first < last:
                total -= self._used(last) - self._used(first)
        return total * MILLISECOND

    def due(
        self,
        start: datetime,
        budget: timedelta,
        pauses: Sequence[Pause] = (),
        *,
        now: datetime | None = None,
    ) -> datetime | None:
        """Return the first instant at which the business time since `start` reaches `budget`.

        A budget that ends exactly at closing is due at closing. None while a pause lasts before that instant,
        and if it is not found within the horizon after the latest of `start`, the ends of pauses, and `now`.
        """
        begin, left = _to_milliseconds(start), budget // MILLISECOND
        limit = max(begin, _to_milliseconds(now or start))
        if left <= 0:
            return start
        for pause, resume in merge_pauses(pauses):
            until = _to_milliseconds(pause)
            if begin < until:
                self._cover(begin, until)
                found = self._advance(begin, left)
                if found is not None and found <= until:
                    return _to_datetime(found)
                left -= self._used(until) - self._used(begin)
            if resume is None:
                return None
            begin = max(begin, _to_milliseconds(resume))
        return self._search(begin, left, max(begin, limit) + self._horizon // MILLISECOND)

    def is_open(self, at: datetime) -> bool:
        """Return whether an instant lies within business hours."""
        return self._window_at(_to_milliseconds(at)) is not None

    def window_at(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """Return the end of the window that holds `now`, or the start of the next one.

        Both are None if there is none within the horizon; the other one always is.
        """
        at = _to_milliseconds(now)
        limit = min(at + self._horizon // MILLISECOND, _to_milliseconds(LATEST))
        index = self._window_at(at)
        if index is not None:
            # A window that ends where the expansion ends may go on.
            while self._ends[index] == self._last and self._last < limit:
                self._extend(limit)
            end = self._ends[index]
            return (_to_datetime(end) if end < self._last else None), None
        while True:
            index = bisect.bisect_right(self._starts, at)
            if index < len(self._starts):
                return None, _to_datetime(self._starts[index])
            if self._last >= limit:
                return None, None
            self._extend(limit)

    def _window_at(self, at: int) -> int | None:
        """Return the index, among the windows, of the one that holds an instant."""
        self._cover(at, at + 1)
        index = bisect.bisect_right(self._starts, at) - 1
        return index if index >= 0 and at < self._ends[index] else None

    def _used(self, at: int) -> int:
        """Return the business time from the start of the expansion to an instant in it."""
        index = bisect.bisect_right(self._starts, at) - 1
        if index < 0:
            return 0
        return self._before[index] + min(at, self._ends[index]) - self._starts[index]

    def _advance(self, start: int, left: int) -> int | None:
        """Return the instant at which `left` is used up since `start`; None beyond the expansion."""
        goal = self._used(start) + left
        index = bisect.bisect_left(self._before, goal) - 1
        if index < 0:
            return None
        found = self._starts[index] + goal - self._before[index]
        return found if found <= self._ends[index] else None

    def _search(self, start: int, left: int, limit: int) -> datetime | None:
        limit = min(limit, _to_milliseconds(LATEST))
        self._cover(start, start + 1)
        while (found := self._advance(start, left)) is None:
            if self._last >= limit:
                return None
            self._extend(limit)
        return _to_datetime(found) if found <= limit else None

    def _extend(self, limit: int) -> None:
        """Expand further: twice as far each time, since the windows of long budgets are many."""
        step = max(PIECE // MILLISECOND, min((self._last - self._first), 8 * PIECE // MILLISECOND))
        self._cover(self._first, max(self._last + 1, min(self._last + step, limit)))

    def _cover(self, first: int, last: int) -> None:
        """Expand, so that [first, last) is covered."""
        if first >= self._first and last <= self._last and self._first < self._last:
            return
        if self._first == self._last:
            self._first = self._last = first
        if last > self._last:
            last = max(last, self._last + PIECE // MILLISECOND)
            self._append(self._windows(self._last, last))
            self._last = last
        if first < self._first:
            first = min(first, self._first - PIECE // MILLISECOND)
            later = list(zip(self._starts, self._ends, strict=True))
            self._starts, self._ends, self._before = array("q"), array("q"), array("q")
            self._append(chain(self._windows(first, self._first), later))
            self._first = first

    def _append(self, windows: Iterable[tuple[int, int]]) -> None:
        """Append windows, each of which begins not before the last one ends."""
        for start, end in windows:
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = end
                continue
            before = self._before[-1] + self._ends[-1] - self._starts[-1] if self._starts else 0
            self._starts.append(start)
            self._ends.append(end)
            self._before.append(before)

    def _windows(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the business hours within [first, last)."""
        begin, end = _to_datetime(first), _to_datetime(last)
        opened = [(begin, end)] if self._source is None else self._source(begin, end)
        windows = [(_to_milliseconds(start), _to_milliseconds(finish)) for start, finish in opened]
        if self._holidays is not None:
            shut = [
                (_to_milliseconds(start), _to_milliseconds(finish))
                for start, finish in self._holidays(begin, end)
            ]
            windows = _subtract(windows, shut)
        return windows


def merge_pauses(pauses: Iterable[Pause]) -> list[Pause]:
    """Return pauses in order, merged where they touch or overlap, without empty ones."""
    merged: list[Pause] = []
    for begin, end in sorted(pauses, key=lambda pause: pause[0]):
        if end is not None and end <= begin:
            continue
        if merged:
            start, last = merged[-1]
            if last is None:
                break
            if begin <= last:
                merged[-1] = start, None if end is None else max(last, end)
                continue
        merged.append((begin, end))
    return merged


def _subtract(windows: Sequence[tuple[int, int]], shut: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what is left of windows; both are in order and merged."""
    left: list[tuple[int, int]] = []
    index = 0
    for start, end in windows:
        while index < len(shut) and shut[index][1] <= start:
            index += 1
        at, number = start, index
        while number < len(shut) and shut[number][0] < end:
            if at < shut[number][0]:
                left.append((at, shut[number][0]))
            at = max(at, shut[number][1])
            number += 1
        if at < end:
            left.append((at, end))
    return left


def _to_milliseconds(moment: datetime) -> int:
    return (moment - EPOCH) // MILLISECOND


def _to_datetime(milliseconds: int) -> datetime:
    return EPOCH + milliseconds * MILLISECOND


ALWAYS = BusinessTime(None)
"""Every minute counts."""
