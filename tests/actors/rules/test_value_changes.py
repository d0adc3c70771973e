"""Events of attributes that changed from one position to the next: fuel, ignition, driver."""

from datetime import UTC, datetime

import pytest

from motorpool.actors.rules.driver_change import driver_events
from motorpool.actors.rules.fuel import fuel_events
from motorpool.actors.rules.ignition import ignition_events
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
ABSENT = object()


def position(name, value):
    attributes = {} if value is ABSENT else {name: value}
    return Position(device_id=7, device_time=NOON, attributes=attributes)


def event(kind, **attributes):
    return [Event(type=kind, event_time=NOON, device_id=7, attributes=attributes)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (50, 40, event("deviceFuelDrop", before=50, after=40)),
        (50, 40.5, []),
        (50, 70.0, event("deviceFuelIncrease", before=50, after=70.0)),
        (50, 69, []),
        (ABSENT, 70, []),
        (50, ABSENT, []),
        ("50", 0, []),
        (True, 100, []),
    ],
)
def test_fuel_drops_by_10_or_increases_by_20_litres(before, after, expected):
    assert fuel_events(position("fuel", after), position("fuel", before), drop=10, increase=20) == expected


def test_fuel_without_a_threshold_or_a_position_before():
    assert fuel_events(position("fuel", 1), position("fuel", 90), drop=0, increase=1) == []
    assert fuel_events(position("fuel", 90), position("fuel", 1), drop=1, increase=0) == []
    assert fuel_events(position("fuel", 90), None, drop=1, increase=1) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (False, True, event("ignitionOn")),
        (True, False, event("ignitionOff")),
        (True, True, []),
        (ABSENT, True, []),
        (True, ABSENT, []),
        ("false", True, []),
    ],
)
def test_the_ignition(before, after, expected):
    assert ignition_events(position("ignition", after), position("ignition", before)) == expected
    assert ignition_events(position("ignition", after), None) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("ann", "bob", event("driverChanged", driverUniqueId="bob")),
        (ABSENT, "bob", event("driverChanged", driverUniqueId="bob")),
        ("bob", "bob", []),
        ("bob", ABSENT, []),
    ],
)
def test_the_driver(before, after, expected):
    assert driver_events(position("driverUniqueId", after), position("driverUniqueId", before)) == expected


def test_the_first_driver_ever():
    assert driver_events(position("driverUniqueId", "bob"), None) == event(
        "driverChanged", driverUniqueId="bob"
    )
