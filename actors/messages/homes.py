"""Messages about the server that a device is connected to, in a cluster (docs/servers.md#devices)."""

import msgspec

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.runtime import Kind

__all__ = ["HOMES", "DeviceConnected", "DeviceDisconnected", "HomesMessage"]


class DeviceConnected(msgspec.Struct, frozen=True, gc=False):
    """A device has a connection to this server that takes commands."""

    device_id: int


class DeviceDisconnected(msgspec.Struct, frozen=True, gc=False):
    """A device has no such connection any more."""

    device_id: int


HomesMessage = DeviceConnected | DeviceDisconnected | ApplyChanges
HOMES: Kind[None, HomesMessage] = Kind("homes")
