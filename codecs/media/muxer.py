"""Media fragments into segment files, in memory; nothing is decoded."""

import msgspec

from motorpool.codecs.media.containers import Container
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.mpeg_ts import write_mpeg_ts
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND

MPEG_TS = Container(name="MPEG-TS", suffix="ts", media_type="video/mp2t", write=write_mpeg_ts)

CONTAINERS = (MPEG_TS,)
"""All formats in which segments may be listed and served."""


class Segment(msgspec.Struct, frozen=True, gc=False):
    """One segment file, or a part of one, and what a playlist says of it."""

    start: int
    """90 kHz ticks, not wrapped; in MPEG-TS modulo 2**33."""
    end: int
    discontinuity: bool
    independent: bool
    data: bytes
    pictures: int
    """How many it holds."""
    arrived_at: float
    """When its first unit arrived: monotonic seconds, as passed to `Segmenter.push`."""
    complete: bool = True
    """False for a part that is followed by another; the segment's file is the parts, joined."""
    container: Container = MPEG_TS
    initialization: bytes = b""
    """The initialization section; empty if the previous one still applies, or the container has none."""

    @property
    def duration(self) -> float:
        """Seconds, exact to the tick."""
        return (self.end - self.start) / TICKS_PER_SECOND


def mux(fragment: MediaFragment) -> Segment:
    """Write a fragment as a file in the container of its codec, in MPEG-TS where it has no pictures.

    Its audio is AAC. Blocking: about 0.1 ms for a second of stream.

    Raises:
        CodecError: the container cannot hold them; it may hold the stream's next fragment.
    """
    container = MPEG_TS if fragment.coding is None else fragment.coding.container
    write_initialization = container.write_initialization
    data = container.write(fragment)
    initialization = write_initialization(fragment) if write_initialization else b""
    return Segment(
        fragment.start,
        fragment.end,
        fragment.discontinuity,
        fragment.independent,
        data,
        len(fragment.pictures),
        fragment.arrived_at,
        fragment.complete,
        container,
        initialization,
    )
