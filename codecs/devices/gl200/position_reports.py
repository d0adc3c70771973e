"""Reports of positions: FRI and its kind, and ERI (docs/protocols/gl200.md#reports-of-positions)."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.gl200.fields import (
    add_analog,
    add_battery_level,
    add_status,
    hexadecimal,
    millivolts,
    put_kilometres,
    real,
    working_time,
)
from motorpool.codecs.devices.gl200.record import Message, find_location, is_location, read_location
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_whole
from motorpool.codecs.reports import Report
from motorpool.codecs.text_fields import TextFields

_MAX_LOCATIONS = 60
_FRI_HEAD = 3
"""Fields before the locations: supply or number of the report, its type, the number of locations."""
_LONG_FRI_HEAD = 5
"""With a reserved field and the battery level behind them."""
_MIN_POWER = 10
"""A smaller number is not a supply in millivolts, but the number of the report."""
_STATUS = re.compile(r"[0-9A-Fa-f]{6}|[0-9A-Fa-f]{10}")
_PORTS = re.compile(r"[0-9A-Fa-f]{2}")
_WITH_TEMPERATURE = 6
_VEHICLE_FIELDS = 4
"""Odometer, working time and two analog inputs."""
_MOVES, _CHARGES = 1, 2
_FUEL_SENSOR, _TEMPERATURES, _CAN, _FUEL, _VOLUME, _EXTERNAL_BATTERY, _RADIO, _BEACONS = (
    1 << bit for bit in (0, 1, 2, 3, 4, 7, 7, 8)
)
_TEMPERATURE_SENSOR = "1"
_RADIO_WITH_HUMIDITY = 2
_MAX_ACCESSORIES = 20
_BEACON_ITEMS: Final = {
    1: "Id",
    3: "BatteryLevel",
    4: "Temp",
    5: "Humidity",
    13: "Battery",
}
_BEACON_BITS: Final = 15


def read_fri(message: Message, reports: list[Report]) -> None:
    """Read FRI, RTL, GEO, DOG, STR and CTN: locations and what the family of the device adds."""
    fields = message.fields
    values = fields.values
    at = fields.at + _FRI_HEAD
    if not is_location(values, at):
        at = find_location(values, fields.at + 1)
        if at < 0:
            raise CodecError("a report without a location")
    supply = parse_whole(fields.peek())
    if supply is not None and supply > _MIN_POWER:
        message.attributes["power"] = supply / 1000
    last = at - 1
    if at - fields.at == _LONG_FRI_HEAD:
        add_battery_level(message.attributes, values[last])
        last -= 2
    report_type = hexadecimal(values[last - 1]) or 0
    count = parse_whole(values[last]) or 1
    fields.at = at
    places = [read_location(message)]
    while len(places) < min(count, _MAX_LOCATIONS) and is_location(values, fields.at):
        places.append(read_location(message))
    _read_tail(message.attributes, fields.rest(), places[-1], report_type)
    message.report(places, reports)


def _read_tail(attributes: dict[str, Any], rest: Sequence[str], place: Draft, report_type: int) -> None:
    if len(rest) >= _VEHICLE_FIELDS and (not rest[1] or working_time(rest[1]) is not None):
        _read_vehicle_tail(attributes, rest)
        return
    numbers = [real(text) for text in rest]
    if len(rest) == _WITH_TEMPERATURE and None not in numbers[1:]:
        put(attributes, "battery", millivolts(rest[1]))
        add_battery_level(attributes, rest[2])
        put(attributes, "mode", parse_whole(rest[3]))
        attributes["motion"] = bool(numbers[4])
        attributes["temp1"] = numbers[5]
        return
    has_signal = "rssi" in place.attributes
    if len(rest) > 1 and rest[-2]:
        if "." in rest[-2]:
            put_kilometres(attributes, "odometer", rest[-2])
        elif (rssi := parse_whole(rest[-2])) is not None:
            attributes["rssi"] = rssi
            has_signal = True
    if rest:
        add_battery_level(attributes, rest[-1])
    if has_signal:
        attributes["motion"] = bool(report_type & _MOVES)
        attributes["charge"] = bool(report_type & _CHARGES)


def _read_vehicle_tail(attributes: dict[str, Any], rest: Sequence[str]) -> None:
    put_kilometres(attributes, "odometer", rest[0])
    put(attributes, "hours", working_time(rest[1]))
    add_analog(attributes, 1, rest[2])
    add_analog(attributes, 2, rest[3])
    more = rest[_VEHICLE_FIELDS:]
    at = next((place for place, text in enumerate(more) if _STATUS.fullmatch(text)), None)
    if at is not None:
        if at:
            add_battery_level(attributes, more[at - 1])
        add_status(attributes, more[at])
        for name, text in zip(("rpm", "fuelConsumption", "fuel"), more[at + 1 :], strict=False):
            put(attributes, name, real(text))
    elif len(more) > 2 and _PORTS.fullmatch(more[1]) and _PORTS.fullmatch(more[2]):
        add_analog(attributes, 3, more[0])
        attributes["input"], attributes["output"] = int(more[1], 16), int(more[2], 16)
    elif more:
        add_battery_level(attributes, more[0] or (more[1] if len(more) > 1 else ""))


def read_eri(message: Message, reports: list[Report]) -> None:
    """Read ERI, whose layout depends on the model."""
    fields, attributes, model = message.fields, message.attributes, message.model
    mask = hexadecimal(fields.take()) or 0
    put(attributes, "power", millivolts(fields.take()))
    fields.skip()
    count = min(parse_whole(fields.take()) or 1, _MAX_LOCATIONS)
    places = [read_location(message, has_mask=True) for _ in range(count)]
    with suppress(CodecError):  # Firmware leaves fields at the end out.
        _read_inputs(attributes, fields, model, mask)
        _read_accessories(attributes, fields, model, mask)
    message.report(places, reports)


def _read_inputs(attributes: dict[str, Any], fields: TextFields, model: str, mask: int) -> None:
    is_gl5, is_gl320 = model.startswith("GL5"), model == "GL320M"
    if not is_gl5:
        put_kilometres(attributes, "odometer", fields.take())
    if not is_gl5 and not is_gl320:
        put(attributes, "hours", working_time(fields.take()))
        add_analog(attributes, 1, fields.take())
    if model.startswith("GV") and not model.startswith("GV6") and model != "GV350M":
        add_analog(attributes, 2, fields.take())
    if model in ("GV200", "GV310LAU"):
        add_analog(attributes, 3, fields.take())
    if re.fullmatch(r"GV3[0-9]+CEU|GV600M.*", model):
        fields.skip()
    if model == "GV200":
        put(attributes, "input", hexadecimal(fields.take()))
        put(attributes, "output", hexadecimal(fields.take()))
        fields.skip()  # what is connected to the serial port
        return
    add_battery_level(attributes, fields.take())
    if is_gl5:
        put(attributes, "mode", parse_whole(fields.take()))
        attributes["motion"] = fields.take() == "1"
    elif is_gl320:
        if mask & _EXTERNAL_BATTERY:
            put(attributes, "externalBattery", parse_whole(fields.take()))
    else:
        add_status(attributes, fields.take())
        fields.skip()  # what is connected to the serial port


def _read_accessories(attributes: dict[str, Any], fields: TextFields, model: str, mask: int) -> None:
    if mask & _FUEL_SENSOR:
        put(attributes, "fuel", hexadecimal(fields.take()))
    if mask & _TEMPERATURES:
        for number in range(1, _count(fields) + 1):
            fields.skip()  # number of the sensor
            kind, value = fields.take(), hexadecimal(fields.take())
            if kind == _TEMPERATURE_SENSOR and value is not None:
                value &= 0xFFFF
                attributes[f"temp{number}"] = (value - (value >> 15 << 16)) * 0.0625
    if mask & _CAN:
        return  # of a length that the device does not say
    if mask & (_FUEL | _VOLUME):
        _read_fuel(attributes, fields, model, mask)
    if mask & _RADIO and model != "GL320M":
        for number in range(1, _count(fields) + 1):
            fields.skip()  # serial number
            has_humidity = parse_whole(fields.take()) == _RADIO_WITH_HUMIDITY
            put(attributes, f"temp{number}", real(fields.take()))
            if has_humidity:
                put(attributes, f"humidity{number}", real(fields.take()))
    if mask & _BEACONS:
        for number in range(1, _count(fields) + 1):
            _read_beacon(attributes, fields, model, number)


def _read_fuel(attributes: dict[str, Any], fields: TextFields, model: str, mask: int) -> None:
    if model == "GV350M":
        fields.skip()  # number of the serial port
        put(attributes, "fuel", hexadecimal(fields.take()))
        return
    for _ in range(_count(fields)):
        fields.skip()  # type of the sensor
        if mask & _FUEL:
            while fields.peek() and "." not in fields.peek() and "." in fields.peek(1):
                fields.skip()
            put(attributes, "fuel", real(fields.take()))
        if mask & _VOLUME:
            put(attributes, "fuelVolume", real(fields.take()))


def _read_beacon(attributes: dict[str, Any], fields: TextFields, model: str, number: int) -> None:
    fields.skip(3)  # index, type and model
    if model.startswith("GV600M"):
        fields.skip()  # length of the data
    fields.skip()  # data
    mask = hexadecimal(fields.take()) or 0
    for bit in range(_BEACON_BITS):
        if not mask >> bit & 1:
            continue
        text = fields.take()
        name = f"tag{number}{_BEACON_ITEMS.get(bit, '')}"
        match bit:
            case 1:
                attributes[name] = text
            case 13:
                put(attributes, name, millivolts(text))
            case _ if bit in _BEACON_ITEMS:
                put(attributes, name, real(text))


def _count(fields: TextFields) -> int:
    return min(parse_whole(fields.take()) or 0, _MAX_ACCESSORIES)
