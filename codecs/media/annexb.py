"""NAL units in an Annex B byte stream, looked at no further than needed."""

from collections.abc import Callable
from typing import NamedTuple

_LARGEST_ID = 255
_LARGEST_SET = 1024
"""Bytes; real sets have some 10 to 100."""

SetKey = tuple[int, int]
"""NAL unit type and the set's own id."""


class Leading(NamedTuple):
    """What stands at the head of an access unit, up to its first slice."""

    has_picture: bool
    keyframe: bool
    sets: dict[SetKey, bytes]
    """Parameter sets, without start codes."""


PLAIN_PICTURE = Leading(True, False, {})
"""A picture without parameter sets that is no key frame: all but one in twenty-five."""


def leading(
    payload: bytes,
    slice_keyframe: Callable[[int], bool | None],
    set_key: Callable[[bytes], SetKey | None],
) -> Leading:
    """Walk to the first slice; `slice_keyframe` is told a NAL unit's first byte, None means no slice."""
    sets: dict[SetKey, bytes] = {}
    start = payload.find(b"\0\0\1") + 3
    while 3 <= start < len(payload):
        keyframe = slice_keyframe(payload[start])
        if keyframe is not None:
            return Leading(True, keyframe, sets) if keyframe or sets else PLAIN_PICTURE
        following = payload.find(b"\0\0\1", start)
        unit = payload[start:] if following < 0 else payload[start:following]
        key = set_key(unit)
        if key is not None and key[1] <= _LARGEST_ID and len(unit) <= _LARGEST_SET:
            sets[key] = unit.rstrip(b"\0")
        if following < 0:
            break
        start = following + 3
    return Leading(False, False, sets)


def exp_golomb(unit: bytes, first_byte: int) -> int:
    """The unsigned exponential-Golomb number (H.264 9.1) that starts with a byte; 0 where bytes lack."""
    field = unit[first_byte : first_byte + 8]
    bits = int.from_bytes(field)
    zeros = 8 * len(field) - bits.bit_length()
    if bits == 0 or 2 * zeros + 1 > 8 * len(field):
        return 0
    return (bits >> (8 * len(field) - 2 * zeros - 1)) - 1


def with_lengths(payload: bytes) -> bytes:
    """The access unit as MP4 has it: before each NAL unit its length in four bytes, and no start code."""
    if payload[:4] != b"\0\0\0\1":
        return _joined(payload)
    found = bytearray(payload)
    end = len(payload)
    while True:
        place = payload.rfind(b"\0\0\1", 0, end) - 1
        size = end - place - 4
        if size <= 0 or payload[place] or not payload[end - 1]:
            return _joined(payload)  # a short start code, or zeros between units
        found[place : place + 4] = size.to_bytes(4)
        if not place:
            return bytes(found)
        end = place


def _joined(payload: bytes) -> bytes:
    return b"".join([part for unit in units(payload) for part in (len(unit).to_bytes(4), unit)])


def units(payload: bytes) -> list[bytes]:
    """All NAL units of an access unit, without start codes and the zeros between them."""
    found = []
    end = len(payload)
    # Backwards, which Python looks three times as fast.
    while (place := payload.rfind(b"\0\0\1", 0, end)) >= 0:
        unit = payload[place + 3 : end].rstrip(b"\0")
        if unit:
            found.append(unit)
        end = place
    found.reverse()
    return found
