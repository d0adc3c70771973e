"""The window of a live playlist, which another server goes on with."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from motorpool.codecs.media.muxer import CONTAINERS, Segment
from motorpool.codecs.media.parts import Part

MAX_TARGET_SECONDS = 3600
"""No segment is longer."""
_Count = Annotated[int, Meta(ge=0)]


class WindowSegment(msgspec.Struct, frozen=True, gc=False):
    """A segment that can be fetched."""

    start: int
    """90 kHz ticks, as `end`."""
    end: int
    discontinuity: bool
    independent: bool
    pictures: int
    suffix: str
    """Of its container."""
    initialization: bytes
    data: bytes
    started_at: datetime | None
    parts: tuple[Part, ...] = ()


class PlaylistWindow(msgspec.Struct, frozen=True, gc=False):
    """All that can be fetched of a live playlist, oldest first, and the numbers that follow."""

    target_duration: Annotated[int, Meta(ge=0, le=MAX_TARGET_SECONDS)]
    """Seconds."""
    next_index: _Count
    first_discontinuity: _Count
    """Discontinuity sequence before the first segment."""
    segments: tuple[WindowSegment, ...]
    unlisted: int = 0
    """How many of them, the oldest, have left the list."""


def is_readable(window: PlaylistWindow) -> bool:
    """Whether its containers are known, as it may be of another release, and its numbers fit together."""
    suffixes = {each.suffix for each in CONTAINERS}
    return window.next_index >= len(window.segments) and all(
        segment.suffix in suffixes
        and segment.start <= segment.end
        and all(0 <= part.begin <= part.end <= len(segment.data) for part in segment.parts)
        for segment in window.segments
    )


def to_window(segment: Segment, started_at: datetime | None, parts: tuple[Part, ...]) -> WindowSegment:
    """Return a listed segment as part of a window."""
    return WindowSegment(
        segment.start,
        segment.end,
        segment.discontinuity,
        segment.independent,
        segment.pictures,
        segment.container.suffix,
        segment.initialization,
        segment.data,
        started_at,
        parts,
    )


def from_window(kept: WindowSegment) -> Segment:
    """Return the segment; when it arrived matters no more."""
    container = next(each for each in CONTAINERS if each.suffix == kept.suffix)
    return Segment(
        kept.start,
        kept.end,
        kept.discontinuity,
        kept.independent,
        kept.data,
        kept.pictures,
        arrived_at=0.0,
        container=container,
        initialization=kept.initialization,
    )
