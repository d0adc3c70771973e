"""When a device starts and stops moving (docs/events.md#motion)."""

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from motorpool.actors.rules import trip_detection
from motorpool.actors.rules.event_rules import earlier_start, window_start
from motorpool.actors.rules.motion import rebuild_trip
from motorpool.actors.rules.rule_settings import DEFAULTS
from motorpool.actors.rules.trip_detection import TrackPoint, TripSettings, TripState, advance, is_reachable
from motorpool.actors.rules.window import Window
from motorpool.storage.records import Position
from motorpool.storage.rules.fold_rows import Motion

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
DEGREE = math.pi / 180 * 6_378_137
"""Metres of a degree of latitude."""


def track(*steps):
    """Return a point for each (second, metres north of the equator) and perhaps more fields of points."""
    points = []
    for index, (second, north, *fields) in enumerate(steps, 1):
        moment = NOON + timedelta(seconds=second)
        points.append(TrackPoint(index, moment, north / DEGREE, 0.0, **(fields[0] if fields else {})))
    return points


def run(points, settings=TripSettings(), state=TripState()):  # noqa: B008
    """Return the transitions as (is_moving, second), and the state in the end."""
    found = []
    for point in points:
        state, transitions = advance(state, point, settings)
        found += [
            (transition.is_moving, (transition.point.fix_time - NOON).total_seconds())
            for transition in transitions
        ]
    return found, state


def fast(kmh):
    return {"speed": kmh / 1.852}


def drive(start, end, metres, *, kmh=50, interval=10, begin=0.0):
    """Steps of a drive at an even speed, without its first point."""
    return [
        (second, begin + metres * (second - start) / (end - start), fast(kmh))
        for second in range(start + interval, end + 1, interval)
    ]


def rest(start, end, north, *, interval=10, wobble=0.0):
    return [(second, north + wobble * math.sin(second)) for second in range(start, end + 1, interval)]


def test_the_first_point_is_where_the_device_stands():
    points = track((0, 0))
    assert run(points) == ([], TripState(False, points[0], Window((points[0],))))


def test_a_stop_begins_where_the_device_came_to_rest():
    steps = [
        *rest(0, 600, 0),
        *drive(600, 1200, 8000),
        *rest(1210, 2000, 8000),
        *drive(2000, 2600, 9000, begin=8000),
    ]
    assert run(track(*steps))[0] == [(True, 600), (False, 1210), (True, 2000)]


def test_it_does_so_without_reported_speeds_too():
    steps = [
        *rest(0, 600, 0),
        *drive(600, 1200, 8000),
        *rest(1210, 2000, 8000),
        *drive(2000, 2600, 9000, begin=8000),
    ]
    found = run(track(*[(second, north) for second, north, *_ in steps]))[0]
    assert found == [(True, 600), (False, 1200), (True, 2000)]


@pytest.mark.parametrize("seconds", [30, 120, 170])
def test_a_halt_shorter_than_the_shortest_stop_splits_no_trip(seconds):
    halt = rest(1210, 1200 + seconds, 8000)
    steps = [
        *rest(0, 600, 0),
        *drive(600, 1200, 8000),
        *halt,
        *drive(1200 + seconds, 2000 + seconds, 9000, begin=8000),
    ]
    assert run(track(*steps))[0] == [(True, 600)]


def test_a_jam_is_part_of_the_trip():
    jam, second, north = [], 1200, 8000
    while second < 3000:
        jam += rest(second + 10, second + 60, north)
        jam.append((second + 70, north + 12, fast(8)))
        second, north = second + 80, north + 25
    steps = [*rest(0, 600, 0), *drive(600, 1200, 8000), *jam]
    assert run(track(*steps))[0] == [(True, 600)]


def test_a_drifting_receiver_makes_no_trip():
    around = [(10 * n, 80 * math.sin(n / 9), {}) for n in range(3000)]
    assert run(track(*around))[0] == []


