"""Texts whose prefix names a family of devices: ST300STT, SA200ALT, ST600UEX
(docs/protocols/suntech.md#families).
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.devices.network import cell_tower
from motorpool.codecs.devices.suntech.record import ALERTS, Fields, Record, hexadecimal, real, time_of, whole
from motorpool.codecs.devices.suntech.serial_data import read_serial_data
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_real, parse_whole, whole_number

LEGACY_TYPES: Final = frozenset(("STT", "EMG", "EVT", "ALT", "UEX"))
_EMERGENCIES: Final[Mapping[int, str]] = {
    1: "sos",
    2: "parking",
    3: "powerCut",
    5: "door",
    6: "door",
    7: "movement",
    8: "vibration",
}
_INPUTS: Final = ("in1", "in2", "in3", "out1", "out2")
_MS_PER_MINUTE: Final = 60_000
_LONG_ADDITION: Final = 7
"""Fields from the driver on where a cell follows."""
_ST4_CELLS: Final = 7
_MODEL_41: Final = "41"
_MOVING: Final = "2"


def read_legacy(family: str, kind: str, fields: Fields, options: Mapping[str, Any]) -> Record:
    """Read a message after its id.

    Args:
        family: such as ST300, which decides about some fields.
        kind: one of `LEGACY_TYPES`.
        fields: from the model, or the firmware.
        options: attributes of the device, without `suntech.`.
    """
    record = Record({"type": kind})
    attributes = record.attributes
    if family.startswith("ST3") or family in ("ST500", "ST600"):
        fields.skip(1)
    attributes["versionFw"] = fields.take()
    record.device_time = time_of(fields.take(), fields.take())
    if family != "ST500":
        cell = fields.take()
        if family == "ST600":
            country, network = whole(fields.take()), whole(fields.take())
            area, rssi = hexadecimal(fields.take()), whole(fields.take())
            record.towers.append(cell_tower(country, network, area, hexadecimal(cell), rssi))
    record.read_place(fields)
    attributes["sat"] = whole(fields.take())
    record.valid = fields.take() == "1"
    attributes["odometer"] = whole(fields.take())
    attributes["power"] = real(fields.take())
    _add_inputs(record, fields.take())
    match kind:
        case "STT":
            attributes["status"] = whole(fields.take())
            attributes["index"] = whole(fields.take())
        case "EVT":
            attributes["event"] = whole(fields.take())
        case "EMG":
            record.add_alarm(_EMERGENCIES.get(whole(fields.take())))
        case "ALT":
            record.add_alarm(ALERTS.get(whole(fields.take())))
        case _:
            read_serial_data(record, fields)
    addition = whole_number(options.get("hbm")) or 0
    if addition >= 1 and fields.remaining:
        # What is configured may not be what the device sends; its location counts all the same.
        with suppress(CodecError):
            _read_addition(record, fields, addition, options)
    return record


def _add_inputs(record: Record, bits: str) -> None:
    if len(bits) < 6:
        return
    record.attributes["ignition"] = bits[0] == "1"
    for name, bit in zip(_INPUTS, bits[1:], strict=False):
        record.attributes[name] = bit == "1"


def _read_addition(record: Record, fields: Fields, addition: int, options: Mapping[str, Any]) -> None:
    """Read what devices add that are configured to: hours, battery, and more by attributes."""
    attributes = record.attributes
    minutes = parse_whole(fields.take())
    if minutes is not None:
        attributes["hours"] = minutes * _MS_PER_MINUTE
    if fields.remaining:
        put(attributes, "battery", parse_real(fields.take()))
    if fields.remaining:
        record.add_archive(fields.take() != "0")
    if options.get("includeAdc"):
        for number in range(1, 4):
            put(attributes, f"adc{number}", parse_real(fields.take()))
    if options.get("includeRpm"):
        put(attributes, "rpm", parse_whole(fields.take()))
    if fields.remaining >= (_LONG_ADDITION if addition >= 2 else 2):
        if driver := fields.take():
            attributes["driverUniqueId"] = driver
        fields.skip(1)  # whether the driver is registered
    if options.get("includeTemp"):
        for number in range(1, 4):
            _, _, value = fields.take().partition(":")
            put(attributes, f"temp{number}", parse_real(value))
    if addition >= 2 and fields.remaining >= 5:
        cell, country, network, rssi, area = (fields.take() for _ in range(5))
        tower = cell_tower(whole(country), whole(network), hexadecimal(area), hexadecimal(cell), whole(rssi))
        record.towers.append(tower)


def read_travel(kind: str, fields: Fields) -> Record:
    """Read the report of a journey, of which the driver is kept: the last field."""
    record = Record({"type": kind})
    if (values := fields.rest()) and values[-1]:
        record.attributes["driverUniqueId"] = values[-1]
    return record


def read_st9(kind: str, fields: Fields, options: Mapping[str, Any]) -> Record:
    """Read a message of an ST9xx after its id; the attribute `protocolType` decides about some fields."""
    record = Record({"type": kind})
    is_type_1 = whole_number(options.get("protocolType")) == 1
    if kind != "Location":
        record.add_alarm("general")
    if kind != "Alert" or not is_type_1:
        record.attributes["versionFw"] = fields.take()
    record.device_time = time_of(fields.take(), fields.take())
    if is_type_1:
        fields.skip(1)  # cell
    record.read_place(fields)
    record.valid = fields.take() == "1"
    if is_type_1:
        put(record.attributes, "odometer", parse_whole(fields.take()))
    return record


def read_st4(kind: str, fields: Fields) -> Record:
    """Read a message of an ST4xx after its id."""
    record = Record({"type": kind})
    attributes = record.attributes
    attributes["versionFw"] = fields.take()
    is_model_41 = fields.take() == _MODEL_41
    if is_model_41:
        fields.skip(1)
    for number in range(_ST4_CELLS):
        cell, country, network = (_number(fields.take()) for _ in range(3))
        rssi, area = _number(fields.take()), _number(fields.take())
        if number:
            rssi, area = area, rssi
        fields.skip(1)  # timing advance
        record.towers.append(cell_tower(country, network, area, cell, rssi))
    put(attributes, "battery", parse_real(fields.take()))
    record.add_archive(fields.take() != "0")
    attributes["index"], attributes["status"] = whole(fields.take()), whole(fields.take())
    if len(fields.peek()) == 3:
        fields.skip(1)
    if is_model_41:
        fields.skip(2)
        attributes["motion"] = fields.take() == _MOVING
    if fields.remaining >= 2 and fields.peek():
        record.device_time = time_of(fields.take(), fields.take())
        if fields.peek():
            record.read_place(fields)
            attributes["sat"] = whole(fields.take())
            record.valid = fields.take() == "1"
    return record


def _number(text: str) -> int:
    return whole(text) if text else 0
