"""JT/T 808 terminal parameters: names, widths and lists (docs/protocols/jt808.md#parameters)."""

import re
from struct import pack

from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.numbers import parse_whole
from motorpool.codecs.reader import ByteReader

HEARTBEAT_SECONDS = 0x01
SERVER = 0x13
TCP_PORT = 0x18
REPORT_SECONDS = 0x29
SPEED_LIMIT = 0x55
ODOMETER = 0x80

NAMES = {
    HEARTBEAT_SECONDS: "heartbeatSeconds",
    SERVER: "server",
    0x17: "backupServer",
    TCP_PORT: "tcpPort",
    0x19: "udpPort",
    0x20: "reportStrategy",
    0x27: "sleepReportSeconds",
    REPORT_SECONDS: "reportSeconds",
    0x2C: "reportMetres",
    SPEED_LIMIT: "maxSpeedKmh",
    0x56: "overspeedSeconds",
    0x57: "drivingSeconds",
    ODOMETER: "odometerTenthsKm",
    0x81: "province",
    0x82: "city",
    0x83: "plate",
    0x84: "plateColor",
}
"""Attribute names of parameters; others are called `parameter<id in hex>`."""

_HEXADECIMAL = re.compile(r"(?:0[xX])?[0-9a-fA-F]{1,8}")
_TEXTS = frozenset(
    (*range(0x10, 0x18), 0x1A, 0x1D, 0x23, 0x24, 0x25, 0x26, *range(0x40, 0x45), 0x48, 0x49, 0x83)
)
_BYTES = frozenset((0x84,))
_WORDS = frozenset((0x31, 0x5B, 0x5C, 0x5D, 0x5E, 0x81, 0x82))
_IDS = {name: number for number, name in NAMES.items()}


def read_parameters(fields: ByteReader) -> Attributes:
    """Read the list of 0x0104 and 0x8103 after its count: id DWORD, length BYTE, value, up to the end."""
    attributes: Attributes = {}
    while fields.remaining >= 5:
        number = fields.uint32()
        value = fields.take(min(fields.uint8(), fields.remaining))
        name = NAMES.get(number, f"parameter{number:04x}")
        if number in _TEXTS:
            attributes[name] = value.decode("gbk", "replace").strip("\0 ")
        elif len(value) in (1, 2, 4):
            attributes[name] = int.from_bytes(value, "big")
        else:
            attributes[name] = value.hex()
    return attributes


def write_parameters(values: dict[int, int | str | bytes]) -> bytes:
    """Return the body of 0x8103.

    Raises:
        UnsupportedCommand: a number exceeds its width, or a text is longer than 255 bytes.
    """
    body = bytes((len(values),))
    for number, value in values.items():
        field = _field(number, value)
        if len(field) > 255:
            raise UnsupportedCommand(f"the value of parameter 0x{number:04x} is longer than 255 bytes")
        body += pack(">IB", number, len(field)) + field
    return body


def parse_parameters(text: str) -> dict[int, int | str | bytes]:
    """Parse `name=value` or `0x0029=value`, separated by commas; `hex:` precedes a value in hex digits.

    Raises:
        UnsupportedCommand: not such a list.
    """
    values: dict[int, int | str | bytes] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        number = _IDS[name] if name in _IDS else _parse_id(name)
        try:
            parsed = _parse_value(number, value)
        except ValueError:
            parsed = None
        if parsed is None or not equals or not 0 <= number < 1 << 32:
            raise UnsupportedCommand(f"{part.strip()!r} is not a parameter: write 0x0029=30")
        values[number] = parsed
    if len(values) > 255:
        raise UnsupportedCommand("more than 255 parameters")
    return values


def _parse_id(name: str) -> int:
    """Return the number that the text writes in hexadecimal digits; -1 if it does not."""
    return int(name, 16) if _HEXADECIMAL.fullmatch(name) else -1


def _parse_value(number: int, value: str) -> int | str | bytes | None:
    if value.startswith("hex:"):
        return bytes.fromhex(value[4:])
    return value if number in _TEXTS else parse_whole(value)


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("gbk", "replace")
    width = 1 if number in _BYTES else 2 if number in _WORDS else 4
    if not 0 <= value < 1 << 8 * width:
        raise UnsupportedCommand(f"{value} does not fit the {width} bytes of parameter 0x{number:04x}")
    return value.to_bytes(width, "big")