def test_an_excavator_that_works_on_a_site_stands():
    site = [(1200 + 10 * n, 8000 + 60 * math.sin(n / 5), fast(5)) for n in range(1, 700)]
    steps = [*rest(0, 600, 0), *drive(600, 1200, 8000), *site]
    assert run(track(*steps))[0] == [(True, 600), (False, 1200)]


def test_a_tracker_that_sleeps_while_parked_shows_a_stop_by_its_silence():
    steps = [*rest(0, 600, 0), *drive(600, 1200, 8000), (1210, 8000), *drive(5000, 5600, 9000, begin=8000)]
    assert run(track(*steps))[0] == [(True, 600), (False, 1210), (True, 5010)]
    # The same if it falls asleep before it has come to rest, and wakes up when it has gone on.
    steps = [*rest(0, 600, 0), *drive(600, 1200, 8000), *drive(5030, 5600, 9000, begin=8400)]
    assert run(track(*steps))[0] == [(True, 600), (False, 1200), (True, 5040)]


def test_a_tunnel_shows_no_stop():
    lost = [(second, 8000, {"valid": False}) for second in range(1210, 1500, 10)]
    steps = [*rest(0, 600, 0), *drive(600, 1200, 8000), *lost, *drive(1500, 2000, 6000, begin=12_000)]
    assert run(track(*steps))[0] == [(True, 600)]


def test_a_tunnel_with_a_jam_shows_none_if_the_ignition_was_on():
    def found(ignition, silent_metres):
        """A drive, 20 minutes of silence, and the end of the drive."""
        on = {**fast(50), "ignition": ignition}
        before = [(second, north, on) for second, north, _ in drive(600, 1200, 8000)]
        after = [
            (second, north, on) for second, north, _ in drive(2400, 3000, 8000, begin=8000 + silent_metres)
        ]
        return run(track(*rest(0, 600, 0), *before, *after))[0][1:]

    assert found(True, 900) == []
    assert found(None, 900)[0] == (False, 1200)
    # A garage: it was left where it was entered.
    assert found(True, 300)[0] == (False, 1200)


def test_steps_of_one_speed_are_no_reports_by_distance():
    """A silence in a drive of even steps is a stop, if the device has reported where it stood as well."""
    for lights in ([], rest(1010, 1030, 0)):
        even = [(1100 + 10 * k, 83 * k, fast(30)) for k in range(10)]
        again = [(1700 + 10 * k, 83 * (10 + k), fast(30)) for k in range(10)]
        starting = drive(600, 1000, 4000, begin=-4000, interval=13)
        found = run(track(*rest(0, 600, -4000), *starting, *lights, *even, *again))[0][1:]
        assert bool(found) is bool(lights)


def test_a_drive_without_a_fix_begins_where_the_last_fix_was():
    def found(metres):
        """Parked in a garage, it reports without a fix, and is elsewhere when it has one."""
        lost = [(7000, 8000, {"valid": False, "ignition": False})]
        steps = [*rest(0, 600, 0), *drive(600, 1200, 8000), *rest(1210, 1500, 8000), *lost]
        return run(track(*steps, *drive(7600, 8200, 9000, begin=8000 + metres)))[0][-1]

    assert found(300) == (True, 7610)
    assert found(5000) == (True, 1500)


def test_a_garage_without_a_fix_does_once_the_ignition_is_off():
    lost = [(second, 8000, {"valid": False, "ignition": False}) for second in range(1210, 1500, 10)]
    assert run(track(*rest(0, 600, 0), *drive(600, 1200, 8000), *lost))[0] == [(True, 600), (False, 1210)]


def test_a_place_without_a_fix_at_0_0_is_none():
    nowhere = [(second, 0, {"valid": False}) for second in range(1210, 1500, 10)]
    steps = [*rest(0, 600, 50_000), *drive(600, 1200, 8000, begin=50_000), *nowhere]
    assert run(track(*nowhere, *steps[:1]))[0] == []
    assert run(track(*steps))[0] == [(True, 600)]


