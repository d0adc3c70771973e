"""Binary records, all numbers of which are little-endian (docs/protocols/meitrack.md#binary-records)."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from motorpool.codecs.devices.framed_codec import MALFORMED
from motorpool.codecs.devices.framing import rejected
from motorpool.codecs.devices.meitrack.events import add_event
from motorpool.codecs.devices.meitrack.parameters import ParameterRecord
from motorpool.codecs.devices.network import cell_tower, network_of
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import PositionReport, Report
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

RECORD_BYTES: Final = 52
_HEADER_BYTES: Final = 8
_VALID = (1, ord("A"))
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)


def read_fixed_records(content: bytes, reports: list[Report]) -> int:
    """Read the records of a message CCC; return their number, with those that were rejected."""
    reader = ByteReader(content, order="little")
    reader.skip(_HEADER_BYTES)
    count = reader.remaining // RECORD_BYTES
    for _ in range(count):
        record = reader.take(RECORD_BYTES)
        try:
            reports.append(_read_fixed(ByteReader(record, order="little")))
        except MALFORMED as error:
            reports.append(rejected(error, record))
    return count


def read_parameter_records(content: bytes, reports: list[Report]) -> None:
    """Read the records of a message CCE; a malformed one is rejected alone."""
    reader = ByteReader(content, order="little")
    reader.skip(4)
    for _ in range(reader.uint16()):
        data = reader.take(reader.uint16())
        record = ParameterRecord()
        try:
            record.read(ByteReader(data, 2, "little"))  # after the index
            reports.append(record.report())
        except MALFORMED as error:
            reports.append(rejected(error, data or content))


def _read_fixed(reader: ByteReader) -> PositionReport:
    attributes: dict[str, Any] = {}
    add_event(attributes, reader.uint8())
    latitude, longitude = checked_coordinates(reader.sint(4) / 1e6, reader.sint(4) / 1e6)
    moment = _EPOCH + timedelta(seconds=reader.uint32())
    is_valid = reader.uint8() in _VALID
    attributes["sat"], attributes["rssi"] = reader.uint8(), reader.uint8()
    speed, course = reader.uint16() * KNOTS_PER_KMH, reader.uint16()
    attributes["hdop"] = reader.uint16() / 10
    altitude = reader.sint(2)
    attributes["odometer"], attributes["runtime"] = reader.uint32(), reader.uint32()
    country, operator, area, cell = (reader.uint16() for _ in range(4))
    attributes["status"], attributes["adc1"] = reader.uint16(), reader.uint16()
    attributes["battery"], attributes["power"] = reader.uint16() / 100, reader.uint16()
    if geofence := reader.uint32():
        attributes["geofence"] = str(geofence)
    return PositionReport(
        attributes,
        moment,
        located=bool(is_valid or latitude or longitude),
        valid=is_valid,
        latitude=latitude,
        longitude=longitude,
        altitude=float(altitude),
        speed=speed,
        course=float(course) if course <= 360 else 0.0,
        network=network_of((cell_tower(country, operator, area, cell),)),
    )
