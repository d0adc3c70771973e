"""NAL units in an Annex B byte stream (ITU-T H.264, annex B), parsed no further than needed."""

from collections.abc import Callable
from typing import NamedTuple

_START_CODE = b"\0\0\0\1"
_MAX_SET_ID = 255
_MAX_SET_BYTES = 1024
"""Real sets have some 10 to 100."""

SetKey = tuple[int, int]
"""NAL unit type and the set's own id."""


class ScannedUnit(NamedTuple):
    """An access unit, scanned up to its first slice."""

    has_picture: bool
    keyframe: bool
    sets: dict[SetKey, bytes]
    """Parameter sets, without start codes."""


DELTA_PICTURE = ScannedUnit(True, False, {})
"""A picture that is no key frame and has no parameter sets, as most are."""


def scan(
    payload: bytes,
    slice_keyframe: Callable[[int], bool | None],
    set_key: Callable[[bytes], SetKey | None],
) -> ScannedUnit:
    """Parse up to the first slice.

    `slice_keyframe` says of a NAL unit's first byte whether it begins a slice of a key frame, None for no
    slice; `set_key` returns the key of a NAL unit that is a parameter set.
    """
    sets: dict[SetKey, bytes] = {}
    start = payload.find(b"\0\0\1") + 3
    while 3 <= start < len(payload):
        keyframe = slice_keyframe(payload[start])
        if keyframe is not None:
            return ScannedUnit(True, keyframe, sets) if keyframe or sets else DELTA_PICTURE
        following = payload.find(b"\0\0\1", start)
        unit = payload[start:] if following < 0 else payload[start:following]
        key = set_key(unit)
        if key is not None and key[1] <= _MAX_SET_ID and len(unit) <= _MAX_SET_BYTES:
            sets[key] = unit.rstrip(b"\0")
        if following < 0:
            break
        start = following + 3
    return ScannedUnit(False, False, sets)


def insert_units(payload: bytes, units: list[bytes], is_delimiter: Callable[[int], bool]) -> bytes:
    """Return `payload` with these NAL units in front, behind its access unit delimiter where it has one."""
    start = payload.find(b"\0\0\1")
    position = 0
    if is_delimiter(payload[start + 3]):
        position = payload.find(b"\0\0\1", start + 3)
        position -= payload[position - 1] == 0
    inserted = b"".join([_START_CODE + unit for unit in units])
    return payload[:position] + inserted + payload[position:]


def begins_with(payload: bytes, first_bytes: tuple[bytes, ...]) -> bool:
    """Whether the first NAL unit of an access unit begins with any of these bytes."""
    start = payload.find(b"\0\0\1", 0, 8) + 3
    return start >= 3 and payload.startswith(first_bytes, start)


def exp_golomb(unit: bytes, first_byte: int) -> int:
    """Return the unsigned Exp-Golomb number (H.264, 9.1) that begins at a byte; 0 where bytes are missing."""
    field = unit[first_byte : first_byte + 8]
    bits = int.from_bytes(field)
    zeros = 8 * len(field) - bits.bit_length()
    if bits == 0 or 2 * zeros + 1 > 8 * len(field):
        return 0
    return (bits >> (8 * len(field) - 2 * zeros - 1)) - 1


def to_length_prefixed(payload: bytes) -> bytes:
    """Return the access unit as MP4 stores it: each NAL unit behind its length in four bytes."""
    if payload[:4] != b"\0\0\0\1":
        return join_with_lengths(nal_units(payload), 4)
    converted = bytearray(payload)
    end = len(payload)
    while True:
        position = payload.rfind(b"\0\0\1", 0, end) - 1
        size = end - position - 4
        if size <= 0 or payload[position] or not payload[end - 1]:
            return join_with_lengths(nal_units(payload), 4)  # a short start code, or zeros between units
        converted[position : position + 4] = size.to_bytes(4)
        if not position:
            return bytes(converted)
        end = position


def join_with_lengths(units: list[bytes], length_bytes: int = 2) -> bytes:
    """Return units each behind its length, by default as decoder configurations have parameter sets."""
    return b"".join([part for unit in units for part in (len(unit).to_bytes(length_bytes), unit)])


def nal_units(payload: bytes) -> list[bytes]:
    """Return all NAL units of an access unit, without start codes and the zeros between them."""
    found = []
    end = len(payload)
    # rfind is three times as fast as find here.
    while (position := payload.rfind(b"\0\0\1", 0, end)) >= 0:
        unit = payload[position + 3 : end].rstrip(b"\0")
        if unit:
            found.append(unit)
        end = position
    found.reverse()
    return found
