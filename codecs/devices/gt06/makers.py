"""Messages that only some makers send (docs/protocols/gt06.md#messages-of-single-makers)."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.gt06.record import (
    Message,
    Record,
    read_cell,
    read_fix,
    read_time,
)

AZ735_ALARM = 0x33
_AZ735_ALARMS: Final = {0xA2: "lowBattery", 0xA3: "lowBattery", 0xA4: "general", 0xA5: "door"}
_AZ735_ARMED: Final = {0xA0: True, 0xA1: False}
_OBD_TRAILER_BYTES = 12
_OBD: Final[Mapping[int, tuple[str, Callable[[int], Any]]]] = {
    0x28: ("odometer", lambda value: value * 10),
    0x2B: ("fuel", lambda value: value / 100),
    0x2D: ("coolantTemp", lambda value: value / 100),
    0x35: ("obdSpeed", lambda value: value / 100),
    0x36: ("rpm", lambda value: value / 100),
    0x47: ("fuelUsed", lambda value: value / 100),
    0x49: ("hours", lambda value: value * 36_000),
}
"""By the first two digits of a name: the attribute, of hundredths of a kilometre, litre, degree or hour."""
_OBD_VIN = 0x4A
_CELLS_OF_BATTERY = 14
_HEXADECIMAL = re.compile("[0-9A-Fa-f]{1,8}")


def read_battery_management(record: Record, message: Message) -> None:
    """Read what the management of a battery reports (WD-209)."""
    attributes, reader = record.attributes, message.reader
    reader.skip(8)  # serial number
    record.device_time = datetime.fromtimestamp(reader.uint32(), UTC)
    attributes["relativeCapacity"] = reader.uint8()
    attributes["remainingCapacity"] = reader.uint16()
    attributes["absoluteCapacity"] = reader.uint8()
    attributes["fullCapacity"] = reader.uint16()
    attributes["batteryHealth"] = reader.uint8()
    attributes["batteryTemp"] = round(reader.uint16() / 10 - 273.1, 1)
    attributes["current"] = reader.uint16()
    attributes["battery"] = reader.uint16() / 1000
    attributes["cycleIndex"] = reader.uint16()
    for number in range(1, _CELLS_OF_BATTERY + 1):
        attributes[f"batteryCell{number}"] = reader.uint16() / 1000
    attributes["currentChargeInterval"] = reader.uint16()
    attributes["maxChargeInterval"] = reader.uint16()
    attributes["barcode"] = reader.ascii(16)
    attributes["batteryVersion"] = reader.uint16()
    attributes["manufacturer"] = reader.ascii(16)
    for name in ("batteryStatus", "controllerStatus", "controllerFault"):
        attributes[name] = reader.uint32()


def read_clock_in(record: Record, message: Message) -> None:
    """Read that a driver has come to or left a beacon (Jimi)."""
    attributes, reader = record.attributes, message.reader
    record.device_time = read_time(reader, record.zone)
    attributes["rssi"] = reader.sint(1)
    attributes["tagMac"] = reader.digits(6)
    attributes["tagUuid"] = reader.digits(16)
    attributes["tagMajor"] = reader.uint16()
    attributes["tagMinor"] = reader.uint16()
    attributes["tagBattery"] = reader.uint16() / 100
    attributes["clock"] = reader.uint8() >> 2 & 0x0F


def read_obd(record: Record, message: Message) -> None:
    """Read the values of a vehicle's computer, as text (FM08ABC)."""
    attributes, reader = record.attributes, message.reader
    record.device_time = read_time(reader, record.zone)
    attributes["ignition"] = bool(reader.uint8())
    for pair in reader.ascii(max(0, reader.remaining - _OBD_TRAILER_BYTES)).split(","):
        name, _, text = pair.strip().partition("=")
        number, value = _hexadecimal(name[:2]), _hexadecimal(text)
        if number == _OBD_VIN and text:
            attributes["vin"] = text
        elif number is not None and number in _OBD and value is not None:
            key, convert = _OBD[number]
            attributes[key] = convert(value)


def read_az735(record: Record, message: Message) -> None:
    """Read a position or an alarm of an AZ735, with cells and access points that are skipped."""
    attributes, reader = record.attributes, message.reader
    record.device_time = read_time(reader, record.zone)
    if reader.uint8():
        read_fix(record, reader)
    size = reader.uint8()
    if size:
        read_cell(record, reader)
        reader.skip(max(0, size - 9))
        attributes["rssi"] = reader.uint8()
    for _ in range(2):
        reader.skip(reader.uint8())
    state = reader.uint8()
    attributes["status"] = state
    if message.kind == AZ735_ALARM:
        if state in _AZ735_ARMED:
            attributes["armed"] = _AZ735_ARMED[state]
        elif state in _AZ735_ALARMS:
            add_alarms(attributes, (_AZ735_ALARMS[state],))


def _hexadecimal(text: str) -> int | None:
    return int(text, 16) if _HEXADECIMAL.fullmatch(text) else None
