"""Records with a GPS block: one function for each layout (docs/protocols/gt06.md#types).

Layouts are distinguished by the type, by the length that the frame says, and by the device's model.
"""

from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.gt06 import states
from motorpool.codecs.devices.gt06.models import LW_PREFIX, NT, QH302R, SEEWORLD
from motorpool.codecs.devices.gt06.record import (
    Message,
    Record,
    read_cell,
    read_gps,
    read_sized_cell,
    read_tail,
    read_time,
)
from motorpool.codecs.reader import ByteReader

PAGED = frozenset((0x27, 0x39, 0xA4))
"""Types in which the language byte has the page of the alarm."""
WITH_CELL = frozenset((0x11, 0x12, 0x1E, 0x22, 0x25, 0x2D, 0x31, 0x37, 0x38, 0xA0))
WITH_STATES = frozenset((0x16, 0x26, 0x27, 0x32, 0x39, 0xA2, 0xA3, 0xA4))
WITH_MODE = frozenset((0x22, 0x2D, 0x31, 0x37))
_ALWAYS = (WITH_CELL | WITH_STATES | {0x10, 0x1A}) - {0xA2, 0xA3, 0xA4}
_SL4X_CELLS = (0x34, 0x37)
_CARD_LENGTH = 0x71
"""Least length of a type 12 with a card."""
_GPS_BYTES = 18
_X1_BYTES = 51
_SATELLITES_AT = 6
_IDENTITY_BYTES, _TIME_BYTES = 8, 6
_LONG_CELLS_FROM = 3
_SIZE_OF_4G = b"\x10"
"""Least length of a cell with an area of 4 and a number of 8 bytes."""
_LANGUAGE_AND_ODOMETER = 5
_NT_BYTES = 13
"""What a type 22 of NT models has behind its cell."""


def is_location(message: Message, model: str) -> bool:
    """Whether a message has a GPS block."""
    kind, length = message.kind, message.length
    if kind in _ALWAYS or (kind, length) in _LAYOUTS:
        return True
    if (kind, length) == _SL4X_CELLS:
        # With a block, or with a timing advance where that would have its own length, 12.
        return message.reader.peek(_GPS_BYTES)[_SATELLITES_AT:][:1] >= b"\xc0"
    if kind == 0x34:
        return message.reader.remaining >= _X1_BYTES
    if kind == 0xA2:
        return model.startswith(LW_PREFIX)
    return kind in (0xA3, 0xA4) and length not in (0x0C, 0x18)


def read_location(record: Record, message: Message) -> None:
    """Read a record with a GPS block."""
    kind, length, reader = message.kind, message.length, message.reader
    key = kind, length
    layout = _LAYOUTS.get(key)
    if kind in (0x22, 0x25) and (record.model in NT or _has_identity(reader, 1)):
        _read_nt(record, kind, reader)
        return
    if kind == 0x34 and key != _SL4X_CELLS:
        _read_x1(record, reader)
        return
    if kind == 0x12 and (record.model == QH302R or _has_identity(reader, 0)):
        reader.skip(_IDENTITY_BYTES)
    read_gps(record, reader)
    record.attributes["type"] = kind
    if layout is not None:
        layout(record, reader)
    elif key == _SL4X_CELLS:
        _read_sl4x(record, reader)
    elif kind == 0x12 and length >= _CARD_LENGTH:
        _read_card(record, reader)
    else:
        if kind in WITH_STATES:
            _read_with_states(record, kind, reader)
        elif kind in WITH_CELL:
            _read_with_cell(record, kind, reader)
        if kind != 0x1E:
            read_tail(record, reader)


def _has_identity(reader: ByteReader, at: int) -> bool:
    """Whether an IMEI stands where a time would begin, or `at` bytes behind that, and a time behind it."""
    if reader.peek(1) > b"\x09":  # the first digit of an IMEI is 0, and before it stand small numbers
        return False
    data = reader.peek(at + _IDENTITY_BYTES + _TIME_BYTES)
    identity = data[at : at + _IDENTITY_BYTES]
    return (
        len(data) == at + _IDENTITY_BYTES + _TIME_BYTES
        and identity[:1] < b"\x10"
        and identity.hex().isdecimal()
        and read_time(ByteReader(data), UTC) is None
        and read_time(ByteReader(data[at + _IDENTITY_BYTES :]), UTC) is not None
    )


