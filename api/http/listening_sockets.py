"""HTTP listening sockets whose connections never wait indefinitely for a client.

Hypercorn sends inside a shield without a deadline: a client that stops reading a large body would hold its
connection, and the shutdown of the server, for ever (docs/performance.md#http). The streams from here fail
when no chunk of an answer is taken for `stall_seconds`, and can be aborted even while shielded.
"""

import errno
import logging
import os
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress

import trio

from motorpool.actors.gateway.inherited_sockets import InheritedSockets
from motorpool.actors.gateway.machine_load import ServerLoad
from motorpool.actors.gateway.peer_log import PeerLog
from motorpool.actors.messages.conditions import note_out_of_files
from motorpool.actors.messages.counters import ACCEPT_FAILURES, CONNECTIONS_REFUSED, begin_at_zero
from motorpool.actors.work.bind_errors import bind_problem
from motorpool.actors.work.connection_limits import ConnectionLimits, client_network
from motorpool.actors.work.networks import Networks
from motorpool.runtime import Conditions
from motorpool.storage.errors import OUT_OF_FILES

_log = logging.getLogger(__name__)

TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
"""Sent to a client that has too many connections, TLS or not."""
LEFT_ALREADY = frozenset((errno.ECONNABORTED, errno.EPROTO, errno.EPERM))
"""What `accept` says of a client that has gone, or that a firewall refuses."""
SPARE_FILES = 16
PAUSE_SECONDS = 0.5
"""Between two attempts to accept a client when there are no open files left."""
GIVEN_UP_PER_SECOND = 50
"""Idle connections of one client that are closed for new ones, beyond `GIVEN_UP_AT_ONCE`. Each new one costs
more than a refusal, so who opens thousands a second is refused."""
GIVEN_UP_AT_ONCE = 100
_PIECE_BYTES = 64 * 1024
"""The stall time applies to each chunk, so that a slow but steady client gets its whole answer."""


def bind(
    host: str, port: int, setting: str = "the port", inherited: InheritedSockets | None = None
) -> tuple[socket.socket, ...]:
    """Bind without listening yet, so that a port in use is found before anything else starts.

    A name with several addresses gives a socket for each; one that a service manager has opened is taken.
    Raises OSError with the address in its text, and
    with the `setting` that it comes from.
    """
    sockets: list[socket.socket] = []
    try:
        for family, _, _, _, address in _resolve(host, port):
            found = inherited and inherited.find(socket.SOCK_STREAM, str(address[0]), port)
            if found:
                sockets.append(found)
                continue
            opened = socket.socket(family, socket.SOCK_STREAM)
            sockets.append(opened)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # Port 0 (tests) must be the same on every family.
            shared_port = sockets[0].getsockname()[1] if len(sockets) > 1 else port
            opened.bind((address[0], shared_port, *address[2:]))
            opened.setblocking(False)
    except OSError as error:
        for opened in sockets:
            opened.close()
        problem = bind_problem(error, setting)
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {problem}") from None
    return tuple(sockets)


def _resolve(
    host: str, port: int
) -> Sequence[
    tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int] | tuple[str, int, int, int]]
]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # The resolver may list an address more than once.
    return list({entry[4]: entry for entry in found}.values())  # type: ignore[arg-type]  # typeshed widens AF_BLUETOOTH in


