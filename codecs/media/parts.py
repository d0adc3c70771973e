"""A segment that is listed while it comes, part by part (Low-Latency HLS, draft-pantos-hls-rfc8216bis)."""

from datetime import datetime

import msgspec

from motorpool.codecs.media.muxer import Segment

__all__ = ["GrowingSegment", "Part"]


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part of a segment that is whole: where it lies in the segment's file."""

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
        self.contents: list[bytes] = [first.data]
        self.parts: list[Part] = [Part(0, len(first.data), first.duration, first.independent)]
        self._first = first
        self._end = first.end
        self._pictures = first.pictures

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def discontinuity(self) -> bool:
        """To be played as a new beginning."""
        return self._first.discontinuity

    @property
    def duration(self) -> float:
        """Seconds of all parts so far."""
        return msgspec.structs.replace(self._first, end=self._end).duration

    def is_continued_by(self, part: Segment) -> bool:
        """Whether `part` belongs to it: not where parts between were lost, or time begins anew."""
        return part.start == self._end and not part.discontinuity

    def add(self, part: Segment) -> None:
        """Take the next part."""
        begin = self.parts[-1].end
        self.contents.append(part.data)
        self.parts.append(Part(begin, begin + len(part.data), part.duration, part.independent))
        self._end = part.end
        self._pictures += part.pictures

    def join(self) -> Segment:
        """The segment as one; an MPEG-TS file may be joined of others."""
        return msgspec.structs.replace(
            self._first, end=self._end, data=b"".join(self.contents), pictures=self._pictures, complete=True
        )
