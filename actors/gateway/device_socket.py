"""The TCP socket of a device connection: non-blocking, with a bounded buffer of what could not be sent at
once.

One system call a read. Either a task waits in `receive`, or a hub reads and calls the reader (`watch`), which
spares each message a task switch.
"""

import socket
import sys
from collections.abc import Callable

import trio

from motorpool.actors.gateway.hub import Hub
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.port_guard import PortGuard
from motorpool.actors.gateway.shared_pauses import SharedPauses

READ_BYTES = 16 * 1024
"""Bytes of one read, and so the most that is decoded in one go."""
BACKLOG_BYTES = 256 * 1024
"""Bytes that may wait to be sent; past it the connection is closed."""


class DeviceSocket(PeerSocket):
    """A connected stream socket; only it and its hub use the socket itself."""

    __slots__ = (
        "_backlog",
        "_hub",
        "_is_gathering",
        "_is_paused",
        "_local_host",
        "_pauses",
        "mask",
        "raw",
        "read_bytes",
    )

    def __init__(
        self,
        connected: socket.socket,
        *,
        read_bytes: int = READ_BYTES,
        pauses: SharedPauses | None = None,
        hub: Hub | None = None,
        on_close: "Callable[[DeviceSocket], None] | None" = None,
        guard: PortGuard | None = None,
        peer: str = "",
        local_host: str = "",
    ) -> None:
        """Take over `connected`.

        Args:
            read_bytes: bytes of one read.
            pauses: between two reads of `receive`, so that bytes gather: for a peer that never stops
                sending and waits for no answer a task switch a packet would cost more than all other work.
            hub: the hub that reads; None if the owner calls `receive`.
            on_close: called once, when the connection has ended.
            guard: the limits shared by the connections of the port; None: the socket gets its own.
            peer: the address of the peer.
            local_host: the address that the peer connected to, if it is a proxy's; empty: as the system says.
        """
        connected.setblocking(False)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.raw = connected
        self._backlog = b""
        self._hub = hub
        self._is_paused = False
        self.mask = 0
        self.read_bytes = read_bytes
        self._pauses = pauses
        self._is_gathering = False
        super().__init__(peer, guard or PortGuard(), on_close)
        self._local_host = sys.intern(local_host)

    @property
    def local_host(self) -> str:
        """The server's address that the peer connected to, or its proxy's; else empty once it has ended.

        A device reaches the other ports by it too.
        """
        if self._local_host:
            return self._local_host
        try:
            return sys.intern(str(self.raw.getsockname()[0]))
        except OSError:
            return ""

    @property
    def backlog(self) -> int:
        """Bytes that wait to be sent."""
        return len(self._backlog)

    async def receive(self) -> bytes:
        """Wait for the next bytes, at least one; empty when the connection has ended, from either side.

        While bytes wait to be sent the peer is not read. Cancellation loses nothing that was read.
        """
        while not self.closed:
            try:
                if self._backlog:
                    await trio.lowlevel.wait_writable(self.raw)
                    self._send_backlog()
                    continue
                if self._is_gathering and self._pauses is not None:
                    self._is_gathering = False
                    await self._pauses.wait()
                else:
                    await trio.lowlevel.wait_readable(self.raw)
            except trio.ClosedResourceError:
                continue  # woken by send() for its backlog, or by close()
            except OSError as error:
                self.close(f"connection lost: {error.strerror or error}")
            data = self._read()  # nothing where it was closed meanwhile
            if data:
                self._is_gathering = len(data) < self.read_bytes
                return data
        return b""

    @property
    def has_hub(self) -> bool:
        """Whether `watch` is the way to read."""
        return self._hub is not None

    def _start_reading(self) -> None:
        assert self._hub is not None
        self._hub.watch(self.raw.fileno(), self)

    def pause_reading(self) -> None:
        """Stop the hub from reading."""
        self._is_paused = True
        self._update_interest()

    def resume_reading(self) -> None:
        """Undo `pause_reading`."""
        self._is_paused = False
        self._update_interest()

    def _read(self) -> bytes:
        try:
            data = self.raw.recv(self.read_bytes)
        except BlockingIOError:
            return b""
        except OSError as error:
            self.close(f"connection lost: {error.strerror or error}")
            return b""
        if not data:
            self.close("closed by the device")
        return data

    def flush(self) -> None:
        """Send of the backlog what the socket takes; called by the hub when it can be written to."""
        try:
            self._send_backlog()
        except BlockingIOError:
            return
        except OSError as error:
            self.close(f"connection lost: {error.strerror or error}")
        else:
            self._update_interest()

    def _update_interest(self) -> None:
        if self._hub is not None and not self.closed:
            writing = bool(self._backlog)
            reading = not (writing or self._is_paused)
            self._hub.set_interest(self.raw.fileno(), reading=reading, writing=writing)

    def send(self, data: bytes) -> None:
        """Send now what the socket takes and keep the rest; never waits, never raises.

        Past BACKLOG_BYTES the connection is closed: the peer has stopped reading.
        """
        if self.closed or not data:
            return
        if self._backlog:
            self._keep(self._backlog + data)
            return
        try:
            sent = self.raw.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self.close(f"connection lost: {error.strerror or error}")
            return
        if sent < len(data):
            self._keep(data[sent:])
            if self._hub is not None:
                self._update_interest()
            elif not self.closed:
                trio.lowlevel.notify_closing(self.raw)  # wakes receive(), which then waits to write

    def _release(self) -> None:
        self._backlog = b""
        if self._hub is not None:
            self._hub.unwatch(self.raw.fileno())
        else:
            trio.lowlevel.notify_closing(self.raw)
        self.raw.close()

    def _keep(self, data: bytes) -> None:
        if len(data) > BACKLOG_BYTES:
            self.close("does not read what it is sent")
        else:
            self._backlog = data

    def _send_backlog(self) -> None:
        sent = self.raw.send(self._backlog)
        self._backlog = self._backlog[sent:]
