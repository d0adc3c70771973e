"""Engine hours and copied attributes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.carried_values import add_hours, copy_attributes
from motorpool.storage.records import Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def at(seconds, **attributes):
    return Position(device_time=NOON + timedelta(seconds=seconds), attributes=attributes)


@pytest.mark.parametrize(
    ("before", "after", "hours"),
    [
        ({"ignition": True}, {"ignition": True}, 60_000),
        ({"ignition": True, "hours": 500}, {"ignition": True}, 60_500),
        ({"ignition": True, "hours": 500}, {"ignition": False}, 500),
        ({"ignition": False, "hours": 500}, {"ignition": True}, 500),
        ({"ignition": True, "hours": 500}, {}, 500),
        ({"hours": 500}, {"ignition": True}, 500),
        ({"ignition": False}, {"ignition": True}, None),
        ({"ignition": True, "hours": "many"}, {"ignition": True}, 60_000),
        ({"ignition": True, "hours": -5}, {"ignition": True}, 60_000),
        ({"ignition": True, "hours": True}, {"ignition": True}, 60_000),
        ({"ignition": True, "hours": float("nan")}, {"ignition": True}, 60_000),
        ({"ignition": 1}, {"ignition": 1}, None),
        ({"rpm": 700}, {"rpm": 1500.5}, 60_000),
        ({"rpm": 700}, {"rpm": 0, "hours": 70_000}, 70_000),
        ({"rpm": 700, "hours": 500}, {"rpm": 0}, 500),
        ({"ignition": True, "rpm": 0}, {"ignition": True, "rpm": 0}, None),
        ({"ignition": True}, {"rpm": 900}, 60_000),
        ({"ignition": True}, {"ignition": True, "rpm": 0}, None),
        ({"ignition": True, "rpm": 0}, {"ignition": True}, None),
        ({"power": 14.0}, {"power": 14.0}, None),
    ],
)
def test_the_time_between_two_positions_with_the_ignition_on_counts(before, after, hours):
    position = at(60, **after)
    add_hours(position, at(0, **before))
    assert position.attributes.get("hours") == hours


def test_a_charging_alternator_counts_where_its_voltage_is_set():
    position = at(60, power=13.9)
    add_hours(position, at(0, power=13.4), 13.2)
    assert position.attributes["hours"] == 60_000
    resting = at(120, power=12.6)
    add_hours(resting, position, 13.2)
    assert resting.attributes["hours"] == 60_000


def test_a_clock_that_is_put_back_takes_no_hours_away():
    position = at(-60, ignition=True)
    add_hours(position, at(0, ignition=True, hours=500))
    assert position.attributes["hours"] == 500


@given(st.lists(st.tuples(st.integers(1, 5000), st.booleans()), min_size=1, max_size=20))
def test_hours_are_the_sum_of_the_spans_with_the_ignition_on(steps):
    latest, now, expected = at(0, ignition=False), 0, 0
    was_on = False
    for seconds, is_on in steps:
        now += seconds
        expected += 1000 * seconds if was_on and is_on else 0
        was_on = is_on
        position = at(now, ignition=is_on)
        add_hours(position, latest)
        assert position.attributes.get("hours", 0) == expected
        latest = position


def test_named_attributes_are_copied_where_they_are_missing():
    attributes = {"fuel": 3}
    copy_attributes(("fuel", "door", "power"), at(0, fuel=1, door=True, other=5), attributes)
    assert attributes == {"fuel": 3, "door": True}
