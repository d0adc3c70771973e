"""Lengths of binary frames (docs/protocols/gl200.md#binary-frames)."""

from collections.abc import Mapping
from typing import Final

HEADER_BYTES: Final = 11
"""Bytes that decide on the length."""
_LENGTHS: Final[Mapping[bytes, tuple[int, int]]] = {
    **dict.fromkeys((b"+RSP", b"+BSP", b"+EVT", b"+BVT"), (9, 2)),
    **dict.fromkeys((b"+INF", b"+BNF"), (7, 2)),
    b"+ACK": (6, 1),
    b"+HBD": (5, 1),
    **dict.fromkeys((b"+CRD", b"+BRD", b"+LGN"), (6, 2)),
}
"""Offset and size of the length, by the beginning of the frame."""
_NO_FRAME = 1
_LONG_FLAG = 0x80


def is_binary(frame: bytes) -> bool:
    """Return whether a frame is binary, of the older kind."""
    return frame[:4] in _LENGTHS and not (frame.startswith(b"+ACK:"))


def is_item_frame(frame: bytes) -> bool:
    """Return whether a frame is of the kind whose second byte is 0."""
    return frame[1:2] == b"\0"


def measure(header: bytes) -> int:
    """Return the length of a binary frame; 1 for anything else."""
    if header[1] == 0:
        # The digits of the IMEI tell it from bytes that are no frame.
        digits = header[7:] if header[4] & _LONG_FLAG else header[5:]
        return int.from_bytes(header[2:4], "big") if digits.hex().isdecimal() else _NO_FRAME
    place = _LENGTHS.get(header[:4])
    if place is None or header.startswith(b"+ACK:"):
        return _NO_FRAME
    offset, size = place
    return int.from_bytes(header[offset : offset + size], "big")
