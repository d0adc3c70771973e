"""ADTS heads of AAC frames (ISO/IEC 13818-7 6.2): read where they are, written where they lack."""

from typing import NamedTuple

SAMPLE_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
FRAME_SAMPLES = 1024
_LOW_COMPLEXITY = 1  # the profile field's value: object type less one
HEAD_BYTES = 7
_CHECKSUM_BYTES = 2
LARGEST_FRAME = 0x1FFF - HEAD_BYTES
"""Bytes of a bare frame: the length field has 13 bits."""


class Extent(NamedTuple):
    """How long a unit of AAC sounds."""

    samples: int
    rate: int
    """Samples a second."""


def head(size: int, rate: int = 8000, channels: int = 1) -> bytes:
    """The head before a bare low-complexity frame of `size` bytes."""
    length = size + HEAD_BYTES
    assert size <= LARGEST_FRAME, size
    fields = (
        (0xFFF << 44)  # syncword
        | (1 << 40)  # MPEG-4, layer 0, no checksum: 0001
        | (_LOW_COMPLEXITY << 38)
        | (SAMPLE_RATES.index(rate) << 34)
        | (channels << 30)
        | (length << 13)
        | (0x7FF << 2)  # buffer fullness: variable rate
    )
    return fields.to_bytes(HEAD_BYTES)


def has_head(payload: bytes) -> bool:
    """Whether a unit begins with an ADTS head."""
    return len(payload) >= HEAD_BYTES and payload[0] == 0xFF and payload[1] & 0xF6 == 0xF0


def fixed_part(payload: bytes) -> bytes:
    """What stays the same from frame to frame: profile, rate and (half of) the channels."""
    return payload[1:3]


def is_bare_frame(payload: bytes, like: bytes) -> bool:
    """Whether a unit is one frame of 1024 samples without checksum, with the configuration of `like`."""
    return is_plain_frame(payload, like[1:3]) and payload[3] & 0xC0 == like[3] & 0xC0 and payload[1] & 1 == 1


def is_plain_frame(payload: bytes, fixed: bytes) -> bool:
    """Whether a unit is one frame of 1024 samples whose head goes on with `fixed`: the quick look."""
    return (
        len(payload) > HEAD_BYTES
        and payload[0] == 0xFF
        and payload[1:3] == fixed
        and (payload[3] & 3) << 11 | payload[4] << 3 | payload[5] >> 5 == len(payload)
        and payload[6] & 3 == 0
    )


def frames(payload: bytes) -> list[tuple[bytes, bytes]]:
    """The frames of a unit that `extent` believes, each as its AudioSpecificConfig and its bare bytes.

    The configuration (ISO/IEC 14496-3 1.6.2.1) is what MP4 says in place of the heads.
    """
    found = []
    start = 0
    while start + HEAD_BYTES <= len(payload):
        first, second = payload[start + 2], payload[start + 3]
        length = (second & 3) << 11 | payload[start + 4] << 3 | payload[start + 5] >> 5
        object_type, rate_index, channels = (first >> 6) + 1, first >> 2 & 15, (first & 1) << 2 | second >> 6
        config = (object_type << 11 | rate_index << 7 | channels << 3).to_bytes(2)
        bare = start + (HEAD_BYTES if payload[start + 1] & 1 else HEAD_BYTES + _CHECKSUM_BYTES)
        found.append((config, payload[bare : start + length]))
        start += length
    return found


def extent(payload: bytes) -> Extent | None:
    """The samples of all frames in a unit; None where its heads do not fit its bytes."""
    start = samples = rate = 0
    size = len(payload)
    while start + HEAD_BYTES <= size:
        if payload[start] != 0xFF or payload[start + 1] & 0xF6 != 0xF0:
            return None
        index = payload[start + 2] >> 2 & 15
        length = (payload[start + 3] & 3) << 11 | payload[start + 4] << 3 | payload[start + 5] >> 5
        if index >= len(SAMPLE_RATES) or length < HEAD_BYTES:
            return None
        rate = SAMPLE_RATES[index]
        samples += FRAME_SAMPLES * ((payload[start + 6] & 3) + 1)
        start += length
    return Extent(samples, rate) if start == size and samples else None
