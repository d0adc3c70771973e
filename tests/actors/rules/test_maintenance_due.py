"""Events of maintenance that is due."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.maintenance_due import is_due, maintenance_events
from motorpool.storage.records import Event, Maintenance, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SERVICE = Maintenance(id=5, type="totalDistance", start=10_000.0, period=5_000.0)


def position(**attributes):
    return Position(device_id=7, device_time=NOON, attributes=attributes)


@pytest.mark.parametrize(
    ("old", "new", "due"),
    [
        (9_000, 9_999, False),
        (9_000, 10_000, True),
        (10_000, 14_999, False),
        (14_999, 15_000, True),
        (11_000, 31_000, True),
        (31_000, 11_000, False),
        (0, 20_000, False),
        (9_000, 0, False),
    ],
)
def test_due_at_the_start_and_each_period_after_it(old, new, due):
    expected = Event(
        type="maintenance",
        event_time=NOON,
        device_id=7,
        maintenance_id=5,
        attributes={"totalDistance": new},
    )
    events = maintenance_events(position(totalDistance=new), position(totalDistance=old), [SERVICE])
    assert events == ([expected] if due else [])


def test_a_period_of_zero_is_never_due():
    assert not is_due(1.0, 20_000.0, start=10_000.0, period=0.0)


def test_what_is_no_number_is_not_due():
    last = position(totalDistance=1)
    assert maintenance_events(position(totalDistance="20000"), last, [SERVICE]) == []
    assert maintenance_events(position(), last, [SERVICE]) == []
    assert maintenance_events(position(totalDistance=20_000), None, [SERVICE]) == []
    by_time = Maintenance(id=6, type="serverTime", start=10.0, period=5.0)
    assert maintenance_events(position(serverTime=20), position(serverTime=1), [by_time]) == []


@given(st.integers(1, 200), st.integers(0, 100), st.integers(0, 100), st.integers(1, 30))
def test_against_each_value_on_the_way(old, increase, start, period):
    new = old + increase
    thresholds = range(start, new + 1, period)
    assert is_due(old, new, start=start, period=period) == any(old < each for each in thresholds)