def _read_with_states(record: Record, kind: int, reader: ByteReader) -> None:
    # Some send the cell without its length; no country begins with the byte of one.
    first = reader.peek(1)
    if kind == 0x39 and first < b"\x08":
        _read_cell_of_kind(record, reader)
    elif b"\0" < first < b"\x08":
        read_cell(record, reader)
    elif kind == 0xA4 and first >= _SIZE_OF_4G:
        read_sized_cell(record, reader, area_size=4, cell_size=8)
    elif reader.remaining:
        read_sized_cell(record, reader)
    if not reader.remaining:
        return
    states.read_status(record, reader)
    if not reader.remaining:
        return
    alarm = reader.uint8()
    page = reader.peek(1)[0] >> 4 if reader.remaining and kind in PAGED else 0
    states.add_alarm(record, page << 8 | alarm)
    if kind in (0x27, 0xA4) and reader.remaining >= 2:
        reader.skip(1)
        record.attributes["geofence"] = str(reader.uint8())
    elif kind == 0x39 and reader.remaining:
        reader.skip(1)
        states.read_modules(record, reader)
    elif reader.remaining == _LANGUAGE_AND_ODOMETER:
        reader.skip(1)


def _read_with_cell(record: Record, kind: int, reader: ByteReader) -> None:
    attributes = record.attributes
    if kind == 0x38:
        attributes["event"] = reader.uint8()
        record.archived = attributes["archive"] = bool(reader.uint8())
    if reader.remaining < 8:
        return
    if kind == 0x11:
        read_cell(record, reader, mnc_size=2, cell_size=4)
    elif kind == 0x38:
        _read_cell_of_kind(record, reader)
    elif kind == 0xA0:
        read_cell(record, reader, area_size=4, cell_size=8)
    else:
        read_cell(record, reader, cell_size=4 if kind == 0x25 else 3)
    if kind not in WITH_MODE or reader.remaining < 3:
        return
    _read_mode(record, reader)
    if kind == 0x37:
        states.read_modules(record, reader)


def _read_cell_of_kind(record: Record, reader: ByteReader) -> None:
    """Read a cell behind the generation of its network, and its signal: from 3 on its numbers are longer."""
    if reader.uint8() >= _LONG_CELLS_FROM:
        read_cell(record, reader, area_size=4, cell_size=8)
        signal_size = 2
    else:
        read_cell(record, reader)
        signal_size = 1
    if reader.remaining >= signal_size:
        reader.skip(signal_size)