class AbortableStream(trio.abc.HalfCloseableStream):
    """A socket's stream whose sends always end: with success, by a stall, or by `abort`."""

    def __init__(self, stream: trio.SocketStream, listener: "ConnectionListener") -> None:
        self._stream = stream
        self._listener = listener
        self.socket = stream.socket
        self.was_used = False
        """Whether a complete request has arrived."""
        try:
            self.peer = str(stream.socket.getpeername()[0])
        except OSError:  # the client is gone
            self.peer = ""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send; raises BrokenResourceError if no chunk is taken within the listener's stall time."""
        view = memoryview(data)
        for start in range(self.send_now(view), len(view), _PIECE_BYTES):
            with trio.move_on_after(self._listener.stall_seconds) as timeout:
                await self._stream.send_all(view[start : start + _PIECE_BYTES])
            if timeout.cancelled_caught:
                self.abort()
                raise trio.BrokenResourceError("the client takes no bytes")

    def send_now(self, view: bytes | memoryview) -> int:
        """Send without waiting and return how many bytes were taken; an error recurs in the next send."""
        try:
            return os.write(self.socket.fileno(), view)
        except OSError:
            return 0

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until the socket can take bytes."""
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Receive the bytes available; none when the client has ended.

        Waits first: a client rarely sends while its last request is answered. Cancellation loses nothing.
        """
        descriptor = self.socket.fileno()
        while descriptor >= 0:
            await trio.lowlevel.wait_readable(descriptor)
            if self.socket.fileno() != descriptor:
                break  # closed by another task, and maybe the number of another socket since
            try:
                return os.read(descriptor, max_bytes or _PIECE_BYTES)
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError("the client is gone") from error
        raise trio.ClosedResourceError("the connection is closed")

    async def send_eof(self) -> None:
        """Close the sending half.

        There is no checkpoint: Hypercorn calls this in cancelled scopes and must reach the close
        that follows.
        """
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise trio.BrokenResourceError("the client is gone") from error

    def note_request(self) -> None:
        """Note that a request is complete, and is being answered."""
        self._listener.admission.idle.remove(self)

    def note_idle(self) -> None:
        """Note that the request has been answered: the connection may be given up until the next one."""
        self._listener.admission.idle.add(self)

    async def aclose(self) -> None:
        """Close both halves."""
        self._listener.release(self)
        await self._stream.aclose()

    def abort(self) -> None:
        """Close at once; tasks that wait in this stream, even shielded, are woken with an error."""
        self._listener.release(self)
        self._stream.socket.close()


class SpareFiles:
    """Open files that are given up to accept clients when there are no others left.

    So administrators can see what is wrong when something else has taken all files that the server may open.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._files: list[int] = []
        self.refill()

    def give_up_one(self) -> bool:
        """Close one; return False where none is left."""
        if not self._files:
            return False
        os.close(self._files.pop())
        return True

    def refill(self) -> None:
        """Open what is missing, as far as that is possible."""
        with suppress(OSError):
            while len(self._files) < self._number:
                self._files.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def close(self) -> None:
        """Close all."""
        self._number = 0
        while self.give_up_one():
            pass


class IdleConnections:
    """Connections without a request in progress: which of a client is given up for a new one.

    First those that have never sent a complete request, the oldest of them first, then those kept alive, of
    which the one that has been idle longest goes first.
    """

    def __init__(self) -> None:
        self._by_client: dict[str, _IdleOfClient] = {}

    def __len__(self) -> int:
        return sum(len(each.unused) + len(each.kept) for each in self._by_client.values())

    def add(self, stream: AbortableStream) -> None:
        """Add a connection that was accepted, or whose request has been answered."""
        client = client_network(stream.peer)
        found = self._by_client.get(client)
        if found is None:
            found = self._by_client[client] = _IdleOfClient()
        (found.kept if stream.was_used else found.unused)[stream] = None

    def remove(self, stream: AbortableStream) -> None:
        """Remove a connection that has sent a complete request, or is closed."""
        stream.was_used = True
        client = client_network(stream.peer)
        found = self._by_client.get(client)
        if found is None:
            return
        found.unused.pop(stream, None)
        found.kept.pop(stream, None)
        if not (found.unused or found.kept):
            del self._by_client[client]

    def give_up_one(self, address: str, now: float) -> bool:
        """Close an idle connection of the client of an address; return False if there is none, or if too many
        were closed just now.
        """
        client = client_network(address)
        found = self._by_client.get(client)
        if found is None or found.closed_until > now + GIVEN_UP_AT_ONCE / GIVEN_UP_PER_SECOND:
            return False
        found.closed_until = max(found.closed_until, now) + 1 / GIVEN_UP_PER_SECOND
        next(iter(found.unused or found.kept)).abort()
        # Also where that was its only one: how many were closed lately is to be remembered.
        self._by_client[client] = found
        return True


class _IdleOfClient:
    """Idle connections of a client, in the order in which they became idle."""

    def __init__(self) -> None:
        self.unused: dict[AbortableStream, None] = {}
        self.kept: dict[AbortableStream, None] = {}
        self.closed_until = 0.0
        """When as many would be closed as have been, at GIVEN_UP_PER_SECOND; seconds of Trio's clock."""


