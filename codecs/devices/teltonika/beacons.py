"""Bluetooth beacons and tags (docs/protocols/teltonika.md#beacons)."""

from typing import Any

from motorpool.codecs.reader import ByteReader

_BATTERY, _TEMPERATURE = 0x02, 0x04
_LOW_BATTERY, _HAS_VOLTAGE = 0x40, 0x80


def read_beacons(value: bytes, attributes: dict[str, Any]) -> None:
    """Add the beacons of an element: identity and signal, voltage and temperature where they have them.

    Raises:
        Truncated: the last one is cut off; those before it are added.
    """
    reader = ByteReader(value)
    reader.skip(1)
    number = 0
    while reader.remaining:
        number += 1
        flags = reader.uint8()
        prefix = f"beacon{number}"
        if flags >> 4:
            attributes[f"{prefix}Uuid"] = reader.digits(16)
            attributes[f"{prefix}Major"] = reader.uint16()
            attributes[f"{prefix}Minor"] = reader.uint16()
        else:
            attributes[f"{prefix}Namespace"] = reader.digits(10)
            attributes[f"{prefix}Instance"] = reader.digits(6)
        attributes[f"{prefix}Rssi"] = reader.sint(1)
        if flags & _BATTERY:
            attributes[f"{prefix}Battery"] = reader.uint16() / 100
        if flags & _TEMPERATURE:
            attributes[f"{prefix}Temp"] = reader.uint16()


def read_tags(value: bytes, attributes: dict[str, Any]) -> None:
    """Add the tags of an element.

    Raises:
        Truncated: the last one is cut off; those before it are added.
    """
    reader = ByteReader(value)
    reader.skip(1)
    number = 0
    while reader.remaining:
        number += 1
        tag = reader.reader(reader.uint8())
        while tag.remaining:
            kind = tag.uint8()
            _read_tag_value(kind, tag.reader(tag.uint8()), f"tag{number}", attributes)


def _read_tag_value(kind: int, value: ByteReader, prefix: str, attributes: dict[str, Any]) -> None:
    match kind:
        case 0:
            attributes[f"{prefix}Rssi"] = value.sint(1)
        case 1:
            attributes[f"{prefix}Id"] = value.rest().hex()
        case 2:
            flags = value.uint8()
            if flags & _LOW_BATTERY:
                attributes[f"{prefix}LowBattery"] = True
            if flags & _HAS_VOLTAGE:
                attributes[f"{prefix}Voltage"] = value.uint8() * 10 + 2000
        case 5:
            attributes[f"{prefix}Name"] = value.ascii(value.remaining)
        case 6:
            attributes[f"{prefix}Temp"] = value.sint(2) / 100
        case 7:
            attributes[f"{prefix}Humidity"] = value.uint(value.remaining)
        case 8 | 9 | 13:
            key = {8: "Magnet", 9: "Motion", 13: "LowBattery"}[kind]
            attributes[f"{prefix}{key}"] = any(value.rest())
        case 10:
            attributes[f"{prefix}MotionCount"] = value.uint16()
        case 11:
            attributes[f"{prefix}Pitch"] = value.sint(1)
        case 12:
            attributes[f"{prefix}AngleRoll"] = value.sint(2)
        case 14:
            attributes[f"{prefix}Battery"] = value.uint16() / 1000
        case 15:
            attributes[f"{prefix}Mac"] = value.rest().hex()
