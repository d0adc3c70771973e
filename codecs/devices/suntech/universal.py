"""Texts and binary messages in which a mask says which fields there are
(docs/protocols/suntech.md#universal-messages).
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.devices.network import cell_tower
from motorpool.codecs.devices.suntech.record import ALERTS, Fields, Record, hexadecimal, real, time_of, whole
from motorpool.codecs.devices.suntech.serial_data import read_serial_data
from motorpool.codecs.numbers import parse_whole
from motorpool.codecs.reader import ByteReader

UNIVERSAL_TYPES: Final = frozenset(("STT", "ALT", "UEX"))
STATUS, ALERT = 0x81, 0x82
_TAGS_MASK: Final = 0x1836
_DRIVER_ALERT: Final = 59
_CELL_BITS: Final = range(6, 11)
_NAMES: Final = ("Rssi", "Min", "Max", "Id", "Samples", "Major", "Minor")
"""Of the values of a tag; `tag1Rssi`."""
_SIGN: Final = 1 << 31


def read_universal(kind: str, fields: Fields) -> Record:
    """Read a text after its id: the mask and what it says."""
    record = Record({"type": kind})
    attributes = record.attributes
    mask = hexadecimal(fields.take())
    _read_fields(record, mask, fields)
    if kind == "UEX":
        read_serial_data(record, fields)
        return record
    alert = 0
    names = ("mode", "reason", "index") if kind == "STT" else ("alert", "alertModifier", "alertData")
    for bit, name in enumerate(names, 19):
        if not mask >> bit & 1:
            continue
        text = fields.take()
        if name == "alert":
            alert = whole(text)
            record.add_alarm(ALERTS.get(alert))
        elif text:
            number = parse_whole(text) if name != "alertData" else None
            attributes[name] = text if number is None else number
    if alert == _DRIVER_ALERT and "alertData" in attributes:
        attributes["driverUniqueId"] = attributes["alertData"]
    if mask >> 22 & 1:
        fields.skip(1)
    if mask >> 23 & 1:
        assigned = hexadecimal(fields.take())
        for bit in range(assigned.bit_length()):
            if assigned >> bit & 1:
                attributes[f"io{bit + 1}"] = fields.take()
    for number, text in enumerate(fields.rest(), 1):
        if text:
            attributes[f"assign{number}"] = text
    return record


def read_tags(kind: str, fields: Fields) -> Record:
    """Read the tags near a device, which have no mask: after their number seven values of each."""
    record = Record({"type": kind})
    _read_fields(record, _TAGS_MASK, fields)
    record.valid = bool(record.latitude or record.longitude)
    for number in range(1, whole(fields.take()) + 1):
        for name in _NAMES:
            text = fields.take()
            put(record.attributes, f"tag{number}{name}", parse_whole(text) if name != "Id" else text or None)
    return record


def _read_fields(record: Record, mask: int, fields: Fields) -> None:
    """Read the fields of bits 1 to 18, which all types have."""
    attributes = record.attributes
    values = {bit: fields.take() for bit in range(1, 19) if mask >> bit & 1}
    if 2 in values:
        attributes["versionFw"] = values[2]
    if 3 in values:
        record.add_archive(values[3] != "0")
    if 4 in values and 5 in values:
        record.device_time = time_of(values[4], values[5])
    if values.get(10):
        attributes["rssi"] = whole(values[10])
    if all(values.get(bit) for bit in _CELL_BITS):
        cell, area = hexadecimal(values[6]), hexadecimal(values[9])
        record.towers.append(
            cell_tower(whole(values[7]), whole(values[8]), area, cell, attributes.get("rssi"))
        )
    if 11 in values and 12 in values:
        record.set_place(real(values[11]), real(values[12]))
    record.set_motion(real(values.get(13) or "0"), real(values.get(14) or "0"))
    if values.get(15):
        attributes["sat"] = whole(values[15])
    record.valid = values.get(16) == "1"
    if values.get(17):
        _add_input(record, whole(values[17]))
    if values.get(18):
        attributes["output"] = whole(values[18])


def _add_input(record: Record, bits: int) -> None:
    record.attributes["input"] = bits
    record.attributes["ignition"] = bool(bits & 1)


def read_binary(kind: int, mask: int, reader: ByteReader) -> Record:
    """Read a status or an alert after its mask."""
    record = Record({"type": "STT" if kind == STATUS else "ALT"})
    attributes = record.attributes

    def has(bit: int) -> bool:
        return bool(mask >> bit & 1)

    def number(bit: int, size: int) -> int | None:
        return reader.uint(size) if has(bit) else None

    number(1, 1)  # model
    if has(2):
        attributes["versionFw"] = ".".join(str(part) for part in reader.take(3))
    if has(3):
        record.add_archive(reader.uint8() != 0)
    date = reader.take(3) if has(4) else None
    clock = reader.take(3) if has(5) else None
    if date and clock:
        hour, minute, second = clock
        record.device_time = datetime(2000 + date[0], date[1], date[2], hour, minute, second, tzinfo=UTC)
    cell, country, network = number(6, 4), number(7, 2), number(8, 2)
    area, rssi = number(9, 2), number(10, 1)
    if cell is not None and area is not None:
        record.towers.append(cell_tower(country, network, area, cell, rssi))
    put(attributes, "rssi", rssi)
    latitude, longitude = number(11, 4), number(12, 4)
    if latitude is not None and longitude is not None:
        record.set_place(_degrees(latitude), _degrees(longitude))
    speed, course = number(13, 2), number(14, 2)
    record.set_motion((speed or 0) / 100, (course or 0) / 100)
    put(attributes, "sat", number(15, 1))
    record.valid = bool(number(16, 1))
    bits = number(17, 1)
    if bits is not None:
        _add_input(record, bits)
    put(attributes, "output", number(18, 1))
    if kind == ALERT:
        _read_alert(record, number, reader, has_data=has(21))
    return record


def _read_alert(
    record: Record, number: Callable[[int, int], int | None], reader: ByteReader, *, has_data: bool
) -> None:
    alert = number(19, 1)
    if alert is not None:
        record.add_alarm(ALERTS.get(alert))
    put(record.attributes, "alertModifier", number(20, 2))
    if alert == _DRIVER_ALERT and has_data:
        record.attributes["driverUniqueId"] = reader.digits(8)


def _degrees(value: int) -> float:
    """Return degrees of sign and magnitude."""
    magnitude = (value & ~_SIGN) / 1_000_000
    return -magnitude if value & _SIGN else magnitude
