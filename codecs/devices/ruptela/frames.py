"""Frames: a length, a body and a CRC (docs/protocols/ruptela.md#frames)."""

from typing import Final

from motorpool.codecs.checksums import crc16_kermit
from motorpool.codecs.devices.framing.shapes import INCOMPLETE, NO_FRAME, Shape

LENGTH_BYTES, IMEI_BYTES, CRC_BYTES = 2, 8, 2
MAX_FRAME_BYTES = LENGTH_BYTES + 0xFFFF + CRC_BYTES
SERVER_COMMAND = 100
"""Added to the number of a command in frames of the server."""
LONG_COMMANDS = frozenset((1, 2, 37, 68))
"""Commands whose frames may have any length: records, configuration, files."""
MAX_OTHER_BYTES = 5120
"""Of a frame with another command; 255 trouble codes have less."""
_MIN_IMEI_BYTES = 3
"""Bytes of an IMEI by which the next frame is recognised at the end of one that was cut off."""
_COMMAND_AT = LENGTH_BYTES + IMEI_BYTES
_HEADER_BYTES = _COMMAND_AT + 1
_MIN_FRAME_BYTES = _HEADER_BYTES + CRC_BYTES
_MAX_IMEI = 10**15 - 1
_TOO_LONG: Final = (0, 2, 4)
"""Bytes that a length may count too many: none, the CRC or the length, or both."""


def has_right_crc(data: bytes, start: int, end: int) -> bool:
    """Return whether the frame from `start` to `end` ends with the CRC of its body."""
    crc = int.from_bytes(data[end - CRC_BYTES : end], "big")
    return crc == crc16_kermit(data[start + LENGTH_BYTES : end - CRC_BYTES])


def with_right_crc(frame: bytes) -> bytes:
    """Return a frame with the CRC of its body."""
    body = frame[LENGTH_BYTES:-CRC_BYTES]
    return frame[:-CRC_BYTES] + crc16_kermit(body).to_bytes(CRC_BYTES, "big")


def server_frame(command: int, payload: bytes) -> bytes:
    """Return a frame of the server."""
    body = bytes((SERVER_COMMAND + command,)) + payload
    return len(body).to_bytes(LENGTH_BYTES, "big") + body + crc16_kermit(body).to_bytes(CRC_BYTES, "big")


class BodyWithCrc(Shape):
    """A frame of a device, which has no mark at its beginning: its IMEI has at most 15 digits.

    With a wrong CRC at the stated end, a frame ends where the CRC is right: at most 4 bytes earlier. Where
    it is right nowhere the stated end counts, unless the IMEI follows in the body again: then the frame was
    cut off, and ends before the length of the next one.
    """

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        body = start + LENGTH_BYTES
        if len(data) < start + _HEADER_BYTES:
            return INCOMPLETE
        size = LENGTH_BYTES + int.from_bytes(data[start:body], "big") + CRC_BYTES
        end = start + size
        imei = data[body : body + IMEI_BYTES]
        if size < _MIN_FRAME_BYTES or end > stop or int.from_bytes(imei, "big") > _MAX_IMEI:
            return NO_FRAME
        if size > MAX_OTHER_BYTES and data[start + _COMMAND_AT] not in LONG_COMMANDS:
            return NO_FRAME
        if end > len(data):
            return INCOMPLETE
        for excess in _TOO_LONG:
            if size - excess >= _MIN_FRAME_BYTES and has_right_crc(data, start, end - excess):
                return end - excess
        following = data.find(imei, body + IMEI_BYTES, end)
        if following >= 0:
            return following - LENGTH_BYTES
        for known in range(IMEI_BYTES - 1, _MIN_IMEI_BYTES - 1, -1):
            if end - known >= start + _MIN_FRAME_BYTES and data.startswith(imei[:known], end - known):
                return end - known - LENGTH_BYTES
        return end
