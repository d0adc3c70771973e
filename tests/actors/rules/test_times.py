"""Times of receivers whose week count has rolled over, and corrections of coordinates."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.actors.rules.times import ROLLOVER_AGE, correct_coordinates, override_times, unroll
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
WEEKS = timedelta(weeks=1024)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (NOW, NOW),
        (NOW - timedelta(days=365), NOW - timedelta(days=365)),
        (NOW - WEEKS, NOW),
        (NOW - 2 * WEEKS - timedelta(hours=1), NOW - timedelta(hours=1)),
        (NOW - WEEKS + timedelta(days=90), NOW - WEEKS + timedelta(days=90)),
        (NOW - WEEKS + timedelta(days=90, seconds=-1), NOW + timedelta(days=90, seconds=-1)),
    ],
)
def test_weeks_that_a_receiver_has_lost_are_added(sent, meant):
    assert unroll(sent, NOW) == meant


@given(st.integers(-60_000_000_000, 2_000_000_000).map(lambda seconds: NOW + timedelta(seconds=seconds)))
def test_a_time_is_moved_by_the_fewest_rollovers_that_make_it_recent(sent):
    meant = unroll(sent, NOW)
    assert NOW - meant <= ROLLOVER_AGE
    assert (meant - sent) % WEEKS == timedelta(0)
    assert meant == sent or NOW - (meant - WEEKS) > ROLLOVER_AGE


def test_a_time_may_override_those_of_the_device():
    device, fix = NOW - timedelta(hours=1), NOW - timedelta(hours=2)
    assert override_times(device, fix, NOW, RuleSettings()) == (device, fix)
    assert override_times(device, fix, NOW, RuleSettings(time_override="serverTime")) == (NOW, NOW)
    assert override_times(device, fix, NOW, RuleSettings(time_override="deviceTime")) == (device, device)


@pytest.mark.parametrize(
    ("north_south", "east_west", "place"),
    [(None, None, (-1.5, 2.5)), ("N", None, (1.5, 2.5)), ("S", "W", (-1.5, -2.5)), (None, "E", (-1.5, 2.5))],
)
def test_a_hemisphere_gives_coordinates_their_sign(north_south, east_west, place):
    settings = RuleSettings(location_latitude_hemisphere=north_south, location_longitude_hemisphere=east_west)
    found = correct_coordinates(PositionReport({}, latitude=-1.5, longitude=2.5), None, settings)
    assert (found.latitude, found.longitude) == place


METRE = 1 / 111_319.49
"""Degrees of latitude."""


@pytest.mark.parametrize(
    ("metres", "is_valid", "is_repeated"),
    [(4, True, True), (6, True, False), (999, True, False), (1001, True, True), (1001, False, False)],
)
def test_a_step_that_is_no_movement_repeats_the_coordinates(metres, is_valid, is_repeated):
    settings = RuleSettings(coordinates_filter=True, coordinates_min_error=5, coordinates_max_error=1000)
    latest = Position(valid=is_valid, latitude=1.0, longitude=2.0)
    report = PositionReport({}, latitude=1.0 + metres * METRE, longitude=2.0)
    found = correct_coordinates(report, latest, settings)
    assert (found.latitude == 1.0) is is_repeated
    assert correct_coordinates(report, latest, RuleSettings(coordinates_min_error=5)) is report
    assert correct_coordinates(report, None, settings) is report
    assert correct_coordinates(report, Position(), settings) is report
