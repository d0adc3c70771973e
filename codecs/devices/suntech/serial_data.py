"""Data that devices forward from a serial port (docs/protocols/suntech.md#serial-data)."""

import re

from motorpool.codecs.devices.suntech.record import Fields, Record, real, whole
from motorpool.codecs.numbers import parse_real

_DRIVER_ITEM = 4
_DIGITS = re.compile(r"[0-9A-Fa-f]{1,8}")
_VALUE = re.compile(
    r"(?:^|(?<=[;:,|\s]))(?:([tN])_?([0-9]{1,2})\s*=\s*([0-9A-Fa-f]{1,8})|Q[^=;]{0,9}=\s*([^;:,|\s]+))"
)


def read_serial_data(record: Record, fields: Fields) -> None:
    """Read a length, a text of that length, and its checksum."""
    text = fields.take_sized(whole(fields.take())).strip()
    if fields.remaining:
        fields.skip(1)
    _add_text(record, text)


def _add_text(record: Record, text: str) -> None:
    attributes = record.attributes
    fuels: list[float] = []
    for item in text.split(";"):
        if item.startswith("CabAVL"):
            fuels = [real(value) for value in item.split(",")[2:4]]
            attributes.update((f"fuel{number}", fuel) for number, fuel in enumerate(fuels, 1))
        elif item.startswith("GTSL|"):
            attributes["driverUniqueId"] = item.split("|")[_DRIVER_ITEM]
    values = list(_VALUE.finditer(text))
    for found in values:
        kind, number, digits, quality = found.groups()
        if kind == "t":
            attributes[f"temp{int(number)}"] = int(digits, 16)
        elif kind == "N":
            attributes[f"fuel{int(number)}"] = int(digits, 16)
            fuels.append(int(digits, 16))
        elif _DIGITS.fullmatch(quality):
            attributes["drivingQuality"] = int(quality, 16)
        else:
            rate = parse_real(quality)
            attributes["drivingQuality"] = quality if rate is None else rate
    if fuels:
        attributes["fuel"] = sum(fuels)
    elif text and not values and "driverUniqueId" not in attributes:
        attributes["serial"] = text
