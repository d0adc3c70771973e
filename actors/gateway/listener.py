"""A device port: accepts, counts per address, and starts a connection actor for each peer."""

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

__all__ = ["AcceptedBy", "Listener", "listener_spec"]

BACKLOG = 4096
"""Half-open connections the kernel keeps: a fleet returns all at once after an outage."""
PAUSE_SECONDS = 0.1
"""When the process is out of files."""
OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

AcceptedBy = Callable[[DeviceSocket, Tap | None], Actor[ConnectionMessage]]
"""Makes the actor for one accepted connection."""

_numbers = itertools.count(1)


class Listener(Actor[None]):
    """One bound port."""

    def __init__(
        self,
        name: str,
        host: str,
        port: int,
        make: AcceptedBy,
        *,
        per_address: int,
        read_bytes: int,
        pause_seconds: float,
        hub: Hub | None,
        recorded: bool,
    ) -> None:
        self._name = name
        self._host = host
        self._port = port
        self._make = make
        self._per_address = per_address
        self._read_bytes = read_bytes
        self._pause_seconds = pause_seconds
        self._hub = hub
        self._recorded = recorded
        self._open: Counter[str] = Counter()
        self._socket: trio.socket.SocketType | None = None
        self._refused = 0

    async def start(self) -> None:
        """Bind the port; what stands in the way ends the start with one sentence."""
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
        """Takes no messages."""

    async def run(self) -> None:
        """Accept until stopped, then close the port; connections are actors of their own."""
        assert self._socket is not None
        with self._socket as listening:
            while True:
                try:
                    accepted, address = await listening.accept()
                except OSError as error:
                    if error.errno in OUT_OF_RESOURCES:
                        self.context.log.error("cannot accept: %s", error.strerror)
                        await trio.sleep(PAUSE_SECONDS)
                    # Anything else is one peer that left between the handshake and us.
                    continue
                await self._admit(accepted, address[0])

    async def _admit(self, accepted: trio.socket.SocketType, peer: str) -> None:
        if self._open[peer] >= self._per_address:
            accepted.close()
            self._refused += 1
            CONNECTIONS_REFUSED.labels(self._name).inc()
            if self._refused & (self._refused - 1) == 0:  # at 1, 2, 4, 8…: a flood must not flood the log
                self.context.log.warning(
                    "refused %d connections so far: %s has %d open", self._refused, peer, self._open[peer]
                )
            return
        self._open[peer] += 1
        connected = socket.socket(fileno=accepted.detach())
        device_socket = DeviceSocket(
            connected,
            read_bytes=self._read_bytes,
            pause_seconds=self._pause_seconds,
            hub=self._hub,
            on_close=self._closed,
        )
        number = next(_numbers)
        tap = Tap(self.context.system.ref(RECORDER), number, self._name, peer) if self._recorded else None
        try:
            await self.context.system.start(CONNECTION, number, lambda: self._make(device_socket, tap))
        except BaseException:
            device_socket.close("not admitted")
            raise

    def _closed(self, device_socket: DeviceSocket) -> None:
        self._open[device_socket.peer] -= 1
        if self._open[device_socket.peer] <= 0:
            del self._open[device_socket.peer]


def listener_spec(
    name: str,
    host: str,
    port: int,
    make: AcceptedBy,
    *,
    per_address: int,
    recorded: bool = False,
    read_bytes: int = 16 * 1024,
    pause_seconds: float = 0.0,
    hub: Hub | None = None,
) -> ChildSpec[None]:
    """One port's place in the tree."""
    return ChildSpec(
        kind=Kind(f"listener:{name}"),
        factory=lambda: Listener(
            name,
            host,
            port,
            make,
            per_address=per_address,
            read_bytes=read_bytes,
            pause_seconds=pause_seconds,
            hub=hub,
            recorded=recorded,
        ),
        resident=False,
    )
