"""What decides in an H.265 stream: key frames and parameter sets (ITU-T H.265 table 7-1)."""

from motorpool.codecs.media.annexb import PLAIN_PICTURE, Leading, SetKey, exp_golomb
from motorpool.codecs.media.annexb import leading as walk

VPS, SPS, PPS = 32, 33, 34
DELIMITER = 35
REQUIRED_SETS = frozenset((VPS, SPS, PPS))
ROOT_SETS = frozenset((VPS, SPS))
"""Sets on which the others build: with a new one the old others are void."""


def leading(payload: bytes) -> Leading:
    """What stands before the first slice. Key frames are the types 16 to 21: BLA, IDR and CRA."""
    if payload.startswith(b"\0\0\0\1") and len(payload) > 4 and payload[4] >> 1 < 16:
        return PLAIN_PICTURE
    return walk(payload, _slice_keyframe, _set_key)


def is_delimiter(first_byte: int) -> bool:
    """Whether a NAL unit is the access unit delimiter, which must stay in front."""
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
