"""One message while it is read, and its fields (docs/protocols/suntech.md)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.errors import CodecError, Truncated
from motorpool.codecs.numbers import parse_real, parse_whole
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import PositionReport
from motorpool.codecs.text_fields import TextFields

ALERTS: Final[Mapping[int, str]] = {
    1: "overspeed",
    5: "geofenceExit",
    6: "geofenceEnter",
    14: "lowBattery",
    15: "vibration",
    16: "accident",
    40: "powerRestored",
    41: "powerCut",
    42: "sos",
    46: "hardAcceleration",
    47: "hardBraking",
    50: "jamming",
    132: "door",
}
"""Alarms by the number of an alert, in texts and in binary messages."""
_TIME = re.compile(r"[0-9]{10}:[0-9]{2}:[0-9]{2}")
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,16}")


class Fields(TextFields):
    """Fields of which blanks around them do not count; a text among them may hold the separator."""

    __slots__ = ()

    def take(self) -> str:
        """As `TextFields.take`."""
        return super().take().strip()

    def peek(self, ahead: int = 0) -> str:
        """As `TextFields.peek`."""
        return super().peek(ahead).strip()

    def rest(self) -> list[str]:
        """As `TextFields.rest`."""
        return [value.strip() for value in super().rest()]

    def take_sized(self, size: int) -> str:
        """Return a text of this many characters, which may hold the separator, and take it.

        Raises:
            Truncated: there are fewer.
        """
        rest = ";".join(self.values[self.at :])
        if len(rest) < size:
            raise Truncated(f"a text of {size} characters expected, {len(rest)} left")
        self.values = [*self.values[: self.at], *rest[size:].removeprefix(";").split(";")]
        if len(rest) == size:
            self.at = len(self.values)
        return rest[:size]


class Record(Draft):
    """The part of a message that has been read."""

    def read_place(self, fields: Fields) -> None:
        """Read latitude, longitude, speed and course."""
        self.set_place(real(fields.take()), real(fields.take()))
        self.set_motion(real(fields.take()), real(fields.take()))

    def add_alarm(self, name: str | None) -> None:
        """Add an alarm; None: nothing."""
        if name is not None:
            add_alarms(self.attributes, (name,))

    def add_archive(self, is_live: bool) -> None:
        """Note a message from the memory of the device."""
        if not is_live:
            self.attributes["archive"] = True

    def report(self, receipt: bytes | None = None) -> PositionReport:
        """Return the report; at 0, 0 without a fix it has no location."""
        self.archived = bool(self.attributes.get("archive"))
        self.located = self.located and bool(self.valid or self.latitude or self.longitude)
        return super().report(receipt) if self.located else self.report_without_place(receipt)


def whole(text: str) -> int:
    """Return a whole number.

    Raises:
        CodecError: it is none.
    """
    value = parse_whole(text)
    if value is None:
        raise CodecError(f"{text[:20]!r} is no whole number")
    return value


def real(text: str) -> float:
    """Return a decimal number.

    Raises:
        CodecError: it is none.
    """
    value = parse_real(text)
    if value is None or not isfinite(value):
        raise CodecError(f"{text[:20]!r} is no number")
    return value


def hexadecimal(text: str) -> int:
    """Return a hexadecimal number.

    Raises:
        CodecError: it is none.
    """
    if not _HEXADECIMAL.fullmatch(text):
        raise CodecError(f"{text[:20]!r} is no hexadecimal number")
    return int(text, 16)


def time_of(date: str, time: str) -> datetime:
    """Return the time of `yyyymmdd` and `hh:mm:ss`.

    Raises:
        CodecError, ValueError: there is no such time.
    """
    if not _TIME.fullmatch(date + time):
        raise CodecError(f"{date[:20]!r} and {time[:20]!r} are no time")
    return datetime.fromisoformat(f"{date}T{time}").replace(tzinfo=UTC)


def read_time(reader: ByteReader) -> datetime:
    """Read year, month, day, hour, minute and second, a byte each."""
    year, month, day, hour, minute, second = reader.take(6)
    return datetime(2000 + year, month, day, hour, minute, second, tzinfo=UTC)
