"""Records in text (docs/protocols/meitrack.md#text-records)."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.devices.meitrack.events import DRIVER_EVENT, add_event
from motorpool.codecs.devices.network import cell_tower, network_of
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_finite, parse_whole
from motorpool.codecs.reports import PositionReport
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

_VALIDITIES = ("A", "V")
_VALIDITY = 4
"""Place of the validity in a record without a number before the event."""
_FIELDS = 23
"""Fields of a record up to the count before the data."""
_TIME = re.compile(r"[0-9]{12}")
_HEX = re.compile(r"[0-9A-Fa-f]{1,8}")
_TWO_BYTES = re.compile(r"[0-9A-Fa-f]{4}")
_TEMPERATURE = re.compile(r"[0-9A-Fa-f]{6}")
_VOLTS = re.compile(r"[0-9]{1,6}\.[0-9]{1,6}")
_TAXIMETER_STATE = re.compile(r"[0-9]{2}")
_NUMBER_OF_VOLTS = 5
_SIGNED_PROTOCOL = 3
"""The protocol from which temperatures are signed numbers of 16 bits."""
_DEFAULT_SCALES = (1 / 100, 1 / 100)
_SCALES_4096 = (6.6 / 4096, 52.8 / 4096)
_SCALES: Final[Mapping[str, tuple[float, float]]] = {
    **dict.fromkeys(("MVT340", "MVT380"), (6 / 1024, 48 / 1024)),
    "MT90": (6.6 / 4096, 1),
    "MT90G": (6 / 4096, 1),
    **dict.fromkeys(("T1", "T3", "MVT100", "MVT600", "MVT800", "TC68", "TC68S"), _SCALES_4096),
}
"""Volts for each step of the internal battery and of the supply, by model."""
MODELS: Final = tuple(sorted(_SCALES))
"""All models that differ, as the console offers them."""
_TEMPERATURE_DATA, _TAXIMETER = 1, 5
"""Places in the data at the end."""
_TAXIMETER_TEXTS = ("taximeterStart", "taximeterEnd")
_TAXIMETER_NAMES = (
    "taximeterOn",
    *_TAXIMETER_TEXTS,
    "taximeterDistance",
    "taximeterFare",
    "taximeterTrip",
    "taximeterWait",
)


def is_record(values: Sequence[str]) -> bool:
    """Return whether the fields after the type form a record."""
    return any(value in _VALIDITIES for value in values[_VALIDITY : _VALIDITY + 2])


def read_text(values: Sequence[str], model: str) -> PositionReport:
    """Read a record from the fields after its type."""
    has_number = values[_VALIDITY] not in _VALIDITIES
    fields = [value.strip() for value in values[has_number:]]
    fields += [""] * (_FIELDS - len(fields))
    event, latitude, longitude, time, validity = fields[:5]
    sat, rssi, speed, course, hdop, altitude, odometer, runtime, cell, ports, analogs = fields[5:16]
    event_data, _, version, fuel, temperatures = fields[16:21]
    attributes: dict[str, Any] = {}
    event_number = parse_whole(event)
    if event_number is not None:
        add_event(attributes, event_number)
    put(attributes, "sat", parse_whole(sat))
    put(attributes, "hdop", parse_finite(hdop))
    put(attributes, "odometer", parse_whole(odometer))
    put(attributes, "runtime", runtime or None)
    if _TWO_BYTES.fullmatch(ports):
        attributes["input"], attributes["output"] = bytes.fromhex(ports)
    _add_analogs(attributes, analogs.split("|"), model)
    if event_data:
        attributes["driverUniqueId" if event_number == DRIVER_EVENT else "eventData"] = event_data
    if _TWO_BYTES.fullmatch(fuel):
        litres, hundredths = bytes.fromhex(fuel)
        attributes["fuel"] = (litres * 100 + hundredths) / 100
    is_signed = (parse_whole(version) or 0) >= _SIGNED_PROTOCOL
    for temperature in temperatures.split("|"):
        if _TEMPERATURE.fullmatch(temperature):
            attributes[f"temp{int(temperature[:2], 16)}"] = _temperature(temperature[2:], is_signed)
    _add_data(attributes, fields[22:])
    north, east = parse_finite(latitude), parse_finite(longitude)
    if north is None or east is None:
        raise CodecError("a record without coordinates")
    place = checked_coordinates(north, east)
    bearing = parse_finite(course) or 0.0
    return PositionReport(
        attributes,
        _moment(time),
        located=validity == "A" or any(place),
        valid=validity == "A",
        latitude=place[0],
        longitude=place[1],
        altitude=parse_finite(altitude) or 0.0,
        speed=(parse_finite(speed) or 0.0) * KNOTS_PER_KMH,
        course=bearing if 0 <= bearing <= 360 else 0.0,
        network=_network(cell.split("|"), parse_whole(rssi)),
    )


def _moment(text: str) -> datetime | None:
    """Return a time `yymmddhhmmss`; None where the device has no time."""
    if not _TIME.fullmatch(text):
        raise CodecError("a record without a time")
    if not text.strip("0"):
        return None
    return datetime.strptime(f"20{text}", "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def _network(parts: Sequence[str], rssi: int | None) -> dict[str, Any] | None:
    if len(parts) < 4 or not (_HEX.fullmatch(parts[2]) and _HEX.fullmatch(parts[3])):
        return None
    country, operator = parse_whole(parts[0]), parse_whole(parts[1])
    if not country or not operator:
        return None
    return network_of((cell_tower(country, operator, int(parts[2], 16), int(parts[3], 16), rssi),))


def _add_analogs(attributes: dict[str, Any], parts: Sequence[str], model: str) -> None:
    if len(parts) == _NUMBER_OF_VOLTS and all(_VOLTS.fullmatch(part) for part in parts):
        attributes["battery"], attributes["power"] = float(parts[0]), float(parts[1])
        return
    numbers = [int(part, 16) if _HEX.fullmatch(part) else None for part in parts]
    for at, number in enumerate(numbers[:3], 1):
        put(attributes, f"adc{at}", number)
    for name, number, scale in zip(
        ("battery", "power"), numbers[3:5], _SCALES.get(model, _DEFAULT_SCALES), strict=False
    ):
        if number is not None:
            attributes[name] = round(number * scale, 6)


def _temperature(digits: str, is_signed: bool) -> float:
    if is_signed:
        number = int(digits, 16)
        return (number - (number >> 15 << 16)) / 100
    whole, hundredths = bytes.fromhex(digits)
    if whole < 0x80:
        return (whole * 100 + hundredths) / 100
    return ((whole - 0x100) * 100 - hundredths) / 100


def _add_data(attributes: dict[str, Any], data: Sequence[str]) -> None:
    if len(data) > _TEMPERATURE_DATA:
        put(attributes, "tempData", data[_TEMPERATURE_DATA] or None)
    if len(data) <= _TAXIMETER:
        return
    for name, value in zip(_TAXIMETER_NAMES, data[_TAXIMETER].split("|"), strict=False):
        if name == "taximeterOn":
            # One digit, or two of which the second one is 0 while it is on.
            if value in ("0", "1"):
                attributes[name] = value == "1"
            elif _TAXIMETER_STATE.fullmatch(value):
                attributes[name] = value[1] == "0"
        else:
            put(attributes, name, (value or None) if name in _TAXIMETER_TEXTS else parse_finite(value))
