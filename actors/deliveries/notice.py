"""What notificators make messages of: an event, and its words."""

from collections.abc import Sequence

import msgspec

from motorpool.actors.words.cameras import cameras_of
from motorpool.storage.devices.camera_names import NO_NAMES, CameraNames
from motorpool.storage.records import Device, Event, Geofence, Maintenance, Position


class EventFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An event with the rows that its text mentions; None where there is none."""

    event: Event
    device: Device | None = None
    position: Position | None = None
    geofence: Geofence | None = None
    zones: tuple[Geofence, ...] = ()
    """Those that the device was in, the smallest first; not every reader may see them."""
    maintenance: Maintenance | None = None
    driver: str = ""
    """Name of the driver whom the event or the position names."""
    camera_names: CameraNames = NO_NAMES
    """Of the device."""
    link: str = ""
    """URL of the event in the console; empty: no link."""

    @property
    def cameras(self) -> Sequence[int]:
        """The cameras that the event is about (`cameras_of`)."""
        return cameras_of(self.event, self.position)

    @property
    def named_zones(self) -> Sequence[Geofence]:
        """The zones that have a name, the smallest first."""
        return [zone for zone in self.zones if zone.name.strip()]


class RenderedMessage(msgspec.Struct, frozen=True):
    """An event in words."""

    subject: str
    digest: str
    """One line."""
    text: str
    """Several lines: the digest and what else is known."""
    html: str
    """The same as a document."""
