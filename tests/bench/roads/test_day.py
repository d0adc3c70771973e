"""Days of vehicles, and whether their truth is one."""

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise

import pytest

from motorpool.bench.roads import CALM, KINDS, Day, make_day
from motorpool.bench.roads.globe import Place
from motorpool.bench.roads.track import Sky

SEEDS = range(4)
MIN_DURATION = timedelta(seconds=180)


@cache
def day_of(kind: str, seed: int) -> Day:
    return make_day(kind, seed)


def days() -> list[Day]:
    return [day_of(kind, seed) for kind in KINDS for seed in SEEDS]


def test_the_same_seed_makes_the_same_day_and_another_one_another() -> None:
    first, again, other = make_day("van", 3), make_day("van", 3), make_day("van", 4)
    assert first.reports == again.reports
    assert (first.stops, first.trips) == (again.stops, again.trips)
    assert first.reports != other.reports


def test_overrides_of_receiver_and_tracker_leave_the_motion_as_it_is() -> None:
    first, other = make_day("taxi", 5), make_day("taxi", 5, interval_seconds=7, drift=99.0, outages=3.0)
    assert (first.stops, first.trips) == (other.stops, other.trips)
    assert len(first.reports) != len(other.reports)


def test_a_condition_or_a_kind_that_there_is_not() -> None:
    with pytest.raises(TypeError, match="no condition weather; there are"):
        make_day("van", 1, weather=1.0)
    with pytest.raises(KeyError):
        make_day("submarine", 1)


seeds = pytest.mark.parametrize("seed", SEEDS)
kinds = pytest.mark.parametrize("kind", KINDS)


@kinds
@seeds
def test_stops_and_trips_take_turns_and_fill_the_day(kind: str, seed: int) -> None:
    day = day_of(kind, seed)
    spans = sorted([*day.stops, *day.trips], key=lambda span: span.start)
    assert spans[0].start == day.start
    assert spans[-1].end == day.end == day.start + timedelta(days=1)
    assert all(before.end == after.start for before, after in pairwise(spans))
    assert all(type(before) is not type(after) for before, after in pairwise(spans))


@kinds
@seeds
def test_within_a_stop_it_stays_at_its_place_and_on_a_trip_it_leaves(kind: str, seed: int) -> None:
    day = day_of(kind, seed)
    for stop in day.stops:
        assert stop.end - stop.start >= MIN_DURATION or stop.end == day.end
        place = Place(stop.latitude, stop.longitude)
        for second in range(int(day.second(stop.start)), int(day.second(stop.end)) + 1):
            if day.track.speeds[second] or second % 60 == 0:
                assert place.metres_to(day.track.place(second)) < 200.0
        # It stands at both ends and moves just before and after.
        first, last = int(day.second(stop.start)), int(day.second(stop.end))
        assert day.track.speeds[first] == day.track.speeds[last] == 0.0
        assert first == 0 or day.track.speeds[first - 1] > 0.0
        assert last == day.track.last or day.track.speeds[last + 1] > 0.0
    for trip in day.trips:
        start = day.place_at(trip.start)
        seconds = range(int(day.second(trip.start)), int(day.second(trip.end)) + 1)
        if trip.end < day.end:
            assert max(start.metres_to(day.track.place(second)) for second in seconds[::5]) > 250.0
        assert not any(
            end - begin >= MIN_DURATION for begin, end in day.halts if trip.start < begin and end < trip.end
        )


@kinds
def test_a_path_sampled_every_second_is_as_long_as_the_trips(kind: str) -> None:
    day = day_of(kind, 1)
    every_second = [day.start + timedelta(seconds=second) for second in range(86_401)]
    driven = sum(trip.metres for trip in day.trips)
    assert day.metres_at(every_second) == pytest.approx(driven, rel=2e-3)
    every_minute = day.metres_at(every_second[::60])
    assert every_minute <= day.metres_at(every_second)
    assert every_minute > 0.6 * driven or not day.trips


def test_a_sampled_path_begins_and_ends_with_its_instants() -> None:
    day = day_of("commuter", 2)
    trip = max(day.trips, key=lambda trip: trip.metres)
    middle = trip.start + (trip.end - trip.start) / 2
    ends = day.place_at(trip.start).metres_to(day.place_at(middle))
    assert day.metres_at([day.start, middle]) == pytest.approx(
        day.metres_at([day.start, trip.start]) + ends, abs=1.0
    )
    assert day.metres_at([middle]) == 0.0
    assert day.metres_at([]) == 0.0


