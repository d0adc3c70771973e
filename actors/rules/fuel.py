"""Events of fuel (docs/events.md#events-of-positions)."""

from motorpool.actors.rules.position_event import position_event, read_number
from motorpool.storage.records import Event, Position


def fuel_events(position: Position, last: Position | None, *, drop: float, increase: float) -> list[Event]:
    """Return an event if `fuel` changed by at least a threshold, in litres; a threshold of 0 is off."""
    if last is None:
        return []
    before, after = read_number(last.attributes.get("fuel")), read_number(position.attributes.get("fuel"))
    if before is None or after is None or before == after:
        return []
    if drop > 0 and before - after >= drop:
        kind = "deviceFuelDrop"
    elif increase > 0 and after - before >= increase:
        kind = "deviceFuelIncrease"
    else:
        return []
    return [position_event(kind, position, {"before": before, "after": after})]
