"""Calendars: iCalendar text to the windows of time that it opens (docs/calendars.md#windows).

One component for all that asks: geofences and notifications (is it open now), scheduled commands (when does
it open or shut next), service levels (how much of it is open between).

Floating times and whole days are read in the zone that the calendar names itself (X-WR-TIMEZONE), else in
the zone that the asker gives.
"""

import bisect
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.codecs.calendars.events import Event, read_events
from motorpool.codecs.calendars.recurrence_sets import Window, ZonedCalendar
from motorpool.codecs.calendars.time_zones import find_zone

__all__ = ["HORIZON", "Calendar", "CalendarError", "Edge", "Window", "find_zone", "read_calendar"]

HORIZON = timedelta(days=1830)
"""How far ahead the next edge is looked for."""
MAX_CACHED_MONTHS = 128
MAX_CACHED_ZONES = 8


@dataclass(frozen=True)
class Edge:
    """An instant at which a window begins or ends."""

    at: datetime
    opens: bool


class Calendar:
    """The events of a calendar. What it answers never changes; the months it was asked for are kept."""

    def __init__(self, events: list[Event]) -> None:
        self._events = tuple(events)
        self._zoned: OrderedDict[tzinfo, ZonedCalendar] = OrderedDict()
        self._months: OrderedDict[tuple[tzinfo, int], tuple[Window, ...]] = OrderedDict()

    @property
    def size(self) -> int:
        """How many events it has."""
        return len(self._events)

    def windows(self, start: datetime, end: datetime, *, zone: tzinfo = UTC) -> list[Window]:
        """Return what is open within [start, end), cut to it: in order, in UTC, each without its end.

        Events that touch or overlap are one window.
        """
        found = []
        for begin, finish in self._from(start, end, zone):
            cut = max(begin, start.astimezone(UTC)), min(finish, end.astimezone(UTC))
            if cut[0] < cut[1]:
                found.append(cut)
        return found

    def covers(self, instant: datetime, *, zone: tzinfo = UTC) -> bool:
        """Whether it is open at an instant."""
        windows = self._month(_month_of(instant.astimezone(UTC)), zone)
        place = bisect.bisect_right(windows, instant, key=lambda window: window[0])
        return place > 0 and instant < windows[place - 1][1]

    def next_edge(self, after: datetime, *, zone: tzinfo = UTC, horizon: timedelta = HORIZON) -> Edge | None:
        """Return the first instant after `after` at which it opens or shuts; None where none is near."""
        last = after.astimezone(UTC) + horizon
        for begin, end in self._from(after, last, zone):
            if begin > after:
                return Edge(begin, opens=True) if begin <= last else None
            if end > after:
                return Edge(end, opens=False) if end <= last else None
        return None

    def _from(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Window]:
        """Merged windows of the months that [start, end] touches; the last may go on behind them."""
        month, last = _month_of(start.astimezone(UTC)), _month_of(end.astimezone(UTC))
        held: Window | None = None
        for number in range(month, last + 1):
            for window in self._month(number, zone):
                if held is not None and window[0] <= held[1]:
                    held = held[0], max(held[1], window[1])
                    continue
                if held is not None:
                    yield held
                held = window
        if held is not None:
            yield held

    def _month(self, number: int, zone: tzinfo) -> tuple[Window, ...]:
        """The windows of a month in UTC, cut to it."""
        key = zone, number
        if key in self._months:
            self._months.move_to_end(key)
            return self._months[key]
        start, end = _month_start(number), _month_start(number + 1)
        windows = self._in(zone).windows(start, end)
        cut = tuple((max(begin, start), min(finish, end)) for begin, finish in windows)
        self._months[key] = cut
        while len(self._months) > MAX_CACHED_MONTHS:
            self._months.popitem(last=False)
        return cut

    def _in(self, zone: tzinfo) -> ZonedCalendar:
        if zone not in self._zoned:
            self._zoned[zone] = ZonedCalendar(self._events, zone)
            while len(self._zoned) > MAX_CACHED_ZONES:
                self._zoned.popitem(last=False)
        return self._zoned[zone]


def _month_of(instant: datetime) -> int:
    return instant.year * 12 + instant.month - 1


def _month_start(number: int) -> datetime:
    return datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)


def read_calendar(text: str | bytes) -> Calendar:
    """Read iCalendar text; CalendarError says in one line where it cannot be read.

    A calendar without events is one that is never open. Takes up to a second or two for the largest that is
    allowed: 1 MiB, 5000 events, 100,000 instances in two years, nothing finer than HOURLY.
    """
    return Calendar(read_events(text.encode() if isinstance(text, str) else text))
