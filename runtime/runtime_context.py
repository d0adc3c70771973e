"""Shared by all actors of a system: the nursery their tasks live in, time, and the depth of the stack."""

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Final, TypeVarTuple

import trio

from motorpool.runtime.clock import Clock
from motorpool.runtime.timers import Timers

Ts = TypeVarTuple("Ts")


class RuntimeContext:
    """The nursery, clock, timers and dead letters of one system."""

    __slots__ = ("_context", "_nursery", "clock", "dead_letters", "depth", "timers")

    def __init__(self, clock: Clock, nursery: trio.Nursery) -> None:
        self.clock: Final = clock
        self.timers: Final = Timers(clock)
        self.dead_letters = 0
        """Messages that were accepted and never handled."""
        self.depth = 0
        """Handlers that are nested in one another at this moment."""
        self._nursery = nursery
        self._context = copy_context()

    def spawn(self, work: Callable[[*Ts], Awaitable[object]], *args: *Ts, name: str) -> None:
        """Run `work` in a task of the system: under its nursery, in the context it was opened in.

        The first message may come from any task, such as a request of the web server; values in the sender's
        context must not leak into the actor nor be kept alive by it.
        """
        self._context.run(_start, self._nursery, work, args, name)


def _start(
    nursery: trio.Nursery, work: Callable[[*Ts], Awaitable[object]], args: tuple[*Ts], name: str
) -> None:
    nursery.start_soon(work, *args, name=name)
