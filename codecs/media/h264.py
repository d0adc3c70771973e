"""Key frames and parameter sets of an H.264 stream (ITU-T H.264, table 7-1)."""

from motorpool.codecs.media import annexb
from motorpool.codecs.media.annexb import DELTA_PICTURE, ScannedUnit, SetKey, exp_golomb

SPS, PPS = 7, 8
DELIMITER = 9
FIRST_BYTES = (b"\x67", b"\x47", b"\x27")
"""Of a sequence parameter set, with each nal_ref_idc."""


def scan(payload: bytes) -> ScannedUnit:
    """Return what precedes the first slice. A key frame is an IDR picture, whatever the device marked."""
    if payload.startswith(b"\0\0\0\1") and len(payload) > 4 and payload[4] & 31 == 1:
        return DELTA_PICTURE
    return annexb.scan(payload, _slice_keyframe, _set_key)


def insert_sets(payload: bytes, sets: list[bytes]) -> bytes:
    """Return `payload` with these parameter sets in front, behind its access unit delimiter."""
    return annexb.insert_units(payload, sets, is_delimiter)


def is_delimiter(first_byte: int) -> bool:
    """Whether a NAL unit is the access unit delimiter, which must come first."""
    return first_byte & 31 == DELIMITER


def _slice_keyframe(first_byte: int) -> bool | None:
    nal_type = first_byte & 31
    return nal_type == 5 if 1 <= nal_type <= 5 else None


def _set_key(unit: bytes) -> SetKey | None:
    nal_type = unit[0] & 31 if len(unit) > 1 else 0
    if nal_type == SPS:
        return SPS, exp_golomb(unit, 4)  # behind profile, constraints and level
    if nal_type == PPS:
        return PPS, exp_golomb(unit, 1)
    return None
