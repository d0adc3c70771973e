"""Segments into an HLS media playlist (RFC 8216) whose window moves, with optional parts (rfc8216bis)."""

import math
from collections import deque
from collections.abc import Iterable
from datetime import datetime

import m3u8  # type: ignore[import-untyped]  # has no annotations
import msgspec
from m3u8.model import PartialSegment, PartialSegmentList, PartInformation, PreloadHint, ServerControl  # type: ignore[import-untyped]  # as above
from m3u8.model import Segment as Entry

from motorpool.codecs.media.containers import Container
from motorpool.codecs.media.muxer import MPEG_TS, Segment
from motorpool.codecs.media.parts import GrowingSegment, Part
from motorpool.codecs.media.playlist_window import PlaylistWindow, from_window, to_window

_VERSION = 3
"""The first with fractions of a second in EXTINF."""
_PARTS_VERSION = 6
"""As the players that know parts expect at least; the first with EXT-X-MAP where not only key frames are."""
_HOLD_BACK_PARTS = 3
"""How far from the end players of parts play."""
_PARTS_FOR_TARGETS = 3
"""Parts are listed up to this many target durations from the end."""
_STEPS_PER_SECOND = 20
"""The part target is rounded up, so that it does not change with each part of a camera that jitters."""


class _Listed(msgspec.Struct, frozen=True, gc=False):
    index: int
    segment: Segment
    started_at: datetime | None
    map_index: int | None
    parts: tuple[Part, ...] = ()


