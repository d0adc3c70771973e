"""Places within messages that are passed through: locations without the fields in front or behind."""

import msgspec

from motorpool.codecs.devices.jt808.location import LOCATION_BYTES
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.times import BCD
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import PositionReport

_NO_ALARM = bytes(4)
_NO_MOTION = bytes(6)
_HEMISPHERE = 1 << 31
_POSITIONED, _SOUTH, _WEST = 2, 4, 8


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
    bits = (latitude != 0 or longitude != 0) * _POSITIONED
    bits |= (latitude < 0) * _SOUTH | (longitude < 0) * _WEST
    altitude, speed, course = motion
    body = (
        _NO_ALARM
        + bits.to_bytes(4, "big")
        + abs(latitude).to_bytes(4, "big")
        + abs(longitude).to_bytes(4, "big")
        + altitude.to_bytes(2, "big", signed=True)
        + speed.to_bytes(2, "big")
        + course.to_bytes(2, "big")
        + time
    )
    # There is no status word, so it says nothing.
    return msgspec.structs.replace(location_at(message, body), attributes={})


def is_bcd(stamp: bytes) -> bool:
    """Whether all digits are decimal."""
    return all(BCD[byte] is not None for byte in stamp)
