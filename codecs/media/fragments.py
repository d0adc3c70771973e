"""The segmenter's output: frames with presentation times, gathered into fragments.

Times are 90 kHz ticks and are not wrapped at 33 bits. Values of this module hold media bytes: messages that
carry them stay on their node.
"""

from datetime import datetime

import msgspec

from motorpool.codecs.media.units import AudioCoding
from motorpool.codecs.media.video_codec import VideoCodec


class AudioFrame(msgspec.Struct, frozen=True, gc=False):
    """One unit of audio with its presentation time."""

    pts: int
    coding: AudioCoding
    payload: bytes
    samples: int
    """How many it decodes to."""
    g726_bits: int = 0
    """Bits of a sample; 0 for all other codings."""


class TimedPicture(msgspec.Struct, frozen=True, gc=False):
    """One coded picture with its presentation time."""

    pts: int
    payload: bytes
    keyframe: bool
    """Decodable from here: a key frame with its parameter sets."""


class Keyframe(msgspec.Struct, frozen=True, gc=False):
    """A picture that decodes on its own: the source of snapshots."""

    coding: VideoCodec
    payload: bytes
    pts: int
    """Unique within its segmenter, and never going back."""
    arrived_at: float
    """Monotonic seconds, as passed to `Segmenter.push`."""


class MediaFragment(msgspec.Struct, frozen=True):
    """All that one segment is muxed from, or one part of it."""

    start: int
    end: int
    """The start of the next fragment."""
    coding: VideoCodec | None
    """Codec of the pictures; None for audio alone."""
    pictures: tuple[TimedPicture, ...]
    audio_frames: tuple[AudioFrame, ...]
    discontinuity: bool
    """Time, coding, parameter sets or tracks changed before it."""
    independent: bool
    """Decodable without the fragments before it."""
    arrived_at: float
    """When its first unit arrived: monotonic seconds, as passed to `Segmenter.push`."""
    last: bool = False
    """The stream ends or is interrupted after it: a transcoder holds nothing back for the next one."""
    has_audio: bool = False
    """It has an audio track even if it holds no audio: an encoder holds all of it back for the next one."""
    complete: bool = True
    """Its segment ends with it; False for a part that is followed by another of the same segment."""
    recorded_at: datetime | None = None
    """When a recording that is played back has its `start`; None for live video, and where it is unknown."""

    @property
    def size(self) -> int:
        """Bytes of its pictures and audio."""
        return sum([len(frame.payload) for frame in self.pictures + self.audio_frames])

    @property
    def needs_transcoding(self) -> bool:
        """Whether its audio is not AAC: then preparing it takes milliseconds and belongs in a thread."""
        return any(frame.coding is not AudioCoding.AAC for frame in self.audio_frames)
