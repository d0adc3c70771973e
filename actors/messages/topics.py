"""What the fleet publishes: values that others may follow without being asked."""

from datetime import datetime

import msgspec

from motorpool.runtime import TopicName
from motorpool.storage.records import Event, Position

__all__ = [
    "DEVICES",
    "EVENTS",
    "LATEST_POSITIONS",
    "POSITIONS",
    "WEB_EVENTS",
    "DeviceStatus",
    "WebEvent",
]


class DeviceStatus(msgspec.Struct, frozen=True, gc=False):
    """What moves about a device: the fields of the API's Device that no request writes."""

    device_id: int
    status: str
    """"online", "offline" or "unknown" (docs/devices.md#status)."""
    last_update: datetime | None
    """Server time of the last message, whether or not it carried a position."""
    position_id: int
    """The latest position; 0 where there is none."""


class WebEvent(msgspec.Struct, frozen=True, gc=False):
    """What certain users are told on their open sockets (docs/events.md#notificators)."""

    user_ids: tuple[int, ...]
    event: Event
    """Its attribute `message` says in words what happened; id 0 where it is not stored."""


POSITIONS: TopicName[tuple[Position, ...]] = TopicName("positions")
"""Each stored batch, after its commit; latest or not (compare fix times)."""

LATEST_POSITIONS: TopicName[tuple[Position, ...]] = TopicName("latest")
"""Positions stored before that are the latest again, because newer ones were deleted."""

DEVICES: TopicName[tuple[DeviceStatus, ...]] = TopicName("devices")
"""Devices whose status or last update changed, a few times a second at most for one device."""

EVENTS: TopicName[tuple[Event, ...]] = TopicName("events")
"""Stored events, after their commit."""

WEB_EVENTS: TopicName[WebEvent] = TopicName("web events")
"""What a notification or an announcement sends by `web`."""
