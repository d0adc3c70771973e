"""What a connection's actor needs of its socket, whether TCP (`DeviceSocket`) or UDP (`DatagramPeer`)."""

from collections.abc import Callable
from typing import Protocol

from motorpool.actors.gateway.port_guard import PortGuard


class PeerSocket(Protocol):
    """One peer, both ways. Nothing but `receive` waits, and nothing raises."""

    @property
    def peer(self) -> str:
        """The address of the peer; empty if it left at once."""
        ...

    @property
    def local_host(self) -> str:
        """The server's address that the peer uses; empty if unknown."""
        ...

    @property
    def guard(self) -> PortGuard:
        """The limits of the port."""
        ...

    @property
    def is_datagram(self) -> bool:
        """Whether data comes and goes in datagrams, each whole."""
        ...

    @property
    def backlog(self) -> int:
        """Bytes that wait to be sent."""
        ...

    @property
    def closed(self) -> bool:
        """Whether it has ended, from either side."""
        ...

    @property
    def reason(self) -> str:
        """Why it ended; empty while it lives."""
        ...

    @property
    def has_hub(self) -> bool:
        """Whether `watch` is the way to read, and not `receive`."""
        ...

    def watch(self, on_data: Callable[[bytes], None], on_ended: Callable[[], None]) -> None:
        """Call `on_data` with received bytes, and `on_ended` once, at the end."""

    async def receive(self) -> bytes:
        """Wait for data; empty at the end."""
        ...

    def pause_reading(self) -> None:
        """Stop the calls of `on_data`."""

    def resume_reading(self) -> None:
        """Undo `pause_reading`."""

    def send(self, data: bytes) -> None:
        """Send now, or keep what cannot be sent yet."""

    def close(self, reason: str) -> None:
        """End it."""
