"""Texts whose prefix names a family of devices: ST300STT, SA200ALT, ST600UEX
(docs/protocols/suntech.md#families).
"""

import re
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
EMERGENCIES: Final[Mapping[int, str]] = {
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
_DATE = re.compile(r"[0-9]{8}")
_COORDINATE = re.compile(r"[+-][0-9.]+|[0-9]+\.[0-9]+")
_ADDITION = re.compile(r"[0-9]{1,9};[0-9]{1,2}\.[0-9]{1,3};[01](?:;|$)")
_READINGS = re.compile(r"(?=;{0,2}[0-9])(?:(?:[0-9]{1,3}\.[0-9]{1,3})?(?:;|$)){3}")
_CELL = re.compile(r"[0-9A-Fa-f]{1,8};[2-7][0-9]{2};[0-9]{1,3};-?[0-9]{1,3};[0-9A-Fa-f]{1,8}")
_RPM: Final = range(300, 10_000)
"""Of an engine that runs: another number is something else, where it is not told what it is."""
_ST4_CELLS: Final = 7
_MODEL_41: Final = "41"
_MOVING: Final = "2"


def read_legacy(kind: str, fields: Fields, options: Mapping[str, Any]) -> Record:
    """Read a message after its id.

    Families differ in the fields before the time and the place, and the fields show which they are.

    Args:
        kind: one of `LEGACY_TYPES`.
        fields: from the model, or the firmware.
        options: attributes of the device, without `suntech.`.
    """
    record = Record({"type": kind})
    attributes = record.attributes
    while not _is_time(fields):
        # The model, then the firmware; some send only that.
        attributes["versionFw"] = fields.take()
    record.device_time = time_of(fields.take(), fields.take())
    if not _COORDINATE.fullmatch(fields.peek()):
        cell = fields.take()
        if not _COORDINATE.fullmatch(fields.peek()):
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
            record.add_alarm(EMERGENCIES.get(whole(fields.take())))
        case "ALT":
            record.add_alarm(ALERTS.get(whole(fields.take())))
        case _:
            read_serial_data(record, fields)
    told = whole_number(options.get("hbm"))
    addition = _guessed_addition(fields) if told is None else told
    if addition >= 1 and fields.remaining:
        # What is configured may not be what the device sends; its location counts all the same.
        with suppress(CodecError):
            _read_addition(record, fields, addition, options, is_guessed=told is None)
    return record


def _is_time(fields: Fields) -> bool:
    if not fields.remaining:
        raise CodecError("a message without a time")
    return _DATE.fullmatch(fields.peek()) is not None and ":" in fields.peek(1)


def _guessed_addition(fields: Fields) -> int:
    """Return the `hbm` that a device seems to be configured to: 0 for none."""
    values = fields.values[fields.at :]
    if _ADDITION.match(";".join(values)) is None:
        return 0
    return 2 if _CELL.fullmatch(";".join(values[-5:])) else 1


def _add_inputs(record: Record, bits: str) -> None:
    if len(bits) < 6:
        return
    record.attributes["ignition"] = bits[0] == "1"
    for name, bit in zip(_INPUTS, bits[1:], strict=False):
        record.attributes[name] = bit == "1"


def _read_addition(
    record: Record, fields: Fields, addition: int, options: Mapping[str, Any], *, is_guessed: bool
) -> None:
    """Read what devices add that are configured to: hours, battery, and more by attributes.

    Where the configuration is guessed the fields show what they are.
    """
    attributes = record.attributes
    minutes = parse_whole(fields.take())
    if minutes is not None:
        attributes["hours"] = minutes * _MS_PER_MINUTE
    if fields.remaining:
        put(attributes, "battery", parse_real(fields.take()))
    if fields.remaining:
        record.add_archive(fields.take() != "0")
    if options.get("includeAdc") or (is_guessed and _READINGS.match(";".join(fields.values[fields.at :]))):
        for number in range(1, 4):
            put(attributes, f"adc{number}", parse_real(fields.take()))
    cell_fields = 5 if addition >= 2 else 0
    before = next(
        (at for at in range(fields.remaining) if ":" in fields.peek(at)), fields.remaining - cell_fields
    )
    if options.get("includeRpm") or (is_guessed and before % 2 and fields.peek().isdecimal()):
        rpm = parse_whole(fields.take())
        if not is_guessed or rpm in _RPM:
            put(attributes, "rpm", rpm)
        before -= 1
    if fields.remaining >= 2 + cell_fields and (before >= 2 or not is_guessed):
        driver = fields.take()
        if driver.strip("0"):
            attributes["driverUniqueId"] = driver
        fields.skip(1)  # whether the driver is registered
    if options.get("includeTemp") or (is_guessed and ":" in fields.peek()):
        for number in range(1, 4):
            put(attributes, f"temp{number}", parse_real(fields.take().rpartition(":")[2]))
    if addition >= 2 and fields.remaining >= 5:
        cell, country, network, rssi, area = (fields.take() for _ in range(5))
        tower = cell_tower(whole(country), whole(network), _cell(area), _cell(cell), whole(rssi))
        record.towers.append(tower)


def _cell(text: str) -> int:
    """Return a number that is decimal unless it has a hexadecimal digit."""
    return int(text) if text.isdecimal() and text.isascii() else hexadecimal(text)


def read_travel(kind: str, fields: Fields) -> Record:
    """Read the report of a journey, of which the driver is kept: the last field."""
    record = Record({"type": kind})
    if (values := fields.rest()) and values[-1]:
        record.attributes["driverUniqueId"] = values[-1]
    return record


def read_st9(kind: str, fields: Fields) -> Record:
    """Read a message of an ST9xx after its id; some have no firmware, or a cell and an odometer."""
    record = Record({"type": kind})
    if kind != "Location":
        record.add_alarm("general")
    while not _is_time(fields):
        record.attributes["versionFw"] = fields.take()
    record.device_time = time_of(fields.take(), fields.take())
    has_cell = not _COORDINATE.fullmatch(fields.peek())
    if has_cell:
        fields.skip(1)
    record.read_place(fields)
    record.valid = fields.take() == "1"
    if has_cell and fields.remaining:
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
