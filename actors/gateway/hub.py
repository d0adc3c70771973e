"""One epoll instance for the sockets of all devices: one task waits for it, reads, and passes the bytes to
the connections.

With a Trio task waiting for each socket, every message costs a system call and a task switch more, which is
much of its total cost while many connections each carry one short message at a time
(docs/performance.md#device-sockets). Linux only; elsewhere, and for a `DeviceSocket` without a hub, the task
of each connection reads its own socket.
"""

import select
import socket
import sys
from collections.abc import Sequence
from typing import Final, Never, Protocol

import trio

from motorpool.actors.gateway.peer_socket import Reader
from motorpool.runtime import Actor

TURN_SOCKETS: Final = 128
"""Sockets served in one turn before other tasks run, which takes some milliseconds."""
FULL_TURN_SOCKETS: Final = 32
"""Ready sockets with which a turn starts at once."""
GATHER_SECONDS: Final = 0.004
"""How long a turn with fewer ready sockets waits for more, which cuts the cost of each to a third."""
STEADY_TURN_SOCKETS: Final = 4
"""Sockets of a turn after which the next turn comes without waiting for the first of its sockets."""
STEADY_SECONDS: Final = 0.008
"""Interval between the starts of such turns. One flush stores the positions that a turn has read, since
`position_writer.FLUSH_SECONDS` is less."""


class WatchedSocket(Protocol):
    """The interface of a socket that the hub serves."""

    raw: socket.socket
    """The connected, non-blocking socket."""
    read_bytes: int
    """Largest number of bytes to read at once."""
    reader: Reader
    """Gets the bytes of each read; one that ignores them once the socket is closed."""
    mask: int
    """The events that the hub polls it for; the hub's own, 0 before."""

    def flush(self) -> None:
        """Send buffered bytes; called when the socket is writable. Must not raise."""

    def close(self, reason: str) -> None:
        """Close the connection; called when the peer has closed it or the socket failed."""


class Hub:
    """Reads the sockets that are registered by their file descriptors."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._sockets: dict[int, WatchedSocket] = {}

    def watch(self, descriptor: int, watched: WatchedSocket) -> None:
        """Read the socket of this file descriptor whenever it is readable."""
        self._sockets[descriptor] = watched
        self._set_mask(descriptor, watched, select.EPOLLIN)

    def set_interest(self, descriptor: int, *, reading: bool, writing: bool) -> None:
        """Set the events for which a watched socket is polled; with neither it is not polled."""
        watched = self._sockets.get(descriptor)
        if watched is not None:
            mask = (select.EPOLLIN if reading else 0) | (select.EPOLLOUT if writing else 0)
            self._set_mask(descriptor, watched, mask)

    def unwatch(self, descriptor: int) -> None:
        """Stop serving the socket; must be called before it is closed."""
        watched = self._sockets.pop(descriptor, None)
        if watched is not None:
            self._set_mask(descriptor, watched, 0)

    def _set_mask(self, descriptor: int, watched: WatchedSocket, mask: int) -> None:
        before, watched.mask = watched.mask, mask
        if not before and mask:
            self._epoll.register(descriptor, mask)
        elif before and not mask:
            # Unregistered, because epoll reports a hang-up again and again even with an empty mask.
            self._epoll.unregister(descriptor)
        elif before != mask:
            self._epoll.modify(descriptor, mask)

    async def run(self) -> None:
        """Serve until cancelled."""
        epoll = self._epoll
        turn: list[tuple[int, int]] = []
        began = 0.0
        while True:
            if STEADY_TURN_SOCKETS <= len(turn) < FULL_TURN_SOCKETS:
                await trio.sleep_until(began + STEADY_SECONDS)
                turn = epoll.poll(0, TURN_SOCKETS)
            else:
                await trio.lowlevel.wait_readable(epoll.fileno())
                turn = epoll.poll(0, TURN_SOCKETS)
                if len(turn) < FULL_TURN_SOCKETS:
                    # A moment later more are ready, and they share the cost of the turn.
                    await trio.sleep(GATHER_SECONDS)
                    turn = epoll.poll(0, TURN_SOCKETS)
            began = trio.current_time()
            self._serve(turn)

    def _serve(self, turn: Sequence[tuple[int, int]]) -> None:
        """Read, decode and forward what the sockets of a turn have received, or send what they take.

        A method of its own, so that between two turns nothing of a connection that has ended is held.
        """
        sockets = self._sockets
        # All are read before the first is decoded, and decoded before the first is forwarded: by turns,
        # the code of these steps would displace each other's from the processor's caches.
        received: list[tuple[WatchedSocket, bytes]] = []
        for descriptor, events in turn:
            watched = sockets.get(descriptor)
            if watched is None:  # closed by an earlier socket of this turn
                continue
            if events & select.EPOLLOUT:
                watched.flush()
                continue
            try:
                data = watched.raw.recv(watched.read_bytes)
            except BlockingIOError:
                continue
            except OSError as error:
                watched.close(f"connection lost: {error.strerror or error}")
                continue
            if data:
                received.append((watched, data))
            else:
                watched.close("closed by the device")
        readers: list[Reader] = []
        for watched, data in received:
            # Nobody's, if it was closed by an earlier socket of this turn.
            reader = watched.reader
            reader.on_data(data)
            readers.append(reader)
        for reader in readers:
            reader.forward()


class HubActor(Actor[Never]):
    """The actor that runs the hub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def run(self) -> None:
        """Serve until stopped."""
        await self._hub.run()


def open_hub() -> Hub | None:
    """Return a new hub, or None if the platform has no epoll."""
    return Hub() if sys.platform == "linux" else None
