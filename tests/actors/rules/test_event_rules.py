"""All events of a position: their order, and what they are compared with."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from tests.actors.rules.local_calendars import local_calendar

from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.event_rules import FoldState, events_of, late_events_of
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.rules.geofence_index import GeofenceIndex, index_geofence
from motorpool.actors.rules.media_events import MEDIA
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Event, Geofence, Maintenance, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
DEGREE = math.pi / 180 * 6_378_137
MINUTE = timedelta(minutes=1)


def position(minute=0, metres=0.0, *, speed=0.0, geofences=None, outdated=False, **attributes):
    moment = NOON + minute * MINUTE
    return Position(
        id=100 + minute,
        device_id=7,
        server_time=moment,
        device_time=moment + timedelta(seconds=5),
        fix_time=moment,
        valid=True,
        latitude=metres / DEGREE,
        longitude=1.0,
        speed=speed,
        outdated=outdated,
        geofence_ids=geofences,
        attributes=attributes,
    )


def types(found):
    return [event.type for event in found.events]


def geofence(number, metres, radius, *, calendar_id=0, **attributes):
    area = f"CIRCLE ({metres / DEGREE} 1, {radius})"
    row = Geofence(id=number, area=area, calendar_id=calendar_id, attributes=attributes)
    return index_geofence(row)


def calendar(*, opens, closes):
    """A calendar that is open every day between two hours of UTC."""
    text = "\r\n".join(
        [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:test",
            "BEGIN:VEVENT",
            "UID:1",
            f"DTSTART:20260101T{opens:02}0000Z",
            f"DTEND:20260101T{closes:02}0000Z",
            "RRULE:FREQ=DAILY",
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        ]
    )
    return local_calendar(text, NOON)


def test_everything_at_once_in_its_order():
    rules = DeviceRules(
        settings=RuleSettings(
            speed_limit=50.0,
            fuel_drop_threshold=10.0,
            event_behavior_acceleration_threshold=0.1,
            event_geofence_segment_crossing=True,
            proximity_enter_distance=100.0,
            unaccompanied_distance=10.0,
        ),
        geofences=GeofenceIndex([geofence(1, 0, 50), geofence(2, 1000, 50), geofence(3, 500, 50)]),
        maintenances=(Maintenance(id=4, type="hours", start=10.0, period=10.0),),
        linked_devices=(8,),
    )
    before = position(0, geofences=[1], motion=False, ignition=False, fuel=50, hours=9)
    now = position(
        1,
        1000,
        speed=60.0,
        geofences=[2],
        image="a.jpg",
        result="ok",
        motion=True,
        ignition=True,
        fuel=30,
        hours=11,
        alarm="sos",
        driverUniqueId="ann",
    )
    state = FoldState(before, events_of(before, FoldState(), rules).state.trip, near={8: False})
    linked = (Position(device_id=8, latitude=1050 / DEGREE, longitude=1.0),)
    found = events_of(now, state, rules, linked=linked)
    assert types(found) == [
        "media",
        "commandResult",
        "deviceOverspeed",
        "alarm",
        "deviceFuelDrop",
        "deviceMoving",
        "geofenceExit",
        "geofenceEnter",
        "geofenceCrossed",
        "proximityEnter",
        "unaccompaniedMotion",
        "alarm",
        "ignitionOn",
        "maintenance",
        "driverChanged",
    ]
    others = [event for event in found.events if event.type != "deviceMoving"]
    assert {event.event_time for event in others} == {now.device_time}
    assert {event.device_id for event in found.events} == {7}
    ids = [event.geofence_id for event in found.events if event.type.startswith("geofence")]
    assert ids == [1, 2, 3]


def test_a_device_without_rules_that_stands_still_has_no_events():
    rules = DeviceRules()
    first = events_of(position(0, motion=False), FoldState(), rules)
    again = events_of(position(1, motion=False), FoldState(position(0), first.state.trip), rules)
    assert first.events == again.events == ()


def test_a_late_position_is_compared_with_nothing():
    late = position(0, image="a.jpg", result="ok", alarm="sos", ignition=True)
    assert [event.type for event in late_events_of(late, ())] == ["media", "commandResult"]


@pytest.mark.parametrize("name", [*MEDIA, "result"])
def test_what_makes_events_of_late_positions_makes_those_of_the_latest(name):
    now = position(0, **{name: "x"})
    assert events_of(now, FoldState(), DeviceRules()).events == late_events_of(now, ()) != ()


def test_a_motion_is_dated_back_to_where_it_began():
    rules, state, found = DeviceRules(), FoldState(), []
    for minute, metres in enumerate([0, 0, 0, 0, 0, 150, 150 + 900, 150 + 1800]):
        now = position(minute, metres)
        result = events_of(now, state, rules)
        state = result.state
        found.append(result)
    assert [types(each) for each in found] == [[], [], [], [], [], [], [], ["deviceMoving"]]
    (moving,) = found[-1].events
    # It came those 150 m in less than half of the minute.
    assert (moving.event_time, moving.position_id) == (NOON + 5 * MINUTE, 105)
    ((event, point),) = found[-1].dated_back
    assert event is moving
    assert point is found[5].point


def test_the_speed_limit_of_a_geofence_goes_first():
    geofences = GeofenceIndex([geofence(1, 0, 50, speedLimit=30), geofence(2, 0, 50, speedLimit=40)])
    for prefers, limit, number in ((True, 30.0, 1), (False, 40.0, 2)):
        settings = RuleSettings(speed_limit=10.0, event_overspeed_prefer_lowest=prefers)
        now = position(speed=45.0, geofences=[1, 2], speedLimit=20)
        (event,) = events_of(now, FoldState(), DeviceRules(settings, geofences)).events[:1]
        assert (event.type, event.geofence_id) == ("deviceOverspeed", number)
        assert event.attributes == {"speed": 45.0, "speedLimit": limit}


@pytest.mark.parametrize(("opens", "closes", "count"), [(11, 13, 1), (12, 13, 1), (8, 12, 0), (13, 20, 0)])
def test_a_geofence_makes_events_while_its_calendar_is_open(opens, closes, count):
    rules = DeviceRules(
        RuleSettings(event_geofence_segment_crossing=True),
        GeofenceIndex([geofence(1, 0, 50, calendar_id=9), geofence(2, 500, 50, calendar_id=9)]),
        calendars={9: calendar(opens=opens, closes=closes)},
    )
    entered = events_of(position(0, geofences=[1]), FoldState(position(-1, 900)), rules)
    assert types(entered).count("geofenceEnter") == count
    assert types(entered).count("geofenceCrossed") == count
    left = events_of(position(0, 900), FoldState(position(-1, geofences=[1])), rules)
    assert types(left).count("geofenceExit") == count


def test_a_geofence_that_no_longer_applies_is_not_left():
    left = events_of(position(1), FoldState(position(0, geofences=[1])), DeviceRules())
    assert left.events == ()


def test_linked_devices_that_are_not_known_yet_make_no_events():
    settings = RuleSettings(unaccompanied_distance=10.0, proximity_enter_distance=10.0)
    rules = DeviceRules(settings, linked_devices=(8,))
    state = FoldState(position(0, motion=False), near={8: False})
    unknown = events_of(position(1, motion=True), state, rules, linked=None)
    assert unknown.events == ()
    assert unknown.state.near == {8: False}


def test_a_device_without_a_location_yet_does_not_start_from_nowhere():
    context = FoldContext(7, "jt808", NOON)
    blind = fold(PositionReport({}, device_time=NOON, located=False), FoldState(), context)
    again = fold(PositionReport({}, device_time=NOON, located=False), blind.state, context)
    here = PositionReport({}, device_time=NOON, valid=True, latitude=52.0, longitude=13.0)
    first = fold(here, again.state, context)
    assert blind.events == again.events == first.events == ()
    assert first.point is not None


def test_the_fold_passes_on_what_the_report_stands_for_and_does_not_repeat_it():
    known = Event(type="media", event_time=NOON, device_id=7, attributes={"media": "image", "file": "a.jpg"})
    report = PositionReport({"image": "a.jpg", "alarm": "sos"}, device_time=NOON, latitude=1.0, valid=True)
    result = fold(report, FoldState(), FoldContext(7, "jt808", NOON, (known,)))
    assert [event.type for event in result.events] == ["media", "alarm"]
    assert result.events[0] is known
