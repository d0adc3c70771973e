"""What a connection's actor needs of its socket, whether TCP (`DeviceSocket`) or UDP (`DatagramPeer`)."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Protocol

from motorpool.actors.gateway.port_guard import PortGuard
from motorpool.runtime import Context


class Reader(Protocol):
    """What reads a socket, such as the actor of its connection."""

    def on_data(self, data: bytes) -> None:
        """Decode received bytes, never none; must not raise."""

    def forward(self) -> None:
        """Forward what was decoded; called after `on_data`, also if the connection has ended since; must not
        raise.
        """

    def on_ended(self) -> None:
        """Learn that the connection has ended; called once."""


class _Nobody:
    """Ignores bytes for which there is nobody yet, or any more."""

    def on_data(self, data: bytes) -> None:
        """Ignore them."""

    def forward(self) -> None:
        """Do nothing."""

    def on_ended(self) -> None:
        """Do nothing."""


_NOBODY: Final = _Nobody()


class PeerSocket(ABC):
    """One peer, both ways. Nothing but `receive` waits, and nothing raises."""

    __slots__ = ("_on_close", "closed", "guard", "held", "peer", "reader", "reason")

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
        self.reader: Reader = _NOBODY
        """Set by `watch`."""
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

    def watch(self, reader: Reader) -> None:
        """Pass received bytes to `reader`, and tell it of the end."""
        if self.closed:
            reader.on_ended()
            return
        self.reader = reader
        self._start_reading()

    @abstractmethod
    def _start_reading(self) -> None:
        """Begin to call the reader."""

    @abstractmethod
    async def receive(self) -> bytes:
        """Wait for data; empty at the end."""

    @abstractmethod
    def pause_reading(self) -> None:
        """Stop the calls of the reader until the bytes read so far are processed."""

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
        on_close, reader = self._on_close, self.reader
        # What holds the connection is dropped: with what it received it would otherwise wait for the garbage
        # collector.
        self._on_close = None
        self.reader = _NOBODY
        if on_close is not None:
            on_close(self)
        reader.on_ended()

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
