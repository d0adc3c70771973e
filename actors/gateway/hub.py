"""One epoll for the sockets of all devices: one task waits for it, reads, and hands the bytes to the
connections.

Trio's own way costs a system call and a task switch for each message; with one short message outstanding on
each of a thousand connections that is much of what a message costs (docs/performance.md#device-sockets).
Linux only; elsewhere, and for a `DeviceSocket` without a hub, each connection's task waits for itself.
"""

import select
import socket
import sys
from collections.abc import Callable
from typing import Final, Protocol

import trio

from motorpool.runtime import Actor, ChildSpec, Kind

__all__ = ["HUB", "Hub", "WatchedSocket", "hub_spec", "open_hub"]

TURN_SOCKETS: Final = 128
"""Sockets served in a row before other tasks run: some milliseconds."""
CROWD_SOCKETS: Final = 32
GATHER_SECONDS: Final = 0.004
"""A turn of fewer than CROWD_SOCKETS waits so long for more: each then costs a third."""

HUB: Kind[None, None] = Kind("hub")


class WatchedSocket(Protocol):
    """What the hub needs of a socket that it serves."""

    @property
    def raw(self) -> socket.socket:
        """The connected, non-blocking socket."""
        ...

    @property
    def read_bytes(self) -> int:
        """Bytes of one read."""
        ...

    @property
    def on_data(self) -> Callable[[bytes], None]:
        """Called with the bytes of each read, at least one; must not raise."""
        ...

    def flush(self) -> None:
        """Send what waits to be sent; called when the socket can be written to. Must not raise."""

    def close(self, reason: str) -> None:
        """End the connection; called when the peer has ended it."""


class Hub:
    """Serves sockets by their file numbers."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._sockets: dict[int, WatchedSocket] = {}
        self._masks: dict[int, int] = {}

    def watch(self, number: int, watched: WatchedSocket) -> None:
        """Read the socket of this file number whenever it has something."""
        self._sockets[number] = watched
        self._set_mask(number, select.EPOLLIN)

    def set_interest(self, number: int, *, reading: bool, writing: bool) -> None:
        """Change what a watched socket is served for; neither suspends it."""
        if number in self._sockets:
            mask = (select.EPOLLIN if reading else 0) | (select.EPOLLOUT if writing else 0)
            self._set_mask(number, mask)

    def unwatch(self, number: int) -> None:
        """Serve the socket no more; to be called before it is closed."""
        self._set_mask(number, 0)
        self._sockets.pop(number, None)

    def _set_mask(self, number: int, mask: int) -> None:
        before = self._masks.pop(number, 0)
        if mask:
            self._masks[number] = mask
        if not before and mask:
            self._epoll.register(number, mask)
        elif before and not mask:
            # Unregistered altogether: epoll would report a hang-up even with an empty mask, again and again.
            self._epoll.unregister(number)
        elif before != mask:
            self._epoll.modify(number, mask)

    async def run(self) -> None:
        """Serve until cancelled."""
        epoll, sockets = self._epoll, self._sockets
        while True:
            await trio.lowlevel.wait_readable(epoll.fileno())
            turn = epoll.poll(0, TURN_SOCKETS)
            if len(turn) < CROWD_SOCKETS:
                # A moment later there are more, and they share the cost of one turn.
                await trio.sleep(GATHER_SECONDS)
                turn = epoll.poll(0, TURN_SOCKETS)
            for number, events in turn:
                watched = sockets.get(number)
                if watched is None:  # closed by an earlier one of this turn
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
                    watched.on_data(data)
                else:
                    watched.close("closed by the device")


class HubActor(Actor[None]):
    """Runs the hub as a child of the tree."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def handle(self, message: None) -> None:
        """Do nothing: the hub takes no messages."""

    async def run(self) -> None:
        """Serve until stopped."""
        await self._hub.run()


def open_hub() -> Hub | None:
    """Return a new hub; None where the system has no epoll."""
    return Hub() if sys.platform == "linux" else None


def hub_spec(hub: Hub) -> ChildSpec[None]:
    """Return the spec of the hub; it stands above all connections, which cannot live without it."""
    return ChildSpec(kind=HUB, factory=lambda: HubActor(hub), resident=False)
