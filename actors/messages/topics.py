"""The topics that actors publish and others subscribe to."""

from datetime import datetime

import msgspec

from motorpool.runtime import System, TopicName
from motorpool.storage.records import Device, Event, Position


class DeviceStatus(msgspec.Struct, frozen=True, gc=False):
    """The state of a device that changes with its messages, as in the API's Device."""

    device_id: int
    status: str
    """"online", "offline" or "unknown" (docs/devices.md#status)."""
    last_update: datetime | None
    """Server time of the last message, whether or not it carried a position."""
    position_id: int
    """Id of the latest position; 0 if there is none."""

    def fill_in(self, row: Device) -> Device:
        """Return the device's row with this state."""
        return msgspec.structs.replace(
            row, status=self.status, last_update=self.last_update, position_id=self.position_id
        )


class WebEvent(msgspec.Struct, frozen=True, gc=False):
    """An event for the WebSocket connections of certain users (docs/events.md#notificators)."""

    user_ids: frozenset[int]
    event: Event
    """The event, with the text in its attribute `message`; id 0 if it is not stored."""
    is_remote: bool = False
    """Whether another server has sent it to this one."""


class WebEventsLost(msgspec.Struct, frozen=True, gc=False):
    """Events of other servers of the cluster may be missing."""


class ReviewsChanged(msgspec.Struct, frozen=True, gc=False):
    """Events that have a review since now, or another one."""

    events: tuple[Event, ...]
    is_remote: bool = False
    """Whether another server has sent them to this one."""


class ReviewsLost(msgspec.Struct, frozen=True, gc=False):
    """Reviews of other servers of the cluster may have changed."""


class DeviceTraffic(msgspec.Struct, frozen=True, gc=False):
    """Bytes that a device sent, or that were sent to it."""

    host: str
    """Address of the peer."""
    protocol: str
    data: bytes
    """Bytes of one read, cut after 2,048."""
    device_id: int = 0
    """0: not identified, or no such device."""
    unique_id: str = ""
    """What the device calls itself; empty where it has not said so."""
    problem: str = ""
    """Why it was refused or dropped, or the connection ended before a login; else empty."""
    sent: bool = False
    """They were sent to it."""


class DeliveryStopped(msgspec.Struct, frozen=True, gc=False):
    """Messages could not be delivered to a receiver for long, and are not sent to it any more."""

    type: str
    """The type of the event that tells users."""
    user_ids: frozenset[int]
    """The users who are told."""
    attributes: dict[str, str]
    """Those of the event."""
    lane: str = ""
    """The lane that was stopped, if it is one that could tell users."""


POSITIONS: TopicName[tuple[Position, ...]] = TopicName("positions")
"""Each stored batch, after its commit. Not every position is its device's latest."""

LATEST_POSITIONS: TopicName[tuple[Position, ...]] = TopicName("latest")
"""The latest positions of devices, published once more: older ones that became the latest because newer ones
were deleted, those whose address was found since they were stored, and what other servers have stored."""

ADDRESSED_POSITIONS: TopicName[tuple[Position, ...]] = TopicName("addressed")
"""Stored positions with the address that was found and committed since."""

DEVICES: TopicName[tuple[DeviceStatus, ...]] = TopicName("devices")
"""Devices whose status or last update changed; at most a few times a second for each."""

LOCAL_STATUSES: TopicName[DeviceStatus] = TopicName("local statuses")
"""Status and last update of devices at this server, as they change; only in a cluster, for `Topic.listen`."""

DEVICE_TRAFFIC: TopicName[DeviceTraffic] = TopicName("device traffic")
"""What devices send and what is sent to them, while anybody follows it."""

EVENTS: TopicName[tuple[Event, ...]] = TopicName("events")
"""Stored events, after their commit."""

REVIEWS: TopicName[ReviewsChanged | ReviewsLost] = TopicName("reviews")
"""Stored events that wait for review, and reviews of users, after their commit."""

UNMATCHED_EVENTS: TopicName[int] = TopicName("unmatched events")
"""How many events were just committed that wait to be matched with notifications."""

WEB_EVENTS: TopicName[WebEvent | WebEventsLost] = TopicName("web events")
"""Events that notifications and announcements send through the notificator `web`."""

DELIVERIES_STOPPED: TopicName[DeliveryStopped] = TopicName("deliveries stopped")
"""Receivers of notifications that were just paused, and webhooks of companies that were just disabled."""


def publish_events(system: System, events: tuple[Event, ...]) -> None:
    """Tell of events that were just stored."""
    system.topic(EVENTS).publish(events)
    reviewed = tuple(event for event in events if event.review is not None)
    if reviewed:
        system.topic(REVIEWS).publish(ReviewsChanged(reviewed))
