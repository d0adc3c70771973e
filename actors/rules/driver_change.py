"""Events of a change of the driver (docs/events.md#events-of-positions)."""

from motorpool.actors.rules.position_event import position_event
from motorpool.storage.records import Event, Position


def driver_events(position: Position, last: Position | None) -> list[Event]:
    """Return an event if `driverUniqueId` is another than in `last`, or was absent there."""
    driver = position.attributes.get("driverUniqueId")
    if driver is None or (last is not None and last.attributes.get("driverUniqueId") == driver):
        return []
    return [position_event("driverChanged", position, {"driverUniqueId": driver})]
