"""Records of numbered parameters (docs/protocols/meitrack.md#parameters)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.meitrack.events import add_event
from motorpool.codecs.devices.network import access_point, cell_tower
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import PositionReport
from motorpool.codecs.units import KNOTS_PER_KMH

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_WIDE_ID = 0xFE
"""The first byte of an id of two bytes."""
_CELLS = frozenset((0x0E, 0x0F, 0x10, 0x12, 0x13))
_ACCESS_POINTS = range(0x1D, 0x26)
_TEMPERATURES = range(0x2A, 0x32)
_NO_ADDRESSES = (bytes(6), b"\xff" * 6)
_FILE = re.compile(r"(20[0-9]{2}|[0-9]{2})(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[^/\\]*")
"""A file name begins with a date, whose year has four digits or two."""
_FILE_PROTOCOL = 2
_BATTERIES = ("batteryLevel", "battery2Level", "battery3Level")
_LOCK_VALUES: Final[Mapping[int, bool]] = {1: False, 2: True}
_UNSIGNED: Final[Mapping[int, Mapping[int, tuple[str, int]]]] = {
    1: {
        0x06: ("sat", 1),
        0x07: ("rssi", 1),
        0x14: ("output", 1),
        0x15: ("input", 1),
        0x97: ("throttle", 1),
        0x9D: ("fuel", 1),
        0xFE69: ("batteryLevel", 1),
    },
    2: {
        0x0A: ("hdop", 1),
        0x16: ("adc1", 100),
        0x17: ("adc2", 100),
        0x19: ("battery", 100),
        0x1A: ("power", 100),
        0x29: ("fuel", 100),
        0x91: ("obdSpeed", 1),
        0x92: ("obdSpeed", 1),
        0x98: ("fuelUsed", 1),
        0x99: ("rpm", 1),
        0xC9: ("fuelConsumption", 1),
    },
    4: {
        0x0C: ("odometer", 1),
        0x0D: ("runtime", 1),
        0x9B: ("obdOdometer", 1),
        0xA0: ("fuelUsed", 1000),
        0xA2: ("fuelConsumption", 100),
    },
}
"""Attributes that are numbers, and their divisors, by the size and the id of the parameter."""
_SIGNED: Final[Mapping[int, str]] = {0x9C: "coolantTemp", 0x9F: "temp1"}
"""Signed numbers of two bytes."""


class ParameterRecord:
    """One record, filled parameter by parameter."""

    def __init__(self) -> None:
        self._draft = Draft()
        self._latitude: float | None = None
        self._longitude: float | None = None

    def read(self, reader: ByteReader) -> None:
        """Read the groups of parameters of 1, 2 and 4 bytes, and of any length."""
        for size in (1, 2, 4):
            for _ in range(reader.uint8()):
                number = _read_id(reader)
                self._read_number(size, number, reader.reader(size))
        for _ in range(reader.uint8()):
            number = _read_id(reader)
            value = reader.reader(reader.uint8())
            try:
                self._read_value(number, value)
            except CodecError:
                continue  # A parameter that is too short says nothing of those after it.

    def report(self) -> PositionReport:
        """Return the record.

        Raises:
            CodecError: its coordinates do not exist.
        """
        draft, latitude, longitude = self._draft, self._latitude, self._longitude
        draft.set_place(latitude or 0.0, longitude or 0.0)
        has_place = latitude is not None and longitude is not None
        draft.located = has_place and bool(draft.valid or latitude or longitude)
        return draft.report()

    def _read_number(self, size: int, number: int, value: ByteReader) -> None:
        attributes = self._draft.attributes
        if found := _UNSIGNED[size].get(number):
            name, divisor = found
            integer = value.uint(size)
            attributes[name] = integer / divisor if divisor > 1 else integer
            return
        match size, number:
            case (1, 0x01) | (2, 0x40):
                add_event(attributes, value.uint(size))
            case 1, 0x05:
                self._draft.valid = value.uint8() > 0
            case 1, 0x47:
                if (lock := _LOCK_VALUES.get(value.uint8())) is not None:
                    attributes["lock"] = lock
            case 2, 0x08:
                self._draft.speed = value.uint16() * KNOTS_PER_KMH
            case 2, 0x09:
                course = value.uint16()
                self._draft.course = float(course) if course <= 360 else 0.0
            case 2, 0x0B:
                self._draft.altitude = float(value.sint(2))
            case 2, 0x9C | 0x9F:
                attributes[_SIGNED[number]] = value.sint(2)
            case 4, 0x02:
                self._latitude = value.sint(4) / 1e6
            case 4, 0x03:
                self._longitude = value.sint(4) / 1e6
            case 4, 0x04:
                self._draft.device_time = _EPOCH + timedelta(seconds=value.uint32())
            case 4, 0x25:
                attributes["driverUniqueId"] = str(value.uint32())
            case 4, 0xFEF4:
                attributes["hours"] = value.uint32() * 60_000
            case _:
                attributes[f"io{number}"] = value.uint(size)

    def _read_value(self, number: int, value: ByteReader) -> None:
        attributes = self._draft.attributes
        if number in _CELLS:
            country, operator, area = value.uint16(), value.uint16(), value.uint16()
            self._draft.towers.append(cell_tower(country, operator, area, value.uint32(), value.sint(2)))
        elif number in _ACCESS_POINTS:
            address, rssi = value.take(6), value.sint(2)
            if address not in _NO_ADDRESSES:
                self._draft.points.append(access_point(address.hex(), rssi))
        elif number in _TEMPERATURES:
            value.skip(1)  # label
            attributes[f"temp{number - _TEMPERATURES.start}"] = value.sint(2) / 100
        elif number == 0xFE31:
            self._read_alarm(value)
        elif number == 0xFE73:
            self._read_tag(value)
        elif number == 0xFEA8:
            for name in _BATTERIES:
                is_present, level = value.uint8(), value.uint8()
                if is_present:
                    attributes[name] = min(level, 100)
            if value.remaining:
                attributes["batteryAlert"] = value.uint8()

    def _read_alarm(self, value: ByteReader) -> None:
        has_file = value.remaining > 3
        protocol = value.uint8()
        self._draft.attributes["alarmType"] = value.uint8()
        if has_file and protocol == _FILE_PROTOCOL:
            name = value.ascii(value.remaining)
            if name.isprintable() and (found := _FILE.fullmatch(name)):
                self._draft.attributes["image"] = f"20{found[1][-2:]}-{found[2]}-{found[3]}/{name}"

    def _read_tag(self, value: ByteReader) -> None:
        value.skip(1)  # version
        name = value.ascii(value.uint8())
        address, battery = value.take(6), value.uint8()
        temperature, humidity = value.sint(2) / 256, value.sint(2) / 256
        if name:
            self._draft.attributes["tagName"] = name
        self._draft.attributes |= {
            "tagMac": access_point(address.hex())["macAddress"],
            "tagBattery": battery,
            "tagTemp": temperature,
            "tagHumidity": humidity,
        }


def _read_id(reader: ByteReader) -> int:
    first = reader.uint8()
    return first << 8 | reader.uint8() if first == _WIDE_ID else first
