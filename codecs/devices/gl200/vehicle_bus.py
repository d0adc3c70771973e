"""Data that devices read from the vehicle: OBD and CAN (docs/protocols/gl200.md#the-vehicle-bus)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.gl200.fields import (
    hexadecimal,
    millivolts,
    put_kilometres,
    real,
    time_of,
)
from motorpool.codecs.devices.gl200.record import Message, find_location, read_location
from motorpool.codecs.devices.network import cell_tower
from motorpool.codecs.numbers import parse_whole
from motorpool.codecs.reports import Report
from motorpool.codecs.text_fields import TextFields

_Parse = Callable[[str], object]


def _text(text: str) -> str | None:
    return text or None


def _number(text: str) -> float | None:
    """Return a whole number as it is, any other as a float."""
    whole = parse_whole(text)
    return real(text) if whole is None else whole


def _hundreds(text: str) -> float | None:
    number = _number(text)
    return None if number is None else number * 100


def _milliseconds(text: str) -> int | None:
    hours = real(text)
    return None if hours is None else round(hours * 3_600_000)


def _percentage(text: str) -> float | None:
    return real(text.removeprefix("P"))


_OBD: Final[tuple[tuple[str, _Parse], ...]] = (
    ("", _text),  # report type
    ("", _text),  # mask
    ("vin", _text),
    ("", _text),  # connected
    ("", _text),  # voltage
    ("", _text),  # supported items
    ("rpm", parse_whole),
    ("obdSpeed", parse_whole),
    ("temp1", real),
    ("fuelConsumption", real),
    ("dtcsClearedDistance", parse_whole),
    ("", _text),
    ("odbConnect", parse_whole),
    ("dtcsNumber", parse_whole),
    ("dtcsCodes", _text),
    ("throttle", parse_whole),
    ("engineLoad", parse_whole),
    ("fuel", parse_whole),
)
"""Names of the fields, empty where they are not read, and what reads them."""
_CAN: Final[Mapping[int, tuple[str, _Parse]]] = {
    0: ("vin", _text),
    3: ("fuelUsed", real),
    4: ("obdSpeed", parse_whole),
    5: ("rpm", parse_whole),
    6: ("coolantTemp", real),
    9: ("range", _hundreds),
    10: ("throttle", _number),
    11: ("hours", _milliseconds),
    12: ("drivingTime", _milliseconds),
    13: ("idleHours", _milliseconds),
    14: ("idleFuelConsumption", real),
    15: ("axleWeight", _number),
    16: ("tachographInfo", hexadecimal),
    17: ("indicators", hexadecimal),
    18: ("lights", hexadecimal),
    19: ("doors", hexadecimal),
    20: ("vehicleOverspeed", real),
    21: ("engineOverspeed", real),
}
"""Fields by the bit of the mask: name, and what reads them."""
_EXTENSION: Final[Mapping[int, tuple[str, _Parse]]] = {
    0: ("adBlueLevel", _percentage),
    1: ("axleWeight1", _number),
    2: ("axleWeight3", _number),
    3: ("axleWeight4", _number),
    7: ("adc1", millivolts),
    15: ("driver1Card", _text),
    16: ("driver2Card", _text),
    17: ("driver1Name", _text),
    18: ("driver2Name", _text),
    19: ("registration", _text),
}
_PREFIXED: Final[Mapping[int, tuple[tuple[str, str, _Parse], ...]]] = {
    2: (("H", "obdOdometer", _hundreds), ("I", "obdImpulses", _number)),
    7: (("L/H", "fuelConsumption", real), ("L/100km", "fuelEconomy", real)),
    8: (("L", "fuel", real), ("P", "fuelLevel", real)),
}
"""Fields whose first characters say what they are, by bit: these, the name, and what reads the rest."""
_IGNITION = 1
_EXTENSION_BIT, _LOCATION_BIT, _CELL_BIT = 29, 30, 31
_BITS_OF_MODELS: Final = {"GV350M": range(22, 25), "GV355CEU": range(22, 29)}
"""Bits from 22 on with a field each."""


def read_obd(message: Message, reports: list[Report]) -> None:
    """Read OBD."""
    fields, attributes = message.fields, message.attributes
    start = find_location(fields.values, fields.at + len(_OBD))
    for name, parse in _OBD:
        text = fields.take()
        if name:
            put(attributes, name, parse(text))
    if "odbConnect" in attributes:
        attributes["odbConnect"] = bool(attributes["odbConnect"])
    places = []
    if start >= 0:
        put_kilometres(attributes, "obdOdometer", fields.values[start - 1])
        fields.at = start
        places.append(read_location(message))
        put_kilometres(attributes, "odometer", fields.peek())
    message.report(places, reports)


def read_can(message: Message, reports: list[Report]) -> None:
    """Read CAN: a field for each bit of a mask, in an order of its own."""
    fields, attributes = message.fields, message.attributes
    fields.skip(2)  # type, state of the bus
    mask = hexadecimal(fields.take()) or 0
    for bit in (0, 1, 2, 3, 5, 4, *range(6, 22)):
        if mask >> bit & 1:
            _read_item(attributes, bit, fields.take())
    for bit in _BITS_OF_MODELS.get(message.model, ()):
        if mask >> bit & 1:
            fields.skip()
    if mask >> _EXTENSION_BIT & 1:
        extension = hexadecimal(fields.take()) or 0
        for bit in range(32):
            if extension >> bit & 1:
                text = fields.take()
                if bit in _EXTENSION:
                    name, parse = _EXTENSION[bit]
                    put(attributes, name, parse(text))
    place = Draft()
    if mask >> _LOCATION_BIT & 1 and message.model != "GV355CEU":
        while fields.remaining and not fields.peek():
            fields.skip()
        if fields.remaining:
            _read_place(place, fields)
    if mask >> _CELL_BIT & 1:
        _read_cell(place, fields)
    message.report([place], reports)


def _read_item(attributes: dict[str, Any], bit: int, text: str) -> None:
    if bit in _CAN:
        name, parse = _CAN[bit]
        put(attributes, name, parse(text))
    elif bit in _PREFIXED:
        for prefix, name, parse in _PREFIXED[bit]:
            if text.startswith(prefix):
                put(attributes, name, parse(text.removeprefix(prefix)))
    elif bit == _IGNITION and text:
        attributes["ignition"] = text != "0"


def _read_place(place: Draft, fields: TextFields) -> None:
    fields.skip()  # accuracy
    speed, course, altitude = (real(fields.take()) for _ in range(3))
    longitude, latitude = real(fields.take()), real(fields.take())
    place.fix_time = time_of(fields.take())
    if longitude is None or latitude is None or place.fix_time is None:
        return
    place.set_place(latitude, longitude)
    place.set_motion(speed or 0.0, 0.0 if course is None else course)
    place.altitude = altitude or 0.0


def _read_cell(place: Draft, fields: TextFields) -> None:
    if fields.remaining < 4:
        return
    country, operator = parse_whole(fields.take()), parse_whole(fields.take())
    area, cell = hexadecimal(fields.take()), hexadecimal(fields.take())
    if country is not None and operator is not None and area is not None and cell is not None:
        place.towers = [cell_tower(country, operator, area, cell)]
