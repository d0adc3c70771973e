"""Records and trouble codes (docs/protocols/ruptela.md#records)."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from struct import Struct
from typing import Any

from motorpool.codecs.devices.ruptela.elements import add_elements
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import PositionReport
from motorpool.codecs.units import KNOTS_PER_KMH

UNITS_PER_DEGREE = 10_000_000
FULL_CIRCLE = 36_000
_PLACE = Struct(">iiHHBHB")
"""Longitude, latitude, altitude, course, satellites, speed, hdop."""
_VALUE_BYTES = (1, 2, 4, 8)
_ARCHIVED = 2


@dataclass(slots=True)
class RawRecord:
    """A record whose bytes are divided, and not judged yet."""

    moment: datetime
    place: tuple[int, ...]
    """As in `_PLACE`."""
    event: int
    elements: dict[int, bytes] = field(default_factory=dict)
    is_continuation: bool = False
    """Whether its values belong to the record before."""


def read_records(reader: ByteReader, records: list[RawRecord], *, is_extended: bool) -> None:
    """Append the records of a packet; what continues a record is added to it.

    Raises:
        Truncated: they are longer than what is left; those before are appended.
    """
    reader.skip(1)  # number of records left in the device
    for _ in range(reader.uint8()):
        record = _read_record(reader, is_extended=is_extended)
        if record.is_continuation and records:
            records[-1].elements.update(record.elements)
        else:
            records.append(record)


def _read_record(reader: ByteReader, *, is_extended: bool) -> RawRecord:
    moment = datetime.fromtimestamp(reader.uint32(), UTC)
    reader.skip(1)  # timestamp extension
    parts = reader.uint8() if is_extended else 0
    reader.skip(1)  # priority
    number_bytes = 2 if is_extended else 1
    record = RawRecord(moment, _PLACE.unpack(reader.take(_PLACE.size)), reader.uint(number_bytes))
    record.is_continuation = 0 < parts & 0x0F <= parts >> 4
    for size in _VALUE_BYTES:
        for _ in range(reader.uint8()):
            number = reader.uint(number_bytes)
            record.elements[number] = reader.take(size)
    return record


def report_of(record: RawRecord) -> PositionReport:
    """Return the position of a record, without a location where there is no such place."""
    longitude, latitude, altitude, course, satellites, speed, hdop = record.place
    is_located = any((longitude, latitude, satellites)) and _is_place(longitude, latitude)
    attributes: dict[str, Any] = {"sat": satellites, "hdop": hdop / 10} if is_located else {}
    attributes["event"] = record.event
    add_elements(attributes, record.elements)
    if not is_located:
        return PositionReport(attributes, record.moment, located=False)
    return PositionReport(
        attributes,
        record.moment,
        valid=True,
        latitude=latitude / UNITS_PER_DEGREE,
        longitude=longitude / UNITS_PER_DEGREE,
        altitude=altitude / 10,
        speed=speed * KNOTS_PER_KMH,
        course=course / 100 if course <= FULL_CIRCLE else 0.0,
    )


def read_trouble_code(reader: ByteReader) -> PositionReport:
    """Read a trouble code with the time and place at which it was found.

    Raises:
        CodecError: the code is no text.
    """
    reader.skip(1)
    moment = datetime.fromtimestamp(reader.uint32(), UTC)
    longitude, latitude = reader.sint(4), reader.sint(4)
    is_archived = reader.uint8() == _ARCHIVED
    code = reader.ascii(5)
    if not code or not code.isprintable():
        raise CodecError("a trouble code that is no text")
    attributes: dict[str, Any] = {"dtcs": code}
    if is_archived:
        attributes["archive"] = True
    if not (longitude or latitude) or not _is_place(longitude, latitude):
        return PositionReport(attributes, moment, located=False, archived=is_archived)
    return PositionReport(
        attributes,
        moment,
        valid=True,
        latitude=latitude / UNITS_PER_DEGREE,
        longitude=longitude / UNITS_PER_DEGREE,
        archived=is_archived,
    )


def _is_place(longitude: int, latitude: int) -> bool:
    """Return whether there is such a place: without a fix both are -2147483648, which is none."""
    return abs(latitude) <= 90 * UNITS_PER_DEGREE and abs(longitude) <= 180 * UNITS_PER_DEGREE
