"""Whether a notification concerns an event. Pure: calendars and rights are checked elsewhere."""

from motorpool.storage.records import Event, Notification

COMMAND_OUTCOMES = frozenset({"commandResult", "queuedCommandSent", "queuedCommandFailed"})
"""Types of events that commands cause; a command that such an event caused could go on for ever."""


def concerns(notification: Notification, event: Event) -> bool:
    """Return whether type, alarms and geofences of a notification are those of an event.

    A notification of alarms names them in `alarms`; without, it concerns none. `geofenceIds` restricts a
    notification to events of these geofences.
    """
    if notification.type != event.type:
        return False
    attributes = notification.attributes
    if event.type == "alarm" and _listed(attributes.get("alarms")).isdisjoint(
        _listed(event.attributes.get("alarm"))
    ):
        return False
    geofence_ids = _listed(attributes.get("geofenceIds"))
    return not geofence_ids or str(event.geofence_id) in geofence_ids


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
