"""Which notifications concern an event, as far as the two alone can tell."""

import pytest

from motorpool.actors.events.matching import (
    COMMAND_OUTCOMES,
    concerns,
    notificators_of,
    subject_of,
    wanted_by,
)
from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.storage.records import Event, Notification


def is_concerned(notification, event):
    return concerns(wanted_by(notification), subject_of(event))


def alarm(keys, **fields):
    return Event(type="alarm", attributes={"alarm": keys}, **fields)


@pytest.mark.parametrize(
    ("alarms", "reported", "expected"),
    [
        ("sos", "sos", True),
        ("powerCut, sos", "sos", True),
        ("powerCut", "sos", False),
        ("sos", "general,sos", True),
        ("so", "sos", False),
        ("", "sos", False),
        (None, "sos", False),
        (7, "sos", False),
    ],
)
def test_a_notification_of_alarms_names_them(alarms, reported, expected):
    attributes = {} if alarms is None else {"alarms": alarms}
    assert is_concerned(Notification(type="alarm", attributes=attributes), alarm(reported)) is expected


@pytest.mark.parametrize(
    ("wanted", "severity", "expected"),
    [
        ("WARNING", "CRITICAL", True),
        ("WARNING", "WARNING", True),
        ("WARNING", "INFO", False),
        ("WARNING", None, False),
        ("INFO", None, True),
    ],
)
def test_a_severity_restricts_a_notification_to_events_that_are_as_severe(wanted, severity, expected):
    for kind in ("deviceOverspeed", "alarm"):
        notification = Notification(type=kind, attributes={"severity": wanted})
        event = Event(type=kind, attributes={"alarm": "sos"}, severity=severity)
        assert is_concerned(notification, event) is expected
    named = Notification(type="alarm", attributes={"severity": wanted, "alarms": "powerCut"})
    assert not is_concerned(named, alarm("sos", severity="CRITICAL"))


@pytest.mark.parametrize(
    ("listed", "geofence_id", "expected"),
    [("3,5", 5, True), ("3,5", 4, False), (5, 5, True), ("", 4, True), ("35", 5, False), ("3", 0, False)],
)
def test_geofence_ids_restrict_a_notification(listed, geofence_id, expected):
    notification = Notification(type="geofenceEnter", attributes={"geofenceIds": listed})
    assert is_concerned(notification, Event(type="geofenceEnter", geofence_id=geofence_id)) is expected


def test_the_type_must_be_the_same():
    for kind in EVENT_TYPES:
        matching = [each for each in EVENT_TYPES if is_concerned(Notification(type=each), Event(type=kind))]
        assert matching == ([] if kind == "alarm" else [kind])


def test_notificators_are_a_list_without_duplicates():
    listed = Notification(type="alarm", notificators=" web,mail,,web , command")
    assert notificators_of(listed) == ("web", "mail", "command")


@pytest.mark.parametrize("kind", sorted(COMMAND_OUTCOMES))
def test_the_outcome_of_a_command_sends_no_command(kind):
    assert notificators_of(Notification(type=kind, notificators="command,web")) == ("web",)
