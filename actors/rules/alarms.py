"""Events of alarms (docs/events.md#events-of-positions)."""

from motorpool.actors.rules.position_event import position_event
from motorpool.storage.records import Event, Position

MAX_ALARMS = 50
"""Alarms of one position; further ones are ignored."""


def alarm_keys(position: Position | None) -> tuple[str, ...]:
    """Return the keys of the attribute `alarm`, in their order and each once; () if there are none."""
    value = None if position is None else position.attributes.get("alarm")
    if not isinstance(value, str):
        return ()
    keys = (key.strip() for key in value.split(",", MAX_ALARMS)[:MAX_ALARMS])
    return tuple(dict.fromkeys(key for key in keys if key))


def alarm_events(position: Position, last: Position | None, *, ignore_duplicates: bool) -> list[Event]:
    """Return an event for each alarm; with `ignore_duplicates` only for those that `last` lacks."""
    keys = alarm_keys(position)
    if keys and ignore_duplicates:
        known = alarm_keys(last)
        keys = tuple(key for key in keys if key not in known)
    return [position_event("alarm", position, {"alarm": key}) for key in keys]