def test_a_drive_in_silence_is_a_trip_between_two_stops():
    night = 8 * 3600
    # Of one position nobody knows whether it rests there.
    assert run(track((0, 0), (60, 0), (night, 100_000)))[0] == [(True, 60)]
    there = rest(night, night + 180, 100_000)
    assert run(track((0, 0), (60, 0), *there))[0] == [(True, 60), (False, night)]
    moving = [*rest(0, 600, 0), *drive(600, 1200, 8000)]
    assert run(track(*moving, *there))[0] == [(True, 600), (False, 1200), (True, 1200), (False, night)]


def test_after_a_silence_who_moves_goes_on_with_the_trip():
    night = 8 * 3600
    steps = [
        (0, 0),
        (60, 0),
        *drive(night, night + 600, 9000, begin=100_000),
        *rest(night + 610, night + 1200, 109_000),
    ]
    assert run(track(*steps))[0] == [(True, 60), (False, night + 610)]


def test_with_a_report_an_hour_a_trip_has_the_drive_between_two_of_them():
    hour = 3600
    # Seen on the way, and between two places.
    seen = [(hour, 0), (2 * hour, 13_700, fast(30)), (3 * hour, 14_500)]
    assert run(track((0, 0), *seen))[0] == [(True, hour), (False, 2 * hour)]
    between = [(hour, 0), (2 * hour, 14_500), (3 * hour, 14_500)]
    assert run(track((0, 0), *between))[0] == [(True, hour), (False, 2 * hour)]


def test_a_tracker_that_slept_shows_a_stop_of_its_least_duration_or_none():
    # It falls asleep two minutes after it came to rest, and wakes up on its way.
    asleep = [*rest(0, 600, 0), *drive(600, 1200, 8000), *rest(1210, 1330, 8000)]
    for metres in (20, 150, 300, 600):
        steps = [*asleep, *drive(1500, 2600, 9000, begin=8000 + metres)]
        stopped, started = run(track(*steps))[0][1:]
        assert stopped == (False, 1210)
        assert started[1] - stopped[1] >= 180


def test_a_jump_that_cannot_be_is_left_out():
    steps = [*rest(0, 600, 0), (610, 50_000), *rest(620, 1200, 0)]
    points = track(*steps)
    found, state = run(points)
    assert found == []
    assert state.window[-1] == points[-1]
    assert not any(point.latitude * DEGREE > 40_000 for point in state.window)


def test_two_such_points_that_agree_are_believed():
    steps = [*rest(0, 600, 0), *rest(610, 1200, 50_000)]
    state = TripState()
    beliefs = []
    for point in track(*steps):
        beliefs.append(state.believes(point, point.ahead, TripSettings()))
        state, transitions = advance(state, point, TripSettings())
        assert not transitions
    assert beliefs == [True] * 61 + [False] + [True] * 59


def test_a_place_that_proved_wrong_makes_no_trip():
    wrong = [(610, 50_000), (620, 50_010), (630, 50_020)]
    steps = [*rest(0, 600, 0), *wrong, *rest(640, 900, 0), *drive(900, 1500, 8000)]
    assert run(track(*steps))[0] == [(True, 900)]


@pytest.mark.parametrize(
    ("north", "seconds", "expected"), [(10, 2, True), (10, 1800, True), (-300, 2, False), (700, 2, True)]
)
def test_after_a_wrong_first_fix_of_a_sleeper_it_is_back_without_having_been_there(north, seconds, expected):
    steps = [*rest(0, 600, 0), (900, 804), (900 + seconds, north), (5000, 0)]
    *before, point, _ = points = track(*steps)
    _, state = run(before)
    assert state.unsure is before[-1]
    assert state.believes(point, 0.0, TripSettings()) == expected
    if expected and north < 200 and seconds < 1800:
        assert run(points)[0] == []


def test_who_reports_such_a_speed_may_have_it():
    flight = [(60 * n, 15_000 * n, fast(900)) for n in range(20)]
    state = TripState()
    for point in track(*flight):
        assert state.believes(point, point.ahead, TripSettings())
        state, _ = advance(state, point, TripSettings())


