"""Events of the ignition (docs/events.md#events-of-positions)."""

from motorpool.actors.rules.position_event import position_event
from motorpool.storage.records import Event, Position


def ignition_events(position: Position, last: Position | None) -> list[Event]:
    """Return an event if `ignition` differs from `last`; both must have it."""
    before = None if last is None else last.attributes.get("ignition")
    after = position.attributes.get("ignition")
    if not isinstance(before, bool) or not isinstance(after, bool) or before == after:
        return []
    return [position_event("ignitionOn" if after else "ignitionOff", position)]
