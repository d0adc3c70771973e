"""A device port: accepts connections, limits them per address, and starts an actor for each."""

import errno
import itertools
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Never

import trio

from motorpool.actors.gateway.device_socket import READ_BYTES, DeviceSocket
from motorpool.actors.gateway.hub import Hub
from motorpool.actors.gateway.inherited_sockets import InheritedSockets
from motorpool.actors.gateway.machine_load import ServerLoad
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.port_binding import bind_port, listen
from motorpool.actors.gateway.port_guard import PortGuard
from motorpool.actors.gateway.proxy_headers import HEADER_SECONDS, receive_proxy_header
from motorpool.actors.gateway.recorder import RECORDER, Tap
from motorpool.actors.gateway.shared_pauses import SharedPauses
from motorpool.actors.messages.conditions import note_out_of_files
from motorpool.actors.messages.counters import (
    ACCEPT_FAILURES,
    CONNECTIONS_REFUSED,
    PROXY_HEADERS_REJECTED,
    begin_at_zero,
)
from motorpool.actors.messages.downlink import CONNECTION, ConnectionMessage
from motorpool.actors.messages.topics import DEVICE_TRAFFIC
from motorpool.actors.work.networks import Networks
from motorpool.codecs.errors import CodecError
from motorpool.codecs.proxy_protocol import ProxyHeader
from motorpool.runtime import Actor, Context, System
from motorpool.storage.errors import OUT_OF_FILES

PAUSE_SECONDS = 0.1
MAX_PAUSE_SECONDS = 5.0
"""Delay before accepting again after a failure; doubled with each that follows."""
OUT_OF_RESOURCES = OUT_OF_FILES | {errno.ENOBUFS, errno.ENOMEM}
"""The process or the system has too much open: this passes."""
MAX_FAILURES = 10
"""Consecutive failures of another kind after which the listener is restarted, with a new socket."""

ConnectionFactory = Callable[[PeerSocket, Tap | None], Actor[ConnectionMessage]]
"""Creates the actor of a connection."""

_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class DevicePort:
    """A port of devices, and how its connections are served."""

    name: str
    """That of the protocol."""
    host: str
    number: int
    make_connection: ConnectionFactory
    guard: PortGuard
    """Limits the connections of this port and of the other ports that share it."""
    is_recorded: bool = False
    """Whether received bytes are sent to the recorder."""
    read_bytes: int = READ_BYTES
    """As of `DeviceSocket`, as are the next two."""
    pauses: SharedPauses | None = None
    hub: Hub | None = None
    proxies: Networks = field(default_factory=Networks)
    """Connections from there begin with a PROXY header."""
    shared: socket.socket | None = None
    """The socket that other servers of the machine accept from as well; their datagrams are shared out by the
    system (shared_ports.py)."""
    load: ServerLoad | None = None
    """Counts the connections of a shared socket; with many of them it is left to other servers for a
    moment."""
    leaving: trio.Event | None = None
    """Set to accept no more."""
    inherited: InheritedSockets = field(default_factory=InheritedSockets)
    """Has the socket where a service manager has opened it."""

    def open(self, context: Context[Never], kind: socket.SocketKind) -> socket.socket:
        """Return a socket of this kind that is bound to the port, and does not block.

        Raises:
            OSError: the port cannot be bound; the message names it.
        """
        is_stream = kind is socket.SOCK_STREAM
        if is_stream and self.shared is not None:
            bound = self.shared.dup()
        elif (found := self.inherited.find(kind, self.host, self.number)) is not None:
            bound = found
        else:
            bound = bind_port(self.name, self.host, self.number, kind, is_shared=self.shared is not None)
        if is_stream:
            try:
                listen(bound, self.name, self.host, self.number)
            except OSError:
                bound.close()
                raise
        address = f"{'' if is_stream else 'UDP '}{self.host}"
        begin_at_zero(self.name, CONNECTIONS_REFUSED, PROXY_HEADERS_REJECTED, ACCEPT_FAILURES)
        self.guard.traffic.topic = context.system.topic(DEVICE_TRAFFIC)
        context.log.info("listening for %s on %s:%d", self.name, address, bound.getsockname()[1])
        return bound


async def start_connection(system: System, port: DevicePort, peer_socket: PeerSocket) -> None:
    """Start the actor of a new connection; close the socket if that fails."""
    number = next(_numbers)
    tap = None
    if port.is_recorded:
        tap = Tap(system.ref(RECORDER), number, port.name, peer_socket.peer)
    try:
        await system.start(CONNECTION, number, lambda: port.make_connection(peer_socket, tap))
    except BaseException:
        peer_socket.close("not admitted")
        raise


