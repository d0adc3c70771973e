"""States and alarms: the bytes of a status block (docs/protocols/gt06.md#status)."""

from collections.abc import Mapping
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.gt06.models import LW_PREFIX, R11, SEEWORLD, TRX16I, family
from motorpool.codecs.devices.gt06.record import Message, Record
from motorpool.codecs.reader import ByteReader

_ALARMS: Final[Mapping[int, str]] = {
    0x01: "sos",
    0x02: "powerCut",
    0x03: "vibration",
    0x04: "geofenceEnter",
    0x05: "geofenceExit",
    0x06: "overspeed",
    0x09: "vibration",
    0x0C: "tampering",
    0x0E: "lowBattery",
    0x0F: "lowBattery",
    0x11: "powerOff",
    0x13: "tampering",
    0x14: "door",
    0x18: "removing",
    0x19: "lowBattery",
    0x1A: "hardBraking",
    0x1B: "hardCornering",
    0x23: "fallDown",
    0x25: "tampering",
    0x26: "hardAcceleration",
    0x27: "hardBraking",
    0x28: "hardBraking",
    0x29: "hardAcceleration",
    0x2A: "hardCornering",
    0x2B: "hardCornering",
    0x2C: "accident",
    0x2E: "hardCornering",
    0x30: "jamming",
    0x32: "tampering",
    0x33: "lock",
    0x34: "unlock",
    0x53: "fuelLeak",
    0x5B: "temperature",
    0x5C: "temperature",
    0xC9: "idle",
    0xF0: "hardAcceleration",
    0xF1: "hardBraking",
    0xF2: "accident",
    0x0107: "jamming",
    0x010B: "jamming",
}
"""By the alarm byte; above 0xFF by page and alarm byte."""
_OF_MODEL: Final[Mapping[str, Mapping[int, str]]] = {
    "VL": {0x09: "tow", 0x28: "powerOff", 0x30: "hardBraking"},
    TRX16I: {0x09: "geofence", 0x0E: "lowPower"},
    SEEWORLD: {0x28: "hardCornering", 0x29: "accident"},
    "LW": {0x18: "accident", 0x19: "hardAcceleration"},
}
"""Alarms that mean something else in a model."""
_ALARM_STATES: Final = {
    1: "vibration",
    2: "powerCut",
    3: "lowBattery",
    4: "sos",
    6: "geofence",
    7: "removing",
}
"""By bits 3 to 5 of the state byte."""
HEARTBEAT = 0x13
_MAX_STEPS = 6
"""Batteries are reported in six steps, or in percent from 7 on."""


def add_alarm(record: Record, code: int) -> None:
    """Add the alarm of a code; unknown ones and 0 are none."""
    name = _OF_MODEL.get(family(record.model), {}).get(code) or _ALARMS.get(code)
    if name is not None:
        add_alarms(record.attributes, (name,))


def add_states(attributes: dict[str, Any], states: int, model: str = "") -> None:
    """Add what the state byte says: ignition, charging, blocked, and an alarm."""
    attributes["status"] = states
    attributes["ignition"] = bool(states & 0x02)
    attributes["charge"] = bool(states & 0x04)
    attributes["blocked"] = bool(states & 0x80)
    alarm = _ALARM_STATES.get(states >> 3 & 7)
    if alarm == "removing" and model == "VXT01":
        alarm = "overspeed"
    if alarm is not None:
        add_alarms(attributes, (alarm,))


def add_battery(attributes: dict[str, Any], level: int) -> None:
    """Add `batteryLevel`, in percent."""
    if level <= _MAX_STEPS:
        attributes["batteryLevel"] = level * 100 // _MAX_STEPS
    elif level <= 100:
        attributes["batteryLevel"] = level


def read_status(record: Record, reader: ByteReader) -> None:
    """Read states, battery and signal, of which the last ones may be missing."""
    add_states(record.attributes, reader.uint8(), record.model)
    if reader.remaining:
        add_battery(record.attributes, reader.uint8())
    if reader.remaining:
        record.attributes["rssi"] = reader.uint8()


