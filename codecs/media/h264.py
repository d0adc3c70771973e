"""What decides in an H.264 stream: key frames and parameter sets (ITU-T H.264 table 7-1)."""

from motorpool.codecs.media.annexb import PLAIN_PICTURE, Leading, SetKey, exp_golomb
from motorpool.codecs.media.annexb import leading as walk

SPS, PPS = 7, 8
DELIMITER = 9
REQUIRED_SETS = frozenset((SPS, PPS))
ROOT_SETS = frozenset((SPS,))
"""Sets on which the others build: with a new one the old others are void."""


def leading(payload: bytes) -> Leading:
    """What stands before the first slice. A key frame is an IDR picture, whatever the device marked."""
    if payload.startswith(b"\0\0\0\1") and len(payload) > 4 and payload[4] & 31 == 1:
        return PLAIN_PICTURE
    return walk(payload, _slice_keyframe, _set_key)


def is_delimiter(first_byte: int) -> bool:
    """Whether a NAL unit is the access unit delimiter, which must stay in front."""
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
