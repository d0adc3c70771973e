"""Events of speeding."""

from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.geofence_index import GeofenceIndex, index_geofence
from motorpool.actors.rules.overspeed import Limit, OverspeedState, check_speed, limit_of
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.storage.records import Event, Geofence, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position(second, speed, **fields):
    moment = NOON + timedelta(seconds=second)
    return Position(device_id=7, device_time=moment, fix_time=moment, speed=speed, **fields)


def limited(limit=50.0, **settings):
    """Return the rules of a device with a speed limit."""
    return DeviceRules(RuleSettings(speed_limit=limit, **settings))


def drive(speeds, limit=50.0, *, minimal_duration=0.0, multiplier=1.0):
    """Return at which second, one for each speed, there is an event."""
    rules = limited(
        limit,
        event_overspeed_minimal_duration=minimal_duration,
        event_overspeed_threshold_multiplier=multiplier,
    )
    state, found = OverspeedState(), []
    for second, speed in enumerate(speeds):
        events, state = check_speed(position(second, speed), rules, state)
        found += [second for _ in events]
    return found


def zone(number, speed_limit):
    """Return a geofence around all positions."""
    area = "CIRCLE (0 0, 100)"
    return index_geofence(Geofence(id=number, area=area, attributes={"speedLimit": speed_limit}))


def test_the_event_has_the_speed_the_limit_and_its_geofence():
    rules = DeviceRules(geofences=GeofenceIndex([zone(3, 50.0)]))
    events, _ = check_speed(position(0, 60.0, geofence_ids=[3]), rules, OverspeedState())
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
    assert drive([900], 0.0) == []


def test_a_repeated_location_says_nothing_of_the_speed():
    state = OverspeedState(NOON)
    outdated = position(60, 90, outdated=True)
    rules = limited(event_overspeed_minimal_duration=9.0)
    assert check_speed(outdated, rules, state) == ([], state)


def test_which_limit_counts():
    geofences = GeofenceIndex([zone(1, 0.0), zone(2, 30.0), zone(3, 50.0)])
    highest = DeviceRules(RuleSettings(speed_limit=20.0), geofences)
    prefers = RuleSettings(speed_limit=20.0, event_overspeed_prefer_lowest=True)
    lowest = DeviceRules(prefers, geofences)
    posted = Position(attributes={"speedLimit": 40}, geofence_ids=[1, 2, 3])
    assert limit_of(posted, highest) == Limit(50.0, 3)
    assert limit_of(posted, lowest) == Limit(30.0, 2)
    assert limit_of(msgspec.structs.replace(posted, geofence_ids=[1, 4]), lowest) == Limit(40)
    assert limit_of(Position(), lowest) == Limit(20.0)
    assert limit_of(Position(attributes={"speedLimit": "70"}), DeviceRules()) == Limit(0.0)


@given(st.lists(st.sampled_from([40.0, 60.0]), max_size=30), st.integers(0, 5))
def test_against_the_episodes_of_the_whole_drive(speeds, minimal_duration):
    expected, start = [], 0
    for second, speed in enumerate([*speeds, 0.0]):
        if speed <= 50:
            if second - 1 - start >= minimal_duration and second > start:
                expected.append(start + minimal_duration)
            start = second + 1
    assert drive(speeds, minimal_duration=float(minimal_duration)) == expected
