"""The segment that is open: what it holds, which tracks it has, and what a fragment is made of."""

import enum

from motorpool.codecs.media.fragments import AudioFrame, MediaFragment, TimedPicture
from motorpool.codecs.media.video_codec import VideoCodec


class Break(enum.Enum):
    """Whether the open segment ends early, and what the next one is."""

    NONE = enum.auto()
    SEGMENT = enum.auto()
    """It ends early, and the next one continues it: audio began after its first part."""
    DISCONTINUITY = enum.auto()
    """It ends early, and the next one is marked as a discontinuity."""


class OpenSegment:
    """The open segment, and of its fragments the open one: all of it, or its latest part."""

    def __init__(self, start: int, pending: Break, *, in_parts: bool) -> None:
        """`start` in ticks, of the first segment; `pending` says what it is."""
        self.pending = pending
        self.coding: VideoCodec | None = None
        """Codec of the latest pictures."""
        self.start = start
        self.bytes = 0
        """Size of what it holds, in all its parts."""
        self._in_parts = in_parts
        self._has_parts = False
        """Whether parts of it have been emitted."""
        self._tracks: tuple[VideoCodec | None, bool] | None = None
        """Codec of the pictures and whether there is audio; of the last segment until the first part."""
        self._has_audio = False
        """Whether there is audio in what has been emitted of it."""
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
        self.bytes = sum([len(frame.payload) for frame in later])
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
            self._has_audio_track,
            complete,
        )

    @property
    def _has_audio_track(self) -> bool:
        return bool(self._in_parts and self._tracks and self._tracks[1])

    def _close(self, end: int, *, last: bool, complete: bool) -> MediaFragment:
        changed = self._settle_tracks()
        fragment = self.build(end, last=last, complete=complete, changed=changed)
        self.pictures = []
        self.fragment_start = end
        return fragment

    def _settle_tracks(self) -> bool:
        """Give the open fragment the tracks of its segment, as all parts have; return whether they changed.

        Audio that begins in a later part waits for the next segment.
        """
        has_audio = bool(self.audio_frames)
        if not self._has_parts:
            before = self._tracks
            expected = self._has_audio_track and self._has_audio  # a part may lie between two units of audio
            self._tracks = self.coding if self.pictures else None, has_audio or expected
            self._has_audio = has_audio
            return before is not None and before != self._tracks
        if has_audio and not self._has_audio_track:
            self.audio_frames, has_audio = [], False
            if self.pending is Break.NONE:
                self.pending = Break.SEGMENT
        self._has_audio |= has_audio
        return False

    def _take_audio_from(self, end: int) -> list[AudioFrame]:
        if not self.audio_frames or self.audio_frames[-1].pts < end:
            return []
        later = [frame for frame in self.audio_frames if frame.pts >= end]
        del self.audio_frames[-len(later) :]  # they are in the order of their times
        return later
