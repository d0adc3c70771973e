"""Messages of the directory, which knows the status and latest position of every device."""

from datetime import datetime

import msgspec

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.actors.messages.homes import LivingServers
from motorpool.actors.messages.remote import ApplyRemoteUpdates, GetLoadedDevices
from motorpool.actors.messages.topics import DeviceStatus
from motorpool.runtime import Kind, Request
from motorpool.storage.records import Position


class DeviceStatusChanged(msgspec.Struct, frozen=True, gc=False):
    """A device's status or last update changed; `position_id` is ignored."""

    status: DeviceStatus


class GetDeviceStatuses(msgspec.Struct, Request[dict[int, DeviceStatus]], frozen=True, gc=False):
    """Return the status of each of these devices, by device id."""

    device_ids: tuple[int, ...]
    here: bool = False
    """Whether the status at this server is asked for, and not that in the cluster."""


class GetLastUpdates(msgspec.Struct, Request[dict[int, datetime]], frozen=True, gc=False):
    """Return when these devices were last seen, by device id; devices that never were are left out."""

    device_ids: tuple[int, ...]


class GetLatestPositions(msgspec.Struct, Request[list[Position]], frozen=True, gc=False):
    """Return the latest positions of these devices in their order; devices without one are left out."""

    device_ids: tuple[int, ...]


class GetDirectorySizes(msgspec.Struct, Request[dict[str, int]], frozen=True, gc=False):
    """Return the number of entries by description, for diagnostics."""


class PositionsStored(msgspec.Struct, frozen=True, gc=False):
    """Positions were stored; the directory forwards the topic to itself."""

    positions: tuple[Position, ...]


class PositionsAddressed(msgspec.Struct, frozen=True, gc=False):
    """Stored positions got their addresses; the directory forwards the topic to itself."""

    positions: tuple[Position, ...]


class SaveDue(msgspec.Struct, frozen=True, gc=False):
    """The last updates are to be saved; sent by the directory to itself."""


DirectoryMessage = (
    DeviceStatusChanged
    | ApplyChanges
    | GetDeviceStatuses
    | GetLastUpdates
    | GetLatestPositions
    | GetDirectorySizes
    | GetLoadedDevices
    | ApplyRemoteUpdates
    | LivingServers
    | PositionsStored
    | PositionsAddressed
    | SaveDue
)
DIRECTORY: Kind[None, DirectoryMessage] = Kind("directory")
