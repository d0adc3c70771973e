"""Events of sensors that leave and regain their range."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.device_rules import UNCONFIGURED, DeviceRules
from motorpool.actors.rules.event_rules import NOTHING_STORED, rebuild_state
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.rules.sensor_events import NOTHING_EVALUATED, rebuild_sensors
from motorpool.actors.rules.sensor_limits import SensorLimit, read_sensor_limits
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
FREEZER = DeviceRules(
    sensor_limits=read_sensor_limits(
        [
            {
                "sensorLimit.temp1.max": -18,
                "sensorLimit.temp1.min": -26,
                "sensorLimit.temp1.hysteresis": 1,
                "sensorLimit.temp1.minimalDuration": 60,
                "sensorLimit.rpm.max": 3000,
                "sensorLimit.fuel.min": 5,
                "sensorLimit.fuel.minimalDuration": 30,
            }
        ]
    )
)


def report(second, *, fix=True, **attributes):
    when = NOON + timedelta(seconds=second)
    place = (
        {"latitude": 52.0, "longitude": 13.0, "valid": True, "fix_time": when} if fix else {"located": False}
    )
    return PositionReport(attributes, device_time=when, **place)


class Device:
    """Folds reports as its actor does, and can be restarted from its latest position."""

    def __init__(self, rules=FREEZER):
        self.rules = rules
        self.state = NOTHING_STORED

    def send(self, second, *, arrives=None, **sent):
        """Return the events of sensors of a report, as type, sensor, value and limit."""
        now = NOON + timedelta(seconds=second if arrives is None else arrives)
        result = fold(report(second, **sent), self.state, FoldContext(7, "test", now, rules=self.rules))
        self.state = result.state
        self.attributes = result.position.attributes
        return [
            (each.type, *each.attributes.values()) for each in result.events if each.type.startswith("sensor")
        ]

    def restart(self):
        stored = msgspec.json.decode(msgspec.json.encode(self.state.latest), type=Position)
        state = rebuild_state(stored, self.rules, points=[stored])
        assert state.sensors == self.state.sensors
        self.state = state


def test_a_sensor_that_stays_out_of_range_makes_one_event_and_one_when_it_is_back():
    device = Device()
    assert device.send(0, temp1=-20) == []
    assert device.send(10, temp1=-17.5) == []
    assert device.attributes["sensorsPending"] == f"temp1@{round(NOON.timestamp() + 10) * 1000}"
    assert device.send(69, temp1=-17) == []
    assert device.send(70, temp1=-16.5) == [("sensorOutOfRange", "temp1", -16.5, -18.0)]
    assert device.attributes["sensorsOutOfRange"] == "temp1"
    assert "sensorsPending" not in device.attributes
    assert device.send(80, temp1=-10) == []
    # Within the hysteresis, and a position without the sensor.
    assert device.send(90, temp1=-18.5) == []
    assert device.send(95) == []
    assert device.attributes["sensorsOutOfRange"] == "temp1"
    assert device.send(100, temp1=-19) == [("sensorInRange", "temp1", -19.0)]
    assert "sensorsOutOfRange" not in device.attributes


def test_a_short_excess_makes_none_and_the_lower_bound_counts_as_well():
    device = Device()
    device.send(0, temp1=-17)
    device.send(30, temp1=-18)
    assert device.send(65, temp1=-17) == []
    assert device.send(100, temp1=-27) == []
    # From one side of the range to the other it was out of range all the time.
    assert device.send(130, temp1=-27) == [("sensorOutOfRange", "temp1", -27.0, -26.0)]
    assert device.send(140, temp1=-17) == []
    assert device.send(150, temp1=-25) == [("sensorInRange", "temp1", -25.0)]


def test_without_a_minimal_duration_the_first_value_is_the_event():
    device = Device()
    assert device.send(0, rpm=3001, temp1=-20) == [("sensorOutOfRange", "rpm", 3001.0, 3000.0)]
    assert device.send(1, rpm=3500) == []
    assert device.send(2, rpm=3000) == [("sensorInRange", "rpm", 3000.0)]


@pytest.mark.parametrize("value", ["4000", True, None, float("nan"), [4000], 10**400])
def test_values_that_are_no_numbers_tell_nothing(value):
    device = Device()
    assert device.send(0, rpm=value) == []
    device.send(1, rpm=4000)
    assert device.send(2, rpm=value) == []
    assert device.attributes["sensorsOutOfRange"] == "rpm"


def test_several_sensors_are_remembered():
    device = Device()
    device.send(0, temp1=-17, fuel=4)
    device.restart()
    assert [each[1] for each in device.send(60, temp1=-17, fuel=4, rpm=4000)] == ["fuel", "rpm", "temp1"]
    assert device.attributes["sensorsOutOfRange"] == "fuel,rpm,temp1"
    device.restart()
    assert [each[1] for each in device.send(61, temp1=-20, fuel=9)] == ["fuel", "temp1"]


def test_a_vehicle_without_a_fix_is_watched_by_the_clock_of_its_device():
    device = Device()
    device.send(0, temp1=-20)
    assert device.send(100, fix=False, temp1=-17) == []
    assert device.send(159, fix=False, temp1=-17) == []
    assert device.send(160, fix=False, temp1=-17) == [("sensorOutOfRange", "temp1", -17.0, -18.0)]


def test_values_from_the_memory_of_the_device_change_nothing():
    device = Device()
    assert device.send(100, rpm=4000) == [("sensorOutOfRange", "rpm", 4000.0, 3000.0)]
    assert device.send(50, arrives=101, rpm=1000) == []
    for second in (50, 60):
        # Without a fix they follow the latest position.
        assert device.send(second, arrives=102, fix=False, rpm=1000) == []
        assert device.attributes["sensorsOutOfRange"] == "rpm"
        device.restart()
    assert device.send(110, rpm=1000) == [("sensorInRange", "rpm", 1000.0)]
    assert "sensorsEvaluated" not in device.attributes


def test_a_clock_that_jumped_ahead_stops_nothing():
    device = Device()
    device.send(0, rpm=1000)
    device.send(80_000, arrives=10, fix=False, rpm=1000)
    assert device.send(20, rpm=4000) == [("sensorOutOfRange", "rpm", 4000.0, 3000.0)]


def test_limits_that_are_changed_or_removed_count_from_the_next_position_on():
    device = Device()
    device.send(0, rpm=4000)
    device.rules = DeviceRules(sensor_limits={"rpm": SensorLimit(most=5000.0)})
    assert device.send(1, rpm=4000) == [("sensorInRange", "rpm", 4000.0)]
    device.rules = FREEZER
    device.send(2, rpm=4000, temp1=-17)
    device.rules = DeviceRules(sensor_limits={"fuel": SensorLimit(least=5.0)})
    assert device.send(3, rpm=4000, temp1=-17, fuel=9) == []
    assert device.attributes.keys().isdisjoint({"sensorsOutOfRange", "sensorsPending"})
    device.rules = UNCONFIGURED
    assert device.send(4, rpm=4000) == []
    assert device.state.sensors is NOTHING_EVALUATED


def test_a_device_cannot_say_what_the_rule_remembers():
    device = Device()
    device.send(0, rpm=1, sensorsOutOfRange="rpm", sensorsPending="temp1@1", sensorsEvaluated=10**15)
    assert device.attributes.keys().isdisjoint({"sensorsOutOfRange", "sensorsPending", "sensorsEvaluated"})
    # One that was stored before there were limits.
    sent = {
        "sensorsPending": f"temp1@{'9' * 5000},temp1,rpm@x",
        "sensorsOutOfRange": 7,
        "sensorsEvaluated": "x",
    }
    latest = Position(fix_time=NOON, device_time=NOON, server_time=NOON, attributes=sent)
    found = rebuild_sensors(latest, FREEZER.sensor_limits)
    assert (found.reported, found.pending) == (frozenset(), {})


READINGS = st.lists(
    st.tuples(
        st.sampled_from([-40, -20, 0, 1, 30, 59, 60, 300]),
        st.booleans(),
        st.sampled_from([None, -30, -26, -25, -20, -19, -18.5, -18, -17, "x"]),
        st.sampled_from([None, 2000, 3000, 3001]),
        st.sampled_from([None, 4, 4, 6]),
    ),
    max_size=40,
)


@given(READINGS)
def test_a_server_that_is_killed_at_any_point_makes_the_same_events(readings):
    unbroken, killed, now = Device(), Device(), 0
    for step, fix, *values in readings:
        now += max(0, step)
        sent = {
            name: value
            for name, value in zip(("temp1", "rpm", "fuel"), values, strict=True)
            if value is not None
        }
        second = now + min(0, step)
        assert killed.send(second, arrives=now, fix=fix, **sent) == unbroken.send(
            second, arrives=now, fix=fix, **sent
        )
        killed.restart()


@given(READINGS)
def test_events_alternate_and_agree_with_what_the_position_says(readings):
    device, now, is_out = Device(), 0, dict.fromkeys(("temp1", "rpm", "fuel"), False)
    for step, fix, *values in readings:
        now += max(0, step)
        sent = {
            name: value
            for name, value in zip(("temp1", "rpm", "fuel"), values, strict=True)
            if value is not None
        }
        found = device.send(now + min(0, step), arrives=now, fix=fix, **sent)
        for kind, sensor, value, *bound in found:
            assert is_out[sensor] == (kind == "sensorInRange")
            is_out[sensor] = not is_out[sensor]
            limit = FREEZER.sensor_limits[sensor]
            assert limit.crossed(value) == (bound[0] if bound else None)
        if device.state.latest.attributes is device.attributes:
            said = device.attributes.get("sensorsOutOfRange", "")
            assert said == ",".join(sorted(sensor for sensor, out in is_out.items() if out))
