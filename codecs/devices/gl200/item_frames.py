"""Binary messages of numbered items, whose second byte is 0 (docs/protocols/gl200.md#frames-of-items)."""

from datetime import UTC, datetime
from typing import Any, Final

from motorpool.codecs.devices.framed_codec import MALFORMED
from motorpool.codecs.devices.framing import rejected
from motorpool.codecs.devices.gl200.binary import Identify
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import Heartbeat, PositionReport, Report
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

_LONG_FLAG = 0x80
_POSITION: Final = 0x52
_FIXED = 2
_MIN_RECORD_BYTES: Final = 8
_MICRODEGREES = 1_000_000


def read_items(frame: bytes, reports: list[Report], identify: Identify) -> None:
    """Read a message; a malformed record is rejected alone."""
    reader = ByteReader(frame, 4)
    if reader.uint8() & _LONG_FLAG:
        reader.skip(2)
    identify(reader.digits(8)[1:], reports)
    reader.skip(5)  # type of the device, version of the protocol, custom version
    reader.skip(reader.uint8())
    count = len(reports)
    while reader.remaining >= _MIN_RECORD_BYTES:
        size = _varlen(reader)
        if not _MIN_RECORD_BYTES <= size <= reader.remaining:
            break  # What ends the frame is no record.
        record = reader.take(size)
        try:
            reports.append(_read_record(ByteReader(record)))
        except MALFORMED as error:
            reports.append(rejected(error, record))
    if len(reports) == count:
        reports.append(Heartbeat())


def _read_record(reader: ByteReader) -> PositionReport:
    device_time = datetime.fromtimestamp(reader.uint32(), UTC)
    attributes: dict[str, Any] = {"index": reader.uint16()}
    reader.skip(1)  # number of the message
    attributes["event"] = reader.uint8()
    place: ByteReader | None = None
    while reader.remaining:
        number = _varlen(reader)
        value = reader.take(_varlen(reader))
        if number == _POSITION:
            place = ByteReader(value)
        elif len(value) <= 64:
            attributes[f"io{number}"] = value.hex()
    if place is None:
        return PositionReport(attributes, device_time, located=False)
    is_valid = place.uint8() >> 2 & 3 == _FIXED
    longitude, latitude = place.sint(4) / _MICRODEGREES, place.sint(4) / _MICRODEGREES
    checked_coordinates(latitude, longitude)
    fix_time = datetime.fromtimestamp(place.uint32(), UTC)
    speed = place.uint16() / 10 * KNOTS_PER_KMH
    attributes["hdop"] = place.uint8() / 10
    course, altitude = place.uint16(), place.sint(3) / 10
    attributes["sat"] = place.uint8()
    return PositionReport(
        attributes,
        device_time,
        fix_time,
        located=bool(is_valid or latitude or longitude),
        valid=is_valid,
        latitude=latitude,
        longitude=longitude,
        altitude=altitude,
        speed=speed,
        course=float(course) if course <= 360 else 0.0,
    )


def _varlen(reader: ByteReader) -> int:
    """Return a number of one byte, or of 15 bits after a bit that is set."""
    first = reader.uint8()
    return (first & 0x7F) << 8 | reader.uint8() if first & 0x80 else first
