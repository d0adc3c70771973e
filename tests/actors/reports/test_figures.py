from datetime import UTC, datetime

import pytest

from motorpool.actors.reports.figures import compare, end_point, knots
from motorpool.actors.reports.sources import ReportRules
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.storage.records import Position

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def between(start, end, metres=0.0, **settings):
    points = [end_point(Position(id=1, fix_time=MAY, attributes=each)) for each in (start, end)]
    return compare(*points, ReportRules(RuleSettings(**settings)), metres)


def test_the_odometer_counts_if_both_ends_have_it():
    # What the positions add up to counts late ones too, and is not used.
    start, end = {"odometer": 1000, "totalDistance": 5.0}, {"odometer": 1500, "totalDistance": 99.0}
    both = between(start, end, 2.5)
    assert (both.distance, both.start_odometer, both.end_odometer) == (500.0, 1000.0, 1500.0)
    ignored = between(start, end, 2.5, report_ignore_odometer=True)
    assert (ignored.distance, ignored.start_odometer, ignored.end_odometer) == (2.5, 5.0, 7.5)
    assert between({"totalDistance": 5}, end, 2.5).distance == 2.5
    assert between({"odometer": 0, "totalDistance": 5}, end, 2.5).distance == 2.5
    assert between({"odometer": 2000}, {"odometer": 1000}).distance == 0.0


@pytest.mark.parametrize(
    ("start", "end", "litres"),
    [
        ({"fuelUsed": 10, "fuel": 50}, {"fuelUsed": 14.5, "fuel": 20}, 4.5),
        ({"fuel": 50, "fuelLevel": 90}, {"fuel": 44, "fuelLevel": 10}, 6.0),
        ({"fuel": 40}, {"fuel": 60}, -20.0),
        ({"fuelLevel": 90}, {"fuelLevel": 80}, 6.0),
        ({"fuelLevel": 90}, {"fuel": 80}, 0.0),
        ({}, {}, 0.0),
        ({"fuel": "much"}, {"fuel": True}, 0.0),
    ],
)
def test_spent_fuel(start, end, litres):
    assert between(start, end, fuel_capacity=60.0).spent_fuel == litres


def test_what_devices_send_in_place_of_numbers_is_nothing():
    for odd in ("12", None, True, [], {}, 10**400, -(10**400), float("nan"), float("inf")):
        found = between({"odometer": odd, "hours": odd, "fuelUsed": odd}, {"odometer": 5, "hours": odd})
        assert (found.distance, found.start_hours, found.spent_fuel) == (0.0, 0, 0.0)


def test_the_driver_is_that_of_the_start_or_else_of_the_end():
    assert between({"driverUniqueId": "A"}, {"driverUniqueId": "B"}).driver == "A"
    assert between({"driverUniqueId": ""}, {"driverUniqueId": 77}).driver == "77"
    assert between({}, {}).driver is None


def test_knots():
    assert knots(1852, 3600) == pytest.approx(1.0)
    assert knots(1852, 0) == 0.0
