"""Reads the events of a calendar and checks its limits (docs/calendars.md#windows)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from motorpool.codecs.calendars.content_lines import (
    CalendarError,
    Component,
    ContentLine,
    UnknownTimeZone,
    read_components,
)
from motorpool.codecs.calendars.recurrence import expand, last_counted
from motorpool.codecs.calendars.recurrence_rules import Rule, read_rule
from motorpool.codecs.calendars.time_zones import find_zone, local_time, parse_vtimezone

MAX_INSTANCES = 100_000
"""Instances in the first two years of every event, all together."""
MAX_REACH = timedelta(days=3660)
"""The longest an instance may last, and the farthest it may be moved. Windows are computed from the instances
of a span that is longer by this.
"""
MAX_STEPS = 750_000
"""Candidate times that may be examined for these, for COUNT and for VTIMEZONE."""

DateOrTime = date | datetime
"""A date, a floating time, or an aware time."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One VEVENT."""

    uid: str
    """UID, or the line number of an event without one."""
    sequence: int
    """SEQUENCE: the revision; default 0."""
    start: DateOrTime
    length: timedelta
    """In local time, also across a change of the offset."""
    zone: tzinfo | None
    """The zone of floating times and dates, if the calendar names one (X-WR-TIMEZONE)."""
    rules: tuple[tuple[Rule, DateOrTime | None], ...]
    """RRULE: each with its last possible start; None without an end."""
    exclusion_rules: tuple[tuple[Rule, DateOrTime | None], ...]
    """EXRULE: as `rules`."""
    dates: tuple[tuple[DateOrTime, timedelta], ...]
    """RDATE: further starts with their lengths."""
    excluded_dates: tuple[DateOrTime, ...]
    """EXDATE."""
    recurrence_id: DateOrTime | None
    """RECURRENCE-ID: the instance that this event replaces."""
    this_and_future: bool
    """RANGE=THISANDFUTURE: it replaces the later instances as well."""
    cancelled: bool
    """STATUS:CANCELLED."""


def read_events(data: bytes, spend: Callable[[int], None], unknown_zone: tzinfo | None = None) -> list[Event]:
    """Read all events; what `spend` counts besides is that of COUNT and VTIMEZONE.

    Raises:
        UnknownTimeZone: a time zone is unknown, and there is no `unknown_zone` to take instead.
        CalendarError: an event is malformed, or a limit is exceeded.
    """
    events: list[Event] = []
    calendars = read_components(data)
    for calendar in calendars:
        if calendar.name != "VCALENDAR":
            raise CalendarError("is outside of any VCALENDAR", line=calendar.line, name=calendar.name[:40])
        reader = _Reader(calendar, spend, unknown_zone)
        events += [reader.event(part) for part in calendar.subcomponents if part.name == "VEVENT"]
    if not calendars:
        raise CalendarError("the text holds no VCALENDAR")
    return events


def check_instances(events: Iterable[Event], spend: Callable[[int], None]) -> None:
    """Raise CalendarError if the first two years of the events have too many instances."""
    number = 0
    for event in events:
        for _ in _two_years(event, spend):
            number += 1
            if number > MAX_INSTANCES:
                raise CalendarError(f"more than {MAX_INSTANCES} instances in two years")


def _two_years(event: Event, spend: Callable[[int], None]) -> Iterator[object]:
    yield from event.dates
    start = local_time(event.start, UTC)
    end = start + timedelta(days=744)
    for rule, until in (*event.rules, *event.exclusion_rules):
        last = end if until is None else min(end, local_time(until, UTC) + timedelta(days=1))
        yield from expand(rule, start, start, last, spend=spend)


