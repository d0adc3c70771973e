"""A record while its blocks are read one after the other."""

from datetime import UTC, datetime, tzinfo

import msgspec

from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.network import cell_tower
from motorpool.codecs.reader import ByteReader

UNITS_PER_DEGREE = 1_800_000
_COURSE, _NORTH, _WEST, _VALID, _HAS_IGNITION, _IGNITION = 0x3FF, 1 << 10, 1 << 11, 1 << 12, 1 << 14, 1 << 15
_LONG_MNC = 1 << 15
_CELL_BYTES = 8
_CELLS_BYTES, _USED_CELL_BYTES = 45, 9
"""A cell and its neighbours, for which a device without network sends zeros, and the first of them."""


class Message(msgspec.Struct):
    """A message that is not read yet."""

    kind: int
    """Its type."""
    length: int
    """As the frame says it, by which some layouts are distinguished."""
    reader: ByteReader
    """Its content."""


class Record(Draft):
    """The part of a record that has been read."""

    zone: tzinfo = UTC
    """Zone of the device's clock."""
    model: str = ""
    """Of the device, upper-case."""


def read_time(reader: ByteReader, zone: tzinfo) -> datetime | None:
    """Read year, month, day, hour, minute and second, a byte each; None where that is no time."""
    year, month, day, hour, minute, second = reader.take(6)
    try:
        return datetime(2000 + year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_degrees(reader: ByteReader) -> tuple[float, float]:
    """Read latitude and longitude, in degrees without their signs."""
    return reader.uint32() / UNITS_PER_DEGREE, reader.uint32() / UNITS_PER_DEGREE


def set_place(record: Record, latitude: float, longitude: float, kmh: float, flags: int) -> None:
    """Set what the fields of a place say; without a fix and at 0, 0 the record has no location."""
    if flags & _HAS_IGNITION:
        record.attributes["ignition"] = bool(flags & _IGNITION)
    record.valid = bool(flags & _VALID)
    if not record.valid and not latitude and not longitude:
        return
    record.set_place(latitude if flags & _NORTH else -latitude, -longitude if flags & _WEST else longitude)
    record.set_motion(kmh, float(flags & _COURSE))


def read_gps(record: Record, reader: ByteReader) -> None:
    """Read a GPS block: time, satellites, place, speed and course."""
    record.device_time = read_time(reader, record.zone)
    read_fix(record, reader)


def read_fix(record: Record, reader: ByteReader) -> None:
    """Read a GPS block behind its time."""
    record.attributes["sat"] = reader.uint8() & 0x0F
    latitude, longitude = read_degrees(reader)
    set_place(record, latitude, longitude, reader.uint8(), reader.uint16())


def read_cell(
    record: Record,
    reader: ByteReader,
    *,
    mnc_size: int | None = None,
    area_size: int = 2,
    cell_size: int = 3,
) -> None:
    """Read a cell: country and network, area and cell.

    `mnc_size` None: one byte for the network, or two where the highest bit of the country is set.
    """
    country = reader.uint16()
    if mnc_size is None:
        mnc_size = 2 if country & _LONG_MNC else 1
    network = reader.uint(mnc_size)
    area, cell = reader.uint(area_size), reader.uint(cell_size)
    record.towers.append(cell_tower(country & ~_LONG_MNC, network, area, cell))


def read_sized_cell(record: Record, reader: ByteReader, *, area_size: int = 2, cell_size: int = 3) -> None:
    """Read a cell behind a length, which counts itself; 0: there is none, but its bytes may be there."""
    size = reader.uint8()
    least = _CELL_BYTES - 5 + area_size + cell_size
    if not size:
        # Some pad with zeros, and some leave the cell out; what follows never has as many zeros.
        for padding, used in ((_CELLS_BYTES, _USED_CELL_BYTES), (least, 0)):
            if reader.remaining >= padding and not any(reader.peek(padding)[used:]):
                reader.skip(padding)
                return
        return
    if reader.peek(1) >= b"\x80":
        least += 1  # the network has two bytes
    # Some do not count the length itself.
    block = reader.reader(max(size - 1, least))
    read_cell(record, block, area_size=area_size, cell_size=cell_size)


def read_tail(record: Record, reader: ByteReader) -> None:
    """Read what follows the known parts where its length tells what it is: states of the upload, odometer."""
    attributes = record.attributes
    if reader.remaining in (3, 7):
        attributes["ignition"] = bool(reader.uint8())
        reader.skip(1)
        if reader.uint8():
            record.archived = attributes["archive"] = True
    if reader.remaining == 4:
        attributes["odometer"] = reader.uint32()
