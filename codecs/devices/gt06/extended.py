"""Messages with a length of two bytes: information, blocks of numbered values, alarms with media
(docs/protocols/gt06.md#information).
"""

import re
from datetime import UTC, datetime
from typing import Final

from motorpool.codecs.devices.attributes import add_alarms, put
from motorpool.codecs.devices.gt06.record import (
    Message,
    Record,
    read_cell,
    read_degrees,
    read_gps,
    read_time,
    set_place,
)
from motorpool.codecs.numbers import parse_real
from motorpool.codecs.reader import ByteReader

_EVENTS: Final = {
    0x10: "door",
    0x12: "removing",
    0x14: "geofenceEnter",
    0x15: "geofenceExit",
    0x16: "temperature",
    0x1A: "lowBattery",
    0x1B: "overspeed",
    0x1C: "powerOn",
    0x1D: "powerOff",
    0x20: "vibration",
    0x21: "powerCut",
    0x23: "tampering",
}
_CAMERA_EVENTS: Final = {
    0x01: "sos",
    0x0E: "lowPower",
    0x76: "temperature",
    0x80: "vibration",
    0x87: "overspeed",
    0x88: "powerCut",
    0x90: "hardAcceleration",
    0x91: "hardBraking",
    0x92: "hardCornering",
    0x93: "accident",
}
_ALARM_STATUS = re.compile(r"ALM([0-9]{1,3})")
_PRINTABLE = re.compile(rb"[ -~\r\n\t]*")
_TEXT_LIMIT = 1000
_TIME_AND_EVENT = 7
_MIN_SATELLITES_BYTE = 0x0A
"""No latitude begins with such a byte."""
_JC400_MARK = b"\xff\xff"


def read_voltage(record: Record, message: Message) -> None:
    """Read the supply voltage, in hundredths of a volt."""
    record.attributes["power"] = message.reader.sint(2) / 100


def read_information(record: Record, message: Message) -> None:
    """Read information of one of several kinds."""
    attributes, reader = record.attributes, message.reader
    kind = reader.uint8()
    match kind:
        case 0x00:
            attributes["adc1"] = reader.uint16() / 100
        case 0x04:
            _read_state_text(record, reader.ascii(reader.remaining))
        case 0x05:
            if reader.remaining >= 7:
                record.device_time = read_time(reader, record.zone)
            doors = reader.uint8()
            attributes["door"], attributes["io1"] = bool(doors & 1), bool(doors & 4)
        case 0x0A:
            _add_identities(record, reader)
        case 0x0B if reader.remaining == 1:
            attributes["networkTechnology"] = "4G" if reader.uint8() else "2G"
        case 0x0B:
            attributes["power"] = reader.uint16() / 100
        case 0x0D:
            _read_fuel_sensor(record, reader.ascii(reader.remaining))
        case 0x1B:
            if reader.peek(1).isalpha():
                attributes["serial"] = reader.ascii(reader.remaining)
            else:
                reader.skip(2)
                attributes["driverUniqueId"] = reader.digits(4)
        case 0x1E:
            attributes["temp1"] = reader.sint(4) / 10
            attributes["humidity"] = reader.sint(4) / 10


def _read_state_text(record: Record, text: str) -> None:
    attributes = record.attributes
    for pair in text.split(";"):
        name, _, value = pair.partition("=")
        if not re.fullmatch(r"[0-9A-Fa-f]{1,8}", value):
            continue
        number = int(value, 16)
        if found := _ALARM_STATUS.fullmatch(name):
            attributes[f"alarm{found[1]}Status"] = number
        elif name == "STA1":
            attributes["otherStatus"] = number
        elif name == "DYD":
            attributes["engineStatus"] = number


def _read_fuel_sensor(record: Record, text: str) -> None:
    # !AIOIL,<number>,<output>,<temperature>,<version>,<states>,<fuel>,…: see the page.
    fields = text[max(0, text.find("!")) :].split(",")
    for name, at in (("temp1", 3), ("fuel", 6)):
        if len(fields) > at:
            put(record.attributes, name, parse_real(fields[at]))


def read_identities(record: Record, message: Message) -> None:
    """Read IMEI, IMSI and ICCID."""
    _add_identities(record, message.reader)


def _add_identities(record: Record, reader: ByteReader) -> None:
    reader.skip(8 + 8)
    record.attributes["iccid"] = reader.digits(10).rstrip("f")


def read_serial_data(record: Record, message: Message) -> None:
    """Read what came from a serial port: text as it is, anything else in hexadecimal digits."""
    message.reader.skip(1)
    data = message.reader.rest()[:_TEXT_LIMIT]
    text = data.decode("ascii").strip() if _PRINTABLE.fullmatch(data) else data.hex()
    if text:
        record.attributes["result"] = text


def read_camera_alarm(record: Record, message: Message) -> None:
    """Read the alarm of a camera and the names of its files."""
    attributes, reader = record.attributes, message.reader
    if reader.peek(2) == _JC400_MARK:
        reader.skip(3)
        record.device_time = read_time(reader, record.zone)
        attributes["sat"] = reader.uint8() & 0x0F
        latitude, longitude = read_degrees(reader)
        flags, speed = reader.uint16(), reader.uint16()
        set_place(record, latitude, longitude, speed, flags)
        if reader.remaining >= 2:
            attributes["power"] = reader.uint16() / 10
    elif reader.remaining > _TIME_AND_EVENT and reader.peek(7)[6] >= _MIN_SATELLITES_BYTE:
        read_gps(record, reader)
    elif reader.remaining > _TIME_AND_EVENT:
        # A block without satellites and speed.
        record.device_time = read_time(reader, record.zone)
        latitude, longitude = read_degrees(reader)
        set_place(record, latitude, longitude, 0, reader.uint16())
    elif reader.remaining == _TIME_AND_EVENT:
        record.device_time = read_time(reader, record.zone)
    if not reader.remaining:
        return
    event = reader.uint8()
    attributes["event"] = event
    if reader.remaining >= 2:
        attributes["eventData"] = reader.uint16()
    if files := reader.ascii(reader.remaining)[:_TEXT_LIMIT]:
        attributes["eventFiles"] = files
    name = _CAMERA_EVENTS.get(event)
    if name == "sos" and not record.located:
        name = "general"
    if name is not None:
        add_alarms(attributes, (name,))


