"""Attributes that a position takes over from the one before (docs/positions.md#pipeline)."""

from datetime import timedelta
from typing import Any, Final

from motorpool.storage.records import Position

__all__ = ["add_hours", "copy_attributes"]

NUMBER: Final = (int, float)
MOST_HOURS = 1e15
"""Milliseconds; up to here sums are exact."""
_NONE: Final = timedelta(0)
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
    hours = latest.attributes.get("hours")
    if not isinstance(hours, NUMBER) or hours is True or not 0 <= hours < MOST_HOURS:
        hours = 0
    if position.attributes.get("ignition") is True and latest.attributes.get("ignition") is True:
        span = position.device_time - latest.device_time
        if span > _NONE:
            hours += span // _MILLISECOND
    if hours:
        position.attributes["hours"] = hours
