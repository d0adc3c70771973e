"""Whether a notification concerns an event. Pure: calendars and rights are checked elsewhere."""

from typing import NamedTuple

from motorpool.actors.rules.severity import INFO, is_as_severe, read_severity
from motorpool.storage.records import Event, Notification, Severity

COMMAND_OUTCOMES = frozenset({"commandResult", "queuedCommandSent", "queuedCommandFailed"})
"""Types of events that commands cause; a command that such an event caused could go on for ever."""


class Subject(NamedTuple):
    """What an event is about, or what a notification is for; long lists are read once, not for each match."""

    type: str
    alarms: frozenset[str]
    geofence_ids: frozenset[str]
    severity: Severity | None = None
    """The least one that is wanted, None: any; of an event its own."""


def subject_of(event: Event) -> Subject:
    """Return what an event is about."""
    geofence_ids = frozenset({str(event.geofence_id)})
    return Subject(event.type, _listed(event.attributes.get("alarm")), geofence_ids, event.severity or INFO)


def wanted_by(notification: Notification) -> Subject:
    """Return what events a notification concerns."""
    attributes = notification.attributes
    alarms, geofence_ids = _listed(attributes.get("alarms")), _listed(attributes.get("geofenceIds"))
    return Subject(notification.type, alarms, geofence_ids, read_severity(attributes.get("severity")))


def concerns(wanted: Subject, subject: Subject) -> bool:
    """Return whether an event has the type, alarms, severity and geofences that a notification wants.

    A notification of alarms names them in `alarms`, or says how severe they are; without either it concerns
    none. `geofenceIds` restricts a notification to events of these geofences.
    """
    if wanted.type != subject.type or not is_as_severe(subject.severity, wanted.severity):
        return False
    if subject.type == "alarm" and not wants_all_alarms(wanted) and wanted.alarms.isdisjoint(subject.alarms):
        return False
    return not wanted.geofence_ids or not wanted.geofence_ids.isdisjoint(subject.geofence_ids)


def wants_all_alarms(wanted: Subject) -> bool:
    """Return whether a notification is for alarms of a severity, whatever they are."""
    return wanted.severity is not None and not wanted.alarms


def notificators_of(notification: Notification) -> tuple[str, ...]:
    """Return the names of the notificators that send a notification, each once."""
    names = (name.strip() for name in notification.notificators.split(","))
    unique = dict.fromkeys(name for name in names if name)
    if notification.type in COMMAND_OUTCOMES:
        unique.pop("command", None)
    return tuple(unique)


def _listed(value: object) -> frozenset[str]:
    """Split a comma-separated list; a number is a list of one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return frozenset({str(value)})
    if not isinstance(value, str):
        return frozenset()
    return frozenset(part for each in value.split(",") if (part := each.strip()))
