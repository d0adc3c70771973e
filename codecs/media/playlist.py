"""Segments into an HLS media playlist (RFC 8216) whose window moves."""

import math
from collections import deque
from datetime import datetime

import m3u8  # type: ignore[import-untyped]  # has no annotations
import msgspec
from m3u8.model import Segment as Entry  # type: ignore[import-untyped]  # as above

from motorpool.codecs.media.muxer import Segment

_VERSION = 3
"""The first with fractions of a second in EXTINF."""


class _Listed(msgspec.Struct, frozen=True, gc=False):
    index: int
    segment: Segment
    started_at: datetime | None


class LivePlaylist:
    """The last segments of one stream. Reading changes nothing; numbers never go back.

    The target duration is the longest segment so far, rounded, and at least the target: it grows but never
    shrinks. (RFC 8216 wants it constant, which nobody can promise who does not own the encoder; it is settled
    with the first segment as long as key frames come regularly.)
    """

    def __init__(
        self,
        window: int = 6,
        *,
        target_seconds: float = 2.0,
        prefix: str = "",
        first_index: int = 0,
        first_discontinuity: int = 0,
        late: int = 3,
        max_bytes: int = 64 << 20,
    ) -> None:
        """`window` segments are listed, `late` more can still be fetched; `max_bytes` bounds both.

        `prefix` stands before each segment's name. `first_index` and `first_discontinuity` continue an
        earlier life of the stream.
        """
        self._window = window
        self._late = late
        self._max_bytes = max_bytes
        self._prefix = prefix
        self._target_duration = max(1, math.ceil(target_seconds))
        self._next_index = first_index
        self._discontinuities = first_discontinuity
        self._listed: deque[_Listed] = deque()
        self._left: deque[_Listed] = deque()
        self._bytes = 0
        self._ended = False
        self._text: str | None = None

    @property
    def next_index(self) -> int:
        """What the next segment will be called; a later life of the stream starts at or above it."""
        return self._next_index

    @property
    def next_discontinuity(self) -> int:
        """The first discontinuity sequence for a later life of the stream."""
        return self._discontinuities + sum(listed.segment.discontinuity for listed in self._listed)

    @property
    def stored_bytes(self) -> int:
        """Bytes of all segments that can be fetched."""
        return self._bytes

    @property
    def is_ended(self) -> bool:
        """No segment will follow."""
        return self._ended

    def __len__(self) -> int:
        return len(self._listed)

    def append(self, segment: Segment, started_at: datetime | None = None) -> int:
        """List the next segment, whose first picture was taken at `started_at`; returns its index."""
        index = self._next_index
        self._next_index += 1
        self._listed.append(_Listed(index, segment, started_at))
        self._bytes += len(segment.data)
        self._target_duration = max(self._target_duration, math.floor(segment.duration + 0.5))
        while len(self._listed) > self._window:
            self._unlist()
        while len(self._left) > self._late:
            self._forget()
        while self._bytes > self._max_bytes and (self._left or len(self._listed) > 1):
            if not self._left:
                self._unlist()
            self._forget()
        self._ended = False
        self._text = None
        return index

    def end(self) -> None:
        """No segment follows: players stop asking. Undone by another `append`."""
        if not self._ended:
            self._ended = True
            self._text = None

    def get(self, index: int) -> bytes | None:
        """The file of a segment, also for a while after it left the list."""
        for kept in (self._listed, self._left):
            if kept and kept[0].index <= index <= kept[-1].index:
                return kept[index - kept[0].index].segment.data
        return None

    def render(self) -> str:
        """The playlist as text; the same object until something changes."""
        if self._text is None:
            self._text = self._dump()
        return self._text

    def _dump(self) -> str:
        playlist = m3u8.M3U8()
        playlist.version = _VERSION
        playlist.target_duration = self._target_duration
        playlist.media_sequence = self._listed[0].index if self._listed else self._next_index
        playlist.discontinuity_sequence = self._discontinuities
        playlist.is_endlist = self._ended
        for listed in self._listed:
            playlist.add_segment(
                Entry(
                    uri=f"{self._prefix}{listed.index}.ts",
                    duration=round(listed.segment.duration, 6),
                    discontinuity=listed.segment.discontinuity,
                    program_date_time=listed.started_at,
                )
            )
        return str(playlist.dumps(infspec="microseconds"))

    def _unlist(self) -> None:
        listed = self._listed.popleft()
        self._discontinuities += listed.segment.discontinuity
        self._left.append(listed)

    def _forget(self) -> None:
        self._bytes -= len(self._left.popleft().segment.data)
