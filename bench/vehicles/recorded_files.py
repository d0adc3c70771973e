"""Recordings of a simulated vehicle: one file for each quarter of an hour and channel, 24 hours back.

Nothing is stored: a recording is rendered on request from the drive of that time.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from motorpool.codecs.reports import Recording

FILE = timedelta(minutes=15)
KEPT = timedelta(hours=24)
_MEGABYTE = 1_000_000


def recordings(
    channels: int,
    now: datetime,
    *,
    channel: int = 0,
    start: datetime | None = None,
    end: datetime | None = None,
) -> list[Recording]:
    """Return the finished files that overlap the span, oldest first; channel 0 means all."""
    found = []
    for begin in _begins(now):
        if (start is None or begin + FILE > start) and (end is None or begin < end):
            found += [
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
                for number in range(1, channels + 1)
                if channel in (0, number)
            ]
    return found


def playable(now: datetime, start: datetime | None, end: datetime | None) -> tuple[datetime, datetime] | None:
    """Clip a span to what is recorded; None if nothing of it is."""
    begins = list(_begins(now))
    first, last = begins[0], begins[-1] + FILE
    begin = first if start is None else max(start, first)
    finish = last if end is None else min(end, last)
    return (begin, finish) if begin < finish else None


def _begins(now: datetime) -> Iterator[datetime]:
    current = now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0)
    begin = current - KEPT
    while begin < current:
        yield begin
        begin += FILE
