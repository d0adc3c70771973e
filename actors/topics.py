"""What the fleet publishes: values that others may follow without being asked."""

from datetime import datetime

import msgspec

from motorpool.runtime import TopicName
from motorpool.storage.records import Event, Position

__all__ = ["DEVICES", "EVENTS", "POSITIONS", "LiveDevice"]


class LiveDevice(msgspec.Struct, frozen=True, gc=False):
    """What moves about a device: the fields of the API's Device that no request writes."""

    device_id: int
    status: str
    """"online", "offline" or "unknown" (open-details 22)."""
    last_update: datetime | None
    """Server time of the last message, whether or not it carried a position."""
    position_id: int
    """The latest position; 0 where there is none."""


POSITIONS: TopicName[tuple[Position, ...]] = TopicName("positions")
"""Each stored batch, after its commit; latest or not (compare fix times)."""

DEVICES: TopicName[tuple[LiveDevice, ...]] = TopicName("devices")
"""Devices whose status or last update changed, a few times a second at most for one device."""

EVENTS: TopicName[tuple[Event, ...]] = TopicName("events")
"""Stored events, after their commit."""
