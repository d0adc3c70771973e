"""Key frames and parameter sets of an H.265 stream (ITU-T H.265, table 7-1)."""

from motorpool.codecs.media import annexb
from motorpool.codecs.media.annexb import DELTA_PICTURE, ScannedUnit, SetKey, exp_golomb

VPS, SPS, PPS = 32, 33, 34
DELIMITER = 35
FIRST_BYTES = (b"\x40\x01", b"\x42\x01", b"\x44\x01", b"\x46\x01")
"""Of a VPS, SPS, PPS or access unit delimiter."""


def scan(payload: bytes) -> ScannedUnit:
    """Return what precedes the first slice. Key frames are the types 16 to 21: BLA, IDR and CRA."""
    if payload.startswith(b"\0\0\0\1") and len(payload) > 4 and payload[4] >> 1 < 16:
        return DELTA_PICTURE
    return annexb.scan(payload, _slice_keyframe, _set_key)


def insert_sets(payload: bytes, sets: list[bytes]) -> bytes:
    """Return `payload` with these parameter sets in front, behind its access unit delimiter."""
    return annexb.insert_units(payload, sets, is_delimiter)


def is_delimiter(first_byte: int) -> bool:
    """Whether a NAL unit is the access unit delimiter, which must come first."""
    return first_byte >> 1 & 63 == DELIMITER


def _slice_keyframe(first_byte: int) -> bool | None:
    nal_type = first_byte >> 1 & 63
    return 16 <= nal_type <= 21 if nal_type < 32 else None


def _set_key(unit: bytes) -> SetKey | None:
    nal_type = unit[0] >> 1 & 63 if len(unit) > 2 else 0
    if nal_type == VPS:
        return VPS, unit[2] >> 4
    if nal_type == SPS:
        return SPS, 0  # its id lies behind the profile; devices have one
    if nal_type == PPS:
        return PPS, exp_golomb(unit, 2)
    return None
