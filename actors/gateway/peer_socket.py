"""What a connection's actor needs of its socket, whether TCP (`DeviceSocket`) or UDP (`DatagramPeer`)."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from motorpool.actors.gateway.port_guard import PortGuard
from motorpool.runtime import Context


def _discard(_data: bytes) -> None:
    """Ignore bytes for which there is nobody yet, or any more."""


class PeerSocket(ABC):
    """One peer, both ways. Nothing but `receive` waits, and nothing raises."""

    __slots__ = ("_on_close", "_on_ended", "closed", "guard", "held", "on_data", "peer", "reason")

    is_datagram = False
    """Whether data comes and goes in datagrams, each whole."""

    def __init__(self, peer: str, guard: PortGuard, on_close: Callable[[Any], object] | None) -> None:
        """`on_close` is called once, with this object, when the connection has ended."""
        # Interned: a fleet behind a gateway has one address.
        self.peer = sys.intern(peer)
        """The address of the peer; empty if it left at once."""
        self.guard = guard
        """The limits of the port."""
        self.closed = False
        """Whether it has ended, from either side."""
        self.reason = ""
        """Why it ended; empty while it lives."""
        self.held = 0
        """Bytes that `hold` has counted."""
        self.on_data: Callable[[bytes], None] = _discard
        """Set by `watch`."""
        self._on_ended: Callable[[], None] | None = None
        self._on_close = on_close

    @property
    @abstractmethod
    def local_host(self) -> str:
        """The server's address that the peer uses; empty if unknown."""

    @property
    @abstractmethod
    def backlog(self) -> int:
        """Bytes that wait to be sent."""

    @property
    @abstractmethod
    def has_hub(self) -> bool:
        """Whether `watch` is the way to read, and not `receive`."""

    def watch(self, on_data: Callable[[bytes], None], on_ended: Callable[[], None]) -> None:
        """Call `on_data` with received bytes, and `on_ended` once, at the end."""
        if self.closed:
            on_ended()
            return
        self.on_data, self._on_ended = on_data, on_ended
        self._start_reading()

    @abstractmethod
    def _start_reading(self) -> None:
        """Begin to call `on_data`."""

    @abstractmethod
    async def receive(self) -> bytes:
        """Wait for data; empty at the end."""

    @abstractmethod
    def pause_reading(self) -> None:
        """Stop the calls of `on_data` until the bytes read so far are processed."""

    @abstractmethod
    def resume_reading(self) -> None:
        """Undo `pause_reading`."""

    @abstractmethod
    def send(self, data: bytes) -> None:
        """Send now, or keep what cannot be sent yet."""

    def close(self, reason: str) -> None:
        """End the connection; a task that waits in `receive` gets the end of the stream."""
        if self.closed:
            return
        self.closed = True
        self.reason = reason
        self._release()
        on_close, on_ended = self._on_close, self._on_ended
        # What holds the connection is dropped: with what it received it would otherwise wait for the garbage
        # collector.
        self._on_close = self._on_ended = None
        self.on_data = _discard
        if on_close is not None:
            on_close(self)
        if on_ended is not None:
            on_ended()

    @abstractmethod
    def _release(self) -> None:
        """Give up what belongs to the connection; called once."""

    def hold(self, size: int) -> None:
        """Count the bytes of incomplete messages; close the connection if they are too many for the port."""
        if self.guard.memory.take(self.peer, size - self.held):
            self.held = size
        else:
            self.close("incomplete messages hold too much memory")

    def log(self, context: Context[Any], level: int, text: str, *values: object) -> None:
        """Log a line that any peer can cause; their number is limited for each address."""
        self.guard.log.write(context.log, level, context.clock.monotonic(), self.peer, text, *values)
