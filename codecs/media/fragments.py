"""What the segmenter hands on: units with our own times (90 kHz ticks, not wrapped), gathered into cuts."""

import msgspec

from motorpool.codecs.media.units import Coding


class AudioFrame(msgspec.Struct, frozen=True, gc=False):
    """One unit of sound with our time."""

    pts: int
    coding: Coding
    payload: bytes
    samples: int
    """How many it decodes to."""
    g726_bits: int = 0
    """Of a sample; 0 for all other codings."""


class PlacedPicture(msgspec.Struct, frozen=True, gc=False):
    """One picture with our time."""

    pts: int
    payload: bytes
    keyframe: bool
    """Decodable from here: parameter sets and a key frame by its NAL type."""


class Keyframe(msgspec.Struct, frozen=True, gc=False):
    """A picture that decodes by itself: the source of snapshots."""

    coding: Coding
    payload: bytes
    pts: int
    arrived: float


class MediaFragment(msgspec.Struct, frozen=True):
    """All that one segment is muxed from, or one part of it."""

    start: int
    end: int
    """The next cut's start."""
    coding: Coding | None
    """Of the pictures; None for sound alone."""
    pictures: tuple[PlacedPicture, ...]
    sounds: tuple[AudioFrame, ...]
    discontinuity: bool
    """To be played as a new beginning: time, coding, parameter sets or tracks changed before it."""
    independent: bool
    """Can be decoded without the cuts before it."""
    arrived: float
    """When its first unit arrived, on the clock that `Segmenter.push` was told."""
    last: bool = False
    """The stream ends or breaks off behind it: nothing is held back for the next one."""
    has_sound: bool = False
    """Sound belongs to it even if there is none here: an encoder holds all of it back for the next one."""
    complete: bool = True
    """Its segment ends with it; False for a part after which another of the same segment comes."""

    @property
    def size(self) -> int:
        """Bytes of its pictures and sounds."""
        return sum([len(unit.payload) for unit in self.pictures + self.sounds])

    @property
    def needs_transcoding(self) -> bool:
        """Muxing it takes milliseconds and belongs in a thread."""
        return any(sound.coding is not Coding.AAC for sound in self.sounds)
