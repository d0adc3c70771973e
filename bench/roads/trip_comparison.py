"""Reported trips and distances beside the true ones."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import msgspec

from motorpool.bench.roads.day import Day
from motorpool.bench.roads.matching import NOTHING, Span, length, matches, overlap
from motorpool.bench.roads.reported import Reported, ReportedTrip
from motorpool.bench.roads.soundness import SoundReports
from motorpool.bench.roads.stop_comparison import StopComparison
from motorpool.bench.roads.truth import Trip

SAME_TRIP = 0.8
"""Of the longer one, what a reported and a true trip have in common whose figures are compared."""


class TripComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The trips and the distance of a day."""

    trips: int
    missed: int
    extra: int
    distances: tuple[float, ...]
    """Relative errors of the distances of trips; positive: too long."""
    durations: tuple[float, ...]
    """Seconds by which trips are reported too long."""
    reported_metres: float
    """Of all trips."""
    true_metres: float
    """The same along the true path, sampled by sound reports; the whole path where an odometer tells it."""
    added_metres: float
    """In the summary, beyond the reported trips and what the vehicle truly moved within stops and on missed
    trips."""
    standing_hours: float


def compare_trips(day: Day, reported: Reported, stops: StopComparison, sound: SoundReports) -> TripComparison:
    """Match the trips of a day by their overlap, each at most once."""
    trips = _joined(day.trips, stops.merged)
    told = _joined(reported.trips, stops.ignored)
    matched = matches(trips, told)
    pairs = [(trips[at], told[by]) for at, by in matched.items()]
    true_metres = {trip: _true_metres(day, trip, sound) for trip in trips}
    same = [
        (true, found)
        for true, found in pairs
        if overlap(true, found) >= SAME_TRIP * max(length(true), length(found))
    ]
    reported_metres = sum(trip.metres for trip in reported.trips)
    # An odometer tells of moves within stops and of missed trips too.
    moved = _metres_within_stops(day) + sum(trips[at].metres for at in range(len(trips)) if at not in matched)
    return TripComparison(
        trips=len(trips),
        missed=len(trips) - len(pairs),
        extra=len(told) - len(pairs),
        distances=tuple(found.metres / true_metres[true] - 1.0 for true, found in same if true_metres[true]),
        durations=tuple((length(found) - length(true)).total_seconds() for true, found in same),
        reported_metres=reported_metres,
        true_metres=sum(true_metres.values()),
        added_metres=max(0.0, reported.metres - reported_metres - moved),
        standing_hours=sum(length(stop).total_seconds() for stop in day.stops) / 3600,
    )


def _joined(trips: Sequence[Trip] | Sequence[ReportedTrip], breaks: Sequence[Span]) -> list[ReportedTrip]:
    """Make one trip of two with one of these breaks between them."""
    joined: list[ReportedTrip] = []
    for trip in trips:
        gap = ReportedTrip(joined[-1].end, trip.start, 0.0) if joined else None
        if gap is not None and any(overlap(gap, pause) > NOTHING for pause in breaks):
            joined[-1] = ReportedTrip(joined[-1].start, trip.end, joined[-1].metres + trip.metres)
        else:
            joined.append(ReportedTrip(trip.start, trip.end, trip.metres))
    return joined


def _true_metres(day: Day, trip: ReportedTrip, sound: SoundReports) -> float:
    if day.conditions.odometer:
        return trip.metres
    first, last = bisect_right(sound.instants, trip.start), bisect_left(sound.instants, trip.end)
    return day.metres_at([trip.start, *sound.instants[first:last], trip.end])


def _metres_within_stops(day: Day) -> float:
    return day.track.metres[day.track.last] - sum(trip.metres for trip in day.trips)
