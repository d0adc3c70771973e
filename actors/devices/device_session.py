"""What the parts of a device's actor share: its row, and the connection that takes commands."""

from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.runtime import Ref
from motorpool.storage.records import Device


class DeviceSession:
    """The row of the device and its current connection."""

    __slots__ = ("connection", "local_host", "peer", "protocol", "row")

    def __init__(self) -> None:
        self.row: Device | None = None
        """None if there is no such device."""
        self.connection: Ref[ConnectionMessage] | None = None
        self.protocol = ""
        """Protocol of the connection or of the latest position; empty if unknown."""
        self.peer = ""
        """Address from which the device is connected."""
        self.local_host = ""
        """The server's address to which the device connected."""
