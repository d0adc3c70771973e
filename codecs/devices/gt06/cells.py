"""Records of cells and access points, without a location of their own (docs/protocols/gt06.md#types)."""

from motorpool.codecs.devices.gt06.record import Message, Record, read_cell, read_time
from motorpool.codecs.devices.gt06.states import add_alarm, read_status
from motorpool.codecs.devices.network import access_point, cell_tower
from motorpool.codecs.reader import ByteReader

MAX_CELLS = 7
"""The one in use and its neighbours."""
_LONG_MNC = 1 << 15
_WIDE = frozenset((0xA1, 0xA2, 0xA5, 0xA7, 0xA9))
"""Types with areas of 4 and cells of 8 bytes, for 4G."""
_WITH_ACCESS_POINTS = frozenset((0x18, 0x2C, 0x33, 0xA2, 0xA9))
_NO_ADDRESSES = (bytes(6), b"\xff" * 6)


def read_cells(record: Record, message: Message) -> None:
    """Read a time and cells, and access points in some types."""
    kind, reader = message.kind, message.reader
    record.device_time = read_time(reader, record.zone)
    country = reader.uint16()
    network = reader.uint(2 if country & _LONG_MNC else 1)
    count = reader.uint8() if kind == 0x24 and message.length == 0x31 else MAX_CELLS
    area_size, cell_size = (4, 8) if kind in _WIDE else (2, 3)
    for _ in range(count):
        if reader.remaining < area_size + cell_size + 1:
            break
        area, cell, rssi = reader.uint(area_size), reader.uint(cell_size), reader.uint8()
        record.towers.append(cell_tower(country & ~_LONG_MNC, network, area, cell, -rssi))
    if kind in _WITH_ACCESS_POINTS and reader.remaining >= 2:
        reader.skip(1)  # timing advance
        _read_points(record, reader, reader.uint8())


def read_access_points(record: Record, message: Message) -> None:
    """Read a time and access points behind their number."""
    record.device_time = read_time(message.reader, record.zone)
    _read_points(record, message.reader, message.reader.uint8())


def read_counted_access_points(record: Record, message: Message) -> None:
    """Read a time in decimal digits, as many access points as the length says, and cells."""
    reader = message.reader
    digits = reader.digits(6)
    time = bytes(int(digits[at : at + 2]) for at in range(0, 12, 2)) if digits.isdecimal() else bytes(6)
    record.device_time = read_time(ByteReader(time), record.zone)
    _read_points(record, reader, message.length)
    if reader.remaining < 4:
        return
    count, country, network = reader.uint8(), reader.uint16(), reader.uint8()
    for _ in range(count):
        if reader.remaining < 5:
            break
        area, cell, rssi = reader.uint16(), reader.uint16(), reader.uint8()
        record.towers.append(cell_tower(country, network, area, cell, -rssi))


def read_cell_and_states(record: Record, message: Message) -> None:
    """Read a cell, states, battery and signal, and an alarm."""
    reader = message.reader
    if message.kind in _WIDE:
        read_cell(record, reader, area_size=4, cell_size=8)
    else:
        read_cell(record, reader)
    if reader.remaining:
        read_status(record, reader)
    if reader.remaining:
        add_alarm(record, reader.uint8())


def _read_points(record: Record, reader: ByteReader, count: int) -> None:
    for _ in range(count):
        if reader.remaining < 7:
            break
        address, rssi = reader.take(6), reader.uint8()
        if address not in _NO_ADDRESSES:
            record.points.append(access_point(address.hex(), -rssi))