def test_a_clock_that_jumps_ahead_is_not_believed():
    ahead = [(610 + 3600, 20, {"ahead": 3600.0})]
    points = track(*rest(0, 600, 0), *ahead, *rest(620, 900, 0))
    state = TripState()
    for point in points:
        assert state.believes(point, point.ahead, TripSettings()) is (point.ahead == 0)
        state, _ = advance(state, point, TripSettings())


def test_one_that_was_set_is_after_a_while():
    points = track(*rest(0, 600, 0), *[(4210 + 10 * n, 0, {"ahead": 3600.0}) for n in range(30)])
    state = TripState()
    beliefs = []
    for point in points:
        beliefs.append(state.believes(point, point.ahead, TripSettings()))
        state, _ = advance(state, point, TripSettings())
    assert beliefs == [True] * 61 + [False] * 10 + [True] * 20


@pytest.mark.parametrize(
    ("seconds", "metres", "knots", "expected"),
    [
        (1, 299, 0, True),
        (1, 301, 0, False),
        (10, 833, 0, True),
        (10, 840, 0, False),
        (10, 840, 120, True),
        (10, -840, 0, False),
    ],
)
def test_what_can_be_reached(seconds, metres, knots, expected):
    before, point = track((0, 0), (seconds, metres, {"speed": float(knots)}))
    assert is_reachable(before, point, 162.0) is expected


def test_a_step_over_the_antimeridian_is_short():
    before = TrackPoint(1, NOON, 0.0, 179.9999)
    assert is_reachable(before, TrackPoint(2, NOON, 0.0, -179.9999), 162.0)
    points = [
        TrackPoint(n, NOON + timedelta(seconds=10 * n), 0.0, 179.9999 if n % 2 else -179.9999)
        for n in range(300)
    ]
    assert run(points)[0] == []


def test_a_window_has_a_limit(monkeypatch):
    monkeypatch.setattr(trip_detection, "MAX_WINDOW_POINTS", 8)
    state = TripState()
    for point in track(*[(0, 0) for _ in range(100)]):
        state, _ = advance(state, point, TripSettings(min_duration=3600.0))
        assert len(state.window) <= 9
    assert state.window[-1].position_id == 100


def test_a_parked_device_holds_few_points():
    _, state = run(track(*[(second, second % 5) for second in range(7200)]))
    assert len(state.window) < 60


@pytest.mark.parametrize(
    "settings", [TripSettings(0, 0, 0), TripSettings(min_duration=0.0), TripSettings(1, 1e12, 1)]
)
def test_extreme_settings_are_harmless(settings):
    run(track((0, 0), (0, 0), (0, 500), (60, 500), (9000, 90_000)), settings)


STEPS = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 10, 10, 30, 60, 100, 180, 600, 3601, 9000]),
        st.sampled_from([0, 0, 0, 3, -3, 25, -40, 120, 400, -400, 900, 20_000, -20_000]),
        st.sampled_from([0, 0, 0, 1, 10, 50]),
        st.sampled_from([True, True, True, True, False]),
        st.sampled_from([None, True, False]),
        st.integers(1, 40),
    ),
    min_size=1,
    max_size=25,
)


def positions(steps):
    """Runs of alike steps, as those of a vehicle are."""
    found, second, north = [], 0, 0
    for seconds, metres, kmh, valid, ignition, times in steps:
        for _ in range(times):
            second, north = second + seconds, north + metres
            time = NOON + timedelta(seconds=second)
            found.append(
                Position(
                    id=len(found) + 1,
                    fix_time=time,
                    server_time=time,
                    latitude=north / DEGREE,
                    longitude=13.0,
                    speed=kmh / 1.852,
                    # It has had a fix some time.
                    valid=valid or not found,
                    attributes={} if ignition is None else {"ignition": ignition},
                )
            )
    return found


@given(STEPS)
def test_where_the_search_for_a_stop_is_left_out_it_would_find_none(steps):
    points = [trip_detection.track_point(position) for position in positions(steps)]
    found = run(points)
    with patch.object(trip_detection, "_has_come_far", lambda *_: False):
        assert run(points) == found


