"""Messages without coordinates: battery, cells, access points, texts."""

import re
import struct
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any, Final

from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.network import access_point, cell_tower
from motorpool.codecs.devices.tk103.locations import add_event, moment_of
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader

_LEVELS: Final = {6: 100, 5: 80, 4: 50, 3: 20, 2: 10}
_UNKNOWN = 65535
_BRACES = re.compile(r"\{([^{}]*)\}")
_CELL = re.compile(r"([0-9]{1,3}),([0-9]{1,3}),([0-9A-Fa-f]{1,8}),([0-9A-Fa-f]{1,8})")
_ODOMETER = re.compile(r"(?<![0-9A-Fa-f])([0-9A-Fa-f]{8})(?![0-9A-Fa-f])")
_VIN = re.compile(r"[0-9A-Za-z]{17}")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+")
_BATTERY_PART = re.compile(r"(?:0[xX])?([0-9A-Fa-f]{1,8}):((?:[0-9A-Fa-f]{2})+)")
MAX_ACCESS_POINTS = 64
_MAX_CELLS: Final = 24
_PACK_BYTES: Final = 88
_NO_CURRENT: Final = 30_000
"""A current is sent in 0.1 A from here."""


def read_network(kind: str, body: str) -> Draft:
    """Return the cell and the access points of a `DW5x` message."""
    fields = body.removeprefix(",").split(",")
    if not 0 <= int(fields[4]) <= MAX_ACCESS_POINTS:
        raise CodecError(f"{fields[4][:20]} access points")
    # Some firmware counts those that it does not send.
    found = [field.split("*") for field in takewhile(lambda field: "*" in field, fields[5:])]
    attributes: dict[str, Any] = {}
    add_event(attributes, kind)
    points = [access_point(point[0], int(point[1])) for point in found]
    tower = cell_tower(*(int(each) for each in fields[:4]))
    date, time = fields[5 + len(found) : 7 + len(found)]
    moment = moment_of(date, time)
    return Draft(attributes, moment, moment, towers=[tower], points=points)


def read_cells(body: str) -> Draft:
    """Return cells in braces, and the odometer beside them."""
    towers = [
        cell_tower(int(cell[1]), int(cell[2]), _cell_number(cell[3]), _cell_number(cell[4]))
        for braces in _BRACES.findall(body)
        for cell in _CELL.finditer(braces)
    ]
    if not towers:
        raise CodecError("braces without cells")
    odometer = _ODOMETER.search(_BRACES.sub(",", body).replace("L", ","))
    attributes = {"odometer": int(odometer[1], 16)} if odometer else {}
    return Draft(attributes, towers=towers)


def _read_battery(body: str) -> Draft:
    date, time, *values = body.split(",")
    level, volts, power, installed = (int(value) for value in values[:4])
    attributes: dict[str, Any] = {}
    if level in _LEVELS:
        attributes["batteryLevel"] = _LEVELS[level]
    if volts != _UNKNOWN:
        attributes["battery"] = volts / 100
    if power != _UNKNOWN:
        attributes["power"] = power / 10
    if installed in (0, 1):
        attributes["installed"] = installed == 1
    return Draft(attributes, moment_of(date, time))


def _read_answer(body: str) -> Draft:
    date, time, text = body.split(",", 2)
    return Draft({"result": text.strip().strip("$")}, moment_of(date, time))


def _read_cell(body: str) -> Draft:
    country, network, area, cell = body.split(",")[:4]
    tower = cell_tower(int(country), int(network), int(area, 16), int(cell, 16))
    return Draft(towers=[tower])


def _read_vin(body: str) -> Draft:
    found = _VIN.search(body)
    if found is None:
        raise CodecError("a vehicle identification number that has not 17 characters")
    return Draft({"vin": found[0]})


