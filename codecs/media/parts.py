"""A segment that is listed part by part as it arrives (Low-Latency HLS, draft-pantos-hls-rfc8216bis)."""

from datetime import datetime

import msgspec

from motorpool.codecs.media.muxer import Segment
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND


class Part(msgspec.Struct, frozen=True, gc=False):
    """One complete part of a segment: its byte range in the segment's file."""

    begin: int
    end: int
    duration: float
    """Seconds."""
    independent: bool
    """Begins with a key frame."""


class GrowingSegment:
    """The parts of one segment, until they are joined."""

    def __init__(self, first: Segment, started_at: datetime | None) -> None:
        self.started_at = started_at
        self.first = first
        self.contents: list[bytes] = []
        self.parts: list[Part] = []
        self._end = first.start
        self._pictures = 0
        self.add(first)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def duration(self) -> float:
        """Seconds of all parts so far."""
        return (self._end - self.first.start) / TICKS_PER_SECOND

    def is_continued_by(self, part: Segment) -> bool:
        """Whether `part` belongs to it: not where parts between were lost, or after a discontinuity."""
        return part.start == self._end and not part.discontinuity

    def add(self, part: Segment) -> None:
        """Append the next part."""
        begin = self.parts[-1].end if self.parts else 0
        self.contents.append(part.data)
        self.parts.append(Part(begin, begin + len(part.data), part.duration, part.independent))
        self._end = part.end
        self._pictures += part.pictures

    def join(self) -> Segment:
        """Return the whole segment; MPEG-TS files may be concatenated, and so may fragments of MP4."""
        return msgspec.structs.replace(
            self.first, end=self._end, data=b"".join(self.contents), pictures=self._pictures, complete=True
        )
