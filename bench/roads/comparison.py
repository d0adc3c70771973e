"""What a server reports of a day beside the truth (docs/performance.md#figures)."""

from datetime import timedelta
from itertools import pairwise

import msgspec

from motorpool.bench.roads.day import Day
from motorpool.bench.roads.matching import length
from motorpool.bench.roads.reported import Reported, ReportedStop, ReportedTrip
from motorpool.bench.roads.soundness import SoundReports
from motorpool.bench.roads.stop_comparison import StopComparison, compare_stops
from motorpool.bench.roads.trip_comparison import TripComparison, compare_trips
from motorpool.bench.roads.truth import MIN_DURATION


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One day."""

    kind: str
    interval: float
    """Seconds between the reports of the tracker."""
    stops: StopComparison
    trips: TripComparison
    short_stops: int
    """Reported stops of less than the least duration."""
    differing_events: int
    """Events without a reported stop or trip that begins then, and stops and trips without an event."""
    is_in_order: bool
    """Whether all reports arrived in the order of their times."""


def compare(day: Day, reported: Reported) -> Comparison:
    """Compare what a server reports of a day with the truth."""
    sound = SoundReports(day)
    stops = compare_stops(day, reported, sound)
    return Comparison(
        kind=day.kind,
        interval=day.interval_seconds,
        stops=stops,
        trips=compare_trips(day, reported, stops, sound),
        short_stops=_short_stops(reported),
        differing_events=_differing_events(reported),
        is_in_order=all(before.fix_time <= after.fix_time for before, after in pairwise(day.reports)),
    )


def _in_turn(reported: Reported) -> list[ReportedStop | ReportedTrip]:
    return sorted((*reported.stops, *reported.trips), key=lambda span: span.start)


def _short_stops(reported: Reported) -> int:
    """Count stops below the least duration; the first and the last span are cut by those of the report."""
    least = timedelta(seconds=MIN_DURATION)
    return sum(isinstance(span, ReportedStop) and length(span) < least for span in _in_turn(reported)[1:-1])


def _differing_events(reported: Reported) -> int:
    """Count what only events or only reports tell."""
    spans = _in_turn(reported)
    stopped = {span.start for span in spans if isinstance(span, ReportedStop)} ^ set(reported.stopped)
    moved = {span.start for span in spans if isinstance(span, ReportedTrip)} ^ set(reported.moved)
    # Whether an event tells when the first span began is open, and one without any length is not reported.
    untold = {span.start for span in spans[:1]} | (set(reported.stopped) & set(reported.moved))
    return len(stopped - untold) + len(moved - untold)
