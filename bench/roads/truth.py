"""What counts as a stop and as a trip (docs/performance.md#truth).

A stop is a time of at least MIN_DURATION in which the vehicle goes on no trip. What is between two
stops is a trip.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

MIN_DURATION = 180
"""Seconds, `report.trip.minDuration`."""


class Stay(msgspec.Struct, frozen=True):
    """A span of a script in which the vehicle goes on no trip, however short, in seconds of the day."""

    start: int
    end: int
    kind: str


class Stop(msgspec.Struct, frozen=True):
    """A stay of at least `min_duration`."""

    start: datetime
    """When the vehicle came to rest; the first instant of the day: it has rested since before."""
    end: datetime
    """When it left; the last instant of the day: it rests on."""
    latitude: float
    """Where it rested for longest."""
    longitude: float
    kind: str
    """`parked`, `idle`, `garage`, `yard`, `site`, `rank`, `ferry`, `tow` or `jam`."""


class Trip(msgspec.Struct, frozen=True):
    """What is between two stops."""

    start: datetime
    end: datetime
    metres: float
    """Length of the true path."""


def long_stays(
    stays: Sequence[Stay], halts: Sequence[tuple[int, int]], min_duration: int = MIN_DURATION
) -> list[Stay]:
    """Return the stays that are stops: those of the script, and halts on the way that last as long.

    `halts` are the spans in which the vehicle stands, ascending like the stays.
    """
    found = [stay for stay in _joined(stays) if stay.end - stay.start >= min_duration]
    for start, end in halts:
        if end - start >= min_duration and not any(stay.start < end and start < stay.end for stay in stays):
            found.append(Stay(start, end, "jam"))
    return sorted(found, key=lambda stay: stay.start)


def _joined(stays: Sequence[Stay]) -> list[Stay]:
    """Make one stay of those that follow each other at once, of the kind of the longest."""
    joined: list[Stay] = []
    longest = 0
    for stay in stays:
        seconds = stay.end - stay.start
        if joined and joined[-1].end == stay.start:
            kind = stay.kind if seconds > longest else joined[-1].kind
            joined[-1], longest = Stay(joined[-1].start, stay.end, kind), max(longest, seconds)
        else:
            joined.append(stay)
            longest = seconds
    return joined
