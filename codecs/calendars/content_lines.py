"""iCalendar text as components and content lines (RFC 5545, sections 3.1 and 3.4) with their line numbers.

The lexer and the parsers of values come from the icalendar package, the tree does not: its `from_ical` takes
a text without line breaks for the path of a file, and keeps every VTIMEZONE for all later calendars.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from icalendar.parser import Contentline
from icalendar.prop import vDDDTypes, vDuration, vUTCOffset

from motorpool.codecs.errors import CodecError

MAX_BYTES = 1 << 20
"""Size of a calendar's text."""
MAX_EVENTS = 5000
MAX_DEPTH = 8
"""Levels of nested components."""


class CalendarError(CodecError):
    """A calendar cannot be read, or exceeds a limit; the text is one line with place and reason."""

    def __init__(self, text: str, *, line: int = 0, name: str = "") -> None:
        where = [f"line {line}"] if line else []
        super().__init__(": ".join([*where, *([name] if name else []), text]))
        self.line = line
        """Line number from 1; 0 where the error is not in one line."""
        self.name = name
        """Name of the property or component; may be empty."""


class UnknownTimeZone(CalendarError):
    """A calendar names a time zone that is neither known nor described in it."""


@dataclass(frozen=True)
class ContentLine:
    """A content line: one property, unfolded."""

    number: int
    """Line number in the text, from 1."""
    name: str
    """In capitals."""
    text: str
    """The whole line."""

    def error(self, text: str, kind: type[CalendarError] = CalendarError) -> CalendarError:
        """Return an error at this line."""
        return kind(" ".join(text.split())[:200], line=self.number, name=self.name)

    def parse(self) -> tuple[dict[str, Any], str]:
        """Return the parameters by name in capitals, and the value."""
        try:
            _, params, value = Contentline(self.text).parts()  # type: ignore[no-untyped-call]  # icalendar's
        except ValueError:
            raise self.error("its parameters cannot be read") from None
        return {name.upper(): value for name, value in params.items()}, value.strip()

    def parameter(self, params: dict[str, Any], name: str) -> str:
        """Return a parameter that may be given once; "" without it."""
        value = params.get(name, "")
        if not isinstance(value, str):
            raise self.error(f"{name} is given more than once")
        return value

    def parse_date_or_time(self, text: str) -> date | datetime:
        """Parse a date or a date-time; a date-time is aware only with a `Z`."""
        if not _MOMENT.fullmatch(text):
            raise self.error(f"{text[:40]!r} is no date or date-time (20260131 or 20260131T080000)")
        try:
            text = text[:13] + "59" + text[15:] if text[13:15] == "60" else text  # a leap second
            parsed = vDDDTypes.from_ical(text)  # type: ignore[no-untyped-call]  # icalendar's
        except ValueError:
            raise self.error(f"{text[:40]!r} is not in the calendar") from None
        assert isinstance(parsed, date)
        if not 1 < parsed.year < 9990:
            raise self.error(f"{text[:40]!r} is out of range")
        return parsed

    def parse_duration(self, text: str) -> timedelta:
        """Parse a duration from 0 to 3,660 days."""
        try:
            if _DURATION.fullmatch(text):
                parsed = vDuration.from_ical(text)  # type: ignore[no-untyped-call]  # icalendar's
                if timedelta(0) <= parsed <= timedelta(days=3660):
                    return timedelta(days=parsed.days, seconds=parsed.seconds)
        except ValueError:
            pass
        raise self.error(f"{text[:40]!r} is no duration of up to ten years (PT1H30M)")

    def parse_offset(self, text: str) -> timedelta:
        """Parse an offset from UTC."""
        try:
            parsed = vUTCOffset.from_ical(text)  # type: ignore[no-untyped-call]  # icalendar's
        except ValueError:
            raise self.error(f"{text[:40]!r} is no offset (+0100)") from None
        assert isinstance(parsed, timedelta)
        return parsed


_MOMENT = re.compile(r"\d{8}(T\d{6}Z?)?", re.ASCII)
_DURATION = re.compile(r"\+?P(?=[\dT])(\d+W|(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)", re.ASCII)
_LINE = re.compile(r"([A-Za-z0-9-]+)[;:]", re.ASCII)


@dataclass(frozen=True)
class Component:
    """The lines between BEGIN and END."""

    name: str
    """In capitals."""
    line: int
    """Line number of BEGIN."""
    lines: list[ContentLine] = field(default_factory=list)
    subcomponents: "list[Component]" = field(default_factory=list)

    def properties(self, name: str) -> list[ContentLine]:
        """Return the properties of this name."""
        return [line for line in self.lines if line.name == name]

    def single_property(self, name: str) -> ContentLine | None:
        """Return the only property of this name, if there is one.

        Raises:
            CalendarError: there are several.
        """
        lines = self.properties(name)
        if len(lines) > 1:
            raise lines[1].error("is there twice")
        return lines[0] if lines else None


def read_components(data: bytes) -> list[Component]:
    """Return the outermost components.

    Raises:
        CalendarError: a line is malformed, or a limit is exceeded.
    """
    if len(data) > MAX_BYTES:
        raise CalendarError(f"the calendar is longer than {MAX_BYTES} bytes")
    top = Component("", 0)
    open_components = [top]
    events = 0
    for line in _lines(data):
        if line.name not in {"BEGIN", "END"}:
            if len(open_components) == 1:
                raise line.error("is outside of any component: BEGIN:VCALENDAR comes first")
            open_components[-1].lines.append(line)
            continue
        name = line.text.partition(":")[2].strip().upper()
        if line.name == "BEGIN":
            events += name == "VEVENT"
            if events > MAX_EVENTS:
                raise line.error(f"more than {MAX_EVENTS} events")
            if len(open_components) > MAX_DEPTH:
                raise line.error(f"nested deeper than {MAX_DEPTH} levels")
            component = Component(name, line.number)
            open_components[-1].subcomponents.append(component)
            open_components.append(component)
        elif len(open_components) == 1 or open_components[-1].name != name:
            raise line.error(f"{name[:40]} ends, but has not begun or holds what has not ended")
        else:
            open_components.pop()
    if len(open_components) > 1:
        raise CalendarError("never ends", line=open_components[-1].line, name=open_components[-1].name[:40])
    return top.subcomponents


def _lines(data: bytes) -> Iterator[ContentLine]:
    """Yield unfolded lines; a fold may split a character, so lines are joined as bytes."""
    number, parts = 0, [b""]
    for position, physical in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        raw = physical.removesuffix(b"\r")
        if raw[:1] in {b" ", b"\t"} and number:
            parts.append(raw[1:])
            continue
        if number:
            yield _line(number, b"".join(parts))
        number, parts = (position, [raw]) if raw.strip() else (0, [])
    if number:
        yield _line(number, b"".join(parts))


def _line(number: int, raw: bytes) -> ContentLine:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise CalendarError("is not UTF-8", line=number) from None
    match = _LINE.match(text)
    if match is None:
        raise CalendarError(f"{text[:40]!r} is not NAME:value", line=number)
    return ContentLine(number, match[1].upper(), text)
