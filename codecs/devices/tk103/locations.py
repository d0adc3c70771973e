"""Messages with coordinates, in both forms."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_real
from motorpool.codecs.reports import PositionReport
from motorpool.codecs.units import KNOTS_PER_KMH, KNOTS_PER_MPH, checked_coordinates, degrees

_LOCATION = re.compile(
    r"(?:,?ALARM,(?P<alarm>[0-9]),[^,]{0,20},|,)?(?P<digits>[0-9]{0,30}?),?(?P<date>[0-9]{6}),?(?P<validity>[AV]),?"
    r"(?P<latitude>[ 0-9.]{0,20}),?(?P<north>[NS]),?"
    r"(?P<longitude>[ 0-9.]{0,20}),?(?P<east>[EW]),?(?P<motion>.*)",
    re.DOTALL,
)
_MOTIONS = (
    re.compile(r"([ 0-9.]{1,5})([0-9]{6})([ 0-9.]{6}),?(?=[01]{2}[0-9A-Fa-f]{6}L[0-9A-Fa-f])(.*)", re.DOTALL),
    re.compile(
        r"([ 0-9.]{1,5})[0-9]{0,20},(?:[0-9]{0,10},)?([0-9]{6}),([ 0-9]{1,3}(?:\.[0-9]{0,4})?)(.*)", re.DOTALL
    ),
    re.compile(r"([ 0-9]{1,3}(?:\.[0-9]{0,3})?)([0-9]{6})([ 0-9]{3}\.[0-9]{2})(.*)", re.DOTALL),
    re.compile(r"([ 0-9.]{1,5}?)([0-9]{6})([0-9]{2})(?=[01]{2}[0-9A-Fa-f]{6}L[0-9A-Fa-f])(.*)", re.DOTALL),
    re.compile(r"([ 0-9]{1,3}(?:\.[0-9])?)([0-9]{6})([0-9]{1,3}\.[0-9]{1,4})(.*)", re.DOTALL),
)
"""Speed, time, course and the rest: before a tail, with commas, with a course of six characters, of two, of
others."""
_TAIL = re.compile(
    r",?([01]),?([01]),?([0-9A-Fa-f])([0-9A-Fa-f])([0-9A-Fa-f]),?([0-9A-Fa-f]{3}),?L([0-9A-Fa-f]{1,8})"
)
_TEMPERATURE = re.compile(r"([+-][0-9]{1,3}\.[0-9]{1,2})$")
_ALARM_DIGITS: Final = {
    "1": "accident",
    "2": "sos",
    "3": "vibration",
    "4": "lowspeed",
    "5": "overspeed",
    "6": "geofenceExit",
}
_NUMBERED_ALARMS: Final = {
    "0": "lowBattery",
    "1": "overspeed",
    "2": "idle",
    "3": "hardAcceleration",
    "4": "hardBraking",
    "5": "temperature",
}
_ALARM_TYPES: Final = {
    kind: alarm
    for alarm, kinds in {
        "movement": "ZC11 DW31 DW51",
        "lowBattery": "ZC12 DW32 DW52",
        "powerCut": "ZC13 DW33 DW53",
        "removing": "ZC17 DW37 DW57",
        "sos": "ZC25 DW3E DW5E",
        "tampering": "ZC26 DW3F DW5F",
        "lowPower": "ZC27 DW40 DW60",
    }.items()
    for kind in kinds.split()
}
_IGNITION_TYPES: Final = {
    **dict.fromkeys(["ZC15", "DW35", "DW55", "ZC29", "DW42", "DW62"], True),
    **dict.fromkeys(["ZC16", "DW36", "DW56"], False),
}
_INPUTS: Final = (
    (0, 0, "in2"),
    (0, 1, "panic"),
    (0, 2, "out2"),
    (0, 3, "blocked"),
    (1, 0, "hs3"),
    (1, 1, "hs2"),
    (1, 2, "hs1"),
    (1, 3, "door"),
    (2, 1, "ls3"),
    (2, 2, "ls2"),
    (2, 3, "ls1"),
)
"""Digit and bit of each input and output."""
_ALWAYS = frozenset(("in2", "panic", "out2"))
_BOOLEAN = frozenset(("blocked", "door"))
_KNOTS_PER_UNIT: Final = {"kn": 1.0, "kmh": KNOTS_PER_KMH, "mph": KNOTS_PER_MPH}


def find_location(body: str) -> re.Match[str] | None:
    """Return the location that a message has after its type; None where there is none."""
    return _LOCATION.fullmatch(body)


def read_location(
    kind: str,
    found: re.Match[str],
    options: Mapping[str, Any],
    *,
    has_date_first: bool,
    receipt: bytes | None,
) -> PositionReport:
    """Return the report of a location that `find_location` found.

    Args:
        kind: type of the message.
        found: the location.
        options: attributes `decodeLow` and `speed` of the device.
        has_date_first: whether dates begin with the day; else with the year.
        receipt: of the report.

    Raises:
        CodecError, ValueError: a field is malformed.
    """
    told_alarm, digits, date, validity, north_text, north, east_text, east, motion_text = found.groups()
    motion = None
    for form in _MOTIONS:
        if motion := form.fullmatch(motion_text):
            break
    if motion is None:
        raise CodecError("a location without speed, time and course")
    speed, time, course, rest = motion.groups()
    latitude, longitude = checked_coordinates(
        degrees(north_text, north) if north_text.strip() else 0.0,
        degrees(east_text, east) if east_text.strip() else 0.0,
    )
    attributes: dict[str, Any] = {}
    add_event(attributes, kind)
    if kind == "BO01" and (alarm := _ALARM_DIGITS.get(digits)):
        add_alarms(attributes, (alarm,))
    if told_alarm and (alarm := _NUMBERED_ALARMS.get(told_alarm)):
        add_alarms(attributes, (alarm,))
    _add_tail(attributes, rest, has_low=bool(options.get("decodeLow")))
    is_valid = validity == "A"
    angle = parse_real(course) or 0.0
    return PositionReport(
        attributes,
        _moment(date, time, has_date_first=has_date_first),
        located=is_valid or latitude != 0 or longitude != 0,
        valid=is_valid,
        latitude=latitude,
        longitude=longitude,
        speed=(parse_real(speed) or 0.0) * _KNOTS_PER_UNIT.get(str(options.get("speed")), KNOTS_PER_KMH),
        course=angle if angle <= 360 else 0.0,
        receipt=receipt,
    )


def add_event(attributes: dict[str, Any], kind: str) -> None:
    """Add the alarm, or the state of the ignition, that a type of message stands for."""
    if kind in _ALARM_TYPES:
        add_alarms(attributes, (_ALARM_TYPES[kind],))
    if kind in _IGNITION_TYPES:
        attributes["ignition"] = _IGNITION_TYPES[kind]


def moment_of(date: str, time: str) -> datetime:
    """Return the time of `ddmmyy` and `hhmmss`.

    Raises:
        ValueError: there is no such time.
    """
    if len(date) != 6 or len(time) != 6 or not (date + time).isascii() or not (date + time).isdecimal():
        raise ValueError(f"{date[:10]!r} and {time[:10]!r} are no date and time")
    day, month, year = int(date[:2]), int(date[2:4]), 2000 + int(date[4:])
    return datetime(year, month, day, int(time[:2]), int(time[2:4]), int(time[4:]), tzinfo=UTC)


def _moment(date: str, time: str, *, has_date_first: bool) -> datetime | None:
    """Return the time of a location, day and month changed where that is the only date; None for none."""
    first, middle, last = date[:2], date[2:4], date[4:]
    day, year = (first, last) if has_date_first else (last, first)
    try:
        return moment_of(day + middle + year, time)
    except ValueError:
        with suppress(ValueError):
            return moment_of(middle + day + year, time)
    return None


def _add_tail(attributes: dict[str, Any], rest: str, *, has_low: bool) -> None:
    if temperature := _TEMPERATURE.search(rest):
        attributes["temp1"] = float(temperature[1])
    tail = _TAIL.match(rest)
    if tail is None:
        return
    attributes["charge"] = tail[1] == "0"
    attributes.setdefault("ignition", tail[2] == "1")
    digits = [int(tail[number], 16) for number in (3, 4, 5)]
    for digit, bit, name in _INPUTS:
        value = digits[digit] >> bit & 1
        if value or has_low or name in _ALWAYS:
            attributes[name] = bool(value) if name in _BOOLEAN else value
    attributes["fuel"] = int(tail[6], 16)
    attributes["odometer"] = int(tail[7], 16)
