"""Events of speeding."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.overspeed import Limit, OverspeedState, check_speed, speed_limit
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position(second, speed, **fields):
    moment = NOON + timedelta(seconds=second)
    return Position(device_id=7, device_time=moment, fix_time=moment, speed=speed, **fields)


def drive(speeds, limit=Limit(50.0), *, minimal_duration=0.0, multiplier=1.0):  # noqa: B008
    """Return at which second, one for each speed, there is an event."""
    state, found = OverspeedState(), []
    for second, speed in enumerate(speeds):
        events, state = check_speed(
            position(second, speed),
            limit,
            state,
            minimal_duration=minimal_duration,
            multiplier=multiplier,
        )
        found += [second for _ in events]
    return found


def test_the_event_has_the_speed_the_limit_and_its_geofence():
    events, _ = check_speed(
        position(0, 60.0), Limit(50.0, 3), OverspeedState(), minimal_duration=0.0, multiplier=1.0
    )
    assert events == [
        Event(
            type="deviceOverspeed",
            event_time=NOON,
            device_id=7,
            geofence_id=3,
            attributes={"speed": 60.0, "speedLimit": 50.0},
        )
    ]


def test_an_episode_has_one_event():
    assert drive([40, 51, 60, 50, 51, 90]) == [1, 4]


def test_an_episode_must_last():
    assert drive([51, 51, 51, 51, 51], minimal_duration=3.0) == [3]
    assert drive([51, 51, 40, 51, 51, 51], minimal_duration=3.0) == []


def test_the_limit_may_be_exceeded_by_a_factor():
    assert drive([55, 56], multiplier=1.1) == [1]


def test_no_limit_no_event():
    assert drive([900], Limit(0.0)) == []


def test_a_repeated_location_says_nothing_of_the_speed():
    state = OverspeedState(NOON)
    outdated = position(60, 90, outdated=True)
    assert check_speed(outdated, Limit(50.0), state, minimal_duration=9.0, multiplier=1.0) == ([], state)


def test_which_limit_counts():
    inside = [Limit(0.0, 1), Limit(30.0, 2), Limit(50.0, 3)]
    posted = Position(attributes={"speedLimit": 40})
    assert speed_limit(posted, inside, 20.0, prefer_lowest=False) == Limit(50.0, 3)
    assert speed_limit(posted, inside, 20.0, prefer_lowest=True) == Limit(30.0, 2)
    assert speed_limit(posted, inside[:1], 20.0, prefer_lowest=True) == Limit(40)
    assert speed_limit(Position(), (), 20.0, prefer_lowest=True) == Limit(20.0)
    assert speed_limit(Position(attributes={"speedLimit": "70"}), (), 0.0, prefer_lowest=True) == Limit(0.0)


@given(st.lists(st.sampled_from([40.0, 60.0]), max_size=30), st.integers(0, 5))
def test_against_the_episodes_of_the_whole_drive(speeds, minimal_duration):
    expected, start = [], 0
    for second, speed in enumerate([*speeds, 0.0]):
        if speed <= 50:
            if second - 1 - start >= minimal_duration and second > start:
                expected.append(start + minimal_duration)
            start = second + 1
    assert drive(speeds, minimal_duration=float(minimal_duration)) == expected