class Listener(Actor[Never]):
    """Listens on one port."""

    def __init__(self, port: DevicePort) -> None:
        self._port = port
        self._raw: socket.socket | None = None
        self._socket: trio.socket.SocketType | None = None
        # One object for all sockets, not one for each.
        self._on_close = self._release

    async def start(self) -> None:
        """Bind the port. Raises OSError."""
        self._raw = self._port.open(self.context, socket.SOCK_STREAM)
        self._socket = trio.socket.from_stdlib_socket(self._raw)

    async def run(self) -> None:
        """Accept connections until stopped, then close the port; open connections stay."""
        assert self._socket is not None
        leaving = self._port.leaving
        if leaving is None:
            await self._accept_all(self._socket)
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._accept_all, self._socket)
            await leaving.wait()
            nursery.cancel_scope.cancel()
        await trio.sleep_forever()

    async def _accept_all(self, accepting: trio.socket.SocketType) -> None:
        with accepting as listening:
            if self._port.proxies:
                async with trio.open_nursery() as waiting:
                    await self._accept(listening, waiting)
            else:
                await self._accept(listening, None)

    async def _accept(self, listening: trio.socket.SocketType, waiting: trio.Nursery | None) -> None:
        """Accept connections for ever; those that wait for their PROXY header do so in `waiting`."""
        failures = 0
        while True:
            try:
                accepted, address = await self._next(listening)
            except OSError as error:
                failures += 1
                await self._pause(error, failures)
            else:
                failures = 0
                if waiting is not None and address[0] in self._port.proxies:
                    self._await_header(accepted, address[0], waiting)
                else:
                    await self._admit(accepted, address[0])

    async def _next(self, listening: trio.socket.SocketType) -> tuple[trio.socket.SocketType, Any]:
        load = self._port.load
        if load is None:
            return await listening.accept()
        assert self._raw is not None
        return await load.accept(self._raw)

    def _await_header(self, accepted: trio.socket.SocketType, proxy: str, waiting: trio.Nursery) -> None:
        """Read the header of a connection from a proxy, in a task of its own.

        Meanwhile the connection counts as one of the port, but not as one of an address.
        """
        refusal = self._port.guard.connections.admit(proxy, is_shared=True)
        if refusal:
            self._refuse(accepted, proxy, refusal)
        else:
            waiting.start_soon(self._admit_proxied, accepted, proxy)

    async def _admit_proxied(self, accepted: trio.socket.SocketType, proxy: str) -> None:
        problem, header = "no PROXY header in time", None
        try:
            with trio.move_on_after(HEADER_SECONDS):
                header = await receive_proxy_header(accepted)
                problem = ""
        except (CodecError, OSError) as error:
            problem = str(error)
        except BaseException:
            accepted.close()
            raise
        finally:
            self._port.guard.connections.release(proxy)
        if header is not None:
            await self._admit(accepted, header.client or proxy, header)
            return
        accepted.close()
        if problem:
            PROXY_HEADERS_REJECTED.labels(self._port.name).inc()
            now = self.context.clock.monotonic()
            text = "closed a connection from the proxy %s: %s"
            self._port.guard.log.write(self.context.log, logging.WARNING, now, proxy, text, proxy, problem)

    async def _pause(self, error: OSError, failures: int) -> None:
        """Wait after a failed accept. A single one may concern a peer that has left already.

        Raises:
            OSError: it fails again and again for no passing reason.
        """
        ACCEPT_FAILURES.labels(self._port.name).inc()
        if error.errno in OUT_OF_FILES:
            consequence = f"connections to the port of {self._port.name} wait"
            note_out_of_files(self.context.system.conditions, consequence)
        elif failures & (failures - 1) == 0:  # at 1, 2, 4, 8 …
            self.context.log.error("cannot accept: %s (%d in a row)", error.strerror or error, failures)
        if failures > MAX_FAILURES and error.errno not in OUT_OF_RESOURCES:
            raise error
        await trio.sleep(min(PAUSE_SECONDS * 2 ** (failures - 1), MAX_PAUSE_SECONDS))

    def _release(self, ended: DeviceSocket) -> None:
        self._port.guard.connections.release(ended.peer)
        if self._port.load is not None:
            self._port.load.add(-1)

    def _refuse(self, accepted: trio.socket.SocketType, peer: str, refusal: str) -> None:
        accepted.close()
        CONNECTIONS_REFUSED.labels(self._port.name).inc()
        now = self.context.clock.monotonic()
        text = "refused a connection from %s: %s"
        self._port.guard.log.write(self.context.log, logging.WARNING, now, peer, text, peer, refusal)

    async def _admit(
        self, accepted: trio.socket.SocketType, peer: str, header: ProxyHeader | None = None
    ) -> None:
        """Serve a connection of the address `peer`, unless a limit forbids it.

        `header` is what its proxy said of it.
        """
        refusal = self._port.guard.connections.admit(peer)
        if refusal:
            self._refuse(accepted, peer, refusal)
            return
        port = self._port
        if port.load is not None:
            port.load.add(1)
        device_socket = DeviceSocket(
            socket.socket(fileno=accepted.detach()),
            read_bytes=port.read_bytes,
            pauses=port.pauses,
            hub=port.hub,
            on_close=self._on_close,
            guard=port.guard,
            peer=peer,
            local_host=(header and header.server) or "",
        )
        await start_connection(self.context.system, port, device_socket)