def read_modular(record: Record, message: Message) -> None:
    """Read values that have a number of two bytes and a length of two bytes each."""
    reader = message.reader
    while reader.remaining >= 4:
        number = reader.uint16()
        value = reader.reader(reader.uint16())
        if value.remaining:
            _read_module(record, number, value)


def _read_module(record: Record, number: int, value: ByteReader) -> None:
    attributes = record.attributes
    match number:
        case 0x03:
            attributes["iccid"] = value.digits(10).rstrip("f")
        case 0x09:
            attributes["sat"] = value.uint8()
        case 0x0A:
            attributes["satVisible"] = value.uint8()
        case 0x11:
            read_cell(record, value, mnc_size=2)
            tower = record.towers[-1]
            if tower is not None and value.remaining:
                tower["signalStrength"] = -value.uint8()
        case 0x18:
            attributes["battery"] = value.uint16() / 100
        case 0x28:
            attributes["hdop"] = value.uint8() / 10
        case 0x29:
            attributes["index"] = value.uint32()
        case 0x2A:
            states = value.uint8()
            attributes["door"] = bool(states & 0x0F)
            attributes["tamper"] = bool(states & 0xF0)
        case 0x2B:
            attributes["bootReason"] = value.uint8()
        case 0x2E:
            attributes["odometer"] = int.from_bytes(value.take(4), "little")
        case 0x33:
            _read_module_place(record, value)
        case 0x34:
            _read_module_event(record, value)
        case 0x7F:
            _read_module_tag(record, value)


def _read_module_place(record: Record, value: ByteReader) -> None:
    record.device_time = datetime.fromtimestamp(value.uint32(), UTC)
    record.attributes["sat"] = value.uint8()
    altitude = value.sint(2)
    latitude, longitude = read_degrees(value)
    speed, flags = value.uint8(), value.uint16()
    set_place(record, latitude, longitude, speed, flags)
    if record.located:
        record.altitude = float(altitude)


def _read_module_event(record: Record, value: ByteReader) -> None:
    event = value.uint8()
    record.attributes["event"] = event
    if event in _EVENTS:
        add_alarms(record.attributes, (_EVENTS[event],))
    if value.remaining >= 4 and record.device_time is None:
        record.device_time = datetime.fromtimestamp(int.from_bytes(value.take(4), "little"), UTC)


def _read_module_tag(record: Record, value: ByteReader) -> None:
    attributes = record.attributes
    attributes["tag1Id"] = value.digits(6)
    attributes["tag1Battery"] = value.uint16() / 1000
    attributes["tag1BatteryLevel"] = value.uint8()
    attributes["tag1Temp"] = value.sint(2) / 10
    humidity = value.sint(2)
    attributes["tag1Humidity"] = humidity / 10 if humidity > 100 else humidity
    if value.remaining:
        attributes["tag1Status"] = value.uint8()


def read_status_values(record: Record, message: Message) -> None:
    """Read a time and the states of a Jimi device, each a number of two bytes, a length and the value."""
    attributes, reader = record.attributes, message.reader
    record.device_time = datetime.fromtimestamp(reader.uint32(), UTC)
    while reader.remaining >= 3:
        number = reader.uint16()
        value = reader.reader(reader.uint8())
        if not value.remaining:
            continue
        match number:
            case 0x0001:
                attributes["motion"] = value.uint8() in (2, 4)
            case 0x0002:
                attributes["armed"] = bool(value.uint8())
            case 0x0004:
                attributes["ignition"] = bool(value.uint8())
            case 0x0005:
                attributes["power"] = value.uint16() / 100
            case 0x0007:
                attributes["charge"] = bool(value.uint8())
            case 0x000A:
                attributes["chargeVoltage"] = value.uint16() / 100
            case 0x000B:
                attributes["batteryTemp"] = value.sint(2) / 10


def read_peripheral(record: Record, message: Message) -> None:
    """Read a time and what a Jimi device's peripherals report."""
    attributes, reader = record.attributes, message.reader
    record.device_time = datetime.fromtimestamp(reader.uint32(), UTC)
    while reader.remaining >= 3:
        number = reader.uint16()
        # Lengths have one byte or two, of which the first is zero then.
        size = reader.uint16() if number == 0x000A else reader.uint8() or reader.uint8()
        value = reader.reader(min(size, reader.remaining))
        if number == 0x000A:
            value.skip(1)
            attributes["mac"] = value.digits(6)
            for name in ("event", "eventData", "dataType"):
                attributes[name] = value.uint8()
            if not attributes["event"]:
                del attributes["eventData"]
            if value.remaining:
                attributes["dataDetails"] = value.rest().hex()
        elif number == 0x000C:
            attributes["externalBatteryLevel"] = value.uint8()
            attributes["externalBatteryCharge"] = bool(value.uint8())
            attributes["externalBatteryCycles"] = value.uint16()
