"""Settings of the rules: the first layer with a valid value counts."""

from dataclasses import fields
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.driver_hours import EU561, NO_TIME
from motorpool.actors.rules.rule_settings import DEFAULTS, RULE_KEYS, RuleSettings, read_rule_settings
from motorpool.actors.rules.trip_detection import TripSettings


def test_every_field_has_a_key_of_its_own():
    assert len(RULE_KEYS) == len(fields(RuleSettings))


def test_layers_without_a_key_of_the_rules_share_the_configuration():
    configuration = RuleSettings(speed_limit=50.0)
    assert read_rule_settings([]) is DEFAULTS
    assert read_rule_settings([{"web.reportColor": "red"}, {}], configuration) is configuration


def test_each_key_is_taken_from_the_first_layer_that_has_it():
    device, group, server = (
        {"speedLimit": 30},
        {"speedLimit": 40, "filter.maxSpeed": 90},
        {"speedLimit": 50, "filter.maxSpeed": 100, "filter.zero": True},
    )
    found = read_rule_settings([device, group, server], RuleSettings(fuel_capacity=60.0))
    assert (found.speed_limit, found.filter_max_speed, found.filter_zero) == (30, 90, True)
    assert found.fuel_capacity == 60
    assert found.has_filters


@pytest.mark.parametrize(
    ("key", "value", "field", "read"),
    [
        ("speedLimit", "45.5", "speed_limit", 45.5),
        ("speedLimit", 45, "speed_limit", 45.0),
        ("filter.zero", "TRUE", "filter_zero", True),
        ("filter.enable", "false", "filter_enable", False),
        ("filter.dailyLimit", "10", "filter_daily_limit", 10),
        ("filter.dailyLimit", 10.0, "filter_daily_limit", 10),
        ("time.override", "servertime", "time_override", "serverTime"),
        ("location.latitudeHemisphere", "s", "location_latitude_hemisphere", "S"),
        ("decoder.timezone", "Europe/Lisbon", "decoder_timezone", "Europe/Lisbon"),
        ("processing.copyAttributes", " a, b ,,a", "processing_copy_attributes", ("a", "b")),
    ],
)
def test_texts_are_parsed(key, value, field, read):
    assert getattr(read_rule_settings([{key: value}]), field) == read


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("speedLimit", "fast"),
        ("speedLimit", -1),
        ("speedLimit", True),
        ("speedLimit", None),
        ("speedLimit", "nan"),
        ("speedLimit", 10**400),
        ("speedLimit", "٣"),
        ("filter.zero", 1),
        ("filter.zero", "yes"),
        ("filter.dailyLimit", 1.5),
        ("time.override", "moonTime"),
        ("decoder.timezone", "Middle/Earth"),
        ("processing.copyAttributes", ["a"]),
        ("report.trip.minDistance", 0),
    ],
)
def test_what_does_not_parse_counts_as_absent(key, value):
    assert read_rule_settings([{key: value}]) is DEFAULTS
    assert read_rule_settings([{key: value}, {"speedLimit": 7}]).speed_limit == 7


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(sorted(RULE_KEYS)),
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats()
            | st.text(max_size=9)
            | st.lists(st.integers(), max_size=2),
        ),
        max_size=4,
    )
)
def test_any_attributes_make_settings_of_the_right_types(layers):
    found = read_rule_settings(layers)
    for item in fields(found):
        value, default = getattr(found, item.name), item.default
        assert isinstance(value, str) if default is None and value is not None else True
        assert default is None or type(value) is type(default)
        assert not isinstance(value, float) or value >= 0


def test_the_settings_of_trips_are_those_of_their_keys():
    assert DEFAULTS.trips == TripSettings()
    found = read_rule_settings([{"report.trip.minDistance": 300, "report.trip.stopGap": "60"}])
    assert found.trips == TripSettings(min_distance=300, stop_gap=60)


def test_a_limit_of_hours_that_is_set_by_itself_has_no_exceptions():
    assert not DEFAULTS.driver_hours.any
    assert read_rule_settings([{"driverHours.limits": "EU561"}]).driver_hours == EU561
    hour = timedelta(hours=1)
    own = {"driverHours.limits": "eu561", "driverHours.daily": 8 * 3600, "driverHours.break": "1800"}
    found = read_rule_settings([own]).driver_hours
    assert (found.daily, found.extended, found.extensions) == (8 * hour, NO_TIME, 0)
    assert (found.pause, found.first_pause, found.last_pause) == (hour / 2, NO_TIME, NO_TIME)
    assert (found.driving, found.weekly, found.reductions) == (EU561.driving, EU561.weekly, 3)
    rests = read_rule_settings([{"driverHours.dailyRest": 1e30, "driverHours.weeklyRest": 3600}]).driver_hours
    assert (rests.daily_rest, rests.reduced_daily_rest) == (28 * 24 * hour, NO_TIME)
    assert (rests.weekly_rest, rests.reduced_weekly_rest) == (hour, NO_TIME)
    assert rests.any
    assert not read_rule_settings([{"driverHours.limits": "us", "driverHours.daily": -1}]).driver_hours.any
