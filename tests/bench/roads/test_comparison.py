"""Reports beside the truth."""

from bisect import bisect_left
from datetime import datetime, timedelta
from functools import cache

import msgspec
import pytest

from motorpool.bench.roads import CALM, KINDS, Day, make_day
from motorpool.bench.roads.comparison import compare
from motorpool.bench.roads.reported import Reported, ReportedStop, ReportedTrip
from motorpool.bench.roads.soundness import SoundReports
from motorpool.bench.roads.stop_comparison import Miss
from motorpool.bench.roads.tally import Tally, intervals_off, percentile, seconds_off, share_of


@cache
def calm_day(kind: str = "van", seed: int = 1) -> Day:
    by_interval = {
        "change_metres": None,
        "change_degrees": None,
        "interval_seconds": 30,
        "parked_seconds": 60,
    }
    overrides = CALM | by_interval | {"odometer": False}
    return make_day(kind, seed, **overrides)


def true_reports(day: Day) -> Reported:
    """Return the best that a server can report: what is true, at the reports next to it."""
    instants = SoundReports(day).instants

    def told(instant: datetime) -> datetime:
        after = bisect_left(instants, instant)
        return min(instants[max(0, after - 1) : after + 1], key=lambda made: abs(made - instant))

    stops = tuple(ReportedStop(told(stop.start), told(stop.end)) for stop in day.stops)
    trips = tuple(
        ReportedTrip(told(trip.start), told(trip.end), day.metres_at([trip.start, *within, trip.end]))
        for trip in day.trips
        for within in [[instant for instant in instants if trip.start < instant < trip.end]]
    )
    turns = sorted((*stops, *trips), key=lambda span: span.start)[1:]
    return Reported(
        stops=stops,
        trips=trips,
        metres=sum(trip.metres for trip in trips),
        stopped=tuple(span.start for span in turns if isinstance(span, ReportedStop)),
        moved=tuple(span.start for span in turns if isinstance(span, ReportedTrip)),
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "hourly car"])
def test_the_truth_is_near_its_own_reports(kind: str) -> None:
    day = calm_day(kind)
    found = compare(day, true_reports(day))
    tally = Tally([found])
    assert tally.missed_or_extra == 0.0
    assert (tally.unobserved, tally.differing_events) == (0, 0)
    assert tally.stops == sum(stop.end - stop.start >= timedelta(minutes=5) for stop in day.stops)
    assert len(tally.begins) + len(tally.ends) >= 2 * tally.stops - 2
    assert share_of(miss.is_near for miss in (*tally.begins, *tally.ends)) == 1.0
    assert percentile(tally.distances, 1.0) < 1e-9
    assert tally.distance_error == pytest.approx(0.0, abs=1e-9)
    assert tally.added_metres_an_hour == 0.0
    assert max(tally.durations, default=0.0) <= 2 * day.interval_seconds


def test_stops_that_begin_late_and_end_early_are_told_by_how_much() -> None:
    day = calm_day()
    reported = true_reports(day)
    late = timedelta(seconds=61)
    shifted = msgspec.structs.replace(
        reported, stops=tuple(ReportedStop(stop.start + late, stop.end - late) for stop in reported.stops)
    )
    tally, best = Tally([compare(day, shifted)]), Tally([compare(day, reported)])
    assert [miss.seconds for miss in tally.begins] == [miss.seconds + 61 for miss in best.begins]
    assert [miss.seconds for miss in tally.ends] == [miss.seconds - 61 for miss in best.ends]
    assert not any(miss.is_near for miss in tally.begins)


def test_a_stop_that_is_not_reported_is_missed_and_its_trips_are_one() -> None:
    day = calm_day()
    reported = true_reports(day)
    index = next(
        index
        for index, stop in enumerate(day.stops)
        if 0 < index < len(day.stops) - 1 and stop.end - stop.start > timedelta(minutes=6)
    )
    before, after = (
        next(trip for trip in reported.trips if trip.end == reported.stops[index].start),
        next(trip for trip in reported.trips if trip.start == reported.stops[index].end),
    )
    one = ReportedTrip(before.start, after.end, before.metres + after.metres)
    without = msgspec.structs.replace(
        reported,
        stops=tuple(stop for stop in reported.stops if stop is not reported.stops[index]),
        trips=tuple(one if trip is before else trip for trip in reported.trips if trip is not after),
    )
    found = compare(day, without)
    assert (found.stops.missed, found.stops.extra) == (1, 0)
    assert (found.trips.missed, found.trips.extra) == (1, 0)
    # One `deviceStopped` and one `deviceMoving` that no report knows.
    assert found.differing_events == 2


def test_a_stop_in_the_middle_of_a_trip_is_extra_and_short() -> None:
    day = calm_day()
    reported = true_reports(day)
    trip = max(reported.trips, key=lambda trip: trip.metres)
    start = trip.start + (trip.end - trip.start) / 2
    end = start + timedelta(seconds=90)
    halves = ReportedTrip(trip.start, start, 1.0), ReportedTrip(end, trip.end, 1.0)
    split = msgspec.structs.replace(
        reported,
        stops=tuple(sorted((*reported.stops, ReportedStop(start, end)), key=lambda stop: stop.start)),
        trips=tuple(piece for each in reported.trips for piece in (halves if each is trip else (each,))),
    )
    found = compare(day, split)
    assert (found.stops.missed, found.stops.extra, found.short_stops) == (0, 1, 1)
    assert (found.trips.missed, found.trips.extra) == (0, 1)
    # Neither half has enough in common with the trip for its distance to be compared.
    assert len(found.trips.distances) == len(day.trips) - 1


