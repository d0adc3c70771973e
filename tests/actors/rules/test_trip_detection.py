"""When a device starts and stops moving (docs/events.md#motion)."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules import trip_detection
from motorpool.actors.rules.trip_detection import WINDOW_SLOTS, TrackPoint, TripSettings, TripState, advance

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
DEGREE = math.pi / 180 * 6_378_137
"""Metres of a degree of latitude."""


def track(*steps):
    """Return a point for each (second, metres north of the equator)."""
    points, before = [], 0.0
    for index, (second, north) in enumerate(steps, 1):
        moment = NOON + timedelta(seconds=second)
        points.append(TrackPoint(index, moment, north / DEGREE, 0.0, abs(north - before)))
        before = north
    return points


def run(points, settings=TripSettings(), state=TripState()):  # noqa: B008
    """Return the transitions as (is_moving, position id), and the state in the end."""
    found = []
    for point in points:
        state, transitions = advance(state, point, settings)
        found += [(transition.is_moving, transition.point.position_id) for transition in transitions]
    return found, state


def test_the_first_point_is_where_the_device_stands():
    points = track((0, 0))
    assert run(points) == ([], TripState(False, points[0], (points[0],)))


def test_a_trip_and_a_stop():
    drive = [(600 + 60 * minute, 1000 * minute) for minute in range(6)]
    rest = [(960 + 60 * minute, 5000) for minute in range(6)]
    found, state = run(track((0, 0), (300, 10), *drive, *rest))
    # It drove from where it was seen last, and stopped when it had stayed for three minutes.
    assert found == [(True, 3), (False, 11)]
    assert not state.is_moving


def test_a_trip_starts_after_the_stop_before_it():
    found, _ = run(track((0, 0), (60, 300), (120, 600)))
    assert found == [(True, 2)]


def test_slow_legs_before_the_fast_ones_belong_to_the_stop():
    # 40 m a minute is slower than 200 m in three minutes, 100 m a minute is faster.
    found, _ = run(track((0, 0), (60, 40), (120, 80), (180, 180), (240, 280)))
    assert found == [(True, 3)]


def test_jitter_makes_no_trip():
    found, _ = run(track(*[(60 * minute, 150 * (minute % 2)) for minute in range(60)]))
    assert found == []


def test_a_drive_in_silence_is_a_trip_between_two_stops():
    night = 8 * 3600
    assert run(track((0, 0), (60, 0), (night, 100_000)))[0] == [(True, 2), (False, 3)]
    moving = [(0, 0), (60, 1000), (120, 2000)]
    assert run(track(*moving, (night, 100_000)))[0] == [(True, 2), (False, 3), (True, 3), (False, 4)]
    # Too slow to have been driven all the time: the silence is a part of the trip.
    assert run(track(*moving, (night, 12_000)))[0] == [(True, 2)]


def test_a_window_has_a_limit(monkeypatch):
    monkeypatch.setattr(trip_detection, "MAX_WINDOW_POINTS", 8)
    settings = TripSettings(min_duration=3600.0)
    state = TripState()
    for point in track(*[(0, 0) for _ in range(100)]):
        state, _ = advance(state, point, settings)
        assert len(state.window) <= 9
    assert state.window[0].position_id == 1
    assert state.window[-1].position_id == 100


@pytest.mark.parametrize("begun", [0, 1, 100])
def test_frequent_points_are_kept_alike_whenever_the_machine_was_started(begun):
    points = track(*[(second / 2, 0) for second in range(1200)])
    whole = later = TripState()
    for number, point in enumerate(points):
        whole, _ = advance(whole, point, TripSettings())
        if number >= begun:
            later, _ = advance(later, point, TripSettings())
    assert len(whole.window) <= WINDOW_SLOTS + 3
    assert later.window == whole.window
    assert whole.window[-1] == points[-1]


@pytest.mark.parametrize("settings", [TripSettings(0, 0, 0), TripSettings(min_duration=0.0)])
def test_settings_of_zero_are_harmless(settings):
    run(track((0, 0), (0, 0), (0, 500), (60, 500), (9000, 90_000)), settings)


# Steps of 61 m and 7 s: no distance or speed comes close to a limit, where rounding would decide.
STEPS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 12), st.integers(500, 700)),
        st.one_of(st.just(0), st.integers(-2, 2), st.integers(-60, 60)),
    ),
    max_size=60,
)


@given(STEPS)
def test_as_a_machine_that_remembers_everything(steps):
    time = place = 0
    moments = []
    for seconds, metres in steps:
        time += 7 * seconds
        place += 61 * metres
        moments.append((time, place))
    assert run(track(*moments))[0] == expected(moments)


def expected(moments):
    """The rules as they are written down, over the whole track; points are numbered from 1."""
    found = []
    is_moving, anchor = False, 0
    first = 0  # of the points that may still be seen
    for index in range(1, len(moments)):
        time, place = moments[index]
        last_time, last_place = moments[index - 1]
        metres, seconds = abs(place - last_place), time - last_time
        if seconds > 3600 and metres >= 200 and metres / seconds > 200 / 180:
            if is_moving:
                found.append((False, index))
            found += [(True, index), (False, index + 1)]
            is_moving, anchor, first = False, index, index
            continue
        old = [other for other in range(first, index) if time - moments[other][0] >= 180]
        young = [other for other in range(first, index) if time - moments[other][0] < 180]
        seen = old[-1:] + young
        if is_moving:
            if old and all(abs(place - moments[other][1]) < 200 for other in seen):
                found.append((False, index + 1))
                is_moving, anchor = False, index
        elif abs(place - moments[anchor][1]) >= 200:
            later = [other for other in seen if moments[other][0] > moments[anchor][0]]
            start = index
            for step, other in enumerate(reversed(later)):
                leg = abs(moments[start][1] - moments[other][1])
                if step and leg * 180 <= 200 * (moments[start][0] - moments[other][0]):
                    break
                start = other
            found.append((True, start + 1))
            is_moving, anchor = True, start
    return found