class Admission:
    """The slots of all listening sockets together: a number in all, and one for each client address."""

    def __init__(
        self, *, total: int, per_client: int, proxies: Networks, conditions: Conditions | None = None
    ) -> None:
        """Connections from `proxies` belong to many clients and count in all only.

        `conditions` learn of clients that wait because there are too many open files; without them no file
        is kept for such a time.
        """
        self.spare_files = SpareFiles(0 if conditions is None else SPARE_FILES)
        self._conditions = conditions
        self.slots = trio.Semaphore(total)
        """Clients wait in the operating system's queue while all slots are taken."""
        self.idle = IdleConnections()
        self._limits = ConnectionLimits(total=total, per_client=per_client, reserve=total // 10)
        self._proxies = proxies
        self._log = PeerLog()
        begin_at_zero("http", CONNECTIONS_REFUSED, ACCEPT_FAILURES)

    def admit(self, stream: AbortableStream) -> bool:
        """Count a connection that was accepted; return False if its client has too many and none is idle."""
        address, now = stream.peer, trio.current_time()
        refusal = self._limits.admit(address, is_shared=address in self._proxies)
        if refusal:
            CONNECTIONS_REFUSED.labels("http").inc()
            text = "refused a connection from %s: %s"
            if self.idle.give_up_one(address, now):
                text = "closed an idle connection from %s for a new one: %s"
                self._limits.admit(address, is_shared=True)  # in the place of the other one
                refused = False
            else:
                refused = True
            self._log.write(_log, logging.WARNING, now, address, text, address, refusal)
            if refused:
                return False
        self.idle.add(stream)
        return True

    def release(self, stream: AbortableStream) -> None:
        """Uncount a connection that was admitted."""
        self.idle.remove(stream)
        self._limits.release(stream.peer)
        self.spare_files.refill()

    def note_out_of_files(self) -> None:
        """Note that a client cannot be accepted."""
        ACCEPT_FAILURES.labels("http").inc()
        if self._conditions is not None:
            note_out_of_files(self._conditions, "connections to the port of http wait")


class ConnectionListener(trio.abc.Listener[AbortableStream]):
    """A listening socket that limits its open connections and can abort them all."""

    def __init__(
        self,
        bound: socket.socket,
        *,
        admission: Admission,
        stall_seconds: float,
        load: ServerLoad | None = None,
    ) -> None:
        """`load` counts the connections of a socket that other servers accept from as well."""
        self.stall_seconds = stall_seconds
        self._bound = bound
        self._load = load
        self._listener = trio.SocketListener(trio.socket.from_stdlib_socket(bound))
        self.admission = admission
        self._streams: set[AbortableStream] = set()
        self._emptied = trio.lowlevel.ParkingLot()

    async def accept(self) -> AbortableStream:
        """Wait for a free slot, then for a client that may have it."""
        slots = self.admission.slots
        await slots.acquire()
        try:
            while True:
                accepted = await self._accept()
                stream = AbortableStream(accepted, self)
                if self.admission.admit(stream):
                    break
                with suppress(OSError):
                    os.write(accepted.socket.fileno(), TOO_MANY)
                accepted.socket.close()
        except BaseException:
            slots.release()
            raise
        self._streams.add(stream)
        if self._load is not None:
            self._load.add(1)
        return stream

    async def _accept(self) -> trio.SocketStream:
        """Wait for a client; where no file is left for its connection, use a spare one."""
        self.admission.spare_files.refill()
        while True:
            try:
                if self._load is not None:
                    accepted, _ = await self._load.accept(self._bound)
                    return trio.SocketStream(accepted)
                return await self._listener.accept()
            except OSError as error:
                if error.errno in LEFT_ALREADY:
                    continue
                if error.errno not in OUT_OF_FILES:
                    raise
                self.admission.note_out_of_files()
            # The system says so even if nobody waits to be accepted.
            await trio.lowlevel.wait_readable(self._listener.socket)
            if not self.admission.spare_files.give_up_one():
                await trio.sleep(PAUSE_SECONDS)

    def release(self, stream: AbortableStream) -> None:
        """Free the slot of a closed stream."""
        if stream in self._streams:
            self._streams.discard(stream)
            self.admission.slots.release()
            self.admission.release(stream)
            if self._load is not None:
                self._load.add(-1)
            if not self._streams:
                self._emptied.unpark_all()

    def abort_all(self) -> None:
        """Abort all connections."""
        for stream in tuple(self._streams):
            stream.abort()

    async def wait_empty(self) -> None:
        """Wait until no connection is open."""
        while self._streams:
            await self._emptied.park()

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._streams)

    def close(self) -> None:
        """Stop listening; open connections stay."""
        self._listener.socket.close()

    async def aclose(self) -> None:
        """Stop listening; open connections stay."""
        self.close()
        await trio.lowlevel.checkpoint()


def tls_listener(listener: ConnectionListener, context: ssl.SSLContext) -> trio.SSLListener[AbortableStream]:
    """Wrap a listener in TLS; its limits apply below it."""
    return trio.SSLListener(listener, context, https_compatible=True)
