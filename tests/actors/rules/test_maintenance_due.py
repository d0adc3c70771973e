"""Events of maintenance that is due."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.helpdesk.rule_selection import occurrence_of
from motorpool.actors.rules.maintenance_due import is_due, maintenance_events, next_due
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


@pytest.mark.parametrize(
    ("old", "new", "start", "period", "due"),
    [
        (5.0, 6.0, 1.0, 5e-324, False),
        (1.0, 6.0, 1.0, 5e-324, True),
        (5.0, 1e308, -1e308, 1e-308, False),
        (5, 10**400, 1.0, 1.0, False),
    ],
)
def test_more_periods_than_a_float_can_tell_are_no_error(old, new, start, period, due):
    rule = Maintenance(id=5, type="totalDistance", start=start, period=period)
    events = maintenance_events(position(totalDistance=new), position(totalDistance=old), [rule])
    assert bool(events) == due


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


@pytest.mark.parametrize(
    ("value", "start", "period", "expected"),
    [
        (None, 10_000, 5_000, ("unknown", None)),
        (1_000, 10_000, 5_000, ("later", 10_000)),
        (9_500, 10_000, 5_000, ("soon", 10_000)),
        (10_000, 10_000, 5_000, ("later", 15_000)),
        (14_500, 10_000, 5_000, ("soon", 15_000)),
        (15_000, 10_000, 5_000, ("due", 15_000)),
        (31_000, 10_000, 5_000, ("due", 15_000)),
        (9_000, 10_000, 0, ("soon", 10_000)),
        (8_000, 10_000, 0, ("later", 10_000)),
        (10_000, 10_000, 0, ("never", None)),
    ],
)
def test_when_it_is_due_next(value, start, period, expected):
    assert next_due(value, start=start, period=period) == expected


def test_tickets_of_more_periods_than_a_float_can_tell_are_no_error():
    rows = {5: Maintenance(id=5, type="totalDistance", start=1.0, period=5e-324)}
    event = Event(type="maintenance", maintenance_id=5, attributes={"totalDistance": 6.0})
    assert occurrence_of(event, rows) == "5 1 inf"
