"""Calendars: the time windows of iCalendar text (docs/calendars.md#windows).

Answers whether a calendar is open at an instant, when it opens or closes next, and its windows between two
instants. Floating times and whole days are in the zone that the calendar names (X-WR-TIMEZONE), else in the
zone that the caller passes.
"""

import bisect
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache, partial
from itertools import chain

from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.codecs.calendars.cost import BLOCK_DAYS, MAX_BLOCKS, MAX_COST, evaluation_cost
from motorpool.codecs.calendars.events import MAX_STEPS, Event, check_instances, read_events
from motorpool.codecs.calendars.recurrence import StepLimit
from motorpool.codecs.calendars.recurrence_sets import Window, ZonedCalendar, merge

HORIZON = timedelta(days=1830)
"""How far ahead `next_edge` looks by default: 1,830 days."""
MAX_CACHED_BLOCKS = 8
"""Blocks whose windows a calendar keeps."""
MAX_CACHED_ZONES = 8
"""Zones in which a calendar is kept expanded."""
_BLOCK = timedelta(days=BLOCK_DAYS)
_BLOCK_SECONDS = BLOCK_DAYS * 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST, _LATEST = datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)


@dataclass(frozen=True)
class Edge:
    """An instant at which a window begins or ends."""

    at: datetime
    """UTC."""
    opens: bool
    """Whether a window begins."""


