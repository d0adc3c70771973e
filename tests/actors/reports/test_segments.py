"""Trips and stops against `brute_force.py`, on random tracks."""

from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.actors.reports.brute_force import Interval, Point, intervals, metres

from motorpool.actors.reports.segments import Carry, Fix, Segmenter
from motorpool.actors.rules.trip_detection import TripSettings, TripState, advance

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
# Seconds since the position before, metres north and east, knots: standing, walking, driving and silence.
# Of positions within a 64th of three minutes the machine keeps the first, which the brute force does not.
STEPS = st.lists(
    st.tuples(
        st.sampled_from([0, 3, 20, 60, 100, 179, 180, 181, 600, 3600, 3601, 9000]),
        st.sampled_from([0, 5, 30, 150, 199, 201, 900, 20_000]),
        st.sampled_from([0, -10, 120, -900]),
        st.integers(0, 60),
    ),
    min_size=1,
    max_size=60,
)


def track(steps: list[tuple[int, int, int, int]]) -> list[Point]:
    points: list[Point] = []
    time, latitude, longitude = NOON, 52.0, 13.0
    for number, (seconds, north, east, knots) in enumerate(steps, 1):
        time += timedelta(seconds=seconds)
        latitude += north / 111_319.49
        longitude += east / 68_500
        point = Point(time, latitude, longitude, float(knots), 0.0, number)
        way = metres(points[-1], point) if points else 0.0
        points.append(Point(time, latitude, longitude, float(knots), way, number))
    return points


def fixes(points: list[Point]) -> list[Fix]:
    return [Fix(p.number, p.time, p.latitude, p.longitude, p.distance, p.speed) for p in points]


def found(points: list[Point], first: int, last: int, cut: int = 0) -> list[tuple[bool, int, int, float]]:
    """The segments of points[first:last], which come in two portions."""
    state = TripState()
    for fix in fixes(points[:first]):
        state, _ = advance(state, fix, TripSettings())
    segmenter = Segmenter(Carry(state.is_moving, state.anchor, state.window), TripSettings())
    given_points = fixes(points[first:last])
    segments = segmenter.add(given_points[:cut])
    # A carry that was stored is as good as one that was not.
    stored = msgspec.json.decode(msgspec.json.encode(segmenter.carry()), type=Carry)
    segmenter = Segmenter(stored, TripSettings())
    segments += segmenter.add(given_points[cut:]) + segmenter.finish()
    return [(s.is_moving, s.start.position_id, s.end.position_id, s.max_speed) for s in segments]


def expected(points: list[Point], first: int, last: int) -> list[tuple[bool, int, int, float]]:
    begun = points[:last]
    if first >= last:
        return []
    cut: list[Interval] = intervals(begun, points[first].time, points[last - 1].time)
    return [(i.moving, i.start.number, i.end.number, i.top_speed) for i in cut]


@given(STEPS, st.integers(0, 60))
def test_a_whole_track_is_cut_as_the_brute_force_does(steps, cut):
    points = track(steps)
    assert found(points, 0, len(points), cut) == expected(points, 0, len(points))


@given(STEPS, st.integers(0, 59), st.integers(0, 60))
def test_a_span_continues_what_began_before_it(steps, first, length):
    points = track(steps)
    # Both ends between points of different times, as spans of time are.
    times = sorted({point.time for point in points})
    begin = times[first % len(times)]
    end = times[min(times.index(begin) + length, len(times) - 1)]
    first = next(index for index, point in enumerate(points) if point.time >= begin)
    last = max(index for index, point in enumerate(points) if point.time <= end) + 1
    assert found(points, first, last) == expected(points, first, last)


def test_segments_follow_each_other_without_gaps():
    points = track([(60, 0, 0, 0)] * 10 + [(30, 300, 0, 30)] * 20 + [(60, 0, 0, 0)] * 10)
    segments = found(points, 0, len(points))
    assert [moving for moving, *_ in segments] == [False, True, False]
    assert [end for _, _, end, _ in segments[:-1]] == [start for _, start, _, _ in segments[1:]]
    assert segments[1][3] == 30.0


def test_a_long_drive_keeps_few_fixes_in_memory():
    points = fixes(track([(10, 300, 0, 30 + number % 7) for number in range(3000)]))
    segmenter = Segmenter(Carry(), TripSettings())
    (stop,) = segmenter.add(points)
    assert not stop.is_moving
    assert len(segmenter._tail) < 200
    (trip,) = segmenter.finish()
    assert (trip.start, trip.end, trip.max_speed) == (stop.end, points[-1], 36.0)
