"""Reported stops beside the true ones."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from motorpool.bench.roads.day import Day
from motorpool.bench.roads.matching import Span, length, matches, overlap
from motorpool.bench.roads.reported import Reported, ReportedStop
from motorpool.bench.roads.soundness import LEAST_TOLERANCE, SoundReports, debatable_halts
from motorpool.bench.roads.truth import Stop

JUDGED = timedelta(seconds=300)
"""Stops that are shorter are neither missed nor extra."""


class Miss(NamedTuple):
    """By how much a beginning or an end is off."""

    seconds: float
    """Positive: reported too late."""
    interval: float
    """Seconds between the reports of the tracker."""

    @property
    def is_near(self) -> bool:
        """Whether it is off by one interval or 15 s at most."""
        return abs(self.seconds) <= max(self.interval, LEAST_TOLERANCE)

    @property
    def is_tolerable(self) -> bool:
        """Whether it is off by two intervals or 45 s at most."""
        return abs(self.seconds) <= max(2 * self.interval, 3 * LEAST_TOLERANCE)


class StopComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The stops of a day."""

    judged: int
    """True stops of five minutes and more."""
    begins: tuple[Miss, ...]
    """Of judged stops that were found."""
    ends: tuple[Miss, ...]
    unobserved: int
    """Beginnings and ends without a sound report nearby, which `begins` and `ends` leave out."""
    missed: int
    """Judged stops without a reported one."""
    extra: int
    """Reported stops without a true one, however short, or a halt that can be taken for one."""
    merged: tuple[Stop, ...]
    """True stops that are not judged and were not reported: the trips around them are one."""
    ignored: tuple[ReportedStop, ...]
    """Reported ones that are not extra: the trips around them are one."""


def compare_stops(day: Day, reported: Reported, sound: SoundReports) -> StopComparison:
    """Match the stops of a day by their overlap, each at most once."""
    matched = matches(day.stops, reported.stops)
    # Of a stop before the first or after the last report nobody can know.
    seen = Stop(sound.instants[0], sound.instants[-1], 0.0, 0.0, "") if sound.instants else None
    judged = [
        index for index, stop in enumerate(day.stops) if seen is not None and overlap(stop, seen) >= JUDGED
    ]
    found = [(day.stops[index], reported.stops[matched[index]]) for index in judged if index in matched]
    begins = [(true.start, told.start) for true, told in found if true.start != day.start]
    ends = [(true.end, told.end) for true, told in found if true.end != day.end]
    unmatched = [
        stop
        for index, stop in enumerate(reported.stops)
        # A span that begins before the first trip, as it has no other.
        if index not in matched.values() and not (index == 0 and length(stop) < JUDGED)
    ]
    debatable = debatable_halts(day, sound)
    ignored = tuple(stop for stop in unmatched if _is_mostly_within(stop, debatable))
    return StopComparison(
        judged=len(judged),
        begins=_misses(begins, day, sound),
        ends=_misses(ends, day, sound),
        unobserved=sum(not sound.observe(instant) for instant, _ in (*begins, *ends)),
        missed=len(judged) - len(found),
        extra=len(unmatched) - len(ignored),
        merged=tuple(
            stop for index, stop in enumerate(day.stops) if index not in matched and length(stop) < JUDGED
        ),
        ignored=ignored,
    )


def _misses(pairs: Sequence[tuple[datetime, datetime]], day: Day, sound: SoundReports) -> tuple[Miss, ...]:
    return tuple(
        Miss((told - true).total_seconds(), day.interval_seconds)
        for true, told in pairs
        if sound.observe(true)
    )


def _is_mostly_within(stop: Span, spans: Iterable[Span]) -> bool:
    return any(2 * overlap(stop, span) >= length(stop) for span in spans)
