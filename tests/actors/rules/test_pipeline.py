"""The steps of the pipeline that need a configuration, in their order (docs/positions.md#pipeline)."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.actors.rules.local_calendars import local_calendar

from motorpool.actors.rules.computed import CompiledAttribute
from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.expressions import compile_expression
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.rules.geofence_index import GeofenceIndex, index_geofence
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import ComputedAttribute, Device, Event, Geofence, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LATEST = Position(
    device_id=7,
    protocol="jt808",
    server_time=NOON - MINUTE,
    device_time=NOON - MINUTE,
    fix_time=NOON - MINUTE,
    valid=True,
    latitude=1.0,
    longitude=2.0,
    speed=8.0,
    attributes={"totalDistance": 1000.0, "ignition": True, "fuel": 40},
)
KNOWN = FoldState(latest=LATEST, day=LATEST.fix_time.toordinal(), stored_that_day=1)


def fix(moment=NOON, attributes=None, **fields):
    fields = {"latitude": 1.0, "longitude": 2.0, "valid": True, **fields}
    return PositionReport(attributes or {}, device_time=moment, fix_time=moment, **fields)


def folded(report, state=KNOWN, device=None, events=(), **rules):
    return fold(report, state, FoldContext(7, "jt808", NOON, events, DeviceRules(**rules), device))


def computed(number, name, expression, priority=0, kind=None):
    return CompiledAttribute(
        ComputedAttribute(id=number, attribute=name, expression=expression, type=kind, priority=priority),
        compile_expression(expression),
    )


def test_early_expressions_see_what_the_device_sent_and_the_others_what_the_rules_made_of_it():
    early = computed(1, "latitude", "latitude + 1", -1), computed(2, "raw", "motion ?? 'none'", -2)
    late = computed(3, "doubled", "totalDistance * 2"), computed(4, "moving", "motion ? 'yes' : 'no'")
    result = folded(fix(), early_computed=early, computed=late)
    position = result.position
    assert position.latitude == 2.0
    assert position.attributes["distance"] == pytest.approx(111_319.49)
    assert position.attributes["raw"] == "none"
    assert position.attributes["doubled"] == str(2 * position.attributes["totalDistance"])
    assert position.attributes["moving"] == "no"
    assert result.failures == ()
    assert result.state.latest is position


def test_an_early_expression_does_not_move_a_message_without_a_location():
    report = PositionReport({"power": 11}, device_time=NOON, located=False)
    early = computed(1, "latitude", "50.0", -1), computed(2, "low", "power < 12", -1, "boolean")
    position = folded(report, early_computed=early).position
    assert (position.latitude, position.attributes["low"]) == (1.0, True)


def test_an_expression_that_fails_leaves_the_position_and_is_reported():
    result = folded(fix(), computed=(computed(5, "a", "nothing + 1"), computed(6, "b", "1 + 1")))
    assert "a" not in result.position.attributes
    assert result.position.attributes["b"] == "2"
    ((number, reason),) = result.failures
    assert number == 5
    assert "nothing" in reason


def test_expressions_know_the_last_position_and_the_device_only_where_that_is_set():
    expressions = computed(1, "a", "lastSpeed ?? 'unknown'"), computed(2, "b", "tank ?? 'unknown'")
    device = Device(id=7, attributes={"tank": "big"})
    plain = folded(fix(), device=device, computed=expressions).position.attributes
    assert (plain["a"], plain["b"]) == ("unknown", "unknown")
    settings = RuleSettings(
        processing_computed_attributes_last_attributes=True,
        processing_computed_attributes_device_attributes=True,
    )
    told = folded(fix(), device=device, computed=expressions, settings=settings).position.attributes
    assert (told["a"], told["b"]) == ("8.0", "big")


def test_a_week_rollover_is_undone_for_both_times():
    lost = NOON - timedelta(weeks=1024)
    position = folded(fix(lost)).position
    assert (position.device_time, position.fix_time) == (NOON, NOON)


def test_times_are_overridden_where_there_is_a_location():
    settings = RuleSettings(time_override="serverTime")
    position = folded(fix(NOON - 5 * MINUTE), settings=settings).position
    assert (position.device_time, position.fix_time) == (NOON, NOON)
    blind = PositionReport({}, device_time=NOON - 5 * MINUTE, located=False)
    position = folded(blind, settings=settings).position
    assert (position.device_time, position.fix_time) == (NOON - 5 * MINUTE, LATEST.fix_time)


def test_a_fix_from_the_future_is_flagged_and_changes_nothing():
    result = folded(fix(NOON + timedelta(hours=25), latitude=5.0))
    assert result.position.attributes["future"] is True
    assert result.position.attributes["totalDistance"] == 1000.0
    assert result.state is KNOWN
    assert "future" not in folded(fix(NOON + timedelta(hours=24))).position.attributes


def test_a_late_position_gets_geofences_and_adds_no_distance():
    area = index_geofence(Geofence(id=3, area="CIRCLE (5 2, 1000)"))
    result = folded(fix(NOON - 2 * MINUTE, latitude=5.0), geofences=GeofenceIndex([area]))
    position = result.position
    assert position.geofence_ids == [3]
    assert (position.attributes["distance"], position.attributes["totalDistance"]) == (0.0, 1000.0)
    assert result.state.latest is LATEST
    assert result.state.stored_that_day == 2


def test_geofences_are_named_or_null():
    areas = [
        index_geofence(Geofence(id=number, area=f"CIRCLE (1 2, {number})")) for number in (500, 300, 400)
    ]
    index = GeofenceIndex(areas)
    assert folded(fix(), geofences=index).position.geofence_ids == [300, 400, 500]
    assert folded(fix(latitude=3.0), geofences=index).position.geofence_ids is None


def test_a_dropped_report_leaves_the_state_and_keeps_its_own_events():
    event = Event(type="commandResult", device_id=7)
    result = folded(fix(valid=False), events=(event,), settings=RuleSettings(filter_invalid=True))
    assert (result.position, result.events) == (None, (event,))
    assert result.state is KNOWN


def test_the_threshold_of_motion_is_a_setting():
    settings = RuleSettings(event_motion_speed_threshold=5.0)
    assert folded(fix(speed=5.0), settings=settings).position.attributes["motion"] is False
    assert folded(fix(speed=5.1), settings=settings).position.attributes["motion"] is True


def test_driver_copies_and_hours():
    settings = RuleSettings(processing_copy_attributes=("fuel", "ignition"))
    attributes = folded(fix(), settings=settings, driver_unique_id="4711").position.attributes
    assert attributes["driverUniqueId"] == "4711"
    assert attributes["fuel"] == 40
    # The copied ignition counts.
    assert attributes["hours"] == 60_000
    sent = fix(attributes={"driverUniqueId": "12", "fuel": 3, "hours": 9})
    attributes = folded(sent, settings=settings, driver_unique_id="4711").position.attributes
    assert (attributes["driverUniqueId"], attributes["fuel"], attributes["hours"]) == ("12", 3, 9)


CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//
BEGIN:VEVENT
UID:1
DTSTART:20260601T080000
DTEND:20260601T180000
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR
"""


