"""Binary messages of the older kind (docs/protocols/gl200.md#binary-frames)."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from motorpool.codecs.devices.gl200.fields import STATES
from motorpool.codecs.devices.network import cell_tower, network_of
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import BitReader, ByteReader
from motorpool.codecs.reports import Heartbeat, PositionReport, Report, UnknownMessage
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

_EVENT_BYTES: Final = {
    6: 2,
    15: 3,
    17: 4,
    21: 5,
    23: 1,
    26: 12,
    31: 2,
    33: 1,
    34: 3,
    35: 1,
    45: 7,
    46: 7,
}
"""Bytes of an event before the number of its locations."""
_PHONE_TYPE, _RESERVED_TYPE, _COMPRESSED_TYPE = 3, 8, 100
_SIGNAL, _BATTERY = 5, 7
_FULL, _DELTA = 1, 2
_MAX_POINTS = 3600
_MICRODEGREES = 1_000_000

Identify = Callable[[str, list[Report]], None]


def read_binary(frame: bytes, reports: list[Report], identify: Identify) -> None:
    """Read a message that begins with one of the binary headers."""
    header = frame[:4]
    reader = ByteReader(frame, 4)
    if header in (b"+RSP", b"+BSP", b"+EVT", b"+BVT"):
        _read_positions(reader, reports, identify, header)
    elif header in (b"+INF", b"+BNF"):
        _read_information(reader, reports, identify)
    elif header == b"+HBD":
        identify("", reports)
        reports.append(Heartbeat())
    else:
        identify("", reports)
        reports.append(UnknownMessage(frame, header[1:].decode()))


def _read_positions(reader: ByteReader, reports: list[Report], identify: Identify, header: bytes) -> None:
    kind = reader.uint8()
    reader.skip(7)  # mask, length, type of the device
    reader.skip(2)  # version of the protocol
    firmware = reader.uint16()
    identify(f"{reader.uint64():015}", reports)
    is_event = header.endswith(b"VT")
    attributes: dict[str, Any] = {}
    if is_archived := header.startswith(b"+B"):
        attributes["archive"] = True
    if is_event:
        attributes |= {"event": kind, "versionFw": firmware}
    level = reader.uint8()
    if level <= 100:
        attributes["batteryLevel"] = level
    attributes["power"] = reader.uint16()
    if not is_event and kind == _RESERVED_TYPE:
        reader.skip(2)
    state = reader.uint8()
    attributes |= STATES.get(state, {"motion": bool(state)})
    attributes["sat"] = reader.uint8()
    if is_event:
        reader.skip(_EVENT_BYTES.get(kind, 0))
    else:
        if kind != _COMPRESSED_TYPE:
            reader.skip(1)  # index
        if kind == _PHONE_TYPE:
            attributes["phone"] = _read_phone(reader)
        if kind == _COMPRESSED_TYPE:
            reports += _compressed(reader, attributes, is_archived)
            return
    for _ in range(reader.uint8()):
        reports.append(_location(reader, dict(attributes), is_archived))


def _read_phone(reader: ByteReader) -> str:
    digits = ""
    reader.skip(1)  # number of digits
    while True:
        pair = reader.digits(1)
        digits += pair
        if "f" in pair:
            return digits.partition("f")[0]


def _location(reader: ByteReader, attributes: dict[str, Any], is_archived: bool) -> PositionReport:
    hdop = reader.uint8()
    attributes["hdop"] = hdop
    speed, course, altitude = reader.uint(3) / 10 * KNOTS_PER_KMH, reader.uint16(), reader.sint(2)
    longitude, latitude = reader.sint(4) / _MICRODEGREES, reader.sint(4) / _MICRODEGREES
    place = checked_coordinates(latitude, longitude)
    year, (month, day, hour, minute, second) = reader.uint16(), reader.take(5)
    moment = datetime(year, month, day, hour, minute, second, 0, UTC)
    tower = cell_tower(reader.uint16(), reader.uint16(), reader.uint16(), reader.uint16())
    reader.skip(1)
    return PositionReport(
        attributes,
        moment,
        located=bool(hdop or any(place)),
        valid=hdop > 0,
        latitude=latitude,
        longitude=longitude,
        altitude=float(altitude),
        speed=speed,
        course=float(course) if course <= 360 else 0.0,
        network=network_of((tower,)),
        archived=is_archived,
    )


def _compressed(
    reader: ByteReader, attributes: dict[str, Any], is_archived: bool
) -> Iterator[PositionReport]:
    """Yield locations a second apart, whose first is whole and the others mostly differences."""
    moment: datetime | None = None
    speed = course = longitude = latitude = 0
    for _ in range(min(reader.uint16(), _MAX_POINTS)):
        kind = reader.peek(1)[0] >> 6 if reader.remaining else 0
        if kind == _FULL:
            bits = BitReader(reader.take(3))
            bits.uint(3)
            speed, course = bits.uint(12), bits.uint(9)
            longitude, latitude = reader.sint(4), reader.sint(4)
            if moment is None:
                moment = datetime.fromtimestamp(reader.uint32(), UTC) - timedelta(seconds=1)
        elif kind == _DELTA:
            bits = BitReader(reader.take(5))
            bits.uint(3)
            speed, course = speed + bits.sint(7), course + bits.sint(7)
            longitude, latitude = longitude + bits.sint(12), latitude + bits.sint(11)
        else:
            reader.skip(1)
        if moment is None:
            raise CodecError("a difference before a location")
        moment += timedelta(seconds=1)
        if kind not in (_FULL, _DELTA):
            continue
        place = checked_coordinates(latitude / _MICRODEGREES, longitude / _MICRODEGREES)
        yield PositionReport(
            dict(attributes),
            moment,
            valid=True,
            latitude=place[0],
            longitude=place[1],
            speed=max(0, speed) / 10 * KNOTS_PER_KMH,
            course=float(course % 360),
            archived=is_archived,
        )


def _read_information(reader: ByteReader, reports: list[Report], identify: Identify) -> None:
    kind = reader.uint8()
    reader.skip(4)  # mask and length
    identify(f"{reader.uint64():015}", reports)
    reader.skip(3)  # type of the device, version of the protocol
    attributes: dict[str, Any] = {"versionFw": reader.uint16()}
    if kind == _BATTERY:
        attributes["charge"] = bool(reader.uint8())
        attributes["power"], attributes["battery"] = reader.uint16() / 1000, reader.uint16() / 1000
        level = reader.uint8()
        if level <= 100:
            attributes["batteryLevel"] = level
    elif kind == _SIGNAL:
        attributes["rssi"] = reader.uint8()
    reports.append(PositionReport(attributes, located=False))
