"""Measurements of a wearer's health (docs/protocols/watch.md#messages)."""

from collections.abc import Sequence
from typing import Any, Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_real, parse_whole

HEALTH_TYPES: Final = frozenset(("PULSE", "HEART", "BLOOD", "BPHRT", "TEMP", "BTEMP2", "OXYGEN"))
"""Types of messages, upper-case; watches write them in either case."""


def read_health(kind: str, fields: Sequence[str]) -> dict[str, Any]:
    """Return the attributes of a message of one of `HEALTH_TYPES`; empty where nothing was measured.

    Raises:
        CodecError: a value is not a number.
        LookupError: a value is missing.
    """
    if not any(field.strip() for field in fields):
        return {}
    match kind:
        case "PULSE" | "HEART":
            return {"heartRate": round(_real(fields[0]))}
        case "BLOOD" | "BPHRT":
            attributes: dict[str, Any] = {
                "pressureHigh": fields[0].strip()[:20],
                "pressureLow": fields[1].strip()[:20],
            }
            if len(fields) > 2:
                put(attributes, "heartRate", parse_whole(fields[2]))
            return attributes
        case "TEMP":
            return {"temp1": _real(fields[0])}
        case "BTEMP2":
            return {"temp1": _real(fields[1])} if _whole(fields[0]) > 0 else {}
        case _:
            # The kind of measurement stands before the value, where both are sent.
            return {"bloodOxygen": _whole(fields[min(1, len(fields) - 1)])}


def _whole(text: str) -> int:
    number = parse_whole(text)
    if number is None:
        raise CodecError(f"{text[:20]!r} is no whole number")
    return number


def _real(text: str) -> float:
    number = parse_real(text)
    if number is None or abs(number) > 1000:
        raise CodecError(f"{text[:20]!r} is no measurement")
    return number
