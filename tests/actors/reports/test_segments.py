"""Trips, stops and distances against `brute_force.py`, on random tracks."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.actors.reports.brute_force import intervals
from tests.actors.reports.random_tracks import RUNS, track, with_lost_places, with_wrong_fixes

from motorpool.actors.reports.segments import Carry, Segmenter, decode_window
from motorpool.actors.rules.trip_detection import TrackPoint, TripSettings, TripState, advance

LOST = st.lists(st.integers(0, 250), max_size=3)
WRONG = st.lists(st.tuples(st.integers(0, 250), st.sampled_from([-250, 400, 804, 3000, 20_000])), max_size=4)


def track_points(points):
    return [
        TrackPoint(p.number, p.time, p.latitude, p.longitude, p.speed, p.valid, p.ignition, p.ahead)
        for p in points
    ]


def found(points, first, last, cut=0):
    """The segments of points[first:last], which come in two portions."""
    state = TripState()
    for point in track_points(points[:first]):
        state, _ = advance(state, point, TripSettings())
    segmenter = Segmenter(Carry(state, is_moving=state.is_moving), TripSettings())
    given_points = track_points(points[first:last])
    segments = segmenter.add(given_points[:cut])
    # A carry that was stored is as good as one that was not.
    encoded = msgspec.json.encode(segmenter.carry(), enc_hook=list)
    stored = msgspec.json.decode(encoded, type=Carry, dec_hook=decode_window)
    segmenter = Segmenter(stored, TripSettings())
    segments += segmenter.add(given_points[cut:]) + segmenter.finish()
    return [
        (s.is_moving, s.start.position_id, s.end.position_id, s.max_speed, s.is_moving * s.centimetres / 100)
        for s in segments
    ]


def expected(points, first, last):
    if first >= last:
        return []
    cut = intervals(points[:last], points[first].time, points[last - 1].time)
    return [
        (i.moving, i.start.number, i.end.number, i.top_speed, pytest.approx(i.distance, abs=0.5)) for i in cut
    ]


@settings(max_examples=300)
@given(RUNS, st.booleans(), LOST, st.integers(0, 60))
def test_a_whole_track_is_cut_as_the_brute_force_does(runs, is_eastward, lost, cut):
    points = with_lost_places(track(runs, is_eastward=is_eastward), lost)
    assert found(points, 0, len(points), cut) == expected(points, 0, len(points))


@settings(max_examples=300)
@given(RUNS, WRONG, st.integers(0, 60))
def test_a_track_with_wrong_fixes_is_cut_as_the_brute_force_does(runs, wrong, cut):
    points = with_wrong_fixes(track(runs), wrong)
    assert found(points, 0, len(points), cut) == expected(points, 0, len(points))


@settings(max_examples=300)
@given(RUNS, LOST, st.integers(0, 59), st.integers(0, 60))
def test_a_span_continues_what_began_before_it(runs, lost, first, length):
    points = with_lost_places(track(runs), lost)
    # Both ends between points of different times, as spans of time are.
    times = sorted({point.time for point in points})
    begin = times[first % len(times)]
    end = times[min(times.index(begin) + length, len(times) - 1)]
    first = next(index for index, point in enumerate(points) if point.time >= begin)
    last = max(index for index, point in enumerate(points) if point.time <= end) + 1
    assert found(points, first, last) == expected(points, first, last)


def drive():
    """A quarter of an hour at rest, a drive of 10 km, a quarter of an hour at rest."""
    rest = (60, 0, False, 0, True, None, 0.0, 15)
    return track([rest, (20, 300, False, 29, True, None, 0.0, 33), rest])


@pytest.mark.parametrize("cut", [0, 5])
def test_a_trip_does_not_have_what_the_stop_before_it_came_along_after_all(cut):
    # Positions without a fix show the trip before one with a fix shows that the step before them was true.
    still = (0, 0, False, 0, True, None, 0.0, 1)
    points = track(
        [
            still,
            still,
            (0, 199, False, 0, True, None, 0.0, 1),
            (1799, 0, False, 0, False, None, 0.0, 2),
            still,
        ]
    )
    stop, trip = found(points, 0, len(points), cut)
    assert trip == (True, 4, 5, 0.0, 0.0)
    assert [stop, trip] == expected(points, 0, len(points))


def test_segments_follow_each_other_without_gaps():
    points = drive()
    segments = found(points, 0, len(points))
    assert [moving for moving, *_ in segments] == [False, True, False]
    assert [end for _, _, end, *_ in segments[:-1]] == [start for _, start, *_ in segments[1:]]
    assert segments[1][3] == 29.0
    assert segments[1][4] == pytest.approx(9900, abs=20)


def test_a_long_drive_keeps_few_points_in_memory():
    points = track_points(
        track([(10, 300, False, 50 + number % 7, True, None, 0.0, 1) for number in range(3000)])
    )
    segmenter = Segmenter(Carry(), TripSettings())
    segments = segmenter.add(points)
    assert len(segmenter._tail) < 200
    (trip,) = segments[1:] + segmenter.finish()
    assert (trip.end, trip.max_speed) == (points[-1], 56.0)
