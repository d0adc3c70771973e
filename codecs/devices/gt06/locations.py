"""Records with a GPS block: one function for each layout (docs/protocols/gt06.md#types).

Layouts are distinguished by the type, by the length that the frame says, and by the device's model.
"""

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.gt06 import states
from motorpool.codecs.devices.gt06.record import (
    Message,
    Record,
    read_cell,
    read_gps,
    read_sized_cell,
    read_time,
)
from motorpool.codecs.reader import ByteReader

PAGED = frozenset((0x27, 0x39, 0xA4, 0xA9))
"""Types in which the language byte has the page of the alarm."""
WITH_CELL = frozenset((0x12, 0x22, 0x2D, 0x31, 0x37, 0xA0))
WITH_STATES = frozenset((0x16, 0x26, 0x27, 0x32, 0x39, 0xA2, 0xA3, 0xA4))
WITH_MODE = frozenset((0x22, 0x2D, 0x31, 0x37))
NT_MODELS = frozenset(("NT11", "NT20", "NT26", "NT40", "NT46", "VL100", "XT40"))
_SL4X = frozenset(((0x34, 0x37), (0x31, 0x2A), (0x32, 0x27), (0x32, 0x29)))
_ALWAYS = frozenset(
    (0x10, 0x11, 0x12, 0x16, 0x1A, 0x1E, 0x22, 0x26, 0x27, 0x2D, 0x31, 0x32, 0x37, 0x38, 0x39, 0xA0)
)


def is_location(kind: int, length: int, model: str) -> bool:
    """Whether a message has a GPS block."""
    if kind in _ALWAYS or (kind, length) in _SL4X or (kind, length) in ((0x24, 0x2E), (0x36, 0x35)):
        return True
    if kind == 0x25:
        return model in NT_MODELS
    if kind == 0xA2:
        return model.startswith("LW")
    return kind in (0xA3, 0xA4) and length not in (0x0C, 0x18)


def read_location(record: Record, message: Message) -> None:
    """Read a record with a GPS block."""
    kind, length, reader = message.kind, message.length, message.reader
    if record.model in NT_MODELS and kind in (0x22, 0x25):
        _read_nt(record, kind, reader)
        return
    if kind == 0x12 and record.model == "QH302R":
        reader.skip(8)
    if kind in (0x34, 0x31, 0x32) and (kind, length) in _SL4X:
        _read_sl4x(record, kind, reader)
        return
    read_gps(record, reader)
    record.attributes["type"] = kind
    if kind in (0x10, 0x1A):
        return
    if kind == 0x12 and length == 0x21:
        _read_benway(record, reader)
    elif (kind, length) in ((0x12, 0x24), (0x16, 0x24)):
        _read_vxt01(record, kind, reader)
    elif (kind, length) in ((0x22, 0x2F), (0x16, 0x26)):
        _read_seeworld(record, reader)
    elif kind == 0x24:
        _read_sr411(record, reader)
    elif kind == 0xA2 and length == 0x40:
        _read_lw4g(record, reader)
    elif (kind, length) in ((0x36, 0x35), (0x16, 0x2D)):
        _read_trx16i(record, reader)
    elif kind in WITH_STATES:
        _read_with_states(record, kind, reader)
    elif kind in (0x11, 0x1E, 0x38):
        _read_with_cell(record, kind, reader)
    elif kind in WITH_CELL:
        _read_with_tail(record, kind, length, reader)


def _read_with_cell(record: Record, kind: int, reader: ByteReader) -> None:
    if kind == 0x11:
        read_cell(record, reader, mnc_size=2, cell_size=4)
        return
    if kind == 0x38:
        reader.skip(2)
    if reader.remaining >= 8:
        read_cell(record, reader)


def _read_with_states(record: Record, kind: int, reader: ByteReader) -> None:
    # Some send the cell without its length as 39; no country begins with such a byte.
    if kind == 0x39 and reader.peek(1) < b"\x08":
        read_cell(record, reader)
    else:
        read_sized_cell(record, reader)
    if not reader.remaining:
        return
    states.read_status(record, reader)
    if not reader.remaining:
        return
    alarm = reader.uint8()
    page = reader.uint8() >> 4 if reader.remaining else 0
    states.add_alarm(record, page << 8 | alarm if kind in PAGED else alarm)
    if kind in (0x27, 0xA4) and reader.remaining:
        record.attributes["geofence"] = str(reader.uint8())
    elif kind == 0x39:
        states.read_modules(record, reader)


def _read_with_tail(record: Record, kind: int, length: int, reader: ByteReader) -> None:
    attributes = record.attributes
    if reader.remaining < 8:
        return
    if kind == 0xA0:
        read_cell(record, reader, area_size=4, cell_size=8)
    else:
        read_cell(record, reader)
    if kind == 0x12 and length == 0x2B:
        _read_s5(record, reader)
    elif kind == 0x12 and length == 0x29:
        _read_wetrust(record, reader)
    elif kind == 0x12 and length >= 0x71:
        attributes["odometer"] = reader.uint32()
        attributes["card"] = reader.ascii(reader.uint8())
    elif kind in WITH_MODE and reader.remaining >= 3:
        attributes["ignition"] = bool(reader.uint8())
        attributes["event"] = reader.uint8()
        record.archived = bool(reader.uint8())
        attributes["archive"] = record.archived
        if kind == 0x37:
            states.read_modules(record, reader)
    elif reader.remaining in (3, 7):
        attributes["ignition"] = bool(reader.uint8())
        reader.skip(1)
        record.archived = bool(reader.uint8())
        if reader.remaining == 4:
            attributes["odometer"] = reader.uint32()
    elif reader.remaining == 4:
        attributes["odometer"] = reader.uint32()