def _read_mode(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    attributes["ignition"] = bool(reader.uint8())
    attributes["event"] = reader.uint8()
    record.archived = attributes["archive"] = bool(reader.uint8())


# Layouts of single makers


def _read_card(record: Record, reader: ByteReader) -> None:
    read_cell(record, reader)
    record.attributes["odometer"] = reader.uint32()
    record.attributes["card"] = reader.ascii(reader.uint8())


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


def _read_vxt01(record: Record, reader: ByteReader) -> None:
    _begin_vxt01(record, reader)
    record.attributes["power"] = reader.uint16() / 100
    record.attributes["rssi"] = reader.uint8()


def _read_vxt01_alarm(record: Record, reader: ByteReader) -> None:
    _begin_vxt01(record, reader)
    if reader.remaining:
        states.add_battery(record.attributes, reader.uint8())
    if reader.remaining:
        record.attributes["rssi"] = reader.uint8()


def _begin_vxt01(record: Record, reader: ByteReader) -> None:
    record.model = "VXT01"
    read_cell(record, reader)
    states.add_states(record.attributes, reader.uint8(), record.model)


def _read_s5(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    read_cell(record, reader)
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
    read_cell(record, reader)
    attributes["odometer"] = reader.uint32()
    attributes["card"] = reader.ascii(reader.uint8())
    if reader.uint8():
        add_alarms(attributes, ("general",))
    attributes["cardStatus"] = reader.uint8()
    attributes["drivingTime"] = reader.uint16()


def _read_seeworld(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    read_cell(record, reader, cell_size=4)
    attributes["ignition"] = bool(reader.uint8())
    reader.skip(1)
    record.archived = attributes["archive"] = bool(reader.uint8())
    attributes["odometer"] = reader.uint32()
    reader.skip(4)
    if reader.remaining >= 4:
        attributes["temp1"] = _signed_magnitude(reader.uint16()) / 100
        attributes["humidity"] = reader.uint16() / 100


def _read_seeworld_alarm(record: Record, reader: ByteReader) -> None:
    record.model = record.model or SEEWORLD
    read_sized_cell(record, reader, cell_size=4)
    states.read_status(record, reader)
    if reader.remaining:
        states.add_alarm(record, reader.uint8())


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


def _read_sl4x(record: Record, reader: ByteReader) -> None:
    _read_sl4x_cell(record, reader)
    _read_mode(record, reader)
    if reader.remaining >= 6:
        record.attributes["odometer"] = reader.uint32()
    if reader.remaining >= 2:
        record.altitude = float(reader.sint(2))


def _read_sl4x_alarm(record: Record, reader: ByteReader) -> None:
    is_sized = reader.peek(1) > b"\x07"
    if is_sized:
        reader.skip(1)
    _read_sl4x_cell(record, reader)
    if reader.remaining >= 6:
        states.read_status(record, reader)
        states.add_alarm(record, reader.uint8())
    if is_sized and reader.remaining >= 3:
        reader.skip(1)  # language
    if reader.remaining >= 2:
        record.altitude = float(reader.sint(2))


def _read_sl4x_cell(record: Record, reader: ByteReader) -> None:
    # No cell has a number of more than 4 bytes: where the first ones of 8 are not zero it has only 4.
    is_long = not any(reader.peek(10)[6:])
    read_cell(record, reader, mnc_size=2, cell_size=8 if is_long else 4)


def _read_trx16i(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    if reader.peek(1) > b"\x07":
        # As an alarm: a cell behind its length, and states.
        read_sized_cell(record, reader)
        states.read_status(record, reader)
        states.add_alarm(record, reader.uint8())
        reader.skip(1)
    else:
        read_cell(record, reader)
        _read_mode(record, reader)
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
    cell_size = 4 if kind == 0x25 else 3
    if kind == 0x22 and reader.remaining == 5 + cell_size + _NT_BYTES:
        # Without its length.
        read_cell(record, reader, cell_size=cell_size)
    else:
        read_sized_cell(record, reader, cell_size=cell_size)
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
    read_tail(record, reader)


def _read_x1(record: Record, reader: ByteReader) -> None:
    attributes = record.attributes
    reader.skip(4)  # what data there are, alarms
    read_gps(record, reader)
    reader.skip(2)
    attributes["odometer"] = reader.uint32()
    read_cell(record, reader, cell_size=4)
    if driver := reader.uint32():
        attributes["driverUniqueId"] = str(driver)
    attributes["battery"] = reader.uint16() / 100
    attributes["power"] = reader.uint16() / 100
    ports = reader.uint32()
    attributes["input"] = reader.uint8()
    attributes["output"] = reader.uint8()
    for number in range(1, (ports >> 20 & 0xF) + 1):
        attributes[f"adc{number}"] = reader.uint16() / 100


def _read_tag(record: Record, reader: ByteReader) -> None:
    read_cell(record, reader)
    record.attributes["driverUniqueId"] = reader.digits(8)
    if reader.remaining:
        record.attributes["validity"] = reader.uint8()


_LAYOUTS: Final[Mapping[tuple[int, int], Callable[[Record, ByteReader], None]]] = {
    (0x12, 0x21): _read_benway,
    (0x12, 0x24): _read_vxt01,
    (0x12, 0x29): _read_wetrust,
    (0x12, 0x2B): _read_s5,
    (0x16, 0x24): _read_vxt01_alarm,
    (0x16, 0x26): _read_seeworld_alarm,
    (0x16, 0x2D): _read_trx16i,
    (0x17, 0x27): _read_tag,
    (0x17, 0x28): _read_tag,
    (0x22, 0x2F): _read_seeworld,
    (0x24, 0x2E): _read_sr411,
    (0x31, 0x2A): _read_sl4x,
    (0x32, 0x27): _read_sl4x_alarm,
    (0x32, 0x29): _read_sl4x_alarm,
    (0x36, 0x35): _read_trx16i,
    (0xA2, 0x40): _read_lw4g,
}
"""By type and length: what follows the GPS block of single makers."""


# Others


def read_key(record: Record, message: Message) -> None:
    """Read the IMEI, a GPS block and the key that a driver held to the reader."""
    reader = message.reader
    reader.skip(8)
    read_gps(record, reader)
    read_cell(record, reader, cell_size=4)
    record.attributes["driverUniqueId"] = str(reader.uint(6))


def _signed_magnitude(value: int) -> int:
    return -(value & 0x7FFF) if value & 0x8000 else value
