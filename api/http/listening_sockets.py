"""HTTP listening sockets whose connections never wait for a client without end.

Hypercorn sends inside a shield without a deadline: a client that stops reading a large body would hold its
connection, and the stop of the server, for ever (docs/performance.md#http). Every stream handed to it from
here gives up
when no piece of an answer moves for `stall_seconds`, and can be aborted from outside, shield or not.
"""

import errno
import os
import socket
import ssl
from collections.abc import Sequence

import trio

__all__ = ["AbortableStream", "ConnectionListener", "bind"]

_PIECE_BYTES = 64 * 1024
"""A stall is judged for each piece, so that a slow but steady client gets its whole answer."""


def bind(host: str, port: int) -> tuple[socket.socket, ...]:
    """Bind, but do not listen yet: a port in use is known before anything else starts.

    A name that stands for several addresses gives a socket each. Raises OSError whose text names the address.
    """
    sockets: list[socket.socket] = []
    try:
        for family, _, _, _, address in _resolve(host, port):
            opened = socket.socket(family, socket.SOCK_STREAM)
            sockets.append(opened)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # Port 0 (tests) must be the same on every family.
            taken = sockets[0].getsockname()[1] if len(sockets) > 1 else port
            opened.bind((address[0], taken, *address[2:]))
            opened.setblocking(False)
    except OSError as error:
        for opened in sockets:
            opened.close()
        reason = (
            "the address is in use" if error.errno == errno.EADDRINUSE else (error.strerror or str(error))
        )
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {reason}") from None
    return tuple(sockets)


def _resolve(
    host: str, port: int
) -> Sequence[
    tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int] | tuple[str, int, int, int]]
]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # The resolver may list an address more than once, and loopback names differ from machine to machine.
    return list({entry[4]: entry for entry in found}.values())  # type: ignore[arg-type]  # typeshed widens AF_BLUETOOTH in


class AbortableStream(trio.abc.HalfCloseableStream):
    """A socket's stream whose sends end: by success, by a stall, or by `abort`."""

    def __init__(self, stream: trio.SocketStream, door: "ConnectionListener") -> None:
        self._stream = stream
        self._door = door
        self.socket = stream.socket

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send; BrokenResourceError when nothing moves for the door's stall time."""
        view = memoryview(data)
        for start in range(self._send_now(view), len(view), _PIECE_BYTES):
            with trio.move_on_after(self._door.stall_seconds) as patience:
                await self._stream.send_all(view[start : start + _PIECE_BYTES])
            if patience.cancelled_caught:
                self.abort()
                raise trio.BrokenResourceError("the client takes no bytes")

    def _send_now(self, view: memoryview) -> int:
        """What the socket takes at once, which is all of a usual answer; errors come again where we wait."""
        try:
            return os.write(self.socket.fileno(), view)
        except OSError:
            return 0

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until the socket can take bytes."""
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Receive what is there."""
        return bytes(await self._stream.receive_some(max_bytes))

    async def send_eof(self) -> None:
        """Close the sending half.

        Without a checkpoint: Hypercorn calls it in scopes that are cancelled already, and must come to the
        close that follows.
        """
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise trio.BrokenResourceError("the client is gone") from error

    async def aclose(self) -> None:
        """Close both halves."""
        self._door.forget(self)
        await self._stream.aclose()

    def abort(self) -> None:
        """Close at once; whoever waits in this stream, even shielded, is woken with an error."""
        self._door.forget(self)
        self._stream.socket.close()


class ConnectionListener(trio.abc.Listener[AbortableStream]):
    """A listening socket that lets in at most `places` connections at a time and knows them all."""

    def __init__(self, opened: socket.socket, *, places: trio.Semaphore, stall_seconds: float) -> None:
        self.stall_seconds = stall_seconds
        self._listener = trio.SocketListener(trio.socket.from_stdlib_socket(opened))
        self._places = places
        self._streams: set[AbortableStream] = set()
        self._emptied = trio.lowlevel.ParkingLot()

    async def accept(self) -> AbortableStream:
        """Wait for a place, then for a client."""
        await self._places.acquire()
        try:
            accepted = await self._listener.accept()
        except BaseException:
            self._places.release()
            raise
        stream = AbortableStream(accepted, self)
        self._streams.add(stream)
        return stream

    def forget(self, stream: AbortableStream) -> None:
        """Give the place of a closed stream to the next."""
        if stream in self._streams:
            self._streams.discard(stream)
            self._places.release()
            if not self._streams:
                self._emptied.unpark_all()

    def abort_all(self) -> None:
        """End every connection now."""
        for stream in tuple(self._streams):
            stream.abort()

    async def wait_empty(self) -> None:
        """Wait until no connection is open."""
        while self._streams:
            await self._emptied.park()

    @property
    def connections(self) -> int:
        """Connections that are open now."""
        return len(self._streams)

    def close(self) -> None:
        """Stop listening; open connections stay."""
        self._listener.socket.close()

    async def aclose(self) -> None:
        """Stop listening; open connections stay."""
        self.close()
        await trio.lowlevel.checkpoint()


def encrypt(door: ConnectionListener, context: ssl.SSLContext) -> trio.SSLListener[AbortableStream]:
    """TLS on top of a door; the bytes below stay bounded."""
    return trio.SSLListener(door, context, https_compatible=True)
