"""Calendars: the time windows of iCalendar text (docs/calendars.md#windows).

Answers whether a calendar is open at an instant, when it opens or closes next, and its windows between two
instants. Floating times and whole days are in the zone that the calendar names (X-WR-TIMEZONE), else in the
zone that the caller passes.
"""

import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache, partial

from motorpool.codecs.calendars.events import Event, read_events
from motorpool.codecs.calendars.recurrence_sets import Window, ZonedCalendar, merge

HORIZON = timedelta(days=1830)
"""How far ahead `next_edge` looks by default: 1,830 days."""
MAX_CACHED_MONTHS = 128
"""Months whose windows a calendar keeps."""
MAX_CACHED_ZONES = 8
"""Zones in which a calendar is kept expanded."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Edge:
    """An instant at which a window begins or ends."""

    at: datetime
    """UTC."""
    opens: bool
    """Whether a window begins."""


class Calendar:
    """The events of one calendar, which never change; windows of the months asked for are cached."""

    def __init__(self, events: list[Event]) -> None:
        self._events = tuple(events)
        self._zoned_calendar = lru_cache(MAX_CACHED_ZONES)(partial(ZonedCalendar, self._events))
        self._month = lru_cache(MAX_CACHED_MONTHS)(partial(_month_windows, self._zoned_calendar))
        self._answered: tuple[datetime, datetime, bool, tzinfo] = (_NEVER, _NEVER, False, UTC)
        """The last answer of `covers`, and from when until when it is the same."""

    @property
    def size(self) -> int:
        """Number of events."""
        return len(self._events)

    def windows(self, start: datetime, end: datetime, *, zone: tzinfo = UTC) -> list[Window]:
        """Return the windows within [start, end), clipped to it: in order, in UTC, excluding their ends.

        Events that touch or overlap make one window.
        """
        windows = []
        for begin, finish in self._merged_windows(start, end, zone):
            clipped = max(begin, start.astimezone(UTC)), min(finish, end.astimezone(UTC))
            if clipped[0] < clipped[1]:
                windows.append(clipped)
        return windows

    def uncached(self, zone: tzinfo = UTC) -> Callable[[datetime, datetime], list[Window]]:
        """Return a function like `windows` that keeps nothing of what it returned."""
        zoned = ZonedCalendar(self._events, zone)

        def windows(start: datetime, end: datetime) -> list[Window]:
            return merge((max(begin, start), min(finish, end)) for begin, finish in zoned.windows(start, end))

        return windows

    def covers(self, instant: datetime, *, zone: tzinfo = UTC) -> bool:
        """Return whether the calendar is open at an instant."""
        since, until, is_open, known_zone = self._answered
        # Most instants that are asked for are close together.
        if since <= instant < until and known_zone is zone:
            return is_open
        number = _month_of(instant.astimezone(UTC))
        windows = self._month(number, zone)
        index = bisect.bisect_right(windows, instant, key=lambda window: window[0])
        since, until = _month_start(number), _month_start(number + 1)
        is_open = False
        if index > 0:
            since, end = windows[index - 1]
            is_open = instant < end
            if is_open:
                until = end
            else:
                since = end
        if not is_open and index < len(windows):
            until = windows[index][0]
        self._answered = since, until, is_open, zone
        return is_open

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
        if not zoned.recurs:
            return _first_ended(zoned.ending(since, last))
        for number in range(_month_of(since), _month_of(last) + 1):
            ended = zoned.ending(max(since, _month_start(number)), min(last, _month_start(number + 1)))
            if ended:
                return _first_ended(ended)
        return ()

    def _merged_windows(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Window]:
        """Yield the merged windows of the months that [start, end] touches."""
        month, last = _month_of(start.astimezone(UTC)), _month_of(end.astimezone(UTC))
        pending: Window | None = None
        for number in range(month, last + 1):
            for window in self._month(number, zone):
                if pending is not None and window[0] <= pending[1]:
                    pending = pending[0], max(pending[1], window[1])
                    continue
                if pending is not None:
                    yield pending
                pending = window
        if pending is not None:
            yield pending


def _month_windows(
    zoned_calendar: Callable[[tzinfo], ZonedCalendar], number: int, zone: tzinfo
) -> tuple[Window, ...]:
    """Return the windows of a month of UTC, clipped to it."""
    start, end = _month_start(number), _month_start(number + 1)
    windows = zoned_calendar(zone).windows(start, end)
    return tuple((max(begin, start), min(finish, end)) for begin, finish in windows)


def _first_ended(windows: list[Window]) -> tuple[Window, ...]:
    first = min((end for _, end in windows), default=None)
    return tuple(sorted(window for window in windows if window[1] == first))


def _month_of(instant: datetime) -> int:
    return instant.year * 12 + instant.month - 1


def _month_start(number: int) -> datetime:
    return datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)


def read_calendar(text: str | bytes, *, unknown_zone: tzinfo | None = None) -> Calendar:
    """Read iCalendar text; a calendar without events is never open.

    `unknown_zone` stands for time zones that are unknown; by default they are an error.

    Takes up to two seconds for the largest calendar: 1 MiB, 5,000 events, 100,000 instances in two years,
    frequencies down to HOURLY.

    Raises:
        UnknownTimeZone: it names a time zone that is unknown.
        CalendarError: it cannot be read; the text names the line.
    """
    return Calendar(read_events(text.encode() if isinstance(text, str) else text, unknown_zone))
