"""Records of cells and access points, without a location of their own (docs/protocols/gt06.md#types)."""

from datetime import datetime, tzinfo

from motorpool.codecs.devices.gt06.record import Message, Record, read_cell, read_time
from motorpool.codecs.devices.gt06.states import add_alarm, read_status
from motorpool.codecs.devices.network import access_point, cell_tower
from motorpool.codecs.reader import ByteReader

MAX_CELLS = 7
"""The one in use and its neighbours."""
_LONG_MNC = 1 << 15
_WIDE = frozenset((0xA1, 0xA2, 0xA5, 0xA7))
"""Types with areas of 4 and cells of 8 bytes, for 4G."""
_CELLS_OF_4 = frozenset((0x33, 0x34))
"""Types with cells of 4 bytes."""
_CELLS = {0x33: 6}
"""Number of cells where it is another one."""
_ACCESS_POINT_ALARM = 0xA9
_ADDRESS_REQUEST = 0xA7
"""A telephone number follows the cell."""
_WITH_ACCESS_POINTS = frozenset((0x18, 0x2C, 0x33, 0xA2, 0xA9))
_NO_ADDRESSES = (bytes(6), b"\xff" * 6)


def read_cells(record: Record, message: Message) -> None:
    """Read a time and cells, and access points in some types."""
    kind, reader = message.kind, message.reader
    is_s20, is_sl4x = (kind, message.length) == (0x24, 0x31), (kind, message.length) == (0x34, 0x37)
    record.device_time = read_time(reader, record.zone)
    if is_s20 or is_sl4x:
        reader.skip(1)  # timing advance
    country = reader.uint16()
    network = reader.uint(2 if country & _LONG_MNC or is_sl4x else 1)
    is_wide = kind in _WIDE or (kind == _ACCESS_POINT_ALARM and reader.uint8() > 0)
    count = reader.uint8() if is_s20 or kind == _ACCESS_POINT_ALARM else _CELLS.get(kind, MAX_CELLS)
    area_size, cell_size = (4, 8) if is_wide else (2, 4) if kind in _CELLS_OF_4 else (2, 3)
    for _ in range(count):
        if reader.remaining < area_size + cell_size + 1:
            break
        area, cell, rssi = reader.uint(area_size), reader.uint(cell_size), reader.uint8()
        record.towers.append(cell_tower(country & ~_LONG_MNC, network, area, cell, -rssi))
    if kind in _WITH_ACCESS_POINTS and reader.remaining >= 2:
        reader.skip(1)  # timing advance
        _read_points(record, reader, reader.uint8())
    if kind == _ACCESS_POINT_ALARM and reader.remaining:
        alarm = reader.uint8()
        add_alarm(record, (reader.uint8() >> 4 if reader.remaining else 0) << 8 | alarm)


def read_access_points(record: Record, message: Message) -> None:
    """Read a time and access points behind their number, each with its signal or behind two other bytes.

    The time is in decimal digits where it can be.
    """
    reader = message.reader
    record.device_time = _time_of_digits(reader.peek(6), record.zone) or read_time(
        ByteReader(reader.peek(6)), record.zone
    )
    reader.skip(6)
    count = reader.uint8()
    if reader.remaining >= 8 * count:
        for _ in range(count):
            reader.skip(2)
            _add_point(record, reader.take(6))
    else:
        _read_points(record, reader, count)


def read_counted_access_points(record: Record, message: Message) -> None:
    """Read a time in decimal digits, as many access points as the length says, and cells."""
    reader = message.reader
    record.device_time = _time_of_digits(reader.take(6), record.zone)
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
    """Read a cell, and but in requests for an address states, battery and signal, and an alarm."""
    reader = message.reader
    record.attributes["type"] = message.kind
    if message.kind in _WIDE:
        read_cell(record, reader, area_size=4, cell_size=8)
    else:
        read_cell(record, reader)
    if message.kind == _ADDRESS_REQUEST:
        return
    if reader.remaining:
        read_status(record, reader)
    if reader.remaining:
        add_alarm(record, reader.uint8())


def _time_of_digits(data: bytes, zone: tzinfo) -> datetime | None:
    digits = data.hex()
    if not digits.isdecimal():
        return None
    return read_time(ByteReader(bytes(int(digits[at : at + 2]) for at in range(0, 12, 2))), zone)


def _read_points(record: Record, reader: ByteReader, count: int) -> None:
    for _ in range(count):
        if reader.remaining < 7:
            break
        address, rssi = reader.take(6), reader.uint8()
        _add_point(record, address, -rssi)


def _add_point(record: Record, address: bytes, rssi: int | None = None) -> None:
    if address not in _NO_ADDRESSES:
        record.points.append(access_point(address.hex(), rssi))
