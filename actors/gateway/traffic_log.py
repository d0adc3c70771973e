"""Live log of what devices send and get, for administrators (docs/http-api.md#websocket).

Nothing is made of it while nobody follows. What a peer sends before its device was looked up is held until
then, since only then it is known whose it is.
"""

from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.topics import DEVICE_TRAFFIC, DeviceTraffic
from motorpool.runtime import Ref, Topic

MAX_BYTES = 2048
"""Most bytes of one read that are published; the rest is left out."""
MAX_HELD = 256
"""Peers whose first bytes are held at once."""


class TrafficLog:
    """Publishes what the connections of one kind of port receive and send."""

    def __init__(self) -> None:
        self.topic: Topic[DeviceTraffic] = Topic(DEVICE_TRAFFIC.name)
        """Where it is published; set by the listener. Before, nobody can follow."""
        self._held: dict[Ref[ConnectionMessage], DeviceTraffic] = {}

    def note(
        self,
        connection: Ref[ConnectionMessage],
        peer: str,
        protocol: str,
        data: bytes,
        device_id: int,
        unique_id: str,
    ) -> None:
        """Publish received bytes; without a device (id 0), hold them until `identify`."""
        if device_id:
            self.topic.publish(DeviceTraffic(peer, protocol, data[:MAX_BYTES], device_id, unique_id))
            return
        held = self._held.get(connection)
        if held is None and len(self._held) >= MAX_HELD:
            return
        whole = (data if held is None else held.data + data)[:MAX_BYTES]
        self._held[connection] = DeviceTraffic(peer, protocol, whole)

    def note_sent(self, peer: str, protocol: str, data: bytes, device_id: int, unique_id: str) -> None:
        """Publish bytes that were sent to a known device; call it only while somebody follows."""
        if data and device_id:
            self.topic.publish(
                DeviceTraffic(peer, protocol, data[:MAX_BYTES], device_id, unique_id, sent=True)
            )

    def identify(
        self, connection: Ref[ConnectionMessage], device_id: int, unique_id: str, problem: str = ""
    ) -> None:
        """Publish the held bytes of a connection as this device's; id 0: an unknown device."""
        held = self._held.pop(connection, None)
        if held is not None:
            self.topic.publish(
                DeviceTraffic(held.host, held.protocol, held.data, device_id, unique_id, problem)
            )

    def reject(
        self, peer: str, protocol: str, frame: bytes, problem: str, device_id: int, unique_id: str
    ) -> None:
        """Publish a frame that was dropped, whether or not its device is known."""
        if self.topic.is_followed:
            self.topic.publish(
                DeviceTraffic(peer, protocol, frame[:MAX_BYTES], device_id, unique_id, problem)
            )