@kinds
def test_reports_of_a_calm_day_tell_the_truth(kind: str) -> None:
    day = make_day(kind, 2, **CALM | {"noise": 0.0, "change_metres": None, "parked_seconds": 60})
    assert list(day.reports) == sorted(day.reports, key=lambda report: report.instant)
    for report in day.reports:
        assert report.valid
        assert report.fix_time == report.instant
        assert not report.archived
        true = Place(report.true_latitude, report.true_longitude)
        assert true == day.place_at(report.instant)
        assert true.metres_to(Place(report.latitude, report.longitude)) < 0.2
        assert (report.ignition is None) is (not day.conditions.ignition)
        assert (report.odometer is None) is (not day.conditions.odometer)


def test_odometers_count_the_true_path() -> None:
    day = make_day("van", 2, **CALM | {"odometer": True})
    first, last = day.reports[0], day.reports[-1]
    assert first.odometer is not None
    assert last.odometer is not None
    assert last.odometer - first.odometer == pytest.approx(sum(trip.metres for trip in day.trips), abs=500)


def test_the_interval_of_one_that_reports_by_distance_is_the_usual_one() -> None:
    assert make_day("van", 1, interval_seconds=45).interval_seconds == 45
    day = make_day("courier", 1, **CALM | {"change_metres": 50.0, "interval_seconds": 900})
    assert 8 <= day.interval_seconds <= 20


def test_it_may_be_any_day() -> None:
    start = datetime(2024, 2, 29, tzinfo=UTC)
    day, usual = make_day("bus", 1, start=start), make_day("bus", 1)
    later = usual.start - start
    assert [stop.start + later for stop in day.stops] == [stop.start for stop in usual.stops]
    assert day.reports[0].fix_time.date() == start.date()


def test_a_shorter_least_duration_makes_more_stops() -> None:
    usual, shorter = make_day("van", 1), make_day("van", 1, min_duration=60)
    assert len(shorter.stops) > len(usual.stops)


def test_everything_happens_in_some_days() -> None:
    seen: set[str] = set()
    for day in (*days(), *(make_day("lorry", seed, ferries=1.0) for seed in range(2))):
        seen |= {f"stop: {stop.kind}" for stop in day.stops}
        seen |= {f"speeds: {day.conditions.speeds}", f"loss: {day.conditions.fix_loss}"}
        track = day.track
        moving = [second for second in range(0, len(track), 3) if track.speeds[second] > 3.0]
        seen |= {f"moves: {Sky(track.sky[second]).name}" for second in moving}
        seen |= {f"ignition: {report.ignition}" for report in day.reports}
        if any(not track.ignition[second] for second in moving):
            seen.add("moved with the ignition off")
        if any(timedelta(seconds=100) < end - start < MIN_DURATION for start, end in day.halts):
            seen.add("short halt")
        if any(MIN_DURATION <= stop.end - stop.start < timedelta(seconds=300) for stop in day.stops):
            seen.add("stop of less than five minutes")
        for report in day.reports:
            place = Place(report.latitude, report.longitude)
            off = place.metres_to(Place(report.true_latitude, report.true_longitude))
            if report.valid and off > 15_000.0:
                seen.add("jump")
            elif report.valid and off > 500.0:
                seen.add("outlier")
            elif not report.valid:
                seen.add("zeros" if place == (0.0, 0.0) else "last place again")
            if report.fix_time != report.instant:
                seen.add("clock ahead" if report.fix_time > report.instant else "clock behind")
            if report.archived:
                seen.add("late")
        if len({report.instant for report in day.reports}) < len(day.reports):
            seen.add("sent twice")
        if any(after.fix_time < before.fix_time for before, after in pairwise(day.reports)):
            seen.add("out of order")
    assert seen >= {
        *(
            f"stop: {kind}"
            for kind in ("parked", "idle", "garage", "yard", "site", "rank", "tow", "ferry", "jam")
        ),
        *(f"speeds: {speeds}" for speeds in ("held", "noisy", "zero")),
        *(f"loss: {loss}" for loss in ("repeat", "zero", "silent")),
        *("moves: OPEN", "moves: CANYON", "moves: COVERED", "moved with the ignition off"),
        *("ignition: True", "ignition: False", "ignition: None"),
        *("short halt", "stop of less than five minutes", "jump", "outlier", "zeros", "last place again"),
        *("clock ahead", "clock behind", "late", "sent twice", "out of order"),
    }