def _read_battery_data(body: str) -> Draft:
    """Return the state of a pack; data of another layout as sent."""
    if not _HEX.fullmatch(body):
        raise CodecError("battery data that is not hexadecimal")
    data = bytes.fromhex(body)
    cells = data[3] if len(data) > 3 else 0
    if len(data) < _PACK_BYTES or not 0 < cells <= _MAX_CELLS:
        return Draft({"bms": body})
    reader = ByteReader(data, 4, "little")
    volts = [reader.uint16() / 1000 for _ in range(_MAX_CELLS)][:cells]
    attributes: dict[str, Any] = {f"battery{number}": each for number, each in enumerate(volts, 1)}
    attributes |= {"batteryCellMax": max(volts), "batteryCellMin": min(volts)}
    attributes["charge"] = reader.uint8() == 0
    attributes["batteryCurrent"] = reader.uint16() / 10
    attributes["battery"] = reader.uint16() / 100
    attributes["batteryLevel"] = reader.uint8()
    attributes["batteryOverheat"], attributes["chargeProtection"], attributes["dischargeProtection"] = (
        reader.uint8() > 0 for _ in range(3)
    )
    reader.skip(2)
    attributes["cycles"], attributes["faultAlarm"] = reader.uint16(), reader.uint8()
    reader.skip(6)
    sensors = reader.uint8()
    attributes["powerTemp"], attributes["equilibriumTemp"] = (reader.uint8() - 40 for _ in range(2))
    temperatures = [reader.uint8() - 40 for _ in range(7)][:sensors]
    attributes |= {f"batteryTemp{number}": each for number, each in enumerate(temperatures, 1)}
    attributes["calibrationCapacity"] = reader.uint16() / 100
    attributes["dischargeCapacity"] = reader.uint32()
    return Draft(attributes)


def _read_battery_parts(body: str) -> Draft:
    attributes: dict[str, Any] = {}
    parts = _BATTERY_PART.findall(body)
    if not parts:
        raise CodecError("battery data without parts")
    for identity, digits in parts:
        data = bytes.fromhex(digits)
        # A part may be named by the number of its message or by its whole identity on the bus: 18904001.
        number = int(identity[2:4] if len(identity) == 8 else identity, 16)
        if number in _BATTERY_PARTS and len(data) >= 8:
            attributes |= _BATTERY_PARTS[number](data)
        else:
            attributes[f"bms{number:x}"] = digits
    return Draft(attributes)


def _pack(data: bytes) -> dict[str, Any]:
    volts, _, amperes, level = min(_orders(data, "HHHH"), key=lambda values: abs(values[2] - _NO_CURRENT))
    attributes: dict[str, Any] = {"battery": volts / 10, "batteryCurrent": (amperes - _NO_CURRENT) / 10}
    if level <= 1000:
        attributes["batteryLevel"] = level / 10
    return attributes


def _cell_volts(data: bytes) -> dict[str, Any]:
    highest, _, lowest, _ = min(_orders(data, "HBHB"), key=lambda values: max(values[0], values[2]))
    return {"batteryCellMax": highest / 1000, "batteryCellMin": lowest / 1000}


def _orders(data: bytes, form: str) -> list[tuple[int, ...]]:
    """Return the values in either order of bytes: makers differ, and the values tell which is meant."""
    return [struct.unpack_from(order + form, data) for order in "><"]


def _cell_temperatures(data: bytes) -> dict[str, Any]:
    return {"batteryTempMax": data[0] - 40, "batteryTempMin": data[2] - 40}


def _sensor_temperatures(data: bytes) -> dict[str, Any]:
    """Return the temperatures of a message: its number stands before them."""
    first = max(0, data[0] - 1) * 7
    return {f"batteryTemp{first + number}": each - 40 for number, each in enumerate(data[1:8], 1) if each}


_BATTERY_PARTS: Final[Mapping[int, Callable[[bytes], dict[str, Any]]]] = {
    0x90: _pack,
    0x91: _cell_volts,
    0x92: _cell_temperatures,
    0x96: _sensor_temperatures,
}

READERS: Final[Mapping[str, Callable[[str], Draft]]] = {
    "ZC20": _read_battery,
    "ZC03": _read_answer,
    "BZ00": _read_cell,
    "BV00": _read_vin,
    "BS50": _read_battery_data,
    "BS51": _read_battery_parts,
}
"""Readers of a message's fields, by type."""


def _cell_number(text: str) -> int:
    """Return a number that is decimal unless it has a hexadecimal digit."""
    return int(text) if text.isdecimal() else int(text, 16)
