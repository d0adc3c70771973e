"""Events of alarms."""

from datetime import UTC, datetime

from motorpool.actors.rules.alarms import MAX_ALARMS, alarm_events
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position(alarm=None, detail=None):
    attributes = {} if alarm is None else {"alarm": alarm}
    if detail is not None:
        attributes["alarmDetail"] = detail
    return Position(device_id=7, device_time=NOON, attributes=attributes)


def alarms(alarm, last=None, *, ignore_duplicates=True):
    events = alarm_events(position(alarm), last, ignore_duplicates=ignore_duplicates)
    return [event.attributes["alarm"] for event in events]


def test_each_alarm_is_an_event_at_the_device_time():
    assert alarm_events(position("sos, tow"), None, ignore_duplicates=True) == [
        Event(type="alarm", event_time=NOON, device_id=7, attributes={"alarm": "sos"}),
        Event(type="alarm", event_time=NOON, device_id=7, attributes={"alarm": "tow"}),
    ]


def test_an_alarm_that_continues_is_no_new_event_unless_that_is_wanted():
    assert alarms("sos,tow", position("tow,jamming")) == ["sos"]
    assert alarms("sos,tow", position()) == ["sos", "tow"]
    assert alarms("sos,tow", position("tow"), ignore_duplicates=False) == ["sos", "tow"]


def test_an_event_says_what_its_alarm_is_exactly():
    found = alarm_events(
        position("sos,general,laneChange", "phoneUse:1,laneDeparture:2,tire11SlowLeak"),
        None,
        ignore_duplicates=True,
    )
    assert [event.attributes for event in found] == [
        {"alarm": "sos"},
        {"alarm": "general", "alarmDetail": "phoneUse:1,tire11SlowLeak"},
        {"alarm": "laneChange", "alarmDetail": "laneDeparture:2"},
    ]


def test_an_alarm_that_becomes_another_one_is_an_event():
    def is_new(alarm, detail, before):
        last = position("general,fault", before)
        return bool(alarm_events(position(alarm, detail), last, ignore_duplicates=True))

    assert is_new("general", "smoking:1", "phoneUse:1")
    assert is_new("general", "phoneUse:2", "phoneUse:1")
    assert is_new("general", "phoneUse:1", None)
    assert not is_new("general", "phoneUse:1", "phoneUse:1,cameraFault")
    assert not is_new("general", None, "phoneUse:1")
    # Only the one that it belongs to.
    assert not is_new("general", "cameraFault", None)


def test_odd_alarms():
    assert alarm_events(position("sos", 7), position("tow", [1]), ignore_duplicates=True)
    assert alarms(" , ,sos,,sos") == ["sos"]
    assert alarms(None) == alarms(7) == alarms("") == alarms(True) == []
    assert len(alarms(",".join(map(str, range(1000))))) == MAX_ALARMS