class _Reader:
    """The events of one VCALENDAR, read in its time zones."""

    def __init__(
        self, calendar: Component, spend: Callable[[int], None], unknown_zone: tzinfo | None
    ) -> None:
        self._spend = spend
        self._unknown_zone = unknown_zone
        scale = calendar.single_property("CALSCALE")
        if scale and scale.parse()[1].upper() != "GREGORIAN":
            raise scale.error("is not GREGORIAN")
        described = (
            parse_vtimezone(part, spend) for part in calendar.subcomponents if part.name == "VTIMEZONE"
        )
        self._described: Mapping[str, tzinfo] = dict(each for each in described if each)
        line = calendar.single_property("X-WR-TIMEZONE")
        self._zone = self._find(line, line.parse()[1]) if line and line.parse()[1] else None

    def event(self, part: Component) -> Event:
        """Read one VEVENT."""
        line = part.single_property("DTSTART")
        if line is None:
            raise CalendarError("has no DTSTART", line=part.line, name="VEVENT")
        start = self._only(line)
        length = self._length(part, start)
        uid, sequence, status = (part.single_property(name) for name in ("UID", "SEQUENCE", "STATUS"))
        replaced = part.single_property("RECURRENCE-ID")
        recurrence_id = self._only(replaced) if replaced else None
        dates = tuple(found for each in part.properties("RDATE") for found in self._dates(each, length))
        rules = tuple(self._rule(rule, start) for rule in part.properties("RRULE"))
        moved = local_time(start, UTC) - local_time(recurrence_id or start, UTC)
        lengths = (length, *(each for _, each in dates)) if rules or dates or replaced else ()
        if any(abs(each) > MAX_REACH for each in (moved, *lengths)):
            raise line.error("recurs, and is longer than ten years or moved by more than ten years")
        return Event(
            uid=uid.parse()[1] if uid else f"line {part.line}",
            sequence=self._sequence(sequence) if sequence else 0,
            start=start,
            length=length,
            zone=self._zone,
            rules=rules,
            exclusion_rules=tuple(self._rule(rule, start) for rule in part.properties("EXRULE")),
            dates=dates,
            excluded_dates=tuple(
                moment for each in part.properties("EXDATE") for moment in self._moments(each)
            ),
            recurrence_id=recurrence_id,
            this_and_future=replaced is not None and self._is_range(replaced),
            cancelled=status is not None and status.parse()[1].upper() == "CANCELLED",
        )

    def _only(self, line: ContentLine) -> DateOrTime:
        params, text = line.parse()
        return self._moment(line, params, text)

    def _moments(self, line: ContentLine) -> Iterator[DateOrTime]:
        params, text = line.parse()
        for word in text.split(","):
            yield self._moment(line, params, word.strip())

    def _moment(self, line: ContentLine, params: Mapping[str, Any], text: str) -> DateOrTime:
        moment = line.parse_date_or_time(text)
        name = line.parameter(dict(params), "TZID")
        if not isinstance(moment, datetime):
            return moment
        if moment.tzinfo is not None:
            return moment.replace(tzinfo=UTC)
        return moment.replace(tzinfo=self._find(line, name)) if name else moment

    def _find(self, line: ContentLine, name: str) -> tzinfo:
        zone = find_zone(name, self._described) or self._unknown_zone
        if zone is None:
            raise line.error(f"unknown time zone {name[:60]}", UnknownTimeZone)
        return zone

    def _length(self, part: Component, start: DateOrTime) -> timedelta:
        end, duration = part.single_property("DTEND"), part.single_property("DURATION")
        if end and duration:
            raise duration.error("DTEND is there as well")
        if end:
            moment = self._only(end)
            if isinstance(moment, datetime) != isinstance(start, datetime):
                raise end.error("one of DTSTART and DTEND is a date, the other a date-time")
            return self._span(end, start, moment)
        if duration:
            return duration.parse_duration(duration.parse()[1])
        return timedelta(0) if isinstance(start, datetime) else timedelta(days=1)

    @staticmethod
    def _span(line: ContentLine, start: DateOrTime, end: DateOrTime) -> timedelta:
        zone = (start.tzinfo if isinstance(start, datetime) else None) or UTC
        span = local_time(end, zone) - local_time(start, zone)
        if span < timedelta(0):
            raise line.error("the end is before the start")
        return span

    def _dates(self, line: ContentLine, length: timedelta) -> Iterator[tuple[DateOrTime, timedelta]]:
        params, text = line.parse()
        for word in text.split(","):
            begin, period, end = word.strip().partition("/")
            start = self._moment(line, params, begin)
            if not period:
                yield start, length
            elif end.startswith(("P", "+P")):
                yield start, line.parse_duration(end)
            else:
                yield start, self._span(line, start, self._moment(line, params, end))

    def _rule(self, line: ContentLine, start: DateOrTime) -> tuple[Rule, DateOrTime | None]:
        first = local_time(start, start.tzinfo or UTC if isinstance(start, datetime) else UTC)
        try:
            rule = read_rule(line.parse()[1]).with_defaults(first)
            if rule.frequency == "HOURLY" and not isinstance(start, datetime):
                raise line.error("FREQ=HOURLY does not go with a start that is a date")
            if not rule.until:  # a COUNT, or for ever
                return rule, last_counted(rule, first, spend=self._spend)
        except ValueError as error:
            raise line.error(str(error)) from None
        until = line.parse_date_or_time(rule.until)
        if isinstance(until, datetime):
            return rule, until.replace(tzinfo=UTC) if until.tzinfo else until
        return rule, datetime.combine(until, time.max)

    @staticmethod
    def _sequence(line: ContentLine) -> int:
        text = line.parse()[1]
        if not text.isascii() or not text.isdecimal() or len(text) > 9:
            raise line.error(f"{text[:40]!r} is no number")
        return int(text)

    @staticmethod
    def _is_range(line: ContentLine) -> bool:
        params, _ = line.parse()
        return line.parameter(params, "RANGE").upper() == "THISANDFUTURE"
