"""Recurrence sets (RFC 5545, section 3.8.5): an event's instances in one time zone, and their windows."""

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from motorpool.codecs.calendars.events import DateOrTime, Event
from motorpool.codecs.calendars.recurrence import expand
from motorpool.codecs.calendars.time_zones import local_time

Window = tuple[datetime, datetime]
"""Begin and end, excluding the end; UTC."""
DAY = timedelta(days=1)
EARLIEST, FOREVER = datetime(2, 1, 1), datetime(9998, 12, 31)  # noqa: DTZ001 - local


def merge(windows: Iterable[Window]) -> list[Window]:
    """Return windows in order, merged where they touch or overlap, without empty ones."""
    merged: list[Window] = []
    for begin, end in sorted(windows):
        if begin >= end:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((begin, end))
    return merged


class ZonedCalendar:
    """All events of a calendar in one time zone; windows that do not recur are computed once.

    `spend` counts steps, of which there are never more than codecs/calendars/cost.py says.
    """

    def __init__(self, events: Sequence[Event], zone: tzinfo, spend: Callable[[int], None]) -> None:
        series = []
        for mains, changes in group_by_uid(events):
            for main in mains:
                spend(building_steps(main, changes))
                series.append(RecurrenceSet(main, changes, zone))
        self._series = [each for each in series if each.recurs]
        self._single = [window for each in series for window in each.fixed]
        self._fixed = merge(self._single)

    def windows(self, start: datetime, end: datetime, spend: Callable[[int], None]) -> list[Window]:
        """Return the windows that overlap [start, end), merged."""
        first = bisect.bisect_right(self._fixed, start, key=lambda window: window[1])
        last = bisect.bisect_left(self._fixed, end, key=lambda window: window[0])
        spend(max(0, last - first))
        recurring = (window for series in self._series for window in series.windows(start, end, spend))
        return merge((*self._fixed[first:last], *recurring))

    @property
    def recurs(self) -> bool:
        """Whether there may be instances beyond any instant."""
        return bool(self._series)

    def ending(self, start: datetime, end: datetime, spend: Callable[[int], None]) -> list[Window]:
        """Return the instances of events that end within (start, end], as they are, in no order."""
        spend(len(self._single))
        found = {window for window in self._single if window[0] < window[1] and start < window[1] <= end}
        for series in self._series:
            found.update(
                (begin, finish)
                for begin, finish in series.windows(start, end, spend)
                if begin < finish <= end
            )
        return list(found)


def group_by_uid(events: Iterable[Event]) -> Iterator[tuple[Sequence[Event | None], list[Event]]]:
    """Yield the events of each UID that count, with those that replace instances of them.

    None stands for an event of which there are only replaced instances.
    """
    by_uid: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_uid[event.uid].append(event)
    for group in by_uid.values():
        mains = [event for event in group if event.recurrence_id is None]
        changes = [event for event in group if event.recurrence_id is not None]
        latest = max((event.sequence for event in mains), default=0)
        # Of several revisions of an event the latest counts; of equal SEQUENCE all do.
        yield [main for main in mains if main.sequence == latest] or [None], changes


def building_steps(main: Event | None, changes: Sequence[Event]) -> int:
    """Return the steps of making a `RecurrenceSet`."""
    return 1 + len(changes) + (len(main.dates) + len(main.excluded_dates) if main else 0)