@pytest.mark.parametrize(
    ("moment", "is_kept"),
    [
        (NOON, True),
        (NOON - timedelta(hours=4), True),
        (NOON - timedelta(hours=4, seconds=1), False),
        (NOON - timedelta(days=30), False),
        (NOON.replace(year=9000), False),
    ],
)
@pytest.mark.parametrize("settings", [RuleSettings(), RuleSettings(filter_enable=False)])
def test_the_calendar_of_the_device_drops_fixes_outside_its_events(moment, is_kept, settings):
    calendar = local_calendar(CALENDAR, NOON)
    assert (folded(fix(moment), calendar=calendar, settings=settings).position is not None) is is_kept


def test_the_daily_limit_counts_what_is_stored_and_starts_anew_each_day():
    settings = RuleSettings(filter_daily_limit=3)
    start = datetime(2026, 6, 14, 23, 58, tzinfo=UTC)
    state, kept = FoldState(), []
    for number in range(10):
        result = folded(fix(start + number * MINUTE), state, settings=settings)
        state = result.state
        kept.append(result.position is not None)
    assert kept == [True, True, *[True] * 3, *[False] * 5]


moves = st.lists(
    st.tuples(
        st.integers(-120, 600),
        st.floats(-0.01, 0.01),
        st.sampled_from([{}, {"ignition": True}, {"ignition": False}, {"alarm": "sos"}]),
        st.booleans(),
    ),
    max_size=12,
)


@given(moves)
def test_totals_never_decrease_and_are_the_sums_of_what_was_latest(steps):
    rules = DeviceRules(settings=RuleSettings(filter_duplicate=True, filter_min_period=5))
    state, now, latitude, total = FoldState(), NOON, 50.0, 0.0
    for seconds, north, attributes, is_located in steps:
        now += timedelta(seconds=seconds)
        latitude += north
        report = fix(now, attributes, latitude=latitude, located=is_located)
        result = fold(report, state, FoldContext(7, "jt808", NOON, (), rules))
        position = result.position
        if position is None:
            assert result.state is state
            continue
        found = position.attributes
        if result.state.latest is position:
            total += found["distance"]
        else:
            assert found["distance"] == 0.0
        assert found["totalDistance"] == pytest.approx(total)
        assert "hours" not in found or found["hours"] >= 0
        before = 0 if state.latest is None else state.latest.attributes.get("hours", 0)
        assert result.state.latest.attributes.get("hours", 0) >= before
        assert msgspec.json.encode(fold(report, state, FoldContext(7, "jt808", NOON, (), rules)).position)
        state = result.state


def test_rules_that_change_in_mid_trip_leave_the_trip():
    """A device that is moved to another group goes on where it was, under the rules of that group."""
    before = DeviceRules(settings=RuleSettings(speed_limit=100.0))
    after = DeviceRules(settings=RuleSettings(speed_limit=20.0, filter_static=True))
    state, found = FoldState(), []
    for number in range(12):
        report = fix(NOON + number * MINUTE, latitude=1.0 + number / 100, speed=40.0)
        rules = before if number < 6 else after
        result = fold(report, state, FoldContext(7, "jt808", NOON + number * MINUTE, (), rules))
        state = result.state
        found.append([event.type for event in result.events])
    assert found == [[], ["deviceMoving"], *[[]] * 4, ["deviceOverspeed"], *[[]] * 5]
    assert state.trip.is_moving
