"""Locations of watches, with the cells and access points that follow them (docs/protocols/watch.md)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.network import access_point, cell_tower, network_of
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_real, parse_whole
from motorpool.codecs.reports import PositionReport, Receipt
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

FIELDS: Final = 16
"""Fields of a location up to the status."""
MAX_ENTRIES: Final = 64
"""Cells or access points of one message."""
_MOTION = 1 << 4
_ALARM_BITS: Final = (
    (0, "lowBattery"),
    (1, "geofenceExit"),
    (2, "geofenceEnter"),
    (14, "powerCut"),
    (16, "sos"),
    (17, "lowBattery"),
    (18, "geofenceExit"),
    (19, "geofenceEnter"),
    (20, "removing"),
    (21, "fallDown"),
    (22, "fallDown"),
)
"""In the order in which the first that is set counts."""
_SIX_DIGITS = re.compile(r"[0-9]{6}")
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,16}")
_HEXADECIMAL_AREA = re.compile(r"(?=.*[A-Fa-f])[0-9A-Fa-f]{1,8}")
_LETTER = re.compile(r"[A-Fa-f]")
_ADDRESS = re.compile(r"[0-9A-Fa-f]{2}([:-]?[0-9A-Fa-f]{2}){5}")


def read_location(text: str, *, is_alarm: bool, receipt: Receipt | None = None) -> PositionReport:
    """Return the location that follows the type of a message.

    Raises:
        CodecError: fields are missing, or have no meaning.
    """
    fields = [field.strip() for field in text.split(",")]
    if len(fields) < FIELDS:
        raise CodecError("a location with too few fields")
    if fields[2] not in ("A", "V"):
        raise CodecError(f"{fields[2][:20]!r} is no validity")
    is_valid = fields[2] == "A"
    latitude, longitude = checked_coordinates(
        _coordinate(fields[3], fields[4], "NS"), _coordinate(fields[5], fields[6], "EW")
    )
    course = parse_real(fields[8]) or 0.0
    attributes: dict[str, Any] = {}
    for name, field, most in (
        ("sat", fields[10], 255),
        ("rssi", fields[11], 255),
        ("batteryLevel", fields[12], 100),
        ("steps", fields[13], None),
    ):
        number = parse_whole(field)
        if number is not None and number >= 0 and (most is None or number <= most):
            attributes[name] = number
    _add_status(attributes, fields[15], is_alarm=is_alarm)
    return PositionReport(
        attributes,
        _moment(fields[0], fields[1]),
        located=bool(is_valid or latitude or longitude),
        valid=is_valid,
        latitude=latitude,
        longitude=longitude,
        altitude=_measure(fields[9]),
        speed=max(0.0, _measure(fields[7])) * KNOTS_PER_KMH,
        course=course if 0 <= course <= 360 else 0.0,
        network=_network(fields[FIELDS:]),
        receipt=receipt,
    )


def _coordinate(text: str, hemisphere: str, hemispheres: str) -> float:
    """Return degrees: the hemisphere may be missing, and the sign may be there as well."""
    value = parse_real(text) if text else 0.0
    if value is None:
        raise CodecError(f"{text[:20]!r} is no coordinate")
    if hemisphere and hemisphere not in hemispheres:
        raise CodecError(f"{hemisphere[:20]!r} is no hemisphere")
    return -abs(value) if hemisphere == hemispheres[1] else value


def _moment(date: str, time: str) -> datetime | None:
    """Return the time; None where there is no such date, as of a clock that is not set yet."""
    if not _SIX_DIGITS.fullmatch(date) or not _SIX_DIGITS.fullmatch(time):
        raise CodecError("a location without a time")
    try:
        # Clocks that are not set yet may begin with 1970.
        year = int(date[4:]) + (2000 if date[4:] < "69" else 1900)
        day, month, hour, minute, second = (
            int(each) for each in (date[:2], date[2:4], time[:2], time[2:4], time[4:])
        )
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def _measure(text: str) -> float:
    value = parse_real(text) or 0.0
    return value if abs(value) < 100_000 else 0.0


def _add_status(attributes: dict[str, Any], text: str, *, is_alarm: bool) -> None:
    status = int(text, 16) if _HEXADECIMAL.fullmatch(text) else 0
    if status & _MOTION:
        attributes["motion"] = True
    alarm = next((name for bit, name in _ALARM_BITS if status & 1 << bit), "general" if is_alarm else "")
    if alarm:
        add_alarms(attributes, (alarm,))


def _network(fields: Sequence[str]) -> dict[str, Any] | None:
    """Return the cells and access points; what cannot be read of them is left out."""
    if len(fields) > 3 and _HEXADECIMAL_AREA.fullmatch(fields[3]):
        return None
    count = parse_whole(fields[0]) if fields else None
    if count is None or not 0 <= count <= MAX_ENTRIES:
        return None
    towers: list[dict[str, Any] | None] = []
    at = 1
    if count:
        # Timing advance, country and network stand before the cells.
        country, network = (parse_whole(field) for field in (*fields[2:4], "", "")[:2])
        at = 4 + 3 * count
        for area, number, rssi in _triples(fields[4:at]):
            if _HEXADECIMAL.fullmatch(area) and _HEXADECIMAL.fullmatch(number):
                towers.append(cell_tower(country, network, _number(area), _number(number), parse_whole(rssi)))
    points: list[dict[str, Any]] = []
    count = parse_whole(fields[at]) if len(fields) > at else None
    if count is not None and 0 < count <= MAX_ENTRIES:
        # A name may have commas.
        points = [
            access_point(address, parse_whole(rssi))
            for address, rssi in pairwise((*fields[at + 2 :], ""))
            if _ADDRESS.fullmatch(address) and not _ADDRESS.fullmatch(rssi)
        ][:count]
    return network_of(towers, points)


def _triples(fields: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the fields three by three; the very last may be missing."""
    padded = [*fields, ""]
    return [(padded[at], padded[at + 1], padded[at + 2]) for at in range(0, len(padded) - 2, 3)]


def _number(text: str) -> int:
    """Return a number whose base shows in its digits."""
    return int(text, 16) if _LETTER.search(text) else int(text)
