"""Events of alarms (docs/events.md#events-of-positions)."""

from typing import Any

from motorpool.actors.rules.position_event import position_event
from motorpool.codecs.devices.attributes import alarm_of
from motorpool.storage.records import Event, Position

MAX_ALARMS = 50
"""Alarms of one position; further ones are ignored."""


def alarm_keys(position: Position | None) -> tuple[str, ...]:
    """Return the keys of the attribute `alarm`, in their order and each once; () if there are none."""
    return () if position is None else _split(position.attributes.get("alarm"))


def alarm_events(position: Position, last: Position | None, *, ignore_duplicates: bool) -> list[Event]:
    """Return an event for each alarm, with what is known of it exactly.

    With `ignore_duplicates` only for those that `last` lacks, or that were something else there.
    """
    keys = alarm_keys(position)
    details = _split(position.attributes.get("alarmDetail"))
    known: tuple[str, ...] = ()
    if keys and ignore_duplicates and last is not None:
        known = alarm_keys(last)
        if details:
            before = _split(last.attributes.get("alarmDetail"))
            changed = {alarm_of(detail) for detail in details if detail not in before}
            known = tuple(key for key in known if key not in changed)
    return [position_event("alarm", position, _attributes(key, details)) for key in keys if key not in known]


def _attributes(key: str, details: tuple[str, ...]) -> dict[str, Any]:
    exact = ",".join(detail for detail in details if alarm_of(detail) == key)
    return {"alarm": key, "alarmDetail": exact} if exact else {"alarm": key}


def _split(value: object) -> tuple[str, ...]:
    if not isinstance(value, str):
        return ()
    keys = (key.strip() for key in value.split(",", MAX_ALARMS)[:MAX_ALARMS])
    return tuple(dict.fromkeys(key for key in keys if key))
