"""Alarms of hard acceleration and braking, computed from speeds (docs/events.md#events-of-positions)."""

from typing import Final

from motorpool.actors.rules.alarms import alarm_keys
from motorpool.actors.rules.position_event import position_event
from motorpool.storage.records import Event, Position

METRES_PER_SECOND: Final = 1852 / 3600
"""Of a knot."""


def behaviour_events(
    position: Position, last: Position | None, *, acceleration: float, braking: float
) -> list[Event]:
    """Return an alarm if the speed changed by at least a threshold, in m/s²; a threshold of 0 is off.

    None if the position already has that alarm, which `alarm_events` turns into an event.
    """
    if last is None or position.outdated or last.outdated:
        return []
    seconds = (position.fix_time - last.fix_time).total_seconds()
    if seconds <= 0:
        return []
    change = (position.speed - last.speed) * METRES_PER_SECOND / seconds
    if acceleration and change >= acceleration:
        alarm = "hardAcceleration"
    elif braking and change <= -braking:
        alarm = "hardBraking"
    else:
        return []
    return [] if alarm in alarm_keys(position) else [position_event("alarm", position, {"alarm": alarm})]
