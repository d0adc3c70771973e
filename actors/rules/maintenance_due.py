"""Events of maintenance that is due (docs/events.md#maintenance)."""

import math
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from motorpool.actors.rules.position_event import position_event, read_finite
from motorpool.storage.records import Event, Maintenance, Position

TIME_TYPES: Final = frozenset({"serverTime", "deviceTime", "fixTime"})
"""Types that are due at an instant, which comes with or without positions (`actors/timed_events/`)."""


def is_due(old: float, new: float, *, start: float, period: float) -> bool:
    """Whether a value that went from `old` to `new` reached the start, or the next period after it.

    No if `period` is 0, or if a value is 0, as a counter without a reading is.
    """
    if period <= 0 or not old or not new or new < start:
        return False
    # What is below a whole number is so rounded down as well.
    return old < start or (old - start) / period < periods_gone(new, start, period)


def periods_gone(value: float, start: float, period: float) -> float:
    """Return how many whole periods a value lies behind the start; infinite beyond what a float can tell."""
    gone = (value - start) / period
    return math.floor(gone) if math.isfinite(gone) else gone


DueState = Literal["due", "soon", "later", "never", "unknown"]
"""The most urgent first."""
SOON: Final = 0.1
"""Of a period that is left, from which on it is soon."""


class NextDue(NamedTuple):
    """When maintenance is due next."""

    state: DueState
    next: float | None
    """At which value; None: never again, or nobody knows."""


def next_due(value: float | None, *, start: float, period: float) -> NextDue:
    """Return when maintenance is due next, for who has counted so much; None: nothing was reported.

    It is first due at its start, and a period after it was done last. As a reset makes the start what was
    counted then, one that lies behind counts as done.
    """
    if value is None:
        return NextDue("unknown", None)
    if value < start:
        return NextDue(_urgency(start - value, period or start), start)
    if period <= 0:
        return NextDue("never", None)
    if value - start >= period:
        return NextDue("due", start + period)
    return NextDue(_urgency(start + period - value, period), start + period)


def _urgency(left: float, period: float) -> DueState:
    return "soon" if left <= period * SOON else "later"


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
        value, value_before = attributes.get(kind), before.get(kind)
        if value == value_before:
            continue
        new = read_finite(value)
        if new is None or new < maintenance.start:
            continue
        old = read_finite(value_before)
        if (
            old is not None
            and kind not in TIME_TYPES
            and is_due(old, new, start=maintenance.start, period=maintenance.period)
        ):
            found.append(position_event("maintenance", position, {kind: new}, maintenance_id=maintenance.id))
    return found
