"""Whether the engine runs at a position."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.engine import engine_state, is_engine_on
from motorpool.actors.rules.event_rules import NOTHING_STORED
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.rules.rule_settings import read_rule_settings
from motorpool.codecs.reports import PositionReport

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("attributes", "is_on"),
    [
        ({}, None),
        ({"ignition": True}, True),
        ({"ignition": False}, False),
        ({"rpm": 0.5}, True),
        ({"rpm": 0}, False),
        # A driver who rests with the key turned.
        ({"ignition": True, "rpm": 0}, False),
        ({"ignition": False, "rpm": 700}, True),
        ({"ignition": False, "power": 14.2}, False),
        ({"rpm": 0, "power": 14.2}, False),
        ({"power": 13.2}, True),
        ({"power": 13.1}, False),
        ({"ignition": "on", "rpm": "700", "power": True}, None),
        ({"rpm": float("nan"), "ignition": True}, True),
        ({"rpm": 10**400}, None),
    ],
)
def test_revolutions_count_then_the_ignition_then_the_voltage(attributes, is_on):
    assert is_engine_on(attributes, 13.2) is is_on
    assert is_engine_on(attributes) is (None if attributes.keys() == {"power"} else is_on)


def test_values_that_were_read_already_are_judged_alike():
    assert engine_state(rpm=None, ignition=None, power=14.0) is None
    assert engine_state(rpm=None, ignition=None, power=14.0, charging_voltage=13.2) is True
    assert engine_state(rpm=None, ignition=False, power=14.0, charging_voltage=13.2) is False
    assert engine_state(rpm=800.0, ignition=False) is True


def test_the_pipeline_counts_hours_by_the_voltage_that_is_set_for_the_device():
    rules = DeviceRules(read_rule_settings([{}, {"engineChargingVoltage": "13.2"}]))
    for known, hours in ((rules, 120_000), (DeviceRules(), None)):
        state = NOTHING_STORED
        for minute, volts in enumerate((13.8, 14.1, 13.9, 12.5, 13.9)):
            now = NOON + timedelta(minutes=minute)
            report = PositionReport({"power": volts}, device_time=now, fix_time=now, valid=True)
            state = fold(report, state, FoldContext(7, "test", now, rules=known)).state
        assert state.latest.attributes.get("hours") == hours
