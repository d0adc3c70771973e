"""Attributes that a position takes over from the one before (docs/positions.md#pipeline)."""

from typing import Any, Final

from motorpool.actors.rules.engine import is_engine_on
from motorpool.storage.records import Position

NUMBER: Final = (int, float)
MAX_HOURS = 1e15
"""Milliseconds; up to here sums are exact."""


def copy_attributes(names: tuple[str, ...], latest: Position, attributes: dict[str, Any]) -> None:
    """Take over the named attributes of the latest position where this one lacks them."""
    for name in names:
        if name not in attributes and name in latest.attributes:
            attributes[name] = latest.attributes[name]


def add_hours(position: Position, latest: Position, charging_voltage: float = 0.0) -> None:
    """Add `hours`, the milliseconds of the engine, unless there are none.

    The time between two positions counts at which the engine runs (`is_engine_on`).
    """
    attributes, before = position.attributes, latest.attributes
    hours = before.get("hours", 0)
    is_running = is_engine_on(attributes, charging_voltage) and is_engine_on(before, charging_voltage)
    if not (hours or is_running):
        return
    if not isinstance(hours, NUMBER) or hours is True or not 0 <= hours < MAX_HOURS:
        hours = 0
    if is_running and position.device_time > latest.device_time:
        elapsed = position.device_time - latest.device_time
        hours += elapsed.days * 86_400_000 + elapsed.seconds * 1000 + elapsed.microseconds // 1000
    if hours:
        attributes["hours"] = hours
