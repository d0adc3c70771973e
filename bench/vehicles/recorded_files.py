"""Recordings of a simulated vehicle: one file for each quarter of an hour and channel, 24 hours back.

Nothing is stored: a recording is rendered on request from the drive of that time.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import msgspec

from motorpool.codecs.reports import Recording

FILE = timedelta(minutes=15)
_MEGABYTE = 1_000_000


def always(_: datetime) -> bool:
    """Return true: a recorder that is never switched off."""
    return True


class RecordedFiles(msgspec.Struct, frozen=True):
    """The recordings of one vehicle."""

    channels: int
    kept: timedelta = timedelta(hours=24)
    """How far back they go."""
    is_recording: Callable[[datetime], bool] = always
    """Whether the file that begins at this instant is recorded."""

    def overlapping(
        self, now: datetime, *, channel: int = 0, start: datetime | None = None, end: datetime | None = None
    ) -> list[Recording]:
        """Return the finished files that overlap the span, oldest first; channel 0 means all."""
        return [
            Recording(
                channel=number,
                start_time=begin,
                end_time=begin + FILE,
                alarm_flag=0,
                type=0,
                stream_type=1,
                memory_type=1,
                size=45 * _MEGABYTE + (round(begin.timestamp()) * 31 + number * 977) % (3 * _MEGABYTE),
            )
            for begin in self._begins(now)
            if (start is None or begin + FILE > start) and (end is None or begin < end)
            for number in range(1, self.channels + 1)
            if channel in (0, number)
        ]

    def playable(
        self, now: datetime, start: datetime | None, end: datetime | None
    ) -> tuple[datetime, datetime] | None:
        """Clip a span to the recordings; None if none overlaps it."""
        files = self.overlapping(now, channel=1, start=start, end=end)
        if not files:
            return None
        first, last = files[0].start_time, files[-1].end_time
        begin = first if start is None else max(start, first)
        finish = last if end is None else min(end, last)
        return (begin, finish) if begin < finish else None

    def _begins(self, now: datetime) -> Iterator[datetime]:
        current = now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0)
        begin = current - self.kept
        while begin < current:
            if self.is_recording(begin):
                yield begin
            begin += FILE
