"""Limits of sensors in attributes of devices, groups and the server."""

import pytest

from motorpool.actors.rules.sensor_limits import (
    NO_LIMITS,
    LimitKey,
    SensorLimit,
    limit_fault,
    limited_sensors,
    parse_key,
    range_fault,
    read_sensor_limits,
)


def test_a_key_names_an_attribute_that_may_have_dots_and_a_field():
    assert parse_key("sensorLimit.temp1.max") == LimitKey("temp1", "max")
    assert parse_key("sensorLimit.cold.room.minimalDuration") == LimitKey("cold.room", "minimalDuration")
    for key in (
        "temp1.max",
        "sensorLimit.max",
        "sensorLimit.temp1",
        "sensorLimit.a b.max",
        "sensorLimit.a,b.max",
    ):
        assert parse_key(key) is None
    assert limited_sensors(["sensorLimit.a.min", "sensorLimit.a.max", "sensorLimit.b.max", "speedLimit"]) == {
        "a",
        "b",
    }


def test_each_value_is_the_nearest_that_can_be_read():
    device = {"sensorLimit.temp1.max": "-15", "sensorLimit.temp1.hysteresis": -1, "speedLimit": 50}
    group = {
        "sensorLimit.temp1.max": 5,
        "sensorLimit.temp1.minimalDuration": 600,
        "sensorLimit.rpm.max": 3000,
    }
    server = {"sensorLimit.temp1.min": -30, "sensorLimit.temp1.hysteresis": "0.5", "sensorLimit.rpm.max": 9}
    found = read_sensor_limits([device, group, server])
    assert found == {
        "rpm": SensorLimit(most=3000.0),
        "temp1": SensorLimit(least=-30.0, most=-15.0, hysteresis=0.5, seconds=600.0),
    }
    assert list(found) == ["rpm", "temp1"]


def test_a_nearer_none_takes_a_bound_away():
    group = {"sensorLimit.temp1.max": 5, "sensorLimit.temp1.min": 0}
    assert read_sensor_limits([{"sensorLimit.temp1.max": "None"}, group]) == {"temp1": SensorLimit(least=0.0)}
    both = {"sensorLimit.temp1.max": "none", "sensorLimit.temp1.min": "none"}
    assert read_sensor_limits([both, group]) is NO_LIMITS


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"speedLimit": 50},
        {"sensorLimit.temp1.minimalDuration": 5},
        {"sensorLimit.temp1.max": True},
        {"sensorLimit.temp1.max": "warm"},
        {"sensorLimit.temp1.max": "٣"},
        {"sensorLimit.temp1.max": float("nan")},
        {"sensorLimit.temp1.max": 10**400},
        {"sensorLimit.temp1.max": [1]},
        {"sensorLimit.temp1.maximum": 1},
        {"sensorLimit.temp1.min": 9, "sensorLimit.temp1.max": 3},
    ],
)
def test_what_cannot_be_followed_is_no_limit(attributes):
    assert read_sensor_limits([attributes]) is NO_LIMITS


def test_a_hysteresis_of_another_layer_is_at_most_half_of_the_range():
    found = read_sensor_limits(
        [{"sensorLimit.a.min": 2, "sensorLimit.a.max": 4}, {"sensorLimit.a.hysteresis": 50}]
    )
    assert found["a"].hysteresis == 1
    assert found["a"].is_back(3)
    assert not found["a"].is_back(3.1)


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("sensorLimit.temp1.max", -18, ""),
        ("sensorLimit.temp1.min", " none ", ""),
        ("sensorLimit.temp1.max", "cold", 'is neither a number nor "none"'),
        ("sensorLimit.temp1.min", False, 'is neither a number nor "none"'),
        ("sensorLimit.temp1.hysteresis", "1.5", ""),
        ("sensorLimit.temp1.hysteresis", -1, "is not a number of 0 or more"),
        ("sensorLimit.temp1.hysteresis", "none", "is not a number of 0 or more"),
        ("sensorLimit.temp1.minimalDuration", 86_400, ""),
        ("sensorLimit.temp1.minimalDuration", 86_401, "is not a number of seconds from 0 to 86400"),
        (
            "sensorLimit.temp1.maximum",
            1,
            "is none of sensorLimit.<attribute>.{min,max,hysteresis,minimalDuration}; no spaces, commas or @",
        ),
    ],
)
def test_faults_are_said(key, value, fault):
    assert limit_fault(key, value) == fault


def test_faults_of_a_range_are_said():
    def fault(**values):
        return range_fault({f"sensorLimit.t.{field}": value for field, value in values.items()}, "t")

    assert fault(min=1, max=1) == ""
    assert fault(min=5, max=1) == "5 is above the max, 1"
    assert fault(min=5, max="none") == ""
    assert fault(min=0, max=2, hysteresis=1) == ""
    assert fault(min=0, max=2, hysteresis="1.1") == "the hysteresis, 1.1, is more than half of the range"
    assert fault(max=2, hysteresis=9) == ""