class RecurrenceSet:
    """An event with its recurrence, and the events that replace single instances."""

    def __init__(self, main: Event | None, changes: Sequence[Event], zone: tzinfo) -> None:
        self._main = main
        self._zone = _event_zone(main, zone) if main else zone
        excluded = frozenset(self._key(each) for each in main.excluded_dates) if main else frozenset()
        latest: dict[DateOrTime, Event] = {}
        for change in sorted(changes, key=lambda event: event.sequence):
            assert change.recurrence_id is not None
            latest[self._key(change.recurrence_id)] = change
        self._hidden = excluded | latest.keys()
        """Instants and dates of instances that are not there, or elsewhere."""
        standing = (change for key, change in latest.items() if key not in excluded)
        self._later: list[tuple[datetime, timedelta, Event]] = []
        self.recurs = main is not None and bool(main.rules or main.dates or main.exclusion_rules)
        self.fixed = [_own_window(change, zone) for change in standing if not change.cancelled]
        """Windows that do not recur; some may be empty."""
        if main:
            self._locate(main, [change for change in latest.values() if change.this_and_future])
        if main and not self.recurs:
            self.fixed += self._windows_at(main, (self._start,))

    def _locate(self, main: Event, later: Sequence[Event]) -> None:
        self._start = local_time(main.start, self._zone)
        self._rules = [(rule, self._last(until)) for rule, until in main.rules]
        self._exclusion_rules = [(rule, self._last(until)) for rule, until in main.exclusion_rules]
        self._dates = {local_time(start, self._zone): length for start, length in main.dates}
        for change in later:
            assert change.recurrence_id is not None
            old = local_time(change.recurrence_id, self._zone)
            shift = local_time(change.start, self._zone) - old
            self._later.append((_utc(old, self._zone), shift, change))
        self._later.sort(key=lambda each: each[0])
        self._later_since = [since for since, _, _ in self._later]
        self._starts = sorted(self._dates)
        lengths = [main.length, *self._dates.values(), *(change.length for _, _, change in self._later)]
        shifts = [timedelta(0), *(shift for _, shift, _ in self._later)]
        # How far outside a span instances may lie whose windows overlap it; a day more for clock changes.
        self._before = max(lengths) + max(shifts) + DAY
        self._behind = DAY - min(shifts)

    def windows(self, start: datetime, end: datetime, spend: Callable[[int], None]) -> Iterator[Window]:
        """Yield the windows of the recurrence that overlap [start, end), in no order."""
        assert self._main is not None
        first, last = (local_time(each, self._zone) for each in (start, end))
        instances = self._instances(_shifted(first, -self._before), _shifted(last, self._behind), spend)
        for begin, finish in self._windows_at(self._main, instances):
            if begin < end and start < finish:
                yield begin, finish

    def _windows_at(self, main: Event, instances: Iterable[datetime]) -> Iterator[Window]:
        hidden = self._hidden
        for instance in instances:
            instant = _utc(instance, self._zone)
            if hidden and (instant in hidden or instance.date() in hidden):
                continue
            shift, event = timedelta(0), main
            if self._later:
                latest = bisect.bisect_left(self._later_since, instant)
                if latest:
                    _, shift, event = self._later[latest - 1]
            if not event.cancelled:
                length = event.length if event is not main else self._dates.get(instance, main.length)
                start = _shifted(instance, shift) if shift else instance
                begin = _utc(start, self._zone) if shift else instant
                yield begin, _utc(_shifted(start, length), self._zone)

    def _instances(self, first: datetime, last: datetime, spend: Callable[[int], None]) -> set[datetime]:
        """Return the local starts of the instances between two local times, before replacement."""
        found = set(
            self._starts[bisect.bisect_left(self._starts, first) : bisect.bisect_right(self._starts, last)]
        )
        spend(1 + len(found))
        ends = [until for _, until in self._rules]
        if first <= self._start <= last and (not ends or max(ends) >= self._start):
            found.add(self._start)
        for rule, until in self._rules:
            found.update(expand(rule, self._start, first, min(last, until), spend=spend))
        for rule, until in self._exclusion_rules:
            found.difference_update(expand(rule, self._start, first, min(last, until), spend=spend))
        return found

    def _last(self, until: DateOrTime | None) -> datetime:
        return FOREVER if until is None else local_time(until, self._zone)

    def _key(self, moment: DateOrTime) -> DateOrTime:
        """Return an instant, or a date, which matches every instance that begins on it."""
        return _utc(local_time(moment, self._zone), self._zone) if isinstance(moment, datetime) else moment


def _event_zone(event: Event, zone: tzinfo) -> tzinfo:
    """Return the zone of the event's local times."""
    of_start = event.start.tzinfo if isinstance(event.start, datetime) else None
    return of_start or event.zone or zone


def _own_window(event: Event, zone: tzinfo) -> Window:
    home = _event_zone(event, zone)
    return _window(local_time(event.start, home), event.length, home)


def _window(start: datetime, length: timedelta, zone: tzinfo) -> Window:
    return _utc(start, zone), _utc(_shifted(start, length), zone)


def _shifted(local: datetime, by: timedelta) -> datetime:
    """Return the sum, or the end of time where it lies beyond: an event may be thousands of years long."""
    try:
        return min(max(local + by, EARLIEST), FOREVER)
    except OverflowError:
        return FOREVER if by > timedelta(0) else EARLIEST


def _utc(local: datetime, zone: tzinfo) -> datetime:
    """Convert a local time; one that is skipped or repeated has the offset before the change."""
    return local.replace(tzinfo=zone).astimezone(UTC)