# Layouts of single makers


def _read_benway(record: Record, reader: ByteReader) -> None:
    read_cell(record, reader)
    bits = reader.uint16()
    attributes = record.attributes
    attributes["ignition"] = bool(bits & 1 << 15)
    attributes["in2"] = bool(bits & 1 << 14)
    if bits & 1 << 12:
        degrees = bits & 0x1FF
        attributes["temp1"] = -degrees if bits & 1 << 9 else degrees
    else:
        value = bits & 0x3FF
        attributes["adc1"] = value if bits & 1 << 13 else value / 10


def _read_vxt01(record: Record, kind: int, reader: ByteReader) -> None:
    record.model = "VXT01"
    read_cell(record, reader)
    states.add_states(record.attributes, reader.uint8(), record.model)
    if kind == 0x12:
        record.attributes["power"] = reader.uint16() / 100
        record.attributes["rssi"] = reader.uint8()
        return
    if reader.remaining:
        states.add_battery(record.attributes, reader.uint8())
    if reader.remaining:
        record.attributes["rssi"] = reader.uint8()


def _read_s5(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    states.add_states(attributes, reader.uint8(), record.model)
    attributes["power"] = reader.uint16() / 100
    attributes["rssi"] = reader.uint8()
    states.add_alarm(record, reader.uint8())
    attributes["oil"] = reader.uint16()
    temperature = reader.uint8()
    attributes["temp1"] = -(temperature & 0x7F) if temperature & 0x80 else temperature
    attributes["odometer"] = reader.uint32() * 10


def _read_wetrust(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    attributes["odometer"] = reader.uint32()
    attributes["card"] = reader.ascii(reader.uint8())
    if reader.uint8():
        add_alarms(attributes, ("general",))
    attributes["cardStatus"] = reader.uint8()
    attributes["drivingTime"] = reader.uint16()


def _read_seeworld(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    record.model = record.model or "SEEWORLD"
    read_cell(record, reader, cell_size=4)
    attributes["ignition"] = bool(reader.uint8())
    reader.skip(1)
    record.archived = bool(reader.uint8())
    attributes["odometer"] = reader.uint32()
    reader.skip(4)
    if reader.remaining >= 4:
        attributes["temp1"] = _signed_magnitude(reader.uint16()) / 100
        attributes["humidity"] = reader.uint16() / 100


def _read_sr411(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    read_cell(record, reader)
    attributes["ignition"] = bool(reader.uint8())
    attributes["power"] = reader.uint16() / 100
    attributes["battery"] = reader.uint16() / 100


def _read_lw4g(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    read_cell(record, reader, area_size=4, cell_size=8)
    reader.skip(1)
    states.add_states(attributes, reader.uint8(), record.model)
    attributes["power"] = reader.uint16() / 100
    states.add_battery(attributes, reader.uint8())
    attributes["rssi"] = reader.uint8()
    states.add_alarm(record, reader.uint8())
    reader.skip(1)
    attributes["odometer"] = reader.uint32()
    attributes["hours"] = reader.uint32() * 1000
    reader.skip(8)
    attributes["input"] = reader.uint16()


def _read_sl4x(record: Record, kind: int, reader: ByteReader) -> None:
    attributes = record.attributes
    read_gps(record, reader)
    attributes["type"] = kind
    read_cell(record, reader, mnc_size=2, cell_size=8)
    attributes["ignition"] = bool(reader.uint8())
    attributes["event"] = reader.uint8()
    record.archived = bool(reader.uint8())
    if reader.remaining >= 6:
        attributes["odometer"] = reader.uint32()
    if reader.remaining >= 2:
        record.altitude = float(reader.sint(2))


def _read_trx16i(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    read_cell(record, reader)
    attributes["ignition"] = bool(reader.uint8())
    attributes["event"] = reader.uint8()
    record.archived = bool(reader.uint8())
    attributes["odometer"] = reader.uint32()
    attributes["power"] = reader.uint16() / 100
    attributes["battery"] = reader.uint16() / 10
    attributes["hours"] = reader.uint(3) * 60_000
    if reader.remaining >= 8:
        attributes["driverUniqueId"] = reader.digits(8)


def _read_nt(record: Record, kind: int, reader: ByteReader) -> None:
    attributes = record.attributes
    reader.skip(1 + 8)
    device_time = read_time(reader, record.zone)
    read_gps(record, reader)
    record.fix_time, record.device_time = record.device_time, device_time
    attributes["type"] = kind
    read_cell(record, reader, cell_size=4 if kind == 0x25 else 3)
    states.add_states(attributes, reader.uint8(), record.model)
    attributes["power"] = reader.uint16() / 100
    attributes["battery"] = reader.uint8() / 10
    attributes["rssi"] = reader.uint8()
    states.add_alarm(record, reader.uint8())
    reader.skip(1)
    attributes["odometer"] = reader.uint(3)
    attributes["hours"] = reader.uint(3) * 60_000
    if kind == 0x25 and reader.remaining >= 2:
        size = reader.uint8()
        reader.skip(1)
        if size > 1 and reader.remaining >= size - 1:
            attributes["driverUniqueId"] = reader.digits(size - 1)


# Others


def read_tag(record: Record, message: Message) -> None:
    """Read a GPS block and the card of a driver."""
    reader = message.reader
    read_gps(record, reader)
    read_cell(record, reader)
    record.attributes["driverUniqueId"] = reader.digits(8)
    if reader.remaining:
        record.attributes["validity"] = reader.uint8()


def _signed_magnitude(value: int) -> int:
    return -(value & 0x7FFF) if value & 0x8000 else value
