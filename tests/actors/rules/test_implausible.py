"""Positions where the device cannot be, in the pipeline (docs/events.md#implausible-positions)."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.rules.computed import CompiledAttribute
from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.expressions.compiler import compile_expression
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import ComputedAttribute

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
JUMP = 0.5
"""Degrees of latitude: 55 km."""


def fix(seconds, latitude=1.0, attributes=None, **fields):
    moment = NOON + timedelta(seconds=seconds)
    fields = {"longitude": 2.0, "valid": True, "device_time": moment, "fix_time": moment} | fields
    return PositionReport(attributes or {}, latitude=latitude, **fields)


def run(*reports, state=FoldState(), **rules):  # noqa: B008
    """Fold reports that arrive at their fix times, or when they can have been sent at last."""
    found, now = [], NOON
    for report in reports:
        now += timedelta(seconds=10)
        context = FoldContext(7, "jt808", now, rules=DeviceRules(**rules))
        found.append(fold(report, state, context))
        state = found[-1].state
    return found


def flags(results):
    return [result.position.attributes.get("implausible") for result in results]


def test_one_is_stored_with_a_flag_and_changes_nothing_of_the_device():
    first, wrong, right = run(
        fix(10),
        fix(20, 1.0 + JUMP, {"ignition": True, "result": "ok", "driverUniqueId": "A"}),
        fix(30, 1.001),
    )
    assert flags([first, wrong, right]) == [None, True, None]
    assert wrong.state.latest is first.position
    assert (wrong.position.attributes["distance"], wrong.position.attributes["totalDistance"]) == (0.0, 0.0)
    assert [event.type for event in wrong.events] == ["commandResult"]
    assert right.state.latest is right.position
    assert right.position.attributes["totalDistance"] == pytest.approx(111.3, abs=0.1)


def test_the_next_that_agrees_with_it_is_believed():
    results = run(fix(10), fix(20, 1.0 + JUMP), fix(30, 1.001 + JUMP), fix(40, 1.002 + JUMP))
    assert flags(results) == [None, True, None, None]
    assert results[2].state.latest is results[2].position


def test_one_that_agrees_with_none_is_not():
    results = run(fix(10), fix(20, 1.0 + JUMP), fix(30, 1.0 - JUMP), fix(40, 1.0 + JUMP), fix(50, 1.0 + JUMP))
    assert flags(results) == [None, True, True, True, None]


def test_its_alarms_are_told_whatever_the_place():
    first, wrong, again = run(
        fix(10, attributes={"alarm": "tow"}),
        fix(20, 1.0 + JUMP, {"alarm": "sos,tow"}),
        fix(30, attributes={"alarm": "tow"}),
    )
    assert [event.attributes for event in first.events] == [{"alarm": "tow"}]
    assert [event.attributes for event in wrong.events] == [{"alarm": "sos"}]
    assert again.events == ()


def test_the_distance_that_a_device_sends_is_kept():
    _, wrong = run(fix(10), fix(20, 1.0 + JUMP, {"distance": 250.0}))
    assert (wrong.position.attributes["distance"], wrong.position.attributes["totalDistance"]) == (250.0, 0.0)


def test_filters_look_at_the_distance_that_it_would_have():
    settings = RuleSettings(filter_max_speed=200.0)
    first, dropped, right = run(fix(10), fix(20, 1.0 + JUMP), fix(30, 1.001), settings=settings)
    assert dropped.position is None
    assert dropped.state is first.state
    assert flags([right]) == [None]
    # It is not dropped as unchanged.
    _, kept = run(fix(10), fix(20, 1.0 + JUMP), settings=RuleSettings(filter_distance=100.0))
    assert flags([kept]) == [True]


def test_a_clock_that_is_wrong_for_a_while_is_not_believed():
    results = run(fix(10), fix(3620), fix(3630), fix(40))
    assert flags(results) == [None, True, True, None]


def test_a_late_position_and_one_without_a_location_are_not_asked_about():
    blind = PositionReport({}, device_time=NOON, located=False)
    remembered = PositionReport({}, latitude=9.0, longitude=9.0)
    results = run(fix(10), fix(5, 1.0 + JUMP), blind, remembered)
    assert flags(results) == [None] * 4
    assert results[3].position.outdated


def test_without_a_limit_none_is_implausible():
    settings = RuleSettings(position_implausible_speed=0.0)
    assert flags(run(fix(10), fix(20, 1.0 + JUMP), fix(3630), settings=settings)) == [None] * 3


def test_a_faster_limit_lets_more_pass():
    # 20 km in 10 s are 3,900 kn.
    reports = fix(10), fix(20, 1.0 + 0.18)
    assert flags(run(*reports, settings=RuleSettings(position_implausible_speed=3_800.0))) == [None, True]
    assert flags(run(*reports, settings=RuleSettings(position_implausible_speed=4_000.0))) == [None, None]


def test_only_the_server_says_so():
    says = CompiledAttribute(
        ComputedAttribute(id=1, attribute="implausible", expression="true", type="boolean"),
        compile_expression("true"),
    )
    denies = CompiledAttribute(
        ComputedAttribute(id=1, attribute="implausible", expression="false", type="boolean"),
        compile_expression("false"),
    )
    assert flags(run(fix(10, attributes={"implausible": True}), fix(20))) == [None, None]
    assert flags(run(fix(10), fix(20), computed=(says,))) == [None, None]
    assert flags(run(fix(10), fix(20, 1.0 + JUMP), computed=(denies,))) == [None, True]


def test_no_distance_leads_to_where_devices_without_a_fix_say_they_are():
    lost = {"latitude": 0.0, "longitude": 0.0, "valid": False}
    results = run(fix(10), fix(20, **lost), fix(30, **lost), fix(40, 1.001))
    assert flags(results) == [None, True, None, None]
    totals = [result.position.attributes["totalDistance"] for result in results]
    assert totals == [0.0, 0.0, 0.0, 0.0]
