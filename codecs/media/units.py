"""Coded pictures and audio with the times of the device, as media protocols carry them."""

import enum

import msgspec


class Coding(enum.Enum):
    """How an access unit is coded."""

    H264 = "h264"
    H265 = "hevc"
    AAC = "aac"
    """With or without ADTS headers."""
    G711A = "alaw"
    G711U = "mulaw"
    G726 = "g726"
    ADPCM = "adpcm"
    """IMA (DVI4), 4 bit, high nibble first, each unit led by predictor and index
    (docs/protocols/jt1078.md#audio).
    """
    OTHER = "other"
    """Named by the peer but not supported: dropped and counted."""

    __hash__ = object.__hash__  # Enum's own is a Python function, which tables on the packet path would call

    @property
    def is_video(self) -> bool:
        """Whether it is a coding of pictures: one that `video_codecs.VIDEO_CODECS` has."""
        return self in (Coding.H264, Coding.H265)


class AccessUnit(msgspec.Struct, frozen=True, gc=False):
    """One coded picture, or one packet of audio, exactly as the device sent it."""

    channel: int
    """Logical camera channel as in the packet."""
    coding: Coding
    keyframe: bool
    """The device's mark; the bitstream decides (see `segmenter`)."""
    timestamp: int
    """Milliseconds by the device's media clock; any origin, may jump."""
    payload: bytes
    """Annex B for pictures; the bare codec frames for audio."""
    frame_interval: int = 0
    """Milliseconds since the previous picture, as the device says; 0 where unknown."""
