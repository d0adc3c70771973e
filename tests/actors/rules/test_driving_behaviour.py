"""Alarms of hard acceleration and braking."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.rules.driving_behaviour import behaviour_events
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
KNOT = 1852 / 3600


def position(second, metres_per_second, **fields):
    moment = NOON + timedelta(seconds=second)
    return Position(
        device_id=7, device_time=moment, fix_time=moment, speed=metres_per_second / KNOT, **fields
    )


@pytest.mark.parametrize(
    ("speed", "alarm"),
    [(20, None), (22.9, None), (23.1, "hardAcceleration"), (16.1, None), (15.9, "hardBraking")],
)
def test_a_change_of_speed_by_a_threshold(speed, alarm):
    # 3 m/s² and -4 m/s² from 20 m/s within one second.
    events = behaviour_events(position(1, speed), position(0, 20), acceleration=3.0, braking=4.0)
    attributes = {"alarm": alarm}
    second = NOON + timedelta(seconds=1)
    expected = Event(type="alarm", event_time=second, device_id=7, attributes=attributes)
    assert events == ([expected] if alarm else [])


@pytest.mark.parametrize(
    ("now", "last"),
    [
        (position(1, 0), None),
        (position(0, 0), position(0, 90)),
        (position(1, 0, outdated=True), position(0, 90)),
        (position(1, 0), position(0, 90, outdated=True)),
        (position(1, 0, attributes={"alarm": "tow,hardBraking"}), position(0, 90)),
    ],
)
def test_no_event_without_two_measurements_or_if_the_device_sent_it(now, last):
    assert behaviour_events(now, last, acceleration=1.0, braking=1.0) == []


def test_a_threshold_of_zero_is_off():
    assert behaviour_events(position(1, 90), position(0, 0), acceleration=0.0, braking=1.0) == []
    assert behaviour_events(position(1, 0), position(0, 90), acceleration=1.0, braking=0.0) == []
