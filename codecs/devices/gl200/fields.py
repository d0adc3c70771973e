"""Values of fields, and what several messages hold (docs/protocols/gl200.md#fields)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.numbers import parse_whole

_HEX = re.compile(r"[0-9A-Fa-f]{1,16}")
_TIME = re.compile(r"20[0-9]{12}")
_WORKING_TIME = re.compile(r"([0-9]{1,7}):([0-9]{2}):([0-9]{2})")
_SHORT_STATUS = 6
"""Digits of a status with one byte each of state, inputs and outputs."""
STATES: Final[Mapping[int, Mapping[str, bool]]] = {
    0x11: {"ignition": False, "motion": False},
    0x12: {"ignition": False, "motion": True},
    0x16: {"ignition": False, "motion": True},
    0x1A: {"ignition": False, "motion": True},
    0x21: {"ignition": True, "motion": False},
    0x22: {"ignition": True, "motion": True},
    0x41: {"motion": False},
    0x42: {"motion": True},
}
_IGNITION_OFF, _IGNITION_ON = 0x10, 0x20


def real(text: str) -> float | None:
    """Return a finite number, of ASCII characters; None for anything else."""
    if not text or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def hexadecimal(text: str) -> int | None:
    """Return a number in hexadecimal digits; None for anything else."""
    return int(text, 16) if _HEX.fullmatch(text) else None


def time_of(text: str) -> datetime | None:
    """Return a time `yyyymmddhhmmss`; None for anything else.

    Raises:
        ValueError: there is no such time.
    """
    if len(text) != 14 or not _TIME.fullmatch(text):
        return None
    hour, minute, second = int(text[8:10]), int(text[10:12]), int(text[12:])
    return datetime(int(text[:4]), int(text[4:6]), int(text[6:8]), hour, minute, second, 0, UTC)


def working_time(text: str) -> int | None:
    """Return the milliseconds of `hhhhh:mm:ss`; None for anything else."""
    found = _WORKING_TIME.fullmatch(text)
    return None if found is None else ((int(found[1]) * 60 + int(found[2])) * 60 + int(found[3])) * 1000


def millivolts(text: str) -> float | None:
    """Return volts."""
    number = real(text)
    return None if number is None else number / 1000


def put_kilometres(attributes: dict[str, Any], name: str, text: str) -> None:
    """Add a distance in metres."""
    number = real(text)
    if number is not None:
        attributes[name] = round(number * 1000)


def add_battery_level(attributes: dict[str, Any], text: str) -> None:
    """Add a level in percent, unless it is none."""
    level = parse_whole(text)
    if level is not None and 0 <= level <= 100:
        attributes["batteryLevel"] = level


def add_analog(attributes: dict[str, Any], number: int, text: str) -> None:
    """Add an analog input: millivolts, or after `F` the percentage of a fuel sensor."""
    if text[:1] == "F":
        put(attributes, f"fuel{number}", real(text[1:]))
    else:
        put(attributes, f"adc{number}", millivolts(text))


def add_status(attributes: dict[str, Any], text: str) -> None:
    """Add the status: the state in its first byte, then inputs and outputs in one half each of the rest."""
    status = hexadecimal(text)
    if status is None or len(text) < _SHORT_STATUS:
        return
    width = (len(text) - 2) // 2 * 4
    state = status >> 2 * width
    if state in STATES:
        attributes |= STATES[state]
    elif state & (_IGNITION_OFF | _IGNITION_ON):
        attributes["ignition"] = not state & _IGNITION_OFF
    inputs, outputs = status >> width & (1 << width) - 1, status & (1 << width) - 1
    attributes |= {
        "input": inputs,
        "in1": bool(inputs & 2),
        "in2": bool(inputs & 4),
        "output": outputs,
        "out1": bool(outputs & 1),
        "out2": bool(outputs & 2),
    }
