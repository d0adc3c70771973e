"""One address that sends datagrams to a port: what a connection is to TCP.

There is no socket for it: the listener passes on what comes from the address, and answers go to it.
"""

import socket
import sys
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.port_guard import PortGuard
from motorpool.actors.messages.counters import DATAGRAMS_DROPPED

MAX_QUEUED: Final = 32
"""Datagrams of one address that wait while earlier ones are processed; more are dropped."""

Address = tuple[Any, ...]
"""As the socket module gives it: host, port, and for IPv6 flow and scope."""


class DatagramPeer(PeerSocket):
    """The datagrams of one address."""

    __slots__ = ("_is_paused", "_queue", "_socket", "address", "name")

    is_datagram = True
    has_hub = True
    """The listener calls the reader."""
    backlog = 0
    """What the system does not take at once is lost, as any datagram may be."""

    def __init__(
        self,
        listening: socket.socket,
        address: Address,
        name: str,
        guard: PortGuard,
        on_close: Callable[["DatagramPeer"], None],
    ) -> None:
        """`listening`, the socket of the listener, sends the answers; `name` is that of the protocol."""
        super().__init__(str(address[0]), guard, on_close)
        self._socket = listening
        self.address = address
        self.name = name
        self._is_paused = True
        """Whether datagrams wait: until the connection's actor watches, and while it processes others."""
        self._queue: deque[bytes] = deque()

    @property
    def local_host(self) -> str:
        """The server's address from which packets to the peer leave; empty if there is no way to it."""
        try:
            with socket.socket(self._socket.family, socket.SOCK_DGRAM) as towards:
                towards.connect(self.address)
                return sys.intern(str(towards.getsockname()[0]))
        except OSError:
            return ""

    def received(self, datagram: bytes) -> None:
        """Pass a datagram on, or let it wait; drop it where too much waits."""
        if not self._is_paused:
            self._pass_on(datagram)
        elif len(self._queue) < MAX_QUEUED and self.guard.memory.take(self.peer, len(datagram)):
            self._queue.append(datagram)
        else:
            DATAGRAMS_DROPPED.labels(self.name).inc()

    def _start_reading(self) -> None:
        self.resume_reading()

    async def receive(self) -> bytes:
        """Never called: there is always one who calls the reader."""
        raise AssertionError

    def pause_reading(self) -> None:
        """Queue datagrams until `resume_reading`."""
        self._is_paused = True

    def resume_reading(self) -> None:
        """Pass on queued datagrams until reading is paused again."""
        self._is_paused = False
        while self._queue and not self._is_paused:
            datagram = self._queue.popleft()
            self.guard.memory.take(self.peer, -len(datagram))
            self._pass_on(datagram)

    def _pass_on(self, datagram: bytes) -> None:
        reader = self.reader
        reader.on_data(datagram)
        reader.forward()

    def send(self, data: bytes) -> None:
        """Send one datagram, or drop it if it cannot be sent now: the device sends its message again."""
        if self.closed or not data:
            return
        try:
            self._socket.sendto(data, self.address)
        except OSError:
            DATAGRAMS_DROPPED.labels(self.name).inc()

    def _release(self) -> None:
        self.guard.memory.take(self.peer, -sum(map(len, self._queue)))
        self._queue.clear()
