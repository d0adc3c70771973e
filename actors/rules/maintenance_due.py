"""Events of maintenance that is due (docs/events.md#maintenance)."""

import math
from collections.abc import Iterable
from typing import Final

from motorpool.actors.rules.position_event import position_event, read_number
from motorpool.storage.records import Event, Maintenance, Position

TIME_TYPES: Final = frozenset({"serverTime", "deviceTime", "fixTime"})
"""Types that are due at an instant, which comes with or without positions (`actors/timed_events/`)."""


def is_due(old: float, new: float, *, start: float, period: float) -> bool:
    """Whether a value that went from `old` to `new` reached the start, or the next period after it.

    No if `period` is 0, or if a value is 0, as a counter without a reading is.
    """
    if period <= 0 or not old or not new or new < start:
        return False
    return old < start or math.floor((old - start) / period) < math.floor((new - start) / period)


def maintenance_events(
    position: Position, last: Position | None, maintenances: Iterable[Maintenance]
) -> list[Event]:
    """Return an event for each maintenance whose attribute has become due since `last`."""
    if last is None:
        return []
    found: list[Event] = []
    attributes, before = position.attributes, last.attributes
    for maintenance in maintenances:
        kind = maintenance.type
        value = attributes.get(kind)
        if value == before.get(kind):
            continue
        new, old = read_number(value), read_number(before.get(kind))
        if (
            new is not None
            and old is not None
            and new >= maintenance.start
            and kind not in TIME_TYPES
            and is_due(old, new, start=maintenance.start, period=maintenance.period)
        ):
            found.append(position_event("maintenance", position, {kind: new}, maintenance_id=maintenance.id))
    return found
