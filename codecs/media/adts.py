"""ADTS headers of AAC frames (ISO/IEC 13818-7, 6.2): parsed, and written where they are missing."""

from typing import NamedTuple

SAMPLE_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
FRAME_SAMPLES = 1024
_LOW_COMPLEXITY = 1  # the profile field's value: object type less one
HEADER_BYTES = 7
_CHECKSUM_BYTES = 2
MAX_FRAME_BYTES = 0x1FFF - HEADER_BYTES
"""Bytes of a bare frame: the length field has 13 bits."""


class AudioLength(NamedTuple):
    """How long a unit of AAC plays."""

    samples: int
    rate: int
    """Samples per second."""


def header(size: int, rate: int = 8000, channels: int = 1) -> bytes:
    """Return the header of a bare low-complexity frame of `size` bytes."""
    length = size + HEADER_BYTES
    assert size <= MAX_FRAME_BYTES, size
    fields = (
        (0xFFF << 44)  # syncword
        | (1 << 40)  # MPEG-4, layer 0, no checksum: 0001
        | (_LOW_COMPLEXITY << 38)
        | (SAMPLE_RATES.index(rate) << 34)
        | (channels << 30)
        | (length << 13)
        | (0x7FF << 2)  # buffer fullness: variable rate
    )
    return fields.to_bytes(HEADER_BYTES)


def has_header(payload: bytes) -> bool:
    """Whether a unit begins with an ADTS headerer."""
    return len(payload) >= HEADER_BYTES and payload[0] == 0xFF and payload[1] & 0xF6 == 0xF0


def fixed_part(payload: bytes) -> bytes:
    """Return the header bytes that stay the same: profile, rate and (half of) the channels."""
    return payload[1:3]


def is_single_frame_without_checksum(payload: bytes, like: bytes) -> bool:
    """Whether a unit is one frame of 1024 samples without checksum, with the configuration of `like`."""
    return is_single_frame(payload, like[1:3]) and payload[3] & 0xC0 == like[3] & 0xC0 and payload[1] & 1 == 1


def is_single_frame(payload: bytes, fixed: bytes) -> bool:
    """Whether a unit is one frame of 1024 samples whose header continues with `fixed`."""
    return (
        len(payload) > HEADER_BYTES
        and payload[0] == 0xFF
        and payload[1:3] == fixed
        and (payload[3] & 3) << 11 | payload[4] << 3 | payload[5] >> 5 == len(payload)
        and payload[6] & 3 == 0
    )


def frames(payload: bytes) -> list[tuple[bytes, bytes]]:
    """Return the frames of a unit that `measure` accepts, each as its AudioSpecificConfig and its bare bytes.

    The configuration (ISO/IEC 14496-3, 1.6.2.1) is what MP4 has in place of the headers.
    """
    found = []
    start = 0
    while start + HEADER_BYTES <= len(payload):
        first, second = payload[start + 2], payload[start + 3]
        length = (second & 3) << 11 | payload[start + 4] << 3 | payload[start + 5] >> 5
        object_type, rate_index, channels = (first >> 6) + 1, first >> 2 & 15, (first & 1) << 2 | second >> 6
        config = (object_type << 11 | rate_index << 7 | channels << 3).to_bytes(2)
        bare = start + (HEADER_BYTES if payload[start + 1] & 1 else HEADER_BYTES + _CHECKSUM_BYTES)
        found.append((config, payload[bare : start + length]))
        start += length
    return found


def measure(payload: bytes) -> AudioLength | None:
    """Return the samples of all frames in a unit; None where its headers do not match its bytes."""
    start = samples = rate = 0
    size = len(payload)
    while start + HEADER_BYTES <= size:
        if payload[start] != 0xFF or payload[start + 1] & 0xF6 != 0xF0:
            return None
        index = payload[start + 2] >> 2 & 15
        length = (payload[start + 3] & 3) << 11 | payload[start + 4] << 3 | payload[start + 5] >> 5
        if index >= len(SAMPLE_RATES) or length < HEADER_BYTES:
            return None
        rate = SAMPLE_RATES[index]
        samples += FRAME_SAMPLES * ((payload[start + 6] & 3) + 1)
        start += length
    return AudioLength(samples, rate) if start == size and samples else None
