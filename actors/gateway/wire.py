"""One TCP connection as a seam: everything above it sees bytes, nobody else touches the socket.

A plain non-blocking socket, one system call a read. Either a task waits in `receive`, or a hub calls whenever
something can be read (`follow`), which spares each message a task switch.
"""

import socket
from collections.abc import Callable

import trio

from motorpool.actors.gateway.hub import Hub

__all__ = ["Wire"]

READ_BYTES = 16 * 1024
"""A read, and so what a peer can have in hand at once before its messages are passed on."""


class Wire:
    """A connected, non-blocking stream socket with a bounded backlog of what it could not send at once."""

    __slots__ = (
        "_backlog",
        "_closed",
        "_hub",
        "_is_paused",
        "_is_resting",
        "_on_close",
        "_on_event",
        "_pause_seconds",
        "_socket",
        "backlog_limit",
        "peer",
        "read_bytes",
        "reason",
    )

    def __init__(
        self,
        connected: socket.socket,
        *,
        read_bytes: int = READ_BYTES,
        pause_seconds: float = 0.0,
        backlog_limit: int = 256 * 1024,
        hub: Hub | None = None,
        on_close: "Callable[[Wire], None] | None" = None,
    ) -> None:
        """`pause_seconds` lets bytes gather between two reads, for a peer that never stops sending and waits
        for no answer: a task switch for each of its packets costs more than all that is done with them.
        """
        connected.setblocking(False)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connected
        self._backlog = b""
        self._closed = False
        self._hub = hub
        self._on_close = on_close
        self._on_event: Callable[[], None] | None = None
        self._is_resting = False
        self.read_bytes = read_bytes
        self._pause_seconds = pause_seconds
        self._is_paused = False
        self.backlog_limit = backlog_limit
        self.reason = ""
        """Why the connection ended; empty while it lives."""
        try:
            self.peer: str = connected.getpeername()[0]
        except OSError:
            self.peer = ""

    @property
    def local_host(self) -> str:
        """The address at which the peer reached us; empty once it is gone."""
        try:
            return str(self._socket.getsockname()[0])
        except OSError:
            return ""

    @property
    def backlog(self) -> int:
        """Bytes that wait for the peer to read."""
        return len(self._backlog)

    async def receive(self) -> bytes:
        """The next bytes, at least one; empty when the connection has ended, from either side.

        While a backlog waits the peer is not read: whoever does not take answers gets no further questions.
        Cancellation loses nothing that was read.
        """
        while not self._closed:
            try:
                if self._backlog:
                    await trio.lowlevel.wait_writable(self._socket)
                    self._flush()
                    continue
                if self._is_paused:
                    self._is_paused = False
                    await trio.sleep(self._pause_seconds)
                else:
                    await trio.lowlevel.wait_readable(self._socket)
            except trio.ClosedResourceError:
                continue  # woken by send() for its backlog, or by close()
            except OSError as error:
                self.close(f"connection lost: {error.strerror or error}")
            data = b"" if self.closed else self.read()
            if data:
                self._is_paused = self._pause_seconds > 0 and len(data) < self.read_bytes
                return data
        return b""

    @property
    def has_hub(self) -> bool:
        """Whether `follow` is the way to read."""
        return self._hub is not None

    @property
    def closed(self) -> bool:
        """Whether it has ended, from either side."""
        return self._closed

    def follow(self, on_event: Callable[[], None]) -> None:
        """Have the hub call `on_event` whenever there is something to `read`, and once when it has ended."""
        assert self._hub is not None
        self._on_event = on_event
        if self._closed:
            on_event()
        else:
            self._hub.watch(self._socket.fileno(), self._ready)

    def rest(self, *, resting: bool) -> None:
        """Read no more until told so: what came is not dealt with yet."""
        self._is_resting = resting
        self._expect()

    def read(self) -> bytes:
        """What has come, without waiting; empty when there is nothing or the connection has ended."""
        try:
            data = self._socket.recv(self.read_bytes)
        except BlockingIOError:
            return b""
        except OSError as error:
            self.close(f"connection lost: {error.strerror or error}")
            return b""
        if not data:
            self.close("closed by the device")
        return data

    def _ready(self, may_write: bool) -> None:
        if may_write:
            try:
                self._flush()
            except BlockingIOError:
                return
            except OSError as error:
                self.close(f"connection lost: {error.strerror or error}")
            else:
                self._expect()
        elif self._on_event is not None:
            self._on_event()

    def _expect(self) -> None:
        if self._hub is not None and not self._closed:
            waits = bool(self._backlog)
            self._hub.expect(self._socket.fileno(), reading=not (waits or self._is_resting), writing=waits)

    def send(self, data: bytes) -> None:
        """Send now what the socket takes and keep the rest; never waits, never raises.

        Past `backlog_limit` the connection is closed: the peer has stopped reading.
        """
        if self._closed or not data:
            return
        if self._backlog:
            self._keep(self._backlog + data)
            return
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self.close(f"connection lost: {error.strerror or error}")
            return
        if sent < len(data):
            self._keep(data[sent:])
            if self._hub is not None:
                self._expect()
            elif not self._closed:
                trio.lowlevel.notify_closing(self._socket)  # wakes receive(), which then waits to write

    def close(self, reason: str) -> None:
        """End the connection; whoever waits in `receive` gets the end of the stream."""
        if self._closed:
            return
        self._closed = True
        self._backlog = b""
        self.reason = reason
        if self._hub is not None:
            self._hub.forget(self._socket.fileno())
        else:
            trio.lowlevel.notify_closing(self._socket)
        self._socket.close()
        if self._on_close is not None:
            self._on_close(self)
        if self._on_event is not None:
            self._on_event()

    def _keep(self, data: bytes) -> None:
        if len(data) > self.backlog_limit:
            self.close("does not read what it is sent")
        else:
            self._backlog = data

    def _flush(self) -> None:
        sent = self._socket.send(self._backlog)
        self._backlog = self._backlog[sent:]
