"""The segment that is open: what it holds, which tracks it has, and what a fragment is made of."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from motorpool.codecs.media.fragments import AudioFrame, MediaFragment, TimedPicture
from motorpool.codecs.media.units import Coding


class Break(enum.Enum):
    """Whether the open segment ends early, and what the next one is."""

    NONE = enum.auto()
    SEGMENT = enum.auto()
    """It ends early, and the next one continues it: audio began after its first part."""
    DISCONTINUITY = enum.auto()
    """It ends early, and the next one is marked as a discontinuity."""


@dataclass(slots=True)
class SegmentTracks:
    """The tracks of segments: all parts of one have the same, and a change is a discontinuity."""

    in_parts: bool
    tracks: tuple[Coding | None, bool] | None = None
    """Coding of the pictures and whether there is audio; of the last segment until the first part."""
    segment_has_audio: bool = False
    """In what has been emitted of the segment."""

    @property
    def has_audio(self) -> bool:
        """Whether parts have an audio track, even those without audio."""
        return bool(self.in_parts and self.tracks and self.tracks[1])

    def begin(self, coding: Coding | None, *, has_audio: bool) -> bool:
        """Settle the tracks of a segment by its first fragment; return whether they changed."""
        before = self.tracks
        expects_audio = self.has_audio and self.segment_has_audio  # a part may lie between two units of it
        self.tracks = coding, has_audio or expects_audio
        self.segment_has_audio = has_audio
        return before is not None and before != self.tracks

    def admits_audio(self, *, has_audio: bool) -> bool:
        """Note whether a later part has audio; False if its segment has no track for it."""
        admitted = not has_audio or self.has_audio
        self.segment_has_audio |= has_audio and admitted
        return admitted


class OpenSegment:
    """The open segment, and of its fragments the open one: all of it, or its latest part."""

    def __init__(self, start: int, pending: Break, *, in_parts: bool) -> None:
        """`start` in ticks, of the first segment; `pending` says what it is."""
        self.pending = pending
        self.coding: Coding | None = None
        """Of the latest pictures."""
        self.start = start
        self.bytes = 0
        """Of all parts."""
        self.rejected_audio = 0
        """Units that were left out of parts, for segments without a track for them."""
        self._tracks = SegmentTracks(in_parts)
        self._has_parts = False
        # The open fragment.
        self.fragment_start = start
        self.pictures: list[TimedPicture] = []
        self.audio_frames: list[AudioFrame] = []
        self._arrived_at = 0.0
        self._independent = True
        self._discontinuity = False

    def begin(self, start: int, arrived_at: float, *, independent: bool) -> None:
        """Open the next segment; it is what the pending break says."""
        self.start = self.fragment_start = start
        self._arrived_at = arrived_at
        self._independent = independent
        self._discontinuity = self.pending is Break.DISCONTINUITY
        self.pending = Break.NONE
        self._has_parts = False

    def end(self, end: int, *, last: bool = False) -> MediaFragment:
        """End the segment and return its last fragment.

        Audio from `end` on goes to the next segment, unless this is the `last` one.
        """
        later = [] if last else self._take_audio_from(end)
        fragment = self._close(end, last=last, complete=True)
        self.audio_frames = later
        self.bytes = _size(later)
        return fragment

    def end_part(self, end: int, arrived_at: float, *, independent: bool) -> MediaFragment:
        """End the open part before a unit that arrived at `arrived_at`, and open the next one."""
        later = self._take_audio_from(end)
        fragment = self._close(end, last=False, complete=False)
        self.audio_frames = later
        self._arrived_at = arrived_at
        self._independent = independent
        self._discontinuity = False
        self._has_parts = True
        return fragment

    def build(
        self, end: int, *, last: bool = True, complete: bool = True, changed: bool = False
    ) -> MediaFragment:
        """Return what is open as a fragment; it stays open."""
        return MediaFragment(
            self.fragment_start,
            end,
            self.coding if self.pictures else None,
            tuple(self.pictures),
            tuple(self.audio_frames),
            self._discontinuity or changed,
            self._independent,
            self._arrived_at,
            last,
            self._tracks.has_audio,
            complete,
        )

    def _close(self, end: int, *, last: bool, complete: bool) -> MediaFragment:
        has_audio, changed = bool(self.audio_frames), False
        if not self._has_parts:
            changed = self._tracks.begin(self.coding if self.pictures else None, has_audio=has_audio)
        elif not self._tracks.admits_audio(has_audio=has_audio):
            self.rejected_audio += len(self.audio_frames)
            self.audio_frames = []
            if self.pending is Break.NONE:
                self.pending = Break.SEGMENT
        fragment = self.build(end, last=last, complete=complete, changed=changed)
        self.pictures = []
        self.fragment_start = end
        return fragment

    def _take_audio_from(self, end: int) -> list[AudioFrame]:
        if not self.audio_frames or self.audio_frames[-1].pts < end:
            return []
        later = [frame for frame in self.audio_frames if frame.pts >= end]
        del self.audio_frames[-len(later) :]  # they are in the order of their times
        return later


def _size(frames: Iterable[AudioFrame]) -> int:
    return sum([len(frame.payload) for frame in frames])
