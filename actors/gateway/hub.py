"""One epoll for the sockets of all devices: one task waits for it and calls what stands for each.

Trio's own way costs a system call and a task switch for each message; with one short message outstanding
on each of a thousand connections that is much of what a message costs (docs/performance.md#device-sockets).
Linux only; elsewhere, and where `Wire` is given no hub, each connection's task waits for itself.
"""

import select
import sys
from collections.abc import Callable
from typing import Final

import trio

from motorpool.runtime import Actor, ChildSpec, Kind

__all__ = ["HUB", "Hub", "hub_spec", "open_hub"]

TURN_SOCKETS: Final = 128
"""Sockets served in a row before others run: some milliseconds."""

CROWD_SOCKETS: Final = 32
GATHER_SECONDS: Final = 0.004
"""What a turn of fewer sockets waits for others: each then costs a third, and nobody misses 4 ms."""

HUB: Kind[None, None] = Kind("hub")

Ready = Callable[[bool], None]
"""Called when a socket is ready: with True to be written to, else to be read."""


class Hub:
    """Who is to be called for which socket."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._ready: dict[int, Ready] = {}
        self._wanted: dict[int, int] = {}

    def watch(self, number: int, ready: Ready) -> None:
        """Call `ready` whenever the file of this number can be read."""
        self._ready[number] = ready
        self._want(number, select.EPOLLIN)

    def expect(self, number: int, *, reading: bool, writing: bool) -> None:
        """What to be called for from now on; neither is a rest."""
        if number in self._ready:
            self._want(number, (select.EPOLLIN if reading else 0) | (select.EPOLLOUT if writing else 0))

    def forget(self, number: int) -> None:
        """Call no more; before the file is closed."""
        self._want(number, 0)
        self._ready.pop(number, None)

    def _want(self, number: int, wanted: int) -> None:
        before = self._wanted.pop(number, 0)
        if wanted:
            self._wanted[number] = wanted
        if not before and wanted:
            self._epoll.register(number, wanted)
        elif before and not wanted:
            # Taken out altogether: a mask of nothing would still be told of a hang-up, again and again.
            self._epoll.unregister(number)
        elif before != wanted:
            self._epoll.modify(number, wanted)

    async def run(self) -> None:
        """Serve until cancelled."""
        epoll, ready = self._epoll, self._ready
        while True:
            await trio.lowlevel.wait_readable(epoll.fileno())
            turn = epoll.poll(0, TURN_SOCKETS)
            if len(turn) < CROWD_SOCKETS:
                # Few came: a moment later there are more, and one turn costs what they all would each.
                await trio.sleep(GATHER_SECONDS)
                turn = epoll.poll(0, TURN_SOCKETS)
            for number, events in turn:
                call = ready.get(number)
                if call is not None:  # else an earlier one of this turn has closed it
                    call(bool(events & select.EPOLLOUT))


class HubKeeper(Actor[None]):
    """Keeps the hub running."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def handle(self, message: None) -> None:
        """Takes no messages."""

    async def run(self) -> None:
        """Serve until stopped."""
        await self._hub.run()


def open_hub() -> Hub | None:
    """A hub, where this system has what it needs."""
    return Hub() if sys.platform == "linux" else None


def hub_spec(hub: Hub) -> ChildSpec[None]:
    """The hub's place in the tree: above all connections, which cannot live without it."""
    return ChildSpec(kind=HUB, factory=lambda: HubKeeper(hub), resident=False)
