"""A device port: accepts connections, limits them per address, and starts an actor for each."""

import errno
import itertools
import socket
from collections import Counter
from collections.abc import Callable

import trio

from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.hub import Hub
from motorpool.actors.gateway.recorder import RECORDER, Tap
from motorpool.actors.messages.counters import CONNECTIONS_REFUSED
from motorpool.actors.messages.downlink import CONNECTION, ConnectionMessage
from motorpool.runtime import Actor, ChildSpec, Kind

__all__ = ["ConnectionFactory", "Listener", "listener_spec"]

BACKLOG = 4096
"""Connections that wait in the kernel to be accepted: after an outage a whole fleet reconnects at once."""
PAUSE_SECONDS = 0.1
"""Delay before accepting again after the process or the system ran out of resources."""
OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

ConnectionFactory = Callable[[DeviceSocket, Tap | None], Actor[ConnectionMessage]]
"""Creates the actor of an accepted connection."""

_numbers = itertools.count(1)


class Listener(Actor[None]):
    """Listens on one port."""

    def __init__(
        self,
        name: str,
        host: str,
        port: int,
        make_connection: ConnectionFactory,
        *,
        per_address: int,
        read_bytes: int,
        pause_seconds: float,
        hub: Hub | None,
        is_recorded: bool,
    ) -> None:
        self._name = name
        self._host = host
        self._port = port
        self._make_connection = make_connection
        self._per_address = per_address
        self._read_bytes = read_bytes
        self._pause_seconds = pause_seconds
        self._hub = hub
        self._is_recorded = is_recorded
        self._open_counts: Counter[str] = Counter()
        self._socket: trio.socket.SocketType | None = None
        self._refused = 0

    async def start(self) -> None:
        """Bind the port.

        Raises:
            OSError: the port cannot be bound; the message names it.
        """
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listening = trio.socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            await listening.bind((self._host, self._port))
            listening.listen(BACKLOG)
        except OSError as error:
            listening.close()
            raise OSError(
                error.errno, f"cannot listen for {self._name} on {self._host}:{self._port}: {error.strerror}"
            ) from error
        self._socket = listening
        self._port = listening.getsockname()[1]
        self.context.log.info("listening for %s on %s:%d", self._name, self._host, self._port)

    def handle(self, message: None) -> None:
        """Do nothing: a listener takes no messages."""

    async def run(self) -> None:
        """Accept connections until stopped, then close the port; open connections stay."""
        assert self._socket is not None
        with self._socket as listening:
            while True:
                try:
                    accepted, address = await listening.accept()
                except OSError as error:
                    if error.errno in OUT_OF_RESOURCES:
                        self.context.log.error("cannot accept: %s", error.strerror)
                        await trio.sleep(PAUSE_SECONDS)
                    # Any other error concerns one peer that disconnected before it was accepted.
                    continue
                await self._admit(accepted, address[0])

    async def _admit(self, accepted: trio.socket.SocketType, peer: str) -> None:
        if self._open_counts[peer] >= self._per_address:
            accepted.close()
            self._refused += 1
            CONNECTIONS_REFUSED.labels(self._name).inc()
            if self._refused & (self._refused - 1) == 0:  # at 1, 2, 4, 8 …: a flood must not fill the log
                self.context.log.warning(
                    "refused %d connections so far: %s has %d open",
                    self._refused,
                    peer,
                    self._open_counts[peer],
                )
            return
        self._open_counts[peer] += 1
        connected = socket.socket(fileno=accepted.detach())
        device_socket = DeviceSocket(
            connected,
            read_bytes=self._read_bytes,
            pause_seconds=self._pause_seconds,
            hub=self._hub,
            on_close=self._on_closed,
        )
        number = next(_numbers)
        tap = Tap(self.context.system.ref(RECORDER), number, self._name, peer) if self._is_recorded else None
        try:
            await self.context.system.start(
                CONNECTION, number, lambda: self._make_connection(device_socket, tap)
            )
        except BaseException:
            device_socket.close("not admitted")
            raise

    def _on_closed(self, device_socket: DeviceSocket) -> None:
        self._open_counts[device_socket.peer] -= 1
        if self._open_counts[device_socket.peer] <= 0:
            del self._open_counts[device_socket.peer]


def listener_spec(
    name: str,
    host: str,
    port: int,
    make_connection: ConnectionFactory,
    *,
    per_address: int,
    is_recorded: bool = False,
    read_bytes: int = 16 * 1024,
    pause_seconds: float = 0.0,
    hub: Hub | None = None,
) -> ChildSpec[None]:
    """Return the child spec of a listener.

    `per_address` limits the open connections of one address; `is_recorded` sends what is received to the
    recorder. `read_bytes`, `pause_seconds` and `hub` are those of `DeviceSocket`.
    """
    return ChildSpec(
        kind=Kind(f"listener:{name}"),
        factory=lambda: Listener(
            name,
            host,
            port,
            make_connection,
            per_address=per_address,
            read_bytes=read_bytes,
            pause_seconds=pause_seconds,
            hub=hub,
            is_recorded=is_recorded,
        ),
        resident=False,
    )
