"""Events of alarms."""

from datetime import UTC, datetime

from motorpool.actors.rules.alarms import MAX_ALARMS, alarm_events
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position(alarm=None):
    return Position(device_id=7, device_time=NOON, attributes={} if alarm is None else {"alarm": alarm})


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


def test_odd_alarms():
    assert alarms(" , ,sos,,sos") == ["sos"]
    assert alarms(None) == alarms(7) == alarms("") == alarms(True) == []
    assert len(alarms(",".join(map(str, range(1000))))) == MAX_ALARMS
