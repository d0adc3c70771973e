"""The position pipeline as a pure function of reports."""

from datetime import UTC, datetime, timedelta
from functools import partial

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.fold import FoldContext, fold, is_latest
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.actors.rules.times import UNKNOWN_FIX_TIME
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
CONTEXT = FoldContext(7, "jt808", NOON)
MINUTE = timedelta(minutes=1)


def fix(moment, latitude=1.0, **fields):
    return PositionReport({}, device_time=moment, valid=True, latitude=latitude, longitude=2.0, **fields)


BLIND = PositionReport({}, device_time=NOON, located=False)
LATEST = Position(
    device_id=7,
    protocol="jt808",
    server_time=NOON - MINUTE,
    device_time=NOON - MINUTE,
    fix_time=NOON - MINUTE,
    valid=True,
    latitude=1.0,
    longitude=2.0,
    altitude=30.0,
    speed=8.0,
    course=90.0,
    accuracy=5.0,
    attributes={"totalDistance": 1000.0, "alarm": "sos"},
)
NEW = FoldState()
KNOWN = FoldState(latest=LATEST)


def test_cells_without_codes_get_those_of_the_settings():
    cells = [
        {"cellId": 1, "locationAreaCode": 2},
        {"cellId": 3, "mobileCountryCode": 460, "mobileNetworkCode": 0},
    ]
    report = msgspec.structs.replace(BLIND, network={"radioType": "gsm", "cellTowers": cells})
    settings = RuleSettings(network_mobile_country_code=268, network_mobile_network_code=1)
    stored = fold(
        report, NEW, msgspec.structs.replace(CONTEXT, rules=DeviceRules(settings=settings))
    ).position
    assert stored.network == {
        "radioType": "gsm",
        "cellTowers": [{"mobileCountryCode": 268, "mobileNetworkCode": 1, **cells[0]}, cells[1]],
    }
    assert fold(report, NEW, CONTEXT).position.network == report.network


def test_a_report_with_a_location_becomes_a_position_of_it():
    report = PositionReport(
        {"sat": 9},
        device_time=NOON - MINUTE,
        fix_time=NOON - 2 * MINUTE,
        valid=True,
        latitude=1.0,
        longitude=2.0,
        altitude=30.0,
        speed=12.5,
        course=90.0,
        accuracy=5.0,
        network={"radioType": "lte"},
    )
    result = fold(report, NEW, CONTEXT)
    assert result.position == Position(
        device_id=7,
        protocol="jt808",
        server_time=NOON,
        device_time=NOON - MINUTE,
        fix_time=NOON - 2 * MINUTE,
        valid=True,
        latitude=1.0,
        longitude=2.0,
        altitude=30.0,
        speed=12.5,
        course=90.0,
        accuracy=5.0,
        network={"radioType": "lte"},
        attributes={"sat": 9, "distance": 0.0, "totalDistance": 0.0, "motion": True},
    )
    assert result.state.latest is result.position
    assert result.events == ()


def test_a_report_without_a_location_repeats_the_latest_one():
    position = fold(BLIND, KNOWN, CONTEXT).position
    repeated = msgspec.structs.replace(
        LATEST,
        server_time=NOON,
        device_time=NOON,
        outdated=True,
        attributes={"distance": 0.0, "totalDistance": 1000.0, "motion": True},
    )
    assert position == repeated


def test_a_report_without_a_location_from_a_device_that_never_had_one():
    position = fold(BLIND, NEW, CONTEXT).position
    assert (position.fix_time, position.outdated, position.valid) == (UNKNOWN_FIX_TIME, True, False)
    assert (position.latitude, position.longitude) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("report", "times", "is_outdated"),
    [
        (PositionReport({}), (NOON, NOON), True),
        (PositionReport({}, valid=True), (NOON, NOON), False),
        (PositionReport({}, device_time=NOON - MINUTE), (NOON - MINUTE, NOON - MINUTE), False),
        (PositionReport({}, fix_time=NOON - MINUTE), (NOON, NOON - MINUTE), False),
    ],
    ids=["no time", "no time but valid", "device time", "fix time"],
)
def test_a_missing_time_is_taken_from_the_next_best(report, times, is_outdated):
    position = fold(report, NEW, CONTEXT).position
    assert (position.device_time, position.fix_time) == times
    assert position.outdated is is_outdated


@pytest.mark.parametrize(
    ("report", "is_latest"),
    [
        (fix(NOON + timedelta(hours=24)), True),
        (fix(NOON + timedelta(hours=24, seconds=1)), False),
        (fix(NOON - MINUTE), True),
        (fix(NOON - 2 * MINUTE), False),
        (fix(NOON - 2 * MINUTE, archived=True), False),
        (fix(NOON, archived=True), True),
        (BLIND, True),
    ],
    ids=["soon", "future", "same time", "older", "archived", "archived and newer", "no location"],
)
def test_the_newest_fix_that_is_not_of_the_future_is_what_the_next_report_is_folded_onto(report, is_latest):
    result = fold(report, KNOWN, CONTEXT)
    assert result.state.latest is (result.position if is_latest else LATEST)
    assert result.position.attributes.get("archive", False) is report.archived


def test_events_of_the_context_come_out_with_the_position():
    event = Event(type="media", event_time=NOON, device_id=7)
    assert fold(BLIND, NEW, FoldContext(7, "jt808", NOON, (event,))).events == (event,)


moments = st.integers(-200_000, 200_000).map(lambda seconds: NOON + timedelta(seconds=seconds))
reports = st.builds(
    PositionReport,
    st.dictionaries(
        st.sampled_from(["distance", "motion", "totalDistance", "archive", "sat"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    ),
    device_time=st.none() | moments,
    fix_time=st.none() | moments,
    located=st.booleans(),
    valid=st.booleans(),
    latitude=st.floats(-90, 90),
    longitude=st.floats(-180, 180),
    speed=st.floats(0, 200),
    archived=st.booleans(),
)


@given(st.lists(reports, max_size=8))
def test_any_reports_fold_to_positions_and_leave_what_went_in_as_it_was(sent):
    state = FoldState()
    for number, report in enumerate(sent):
        context = FoldContext(7, "jt808", NOON + timedelta(seconds=number))
        encode = partial(msgspec.json.encode, enc_hook=list)
        latest = state.latest
        before = encode(report), encode(latest)
        result = fold(report, state, context)
        position = result.position
        assert (encode(report), encode(latest)) == before
        assert (position.id, position.device_id, position.server_time) == (0, 7, context.server_time)
        assert position.outdated or report.located
        assert isinstance(position.attributes["totalDistance"], float)
        assert "motion" in position.attributes
        assert position.attributes.items() >= {
            key: value for key, value in report.attributes.items() if key in {"sat", "motion"}
        }.items() or any(value != value for value in report.attributes.values())
        # The same inputs give the same result, and what is latest follows the one rule.
        assert encode(fold(report, state, context)) == encode(result)
        assert result.state.latest is (position if is_latest(position, latest) else latest)
        if latest is not None:
            assert result.state.latest.fix_time >= latest.fix_time
        state = result.state


@given(reports)
def test_a_report_that_is_sent_twice_comes_no_further(report):
    first = fold(report, NEW, CONTEXT)
    if first.state.latest is None or "distance" in report.attributes:
        return
    assert fold(report, first.state, CONTEXT).position.attributes["distance"] == 0.0
