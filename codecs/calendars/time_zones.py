"""The time zones of calendars: from the tz database, by Windows names, or described by a VTIMEZONE."""

import bisect
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from importlib import metadata
from pathlib import Path
from zoneinfo import ZoneInfo

from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from motorpool.codecs.calendars.content_lines import CalendarError, Component
from motorpool.codecs.calendars.recurrence import expand, last_counted
from motorpool.codecs.calendars.recurrence_rules import read_rule

FROM, TO = datetime(1970, 1, 1), datetime(2100, 1, 1)  # noqa: DTZ001 - local times
"""Span of the changes of a described zone; before and after it the offset is constant."""


def find_zone(name: str, described: Mapping[str, tzinfo] | None = None) -> tzinfo | None:
    """Return the zone of a TZID; None where it is unknown.

    The tz database comes first, because descriptions in calendars become outdated; then the calendar's own
    description, the Windows name, and the end of a globally unique name ("/vendor/Europe/Berlin").
    """
    ends = ["/".join(name.split("/")[-count:]) for count in (3, 2)] if name.startswith("/") else []
    for found in (
        _known(name),
        (described or {}).get(name),
        _known(WINDOWS_TO_OLSON.get(name, "")),
        *map(_known, ends),
    ):
        if found is not None:
            return found
    return None


def _known(name: str) -> tzinfo | None:
    if name.upper() in {"UTC", "Z", "GMT"}:
        return UTC
    found = _names().get(name.casefold())
    return ZoneInfo(found) if found else None


@cache
def _names() -> dict[str, str]:
    return {name.casefold(): name for name in zoneinfo.available_timezones()}


@cache
def tz_database_version() -> str:
    """Return the version of the tz database that zones are read from, such as "2026f".

    The system's comes before the package `tzdata`, as in `zoneinfo`; "" where the system's has no version.
    """
    folders = [folder for folder in map(Path, zoneinfo.TZPATH) if folder.is_dir()]
    for folder in folders:
        with suppress(OSError):
            return (folder / "+VERSION").read_text(encoding="ascii").strip()
        with suppress(OSError), (folder / "tzdata.zi").open(encoding="ascii") as rules:
            # Its first line is a comment: "# version 2026f".
            return rules.readline().removeprefix("# version").strip()
    return "" if folders else metadata.version("tzdata")


class _DescribedTimeZone(tzinfo):
    """A zone given by its changes; a skipped or repeated time has the offset before the change."""

    def __init__(self, name: str, changes: list[tuple[datetime, timedelta, timedelta]]) -> None:
        self._name = name
        self._first = changes[0][1]
        self._offsets = [to for _, _, to in changes]
        self._clock = [at + max(before, to) for at, before, to in changes]
        self._instants = [at for at, _, _ in changes]

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return self._at(self._clock, dt.replace(tzinfo=None)) if dt else self._first

    def dst(self, dt: datetime | None) -> timedelta:
        del dt
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        del dt
        return self._name

    def fromutc(self, dt: datetime) -> datetime:
        return dt + self._at(self._instants, dt.replace(tzinfo=None))

    def _at(self, times: list[datetime], time: datetime) -> timedelta:
        place = bisect.bisect_right(times, time)
        return self._offsets[place - 1] if place else self._first


def parse_vtimezone(described: Component, spend: Callable[[int], None]) -> tuple[str, tzinfo] | None:
    """Parse a VTIMEZONE; None for one without a name or without changes."""
    named = described.single_property("TZID")
    parts = [part for part in described.subcomponents if part.name in {"STANDARD", "DAYLIGHT"}]
    changes = sorted((change for part in parts for change in _changes(part, spend)), key=lambda each: each[0])
    if named is None or not changes:
        return None
    name = named.parse()[1]
    return name, _DescribedTimeZone(name, changes)


def _changes(
    part: Component, spend: Callable[[int], None]
) -> Iterator[tuple[datetime, timedelta, timedelta]]:
    """Yield the changes: naive UTC time, offset before and offset after."""
    start, before, after = (part.single_property(name) for name in ("DTSTART", "TZOFFSETFROM", "TZOFFSETTO"))
    if start is None or before is None or after is None:
        raise CalendarError("needs DTSTART, TZOFFSETFROM and TZOFFSETTO", line=part.line, name=part.name)
    old, new = before.parse_offset(before.parse()[1]), after.parse_offset(after.parse()[1])
    first = local_time(start.parse_date_or_time(start.parse()[1]), UTC)
    times = {first}
    for line in part.properties("RDATE"):
        times |= {
            local_time(line.parse_date_or_time(text.strip()), UTC) for text in line.parse()[1].split(",")
        }
    for line in part.properties("RRULE"):
        try:
            rule = read_rule(line.parse()[1]).with_defaults(first)
            until = last_counted(rule, first, spend=spend)
            if rule.until:
                moment = line.parse_date_or_time(rule.until)
                until = local_time(moment, UTC) + (old if rule.until.endswith("Z") else timedelta(0))
                if not isinstance(moment, datetime):  # a date includes the whole day
                    until = until.replace(hour=23, minute=59, second=59)
            times.update(expand(rule, first, max(first, FROM), min(until or TO, TO), spend=spend))
        except ValueError as error:
            raise line.error(str(error)) from None
    for time in sorted(times):
        yield time - old, old, new


def local_time(moment: date | datetime, zone: tzinfo) -> datetime:
    """Return the naive local time in a zone: midnight for a date, a floating time unchanged."""
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - local
    return moment.astimezone(zone).replace(tzinfo=None) if moment.tzinfo else moment