def read_modules(record: Record, reader: ByteReader) -> None:
    """Read what modules add, each an id of two bytes, a length and the value."""
    attributes = record.attributes
    while reader.remaining >= 3:
        module = reader.uint16()
        value = reader.reader(reader.uint8())
        match module:
            case 0x0018:
                attributes["battery"] = value.uint16() / 100
            case 0x0027:
                attributes["power"] = value.uint16() / 100
            case 0x002E:
                attributes["odometer"] = value.uint32()
            case 0x0032:
                attributes["startupStatus"] = value.uint8()
            case 0x003B:
                record.accuracy = value.uint16() / 100
            case 0x006A:
                attributes["batteryLevel"] = value.uint8()


# Messages without a location


def read_states(record: Record, message: Message) -> None:
    """Read states, battery, signal and alarm, with what some models put in their places."""
    attributes, reader = record.attributes, message.reader
    attributes["type"] = message.kind
    if reader.remaining == 16:
        _read_long_states(record, reader)
        return
    if message.length == 0x13 and reader.remaining >= 11:
        _read_obd6(record, reader)
        return
    is_heartbeat = message.kind == HEARTBEAT
    if record.model == R11 and is_heartbeat and reader.remaining >= 3:
        add_states(attributes, reader.uint8(), record.model)
        attributes["power"] = reader.uint16() / 100
        if reader.remaining:
            attributes["rssi"] = reader.uint8()
    else:
        read_status(record, reader)
    if is_heartbeat and record.model.startswith(LW_PREFIX) and reader.remaining >= 2:
        attributes["power"] = (reader.uint16() & 0x0FFF) / 10
    elif is_heartbeat and record.model == SEEWORLD and reader.remaining:
        attributes["power"] = float(reader.uint8())
    elif reader.remaining:
        add_alarm(record, reader.uint8())


def _read_long_states(record: Record, reader: ByteReader) -> None:
    # states, satellites, alarm, language, battery, mode, voltage, reserved, times, temperature
    attributes = record.attributes
    add_states(attributes, reader.uint8(), record.model)
    reader.skip(2)
    add_alarm(record, reader.uint8())
    reader.skip(1)
    attributes["batteryLevel"] = min(100, reader.uint8())
    reader.skip(8)
    value = reader.uint16()
    degrees = (value & 0x7FFF) / 10
    # Unlike anywhere else the highest bit stands for a positive number.
    attributes["temp1"] = degrees if value & 0x8000 else -degrees


def _read_obd6(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    add_states(attributes, reader.uint8(), record.model)
    signal = reader.uint16()
    attributes["sat"] = (signal >> 10 & 0x1F) + (signal >> 5 & 0x1F)
    attributes["rssi"] = signal & 0x1F
    add_alarm(record, reader.uint8())
    reader.skip(1)
    attributes["batteryLevel"] = min(100, reader.uint8())
    mode = reader.uint8()
    attributes["power"] = reader.uint16() / 100
    reader.skip(1 + 2)
    if mode == 4 and reader.remaining >= 2:
        attributes["temp1"] = reader.sint(2) / 10


def read_states_with_modules(record: Record, message: Message) -> None:
    """Read states, battery, signal, alarm and language, and what modules add."""
    reader = message.reader
    record.attributes["type"] = message.kind
    read_status(record, reader)
    if reader.remaining:
        add_alarm(record, reader.uint8())
    if reader.remaining:
        reader.skip(1)
        read_modules(record, reader)


def read_heartbeat(record: Record, message: Message) -> None:
    """Read the states and voltages of a heartbeat."""
    attributes, reader = record.attributes, message.reader
    states = reader.uint8()
    attributes["status"] = states
    attributes["armed"], attributes["ignition"] = bool(states & 1), bool(states & 2)
    attributes["charge"] = bool(states & 4)
    if reader.remaining >= 2:
        attributes["battery"] = reader.uint16() / 100
    if reader.remaining:
        attributes["rssi"] = reader.uint8()
