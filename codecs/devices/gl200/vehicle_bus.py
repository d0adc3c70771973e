"""Data that devices read from the vehicle: OBD and CAN (docs/protocols/gl200.md#the-vehicle-bus)."""

from typing import Any, Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.devices.gl200.fields import (
    hexadecimal,
    millivolts,
    put_kilometres,
    real,
    time_of,
)
from motorpool.codecs.devices.gl200.record import Message, Place, find_location, read_location
from motorpool.codecs.devices.network import cell_tower, network_of
from motorpool.codecs.numbers import parse_whole
from motorpool.codecs.reports import Report
from motorpool.codecs.text_fields import TextFields
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

_OBD: Final = (
    ("", parse_whole),  # report type
    ("", parse_whole),  # mask
    ("vin", None),
    ("", parse_whole),  # connected
    ("", parse_whole),  # voltage
    ("", parse_whole),  # supported items
    ("rpm", parse_whole),
    ("obdSpeed", parse_whole),
    ("temp1", real),
    ("fuelConsumption", real),
    ("dtcsClearedDistance", parse_whole),
    ("", parse_whole),
    ("odbConnect", parse_whole),
    ("dtcsNumber", parse_whole),
    ("dtcsCodes", None),
    ("throttle", parse_whole),
    ("engineLoad", parse_whole),
    ("fuel", parse_whole),
)
"""Names of the fields, empty where they are not read, and what reads them; None: text."""
_TEXT, _WHOLE, _REAL, _HEX = range(4)
_CAN: Final = {
    0: ("vin", _TEXT, 1),
    3: ("fuelUsed", _REAL, 1),
    6: ("coolantTemp", _REAL, 1),
    9: ("range", _WHOLE, 100),
    10: ("throttle", _WHOLE, 1),
    11: ("hours", _REAL, 3_600_000),
    12: ("drivingTime", _REAL, 3_600_000),
    13: ("idleHours", _REAL, 3_600_000),
    14: ("idleFuelConsumption", _REAL, 1),
    15: ("axleWeight", _WHOLE, 1),
    16: ("tachographInfo", _HEX, 1),
    17: ("indicators", _HEX, 1),
    18: ("lights", _HEX, 1),
    19: ("doors", _HEX, 1),
    20: ("vehicleOverspeed", _REAL, 1),
    21: ("engineOverspeed", _REAL, 1),
}
"""Fields by the bit of the mask: name, type and factor."""
_EXTENSION: Final = {
    1: ("axleWeight1", _WHOLE, 1),
    2: ("axleWeight3", _WHOLE, 1),
    3: ("axleWeight4", _WHOLE, 1),
    15: ("driver1Card", _TEXT, 1),
    16: ("driver2Card", _TEXT, 1),
    17: ("driver1Name", _TEXT, 1),
    18: ("driver2Name", _TEXT, 1),
    19: ("registration", _TEXT, 1),
}
_ODOMETER, _SPEED, _RPM, _CONSUMPTION, _FUEL = 2, 4, 5, 7, 8
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
            put(attributes, name, (text or None) if parse is None else parse(text))
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
                _read_extended_item(attributes, bit, fields.take())
    place = Place()
    if mask >> _LOCATION_BIT & 1 and message.model != "GV355CEU":
        while fields.remaining and not fields.peek():
            fields.skip()
        if fields.remaining:
            _read_place(place, fields)
    if mask >> _CELL_BIT & 1:
        _read_cell(place, fields)
    message.report([place], reports)


def _read_item(attributes: dict[str, Any], bit: int, text: str) -> None:
    match bit:
        case 1:
            if text:
                attributes["ignition"] = text != "0"
        case 2:
            if text[:1] == "H":  # hundreds of metres
                put(attributes, "obdOdometer", _scaled(text[1:], 100))
            elif text[:1] == "I":  # impulses
                put(attributes, "obdImpulses", _scaled(text[1:], 1))
        case 4:
            put(attributes, "obdSpeed", parse_whole(text))
        case 5:
            put(attributes, "rpm", parse_whole(text))
        case 7:
            put(attributes, "fuelConsumption", real(text.removeprefix("L/H").removeprefix("L/100km")))
        case 8:
            if text[:1] == "L":
                put(attributes, "fuel", real(text[1:]))
            elif text[:1] == "P":
                put(attributes, "fuelLevel", real(text[1:]))
        case _:
            _put_item(attributes, _CAN[bit], text)


def _read_extended_item(attributes: dict[str, Any], bit: int, text: str) -> None:
    match bit:
        case 0:
            put(attributes, "adBlueLevel", real(text.removeprefix("P")))
        case 7:
            put(attributes, "adc1", millivolts(text))
        case _ if bit in _EXTENSION:
            _put_item(attributes, _EXTENSION[bit], text)


def _put_item(attributes: dict[str, Any], item: tuple[str, int, int], text: str) -> None:
    name, kind, factor = item
    value: object = text or None
    if kind == _HEX:
        value = hexadecimal(text)
    elif kind == _WHOLE:
        value = _scaled(text, factor)
    elif kind == _REAL:
        number = real(text)
        value = None if number is None else number if factor == 1 else round(number * factor)
    put(attributes, name, value)


def _scaled(text: str, factor: int) -> int | float | None:
    number = parse_whole(text)
    if number is not None:
        return number * factor
    decimal = real(text)
    return None if decimal is None else decimal * factor


def _read_place(place: Place, fields: TextFields) -> None:
    fields.skip()  # accuracy
    speed, course, altitude = (real(fields.take()) for _ in range(3))
    longitude, latitude = real(fields.take()), real(fields.take())
    place.time = time_of(fields.take())
    if longitude is None or latitude is None or place.time is None:
        return
    place.latitude, place.longitude = checked_coordinates(latitude, longitude)
    place.speed = (speed or 0.0) * KNOTS_PER_KMH
    place.course = course if course is not None and 0 <= course <= 360 else 0.0
    place.altitude = altitude or 0.0
    place.located = True


def _read_cell(place: Place, fields: TextFields) -> None:
    if fields.remaining < 4:
        return
    country, operator = parse_whole(fields.take()), parse_whole(fields.take())
    area, cell = hexadecimal(fields.take()), hexadecimal(fields.take())
    if country is not None and operator is not None and area is not None and cell is not None:
        place.network = network_of((cell_tower(country, operator, area, cell),))