def block_of(instant: datetime) -> int:
    """Return the number of the block that holds an instant."""
    return int(instant.timestamp() // _BLOCK_SECONDS)


def is_open(edges: Sequence[float], instant: datetime) -> bool:
    """Return whether an instant is within the windows of its block, by their `Calendar.block_edges`."""
    return bisect.bisect_right(edges, instant.timestamp()) % 2 == 1


def span_at(edges: Sequence[float], block: int, seconds: float) -> tuple[float, float, bool]:
    """Return the span around an instant of a block in which no window begins or ends, and whether it is open.

    All in seconds since 1970; the span is within the block, and excludes its end.
    """
    begin, end = float(block * _BLOCK_SECONDS), float((block + 1) * _BLOCK_SECONDS)
    after = bisect.bisect_right(edges, seconds)
    if after > 0:
        begin = max(begin, edges[after - 1])
    if after < len(edges):
        end = min(end, edges[after])
    return begin, end, after % 2 == 1


class Calendar:
    """The events of one calendar, which never change; the windows of a few blocks are cached.

    What was stored before there was a limit may be too much work; the methods that evaluate it then raise
    CalendarError. Those that `read_calendar` has accepted with its limits never do.
    """

    def __init__(self, events: list[Event], reading_steps: int = 0) -> None:
        """`reading_steps` are those that reading the events took."""
        self._events = tuple(events)
        self.cost = reading_steps + evaluation_cost(self._events)
        """Steps that reading and evaluating the calendar take at most."""
        self._zoned_calendar = lru_cache(MAX_CACHED_ZONES)(partial(_zoned, self._events))
        self._block = lru_cache(MAX_CACHED_BLOCKS)(partial(_block_windows, self._zoned_calendar))

    @property
    def size(self) -> int:
        """Number of events."""
        return len(self._events)

    def windows(self, start: datetime, end: datetime, *, zone: tzinfo = UTC) -> list[Window]:
        """Return the windows within [start, end), clipped to it: in order, in UTC, excluding their ends.

        Events that touch or overlap make one window.
        """
        return _windows(self._zoned_calendar(zone), start.astimezone(UTC), end.astimezone(UTC))

    def block_edges(self, number: int, zone: tzinfo = UTC) -> Sequence[float]:
        """Return where windows begin and end in a block, by turns, in seconds since 1970; for `is_open`."""
        return array("d", (edge.timestamp() for edge in chain.from_iterable(self._block(number, zone))))

    def covers(self, instant: datetime, *, zone: tzinfo = UTC) -> bool:
        """Return whether the calendar is open at an instant."""
        return is_open(self.block_edges(block_of(instant), zone), instant)

    def next_edge(self, after: datetime, *, zone: tzinfo = UTC, horizon: timedelta = HORIZON) -> Edge | None:
        """Return the first opening or closing after `after`; None without one within `horizon`."""
        last = after.astimezone(UTC) + horizon
        for begin, end in self._merged_windows(after, last, zone):
            if begin > after:
                return Edge(begin, opens=True) if begin <= last else None
            if end > after:
                return Edge(end, opens=False) if end <= last else None
        return None

    def next_ended(
        self, after: datetime, *, zone: tzinfo = UTC, horizon: timedelta = HORIZON
    ) -> tuple[Window, ...]:
        """Return the instances of events that end first after `after`; nothing without one within `horizon`.

        All of them end at the same instant. In contrast to `windows` they are not merged: of days that touch
        each ends.
        """
        zoned, since = self._zoned_calendar(zone), after.astimezone(UTC)
        last = since + horizon
        spend = StepLimit(MAX_COST).spend
        if not zoned.recurs:
            return _first_ended(zoned.ending(since, last, spend))
        for begin, end in _pieces(since, last):
            ended = zoned.ending(max(since, begin), min(last, end), spend)
            if ended:
                return _first_ended(ended)
        return ()

    def _merged_windows(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Window]:
        """Yield the merged windows of the blocks that [start, end] touches."""
        zoned, spend = self._zoned_calendar(zone), StepLimit(MAX_COST).spend
        pending: Window | None = None
        for number, (first, last) in enumerate(_pieces(start, end)):
            if number == 0:
                windows = self._block(block_of(start), zone)
            else:
                windows = _clipped(zoned.windows(first, last, spend), first, last)
            for window in windows:
                if pending is not None and window[0] <= pending[1]:
                    pending = pending[0], max(pending[1], window[1])
                    continue
                if pending is not None:
                    yield pending
                pending = window
        if pending is not None:
            yield pending


def _zoned(events: tuple[Event, ...], zone: tzinfo) -> ZonedCalendar:
    return ZonedCalendar(events, zone, StepLimit(MAX_COST).spend)


def _windows(zoned: ZonedCalendar, start: datetime, end: datetime) -> list[Window]:
    """Return the windows within [start, end); their cost is limited for each span of `MAX_BLOCKS`."""
    found: list[Window] = []
    while start < end:
        until = end if end - start <= MAX_BLOCKS * _BLOCK else start + MAX_BLOCKS * _BLOCK
        found += _clipped(zoned.windows(start, until, StepLimit(MAX_COST).spend), start, until)
        start = until
    return merge(found)


def _block_windows(
    zoned_calendar: Callable[[tzinfo], ZonedCalendar], number: int, zone: tzinfo
) -> tuple[Window, ...]:
    """Return the windows of a block, clipped to it."""
    start, end = _block_start(number), _block_start(number + 1)
    return _clipped(zoned_calendar(zone).windows(start, end, StepLimit(MAX_COST).spend), start, end)


def _clipped(windows: list[Window], start: datetime, end: datetime) -> tuple[Window, ...]:
    return tuple((max(begin, start), min(finish, end)) for begin, finish in windows)


def _pieces(start: datetime, end: datetime) -> Iterator[Window]:
    """Yield spans of whole blocks that cover [start, end], each twice as long as the one before.

    An edge is mostly near; where it is far, few spans mean that long events are looked at few times.
    """
    number, length = block_of(start), 1
    while (begin := _block_start(number)) <= end and begin < _LATEST:
        yield begin, _block_start(number + length)
        number, length = number + length, min(2 * length, MAX_BLOCKS)


def _block_start(number: int) -> datetime:
    try:
        return min(max(_EPOCH + number * _BLOCK, _EARLIEST), _LATEST)
    except OverflowError:
        return _LATEST if number > 0 else _EARLIEST


def _first_ended(windows: list[Window]) -> tuple[Window, ...]:
    first = min((end for _, end in windows), default=None)
    return tuple(sorted(window for window in windows if window[1] == first))


def read_calendar(
    text: str | bytes, *, unknown_zone: tzinfo | None = None, is_stored: bool = False
) -> Calendar:
    """Read iCalendar text; a calendar without events is never open.

    `unknown_zone` stands for time zones that are unknown; by default they are an error. A calendar that
    `is_stored` was accepted once, and is not refused for what it costs.

    Takes up to two seconds for the largest calendar: 1 MiB, 5,000 events, 100,000 instances in two years,
    frequencies down to HOURLY.

    Raises:
        UnknownTimeZone: it names a time zone that is unknown.
        CalendarError: it cannot be read; the text names the line.
    """
    limit = StepLimit(MAX_STEPS)
    events = read_events(text.encode() if isinstance(text, str) else text, limit.spend, unknown_zone)
    calendar = Calendar(events, limit.spent)
    if not is_stored:
        check_instances(events, limit.spend)
        if calendar.cost > MAX_COST:
            raise CalendarError(
                f"too many events recur, or overlap for long: {calendar.cost} times would have to be"
                f" looked at, and at most {MAX_COST} may be"
            )
    return calendar
