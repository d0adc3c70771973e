"""Messages about the server that a device is connected to, in a cluster (docs/servers.md#devices)."""

import msgspec

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.runtime import Kind, TopicName


class DeviceConnected(msgspec.Struct, frozen=True, gc=False):
    """A device has a connection to this server that takes commands."""

    device_id: int
    is_datagram: bool = False
    """Whether that is an address that sends datagrams."""


class DeviceDisconnected(msgspec.Struct, frozen=True, gc=False):
    """A device has no such connection any more."""

    device_id: int


class LivingServers(msgspec.Struct, frozen=True, gc=False):
    """The servers of the cluster that are not dead."""

    numbers: frozenset[int]
    """As of storage/database/nodes.py."""


HomesMessage = DeviceConnected | DeviceDisconnected | ApplyChanges
HOMES: Kind[None, HomesMessage] = Kind("homes")

LIVING_SERVERS: TopicName[LivingServers] = TopicName("living servers")
"""The servers that are not dead, every few seconds; only in a cluster."""
