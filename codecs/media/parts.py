"""A segment that is listed part by part as it arrives (Low-Latency HLS, draft-pantos-hls-rfc8216bis)."""

from datetime import datetime

import msgspec

from motorpool.codecs.media.containers import Container
from motorpool.codecs.media.muxer import Segment


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
        self.contents: list[bytes] = [first.data]
        self.parts: list[Part] = [Part(0, len(first.data), first.duration, first.independent)]
        self._first = first
        self._end = first.end
        self._pictures = first.pictures

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def container(self) -> Container:
        """File format of the segment and its parts."""
        return self._first.container

    @property
    def discontinuity(self) -> bool:
        """Whether the segment follows a discontinuity."""
        return self._first.discontinuity

    @property
    def duration(self) -> float:
        """Seconds of all parts so far."""
        return msgspec.structs.replace(self._first, end=self._end).duration

    def is_continued_by(self, part: Segment) -> bool:
        """Whether `part` belongs to it: not where parts between were lost, or after a discontinuity."""
        return part.start == self._end and not part.discontinuity

    def add(self, part: Segment) -> None:
        """Append the next part."""
        begin = self.parts[-1].end
        self.contents.append(part.data)
        self.parts.append(Part(begin, begin + len(part.data), part.duration, part.independent))
        self._end = part.end
        self._pictures += part.pictures

    def join(self) -> Segment:
        """Return the whole segment; MPEG-TS files may be concatenated, and so may fragments of MP4."""
        return msgspec.structs.replace(
            self._first, end=self._end, data=b"".join(self.contents), pictures=self._pictures, complete=True
        )
