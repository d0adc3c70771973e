"""The window of a live playlist, which another server goes on with."""

from datetime import datetime

import msgspec

from motorpool.codecs.media.muxer import CONTAINERS, Segment
from motorpool.codecs.media.parts import Part


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

    target_duration: int
    """Seconds."""
    next_index: int
    first_discontinuity: int
    """Discontinuity sequence before the first segment."""
    segments: tuple[WindowSegment, ...]


def is_readable(window: PlaylistWindow) -> bool:
    """Whether all its containers are known: it may be of another release."""
    return {segment.suffix for segment in window.segments} <= {each.suffix for each in CONTAINERS}


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
