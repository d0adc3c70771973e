"""Packed messages, the "zip" format of older devices (docs/protocols/suntech.md#packed-messages)."""

from collections.abc import Mapping
from typing import Any, Final

from motorpool.codecs.devices.network import cell_tower
from motorpool.codecs.devices.suntech.legacy import EMERGENCIES
from motorpool.codecs.devices.suntech.record import ALERTS, Record, read_time
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import whole_number
from motorpool.codecs.reader import ByteReader

_STATUS, _EMERGENCY, _EVENT, _ALERT = PACKED_TYPES = (0x10, 0x11, 0x12, 0x13)
_VALID, _SOUTH, _WEST, _SATELLITES = 1 << 7, 1 << 6, 1 << 5, 0x1F
_ADDITION_BYTES: Final = 7
_CELL_BYTES: Final = 9
_INPUTS: Final = ("ignition", "in1", "in2", "in3", "out1", "out2")


def read_packed(kind: int, reader: ByteReader, options: Mapping[str, Any]) -> Record:
    """Read a message after its id."""
    record = Record()
    attributes = record.attributes
    reader.skip(1)  # model
    attributes["versionFw"] = str(reader.uint16())
    record.device_time = read_time(reader)
    reader.skip(2 + 1)  # area and the low byte of the cell
    latitude, longitude = _decimal(reader, 1, 3), _decimal(reader, 1, 3)
    speed, course = _decimal(reader, 2, 1), _decimal(reader, 2, 1)
    flags = reader.uint8()
    record.set_place(
        -latitude if flags & _SOUTH else latitude,
        -longitude if flags & _WEST else longitude,
    )
    record.set_motion(speed, course)
    record.valid = bool(flags & _VALID)
    attributes["sat"] = flags & _SATELLITES
    attributes["odometer"] = reader.uint32()
    attributes["power"] = _decimal(reader, 1, 1)
    bits = reader.uint8()
    for bit, name in enumerate(_INPUTS):
        attributes[name] = bool(bits >> bit & 1)
    code = reader.uint8()
    if kind == _EMERGENCY:
        record.add_alarm(EMERGENCIES.get(code))
    elif kind == _ALERT:
        record.add_alarm(ALERTS.get(code))
    else:
        attributes["event"] = code
    if kind == _STATUS and reader.remaining in (2, 2 + _ADDITION_BYTES):
        attributes["index"] = reader.uint16()
    told = whole_number(options.get("hbm"))
    if reader.remaining >= _CELL_BYTES and told == 2:
        cell, country, network = reader.uint16(), reader.uint16(), reader.uint8()
        rssi, area = reader.uint16(), reader.uint16()
        record.towers.append(cell_tower(country, network, area, cell, rssi))
    elif reader.remaining >= _ADDITION_BYTES and told != 0:
        attributes["hours"] = reader.uint32()
        attributes["battery"] = _decimal(reader, 1, 1)
        record.add_archive(reader.uint8() != 0)
    return record


def _decimal(reader: ByteReader, whole_bytes: int, decimal_bytes: int) -> float:
    """Read a number whose decimals are binary-coded decimal digits."""
    value = reader.uint(whole_bytes)
    digits = reader.digits(decimal_bytes)
    if not digits.isdecimal():
        raise CodecError(f"{digits} are no decimal digits")
    scale: int = 10 ** len(digits)
    return value + int(digits) / scale