def test_a_stop_of_less_than_five_minutes_is_neither_missed_nor_extra() -> None:
    day, short = next(
        (day, stop)
        for seed in range(20)
        for day in [calm_day("van", seed)]
        for stop in day.stops
        if timedelta(seconds=200) < stop.end - stop.start < timedelta(minutes=5) and stop.end < day.end
    )
    reported = true_reports(day)
    index = day.stops.index(short)
    gone = reported.stops[index]
    before = next(trip for trip in reported.trips if trip.end == gone.start)
    after = next(trip for trip in reported.trips if trip.start == gone.end)
    one = ReportedTrip(before.start, after.end, before.metres + after.metres)
    without = msgspec.structs.replace(
        reported,
        stops=tuple(stop for stop in reported.stops if stop is not gone),
        trips=tuple(one if trip is before else trip for trip in reported.trips if trip is not after),
    )
    for told in (reported, without):
        assert Tally([compare(day, told)]).missed_or_extra == 0.0
    assert compare(day, without).trips.trips == compare(day, reported).trips.trips - 1


def test_a_halt_that_reports_cannot_tell_from_a_stop_is_not_extra() -> None:
    day, halt = next(
        (day, halt)
        for seed in range(20)
        for day in [calm_day("bus", seed)]
        for halt in day.halts
        if timedelta(seconds=155) < halt[1] - halt[0] < timedelta(seconds=180)
    )
    reported = true_reports(day)
    trip = next(trip for trip in reported.trips if trip.start < halt[0] and halt[1] < trip.end)
    pause = ReportedStop(halt[0] - timedelta(seconds=5), halt[1] + timedelta(seconds=5))
    halves = (
        ReportedTrip(trip.start, pause.start, 0.4 * trip.metres),
        ReportedTrip(pause.end, trip.end, 0.6 * trip.metres),
    )
    split = msgspec.structs.replace(
        reported,
        stops=tuple(sorted((*reported.stops, pause), key=lambda stop: stop.start)),
        trips=tuple(piece for each in reported.trips for piece in (halves if each is trip else (each,))),
    )
    found = compare(day, split)
    assert Tally([found]).missed_or_extra == 0.0
    assert len(found.trips.distances) == len(reported.trips)


def test_metres_that_the_summary_adds_are_those_beyond_trips_and_true_moves() -> None:
    day = calm_day("excavator", 0)
    reported = true_reports(day)
    moved = day.track.metres[day.track.last] - sum(trip.metres for trip in day.trips)
    assert moved > 500.0
    hours = sum((stop.end - stop.start).total_seconds() for stop in day.stops) / 3600
    told = msgspec.structs.replace(reported, metres=reported.metres + moved + 120.0)
    assert compare(day, told).trips.added_metres == pytest.approx(120.0)
    assert Tally([compare(day, told)]).added_metres_an_hour == pytest.approx(120.0 / hours)


def test_with_an_odometer_the_whole_path_is_the_truth() -> None:
    day = make_day("van", 1, **CALM | {"odometer": True, "interval_seconds": 60})
    sampled = compare(day, true_reports(day))
    assert max(sampled.trips.distances) < -0.001
    assert sampled.trips.true_metres == pytest.approx(sum(trip.metres for trip in day.trips))


def test_what_no_report_shows_is_not_judged() -> None:
    day = make_day("van", 1, **CALM | {"interval_seconds": 10, "outages": 0.0})
    silent = next(stop for stop in day.stops[1:] if stop.end - stop.start > timedelta(minutes=6))
    day.reports = tuple(
        report for report in day.reports if abs((report.instant - silent.start).total_seconds()) > 20
    )
    found = compare(day, true_reports(day))
    assert found.stops.unobserved == 1
    assert len(found.stops.begins) == found.stops.judged - 2


def test_days_with_late_reports_say_nothing_of_events() -> None:
    late = make_day("van", 1, **CALM | {"outages": 3.0, "send_order": "newest"})
    quiet = msgspec.structs.replace(true_reports(late), stopped=())
    found = compare(late, quiet)
    assert not found.is_in_order
    assert found.differing_events > 0
    assert Tally([found]).differing_events == 0


def test_tolerances_are_intervals_or_seconds() -> None:
    assert Miss(-15.0, 1.0).is_near
    assert not Miss(16.0, 1.0).is_near
    assert Miss(60.0, 60.0).is_near
    assert Miss(-45.0, 10.0).is_tolerable
    assert not Miss(46.0, 20.0).is_tolerable
    assert Miss(120.0, 60.0).is_tolerable


def test_figures_of_nothing_are_zero() -> None:
    tally = Tally([])
    assert (tally.missed_or_extra, tally.distance_error, tally.added_metres_an_hour) == (0.0, 0.0, 0.0)
    assert percentile([], 0.5) == share_of([]) == 0.0


def test_percentiles_are_of_the_nearest_rank() -> None:
    misses = [Miss(seconds, 10.0) for seconds in (-40.0, 10.0, 20.0, -30.0)]
    assert seconds_off(misses) == [10.0, 20.0, 30.0, 40.0]
    assert intervals_off(misses) == [1.0, 2.0, 3.0, 4.0]
    assert percentile(seconds_off(misses), 0.5) == 20.0
    assert percentile(seconds_off(misses), 0.95) == 40.0
