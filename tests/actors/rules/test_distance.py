"""How far a device came."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.distance import add_distance, great_circle
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position

latitudes = st.floats(-90, 90)
longitudes = st.floats(-180, 180)


@pytest.mark.parametrize(
    ("start", "end", "metres"),
    [
        ((0, 0), (0, 1), 111_319.49),  # a degree of the equator: 2 pi 6378137 / 360
        ((0, 0), (90, 0), 10_018_754.17),  # a quarter of a meridian
        ((10, 20), (10, 20), 0),
        ((0, 179.5), (0, -179.5), 111_319.49),  # across the date line
    ],
)
def test_great_circle(start, end, metres):
    assert great_circle(*start, *end) == pytest.approx(metres, abs=0.01)


@given(latitudes, longitudes, latitudes, longitudes)
def test_great_circle_is_symmetric_and_at_most_half_round_the_earth(latitude, longitude, to, along):
    there = great_circle(latitude, longitude, to, along)
    assert 0 <= there <= 20_037_508.35
    assert there == pytest.approx(great_circle(to, along, latitude, longitude), abs=1e-3)


def added(report, last):
    attributes = dict(report.attributes)
    add_distance(report, last, attributes)
    return attributes


def test_the_first_position_starts_at_nothing():
    assert added(PositionReport({}, latitude=1, longitude=2), None) == {"distance": 0.0, "totalDistance": 0.0}


def test_distance_adds_up():
    last = Position(latitude=1, longitude=0.0001, attributes={"totalDistance": 500.5})
    found = added(PositionReport({}, latitude=1, longitude=1.0001), last)
    assert found["distance"] == pytest.approx(111_302.5, abs=1)
    assert found["totalDistance"] == pytest.approx(500.5 + found["distance"])


@given(latitudes, longitudes, st.floats(-0.02, 0.02), st.floats(-0.02, 0.02))
def test_short_distances_are_those_of_the_great_circle(latitude, longitude, up, right):
    to, along = min(90.0, max(-90.0, latitude + up)), longitude + right
    last = Position(latitude=latitude, longitude=longitude)
    found = added(PositionReport({}, valid=True, latitude=to, longitude=along), last)["distance"]
    expected = great_circle(latitude, longitude, to, along) if latitude or longitude else 0.0
    assert found == pytest.approx(expected, abs=0.00501)
    assert found == round(found, 2)


@pytest.mark.parametrize(
    ("total", "travelled", "expected"),
    [
        (0.1, 0.2, 0.3),
        (0.0, 0.014999, 0.01),
        (0.0, -7.128, -7.13),
        (999_999_999_999.99, 0.02, 1_000_000_000_000.01),
        (7e13, 1.0, 70_000_000_000_001.0),
        (1e300, 1.0, 1e300),
        (math.inf, 1.0, math.inf),
        (5, 7, 12.0),
    ],
)
def test_totals_have_two_decimals_as_long_as_they_can(total, travelled, expected):
    last = Position(latitude=1, longitude=1, attributes={"totalDistance": total})
    found = added(PositionReport({"distance": travelled}, latitude=2, longitude=2), last)
    assert found == {"distance": travelled, "totalDistance": expected}


def test_what_the_device_counted_itself_is_taken():
    last = Position(latitude=1, longitude=1, attributes={"totalDistance": 10.0})
    found = added(PositionReport({"distance": 7.5}, latitude=2, longitude=2), last)
    assert found == {"distance": 7.5, "totalDistance": 17.5}


def test_a_message_without_a_location_does_not_move():
    last = Position(latitude=1, longitude=1, attributes={"totalDistance": 10.0})
    assert added(PositionReport({}, located=False), last) == {"distance": 0.0, "totalDistance": 10.0}


def test_a_jump_from_the_zero_point_is_no_distance():
    last = Position(latitude=0, longitude=0, attributes={"totalDistance": 10.0})
    assert added(PositionReport({}, latitude=50, longitude=8), last)["distance"] == 0.0


def test_a_total_that_is_no_number_starts_anew():
    last = Position(latitude=1, longitude=1, attributes={"totalDistance": "far"})
    assert added(PositionReport({}, latitude=1, longitude=1), last)["totalDistance"] == 0.0