@given(STEPS)
def test_no_stop_is_shorter_than_the_least_duration(steps):
    found, state, settings = [], TripState(), TripSettings()
    for position in positions(steps):
        point = trip_detection.track_point(position)
        state, transitions = advance(state, point, settings)
        found += transitions
    for before, after in pairwise(found):
        seconds = (after.point.fix_time - before.point.fix_time).total_seconds()
        # One without any length, which no report has, lies between a trip and a drive in silence.
        assert before.is_moving or seconds >= settings.min_duration or seconds == 0


TWO_OF_ONE_TIME = [
    *((60, 0, 0, True, None, 1), (10, 500, 1, True, None, 1), (0, 3, 1, True, None, 1)),
    *((2, -2, 1, True, None, 1), (10, 0, 0, True, None, 30)),
]
"""The trip begins with the second, which the window no longer has when it ends."""


@given(STEPS)
@example(TWO_OF_ONE_TIME)
def test_starts_and_stops_take_turns_in_their_order(steps):
    found, state = [], TripState()
    settings = TripSettings()
    for position in positions(steps):
        point = trip_detection.track_point(position)
        state, transitions = advance(state, point, settings)
        found += transitions
        assert all(transition.point.fix_time <= point.fix_time for transition in transitions)
    assert [each.is_moving for each in found] == [index % 2 == 0 for index in range(len(found))]
    order = [(each.point.fix_time, each.point.position_id) for each in found]
    assert order == sorted(order)


def as_read(stored, since):
    """The positions that `fold_rows.recent_points` reads."""
    before = [
        position
        for position in stored
        if position.fix_time < since and "implausible" not in position.attributes
    ]
    fixed = [
        position for position in before if position.valid and since - position.fix_time <= timedelta(days=1)
    ]
    kept = {position.id for position in [*before[-8:], *fixed[-2:]]}
    return [position for position in stored if position.fix_time >= since or position.id in kept]


FOUND_ELSEWHERE = [
    *((10, 120, 50, True, None, 20), (10, 0, 0, True, None, 1)),
    # Wrong for so long that it is taken for the place; the device is found where it was after a silence.
    *((10, 20_000, 0, True, None, 1), (10, 0, 0, True, None, 1), (60, -20_000, 0, True, None, 1)),
    *((1800, 0, 0, True, None, 1), (30, 0, 0, True, None, 6), (10, 400, 50, True, None, 3)),
]


@settings(max_examples=2000)
@given(STEPS, st.integers(0, 999))
@example(FOUND_ELSEWHERE, 28)
def test_a_machine_that_is_built_again_goes_on_as_if_it_had_not_stopped(steps, cut):
    """From the last event of motion and the positions since `window_start`, as after a crash."""
    whole = positions(steps)
    cut = 1 + cut % len(whole)
    fixed = [position.fix_time for position in whole[:cut] if position.valid]
    # What was more than a day ago is not read.
    assume(all(later - earlier < timedelta(days=1) for earlier, later in pairwise(fixed)))
    assume(whole[cut - 1].fix_time - fixed[-1] < timedelta(days=1))
    settings = DEFAULTS.trips
    state, motion, latest, first = TripState(), None, None, None
    for position in whole[:cut]:
        point = trip_detection.track_point(position)
        believed = state.believes(point, point.ahead, settings)
        state, transitions = advance(state, point, settings)
        for transition in transitions:
            motion = Motion(transition.is_moving, whole[transition.point.position_id - 1])
        if believed:
            latest = position
        else:
            position.attributes["implausible"] = True
        first = first or position
    assume(state.elsewhere is None or latest.fix_time - state.elsewhere.fix_time < timedelta(days=1))
    read = as_read(whole[:cut], window_start(latest, DEFAULTS))
    if (since := earlier_start(read, motion, first if motion is None else None, DEFAULTS)) is not None:
        read = as_read(whole[:cut], since)
    again = rebuild_trip(read, first, motion, settings)
    assert again.is_moving == state.is_moving
    for position in whole[cut:]:
        point = trip_detection.track_point(position)
        state, transitions = advance(state, point, settings)
        again, others = advance(again, point, settings)
        assert msgspec.to_builtins(others) == msgspec.to_builtins(transitions)
