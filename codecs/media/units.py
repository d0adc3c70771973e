"""Coded pictures and audio with the times of the device, as media protocols carry them."""

import enum

import msgspec

from motorpool.codecs.media.video_codec import VideoCodec


class AudioCoding(enum.Enum):
    """How a unit of audio is coded."""

    AAC = "aac"
    """With or without ADTS headers."""
    G711A = "alaw"
    G711U = "mulaw"
    G726 = "g726"
    ADPCM = "adpcm"
    """IMA (DVI4), 4 bit, high nibble first, each unit led by predictor and index
    (docs/protocols/jt1078.md#audio).
    """


Coding = VideoCodec | AudioCoding
"""How an access unit is coded."""


class AccessUnit(msgspec.Struct, frozen=True, gc=False):
    """One coded picture, or one packet of audio, exactly as the device sent it."""

    channel: int
    """Logical camera channel as in the packet."""
    coding: Coding | None
    """None where the peer names one that is not supported: such units are dropped."""
    keyframe: bool
    """The device's mark; the bitstream decides (see `segmenter`)."""
    timestamp: int
    """Milliseconds by the device's media clock; any origin, may jump."""
    payload: bytes
    """A picture as its codec writes it into a stream (Annex B); the bare codec frames for audio."""
    frame_interval: int = 0
    """Milliseconds since the previous picture, as the device says; 0 where unknown."""

    @property
    def is_video(self) -> bool:
        """Whether it is a picture, of a codec that is supported."""
        return isinstance(self.coding, VideoCodec)
