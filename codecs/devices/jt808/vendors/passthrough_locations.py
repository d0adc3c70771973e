"""Places within messages that are passed through: locations without the fields in front or behind."""

import msgspec

from motorpool.codecs.devices.jt808.location import KNOTS, LOCATION_BYTES
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.times import BCD
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import PositionReport

_NO_ALARM = bytes(4)
_NO_MOTION = bytes(6)
_HEMISPHERE = 1 << 31


def location_at(message: TerminalMessage, body: bytes, *, archived: bool = False) -> PositionReport:
    """Return the position of 28 bytes, with the meaning of the bits that the device's model has.

    Raises:
        Truncated: there are fewer.
    """
    return msgspec.structs.replace(message, body=body[:LOCATION_BYTES]).location(0, archived=archived)


def located(
    message: TerminalMessage, status_and_place: bytes, time: bytes, *, archived: bool = False
) -> PositionReport:
    """Return the position of status, latitude and longitude, 12 bytes, and a time of six.

    Raises:
        Truncated: there are fewer.
    """
    return location_at(message, _NO_ALARM + status_and_place + _NO_MOTION + time, archived=archived)


def holloo_place(message: TerminalMessage, fields: ByteReader) -> PositionReport:
    """Read time, latitude and longitude, whose first bits are south and west; without other attributes.

    Raises:
        Truncated: fewer than 14 bytes are left.
    """
    time, latitude, longitude = fields.take(6), fields.uint32(), fields.uint32()
    return place_of(
        message,
        time,
        -(latitude & ~_HEMISPHERE) if latitude & _HEMISPHERE else latitude,
        -(longitude & ~_HEMISPHERE) if longitude & _HEMISPHERE else longitude,
    )


def place_of(
    message: TerminalMessage,
    time: bytes,
    latitude: int,
    longitude: int,
    motion: tuple[int, int, int] = (0, 0, 0),
) -> PositionReport:
    """Return a position without attributes.

    Args:
        message: from which it is.
        time: BCD[6].
        latitude: millionths of a degree, south negative.
        longitude: millionths of a degree, west negative.
        motion: altitude in metres, speed in 0.1 km/h, course in degrees.
    """
    valid = latitude != 0 or longitude != 0
    altitude, speed, course = motion
    return PositionReport(
        {},
        message.clock.read(time),
        located=valid and abs(latitude) <= 90e6 and abs(longitude) <= 180e6,
        valid=valid,
        latitude=latitude / 1e6,
        longitude=longitude / 1e6,
        altitude=float(altitude),
        speed=speed * KNOTS,
        course=float(course) if course <= 360 else 0.0,
    )


def is_bcd(stamp: bytes) -> bool:
    """Whether all digits are decimal."""
    return all(BCD[byte] is not None for byte in stamp)
