"""Attributes that a position takes over from the one before (docs/positions.md#pipeline)."""

from datetime import timedelta
from typing import Any, Final

from motorpool.storage.records import Position

NUMBER: Final = (int, float)
MAX_HOURS = 1e15
"""Milliseconds; up to here sums are exact."""
_MILLISECOND: Final = timedelta(milliseconds=1)


def copy_attributes(names: tuple[str, ...], latest: Position, attributes: dict[str, Any]) -> None:
    """Take over the named attributes of the latest position where this one lacks them."""
    for name in names:
        if name not in attributes and name in latest.attributes:
            attributes[name] = latest.attributes[name]


def add_hours(position: Position, latest: Position) -> None:
    """Add `hours`, the milliseconds of the engine, unless there are none.

    The time between two positions with the ignition on counts.
    """
    attributes, before = position.attributes, latest.attributes
    hours = before.get("hours", 0)
    is_running = attributes.get("ignition") is True and before.get("ignition") is True
    if not (hours or is_running):
        return
    if not isinstance(hours, NUMBER) or hours is True or not 0 <= hours < MAX_HOURS:
        hours = 0
    if is_running and position.device_time > latest.device_time:
        hours += (position.device_time - latest.device_time) // _MILLISECOND
    if hours:
        attributes["hours"] = hours