class LivePlaylist:
    """The last segments of one stream. Reading changes nothing; numbers never go back.

    The target duration is the longest segment so far, rounded, and at least the target: it grows but never
    shrinks. (RFC 8216 wants it constant, which nobody can promise who does not own the encoder; it is settled
    with the first segment as long as key frames come regularly.)

    With `part_seconds` the parts of segments are listed near the end, and the next one is named. The part
    target is the longest part that is listed, and at least `part_seconds`.
    """

    def __init__(
        self,
        window: int = 6,
        *,
        target_seconds: float = 2.0,
        first_index: int = 0,
        first_discontinuity: int = 0,
        late: int = 3,
        max_bytes: int = 64 << 20,
        part_seconds: float = 0.0,
    ) -> None:
        """`window` segments are listed, `late` more can still be fetched; `max_bytes` bounds both.

        `first_index` and `first_discontinuity` continue an earlier actor of the stream.
        """
        self._window = window
        self._unlisted_limit = late
        self._max_bytes = max_bytes
        self.target_duration = max(1, math.ceil(target_seconds))
        """Seconds; no segment is longer, when rounded."""
        self.next_index = first_index
        """Number of the next segment; a later actor of the stream starts at or above it."""
        self._discontinuities = first_discontinuity
        self._listed: deque[_Listed] = deque()
        self._unlisted: deque[_Listed] = deque()
        self._bytes = 0
        self._initializations: dict[int, bytes] = {}
        """By the number of the first segment that it is for."""
        self._map_index: int | None = None
        """Key of the latest one."""
        self._text: str | None = None
        self._part_seconds = part_seconds
        self._growing: GrowingSegment | None = None
        self._container = MPEG_TS
        """Container of the latest segment or part; the next one is expected to have it too."""

    @property
    def last_seconds(self) -> float:
        """Length of the last listed segment; 0 where there is none."""
        return self._listed[-1].segment.duration if self._listed else 0.0

    @property
    def has_parts(self) -> bool:
        """Whether parts of segments are listed."""
        return self._part_seconds > 0

    @property
    def next_discontinuity(self) -> int:
        """The first discontinuity sequence for a later actor of the stream."""
        growing = self._growing is not None and self._growing.first.discontinuity
        return self._discontinuities + sum(listed.segment.discontinuity for listed in self._listed) + growing

    def __len__(self) -> int:
        return len(self._listed)

    def append(self, segment: Segment, started_at: datetime | None = None) -> int:
        """List the next segment, or the next part of one; returns its index.

        `started_at`: when its first picture was taken.
        """
        self._text = None
        self._container = segment.container
        self._bytes += len(segment.data)
        if segment.complete and self._growing is None and not self._part_seconds:
            return self._list(segment, started_at)
        return self._append_part(segment, started_at)

    def _append_part(self, part: Segment, started_at: datetime | None) -> int:
        growing = self._growing
        if growing is not None and not growing.is_continued_by(part):
            self._list(growing.join(), growing.started_at, tuple(growing.parts))
            growing = None
        if growing is None:
            self._note_initialization(part)
            self._growing = growing = GrowingSegment(part, started_at)
        else:
            growing.add(part)
        if not part.complete:
            return self.next_index
        self._growing = None
        return self._list(growing.join(), growing.started_at, tuple(growing.parts))

    def _list(self, segment: Segment, started_at: datetime | None, parts: tuple[Part, ...] = ()) -> int:
        self._note_initialization(segment)
        index = self.next_index
        self.next_index += 1
        self._listed.append(_Listed(index, segment, started_at, self._map_index, parts))
        self.target_duration = max(self.target_duration, math.floor(segment.duration + 0.5))
        while len(self._listed) > self._window:
            self._unlist()
        while len(self._unlisted) > self._unlisted_limit:
            self._discard()
        while self._bytes > self._max_bytes and (self._unlisted or len(self._listed) > 1):
            if not self._unlisted:
                self._unlist()
            self._discard()
        return index

    def _note_initialization(self, segment: Segment) -> None:
        """Keep what players read before the next segment, if it is not what they have read before others."""
        wanted = segment.initialization
        if wanted and (self._map_index is None or wanted != self._initializations[self._map_index]):
            self._map_index = self.next_index
            self._initializations[self._map_index] = wanted

    def window(self) -> PlaylistWindow:
        """Return all that can be fetched, for another playlist to go on with; this one gets nothing more."""
        growing, self._growing = self._growing, None
        if growing is not None:
            self._text = None
            self._list(growing.join(), growing.started_at, tuple(growing.parts))
        unlisted = sum(each.segment.discontinuity for each in self._unlisted)
        return PlaylistWindow(
            self.target_duration,
            self.next_index,
            self._discontinuities - unlisted,
            tuple(
                to_window(each.segment, each.started_at, each.parts)
                for each in (*self._unlisted, *self._listed)
            ),
            len(self._unlisted),
        )

    def go_on_with(self, window: PlaylistWindow) -> None:
        """Have the segments of another playlist before one's own: this one is empty.

        Its first index is to be the next one of the other.
        """
        self.target_duration = max(self.target_duration, window.target_duration)
        self.next_index = window.next_index - len(window.segments)
        self._discontinuities = window.first_discontinuity
        for kept in window.segments:
            self._bytes += len(kept.data)
            self._list(from_window(kept), kept.started_at, kept.parts)
        # They are listed no more, even if this list is longer: the numbers of lists never go back.
        while len(self._listed) > max(1, len(window.segments) - window.unlisted):
            self._unlist()
        while len(self._unlisted) > self._unlisted_limit:
            self._discard()

    def get(self, index: int) -> bytes | None:
        """The file of a segment, also for a while after it left the list."""
        kept = self._find(index)
        return None if kept is None else kept.segment.data

    def get_initialization(self, index: int) -> bytes | None:
        """The file that players read before the segment of this number and those that follow it."""
        return self._initializations.get(index)

    def get_part(self, index: int, part: int) -> bytes | None:
        """The file of a part; available for as long as the file of its segment."""
        if index == self.next_index:
            growing = self._growing
            return growing.contents[part] if growing is not None and 0 <= part < len(growing) else None
        kept = self._find(index)
        if kept is None or not 0 <= part < len(kept.parts):
            return None
        found = kept.parts[part]
        return kept.segment.data[found.begin : found.end]

    def holds(self, index: int, part: int | None = None) -> bool:
        """Whether a segment, or a part of it, or something behind it is there (rfc8216bis, 6.2.5.2).

        A part behind the last one of its segment is the next segment's first.
        """
        if index >= self.next_index:
            growing = 0 if self._growing is None else len(self._growing)
            return index == self.next_index and part is not None and part < growing
        if index < self.next_index - 1 or part is None or self._growing is not None:
            return True
        last = self._find(index)
        return last is None or part < len(last.parts) or not last.parts

    def is_next(self, index: int, part: int) -> bool:
        """Whether this is the part that the playlist names as the next one."""
        return index == self.next_index and part == (0 if self._growing is None else len(self._growing))

    def is_too_far_ahead(self, index: int, part: int | None = None) -> bool:
        """Whether it will not come soon, so that it is not worth waiting for (rfc8216bis, 6.2.5.2)."""
        if index > self.next_index + 1:
            return True
        growing = 0 if self._growing is None else len(self._growing)
        few = math.ceil(3 / self._part_seconds) if 0 < self._part_seconds < 1 else 3
        return part is not None and part >= few + (growing if index == self.next_index else 0)

    def render(self) -> str:
        """The playlist as text; the same object until something changes."""
        if self._text is None:
            self._text = self._dump()
        return self._text

    def _dump(self) -> str:
        playlist = m3u8.M3U8()
        playlist.version = _VERSION if self._map_index is None else _PARTS_VERSION
        playlist.target_duration = self.target_duration
        playlist.media_sequence = self._listed[0].index if self._listed else self.next_index
        playlist.discontinuity_sequence = self._discontinuities
        for listed in self._listed:
            playlist.add_segment(
                Entry(
                    uri=f"{listed.index}.{listed.segment.container.suffix}",
                    duration=round(listed.segment.duration, 6),
                    discontinuity=listed.segment.discontinuity,
                    program_date_time=listed.started_at,
                    init_section=self._map(listed.map_index, listed.segment.container),
                )
            )
        if self._part_seconds:
            self._add_parts(playlist)
        text = str(playlist.dumps(infspec="microseconds"))
        return text.replace("\n\n", "\n") if self._part_seconds else text

    def _add_parts(self, playlist: m3u8.M3U8) -> None:
        """List the parts near the end, and what players of parts need to know."""
        growing = self._growing
        from_end, longest = 0.0, self._part_seconds
        if growing is not None:
            from_end = growing.duration
            longest = max(longest, *[part.duration for part in growing.parts])
        for listed, entry in zip(reversed(self._listed), reversed(playlist.segments), strict=True):
            if from_end >= _PARTS_FOR_TARGETS * self.target_duration:
                break
            from_end += listed.segment.duration
            longest = max([longest, *[part.duration for part in listed.parts]])
            entry.parts = self._part_entries(listed.index, listed.segment.container, listed.parts)
        if growing is not None:
            entry = Entry(
                discontinuity=growing.first.discontinuity,
                program_date_time=growing.started_at,
                init_section=self._map(self._map_index, growing.first.container),
            )
            entry.parts = self._part_entries(self.next_index, growing.first.container, growing.parts)
            playlist.add_segment(entry)
        part_target = math.ceil(longest * _STEPS_PER_SECOND - 1e-6) / _STEPS_PER_SECOND
        playlist.version = _PARTS_VERSION
        playlist.part_inf = PartInformation(part_target)
        playlist.server_control = ServerControl(
            can_block_reload="YES", part_hold_back=round(_HOLD_BACK_PARTS * part_target, 3)
        )
        number = 0 if growing is None else len(growing)
        uri = f"{self.next_index}.{number}.{self._container.suffix}"
        playlist.preload_hint = PreloadHint("PART", None, uri)

    def _map(self, index: int | None, container: Container) -> dict[str, str] | None:
        return None if index is None else {"uri": f"init{index}.{container.suffix}"}

    def _part_entries(self, index: int, container: Container, parts: Iterable[Part]) -> PartialSegmentList:
        return PartialSegmentList(
            PartialSegment(
                None,
                f"{index}.{number}.{container.suffix}",
                round(part.duration, 6),
                independent="YES" if part.independent else None,
            )
            for number, part in enumerate(parts)
        )

    def _find(self, index: int) -> _Listed | None:
        for kept in (self._listed, self._unlisted):
            if kept and kept[0].index <= index <= kept[-1].index:
                return kept[index - kept[0].index]
        return None

    def _unlist(self) -> None:
        listed = self._listed.popleft()
        self._discontinuities += listed.segment.discontinuity
        self._unlisted.append(listed)

    def _discard(self) -> None:
        discarded = self._unlisted.popleft()
        self._bytes -= len(discarded.segment.data)
        following = (self._unlisted or self._listed)[0].map_index
        if discarded.map_index is not None and discarded.map_index != following:
            del self._initializations[discarded.map_index]
