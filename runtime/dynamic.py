"""Children on demand: as many actors of one kind as there are keys that somebody spoke to."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Final, cast

import trio

from motorpool.runtime.actor import Actor
from motorpool.runtime.actor_group import ActorGroup
from motorpool.runtime.cell import Cell
from motorpool.runtime.errors import ActorFailed, ActorStopped, AlreadyStarted
from motorpool.runtime.guard import CrashGuard
from motorpool.runtime.intensity import RestartHistory
from motorpool.runtime.kind import K, M
from motorpool.runtime.life import End, State
from motorpool.runtime.ref import Ref
from motorpool.runtime.runtime_context import RuntimeContext
from motorpool.runtime.snapshot import ActorState
from motorpool.runtime.specs import DynamicSpec, Restart
from motorpool.runtime.timer_heap import Timer

LOOKS: Final = 4
"""How often a child is looked at within its `idle_seconds`. Counting looks costs a message nothing."""

SLICE: Final = 1000
"""Children that are looked at, or asked to stop, in a row."""

log = logging.getLogger(__name__)


class Dynamic(ActorGroup[K, M]):
    """The actors of a `DynamicSpec`. Each is restarted by itself, after a back-off by a shared timer."""

    life_level = logging.DEBUG

    def __init__(self, spec: DynamicSpec[K, M], path: str, runtime: RuntimeContext) -> None:
        super().__init__(spec.kind, path, spec, runtime)
        self.reopens = spec.start_on_message and spec.factory is not None
        self.down = True
        self._spec = spec
        self._stopped = False
        self._ending: set[Cell[M]] = set()  # those that somebody waits for
        self._ended = trio.Event()
        self._looks: Timer | None = None

    def path_of(self, key: object) -> str:
        """Where the actor with this key stands in the tree."""
        return f"{self.path}/{key}"

    def find(self, key: object) -> Cell[M]:
        """The cell of this key; a missing one is made if messages start actors. Raises ActorStopped."""
        cell = self.cells.get(key)
        if cell is None:
            if not self.reopens:
                raise ActorStopped(self.path_of(key))
            cell = self._make(key)
            if cell.state is State.STOPPED:  # it failed at birth, and that was once too often
                raise ActorStopped(self.path_of(key))
        return cell

    def build(self, cell: Cell[M]) -> Actor[M]:
        """A new actor for `cell`."""
        if cell.factory is not None:
            return cell.factory()
        assert self._spec.factory is not None
        return self._spec.factory(cast("K", cell.key))

    @property
    def comes_back(self) -> bool:
        """Whether another actor follows one that left by itself."""
        return self.reopens or (self.restart is Restart.PERMANENT and not self._stopped)

    async def start_child(self, key: K, factory: Callable[[], Actor[M]]) -> Ref[M]:
        """Start an actor made by `factory` and wait until it has started.

        Raises AlreadyStarted; ActorFailed, caused by what happened, and then there is no such actor.
        Cancelled: the same.
        """
        if key in self.cells:
            raise AlreadyStarted(self.path_of(key))
        if self.down:
            raise ActorStopped(self.path)
        cell = self._make(key, factory)
        try:
            await cell.wait_settled()
        except trio.Cancelled:
            cell.request(End.STOP)
            cell.cut_off()
            raise
        finally:
            unstarted, cell.watched = cell.watched, False
        if unstarted and cell.error is not None:
            raise ActorFailed(cell.path) from cell.error
        return self.ref(key)

    async def start(self) -> None:
        """Serve messages, first those that came before."""
        if not self.down or self._stopped:
            return
        self.down = False
        for cell in list(self.cells.values()):
            cell.launch()
        if self._spec.idle_seconds is not None:
            self._looks = self.runtime.timers.every(self._spec.idle_seconds / LOOKS, self._look)

    async def suspend(self) -> None:
        """End all actors; messages to those that reopen wait."""
        self._rest()
        await self._end_all(End.SUSPEND)

    async def stop(self) -> None:
        """End all actors, a slice at a time; together they have `shutdown_seconds`."""
        self._rest()
        self._stopped = True
        self.reopens = False
        with trio.move_on_after(self.shutdown_seconds):
            await self._end_all(End.STOP)
        while self.cells:
            self.runtime.timers.after(0, self.cut_off)
            await self._end(list(self.cells.values()), End.STOP)

    def cut_off(self) -> None:
        """End all actors at once."""
        for cell in list(self.cells.values()):
            cell.cut_off()

    def closed(self, cell: Cell[M], reason: End) -> None:
        """Restart, start afresh or forget one child."""
        failed = reason is End.CRASH and self.restart is not Restart.TEMPORARY and not cell.watched
        if failed or (reason is End.LEAVE and self.restart is Restart.PERMANENT):
            self._restart(cell)
        elif reason is End.SUSPEND and self.reopens and cell.mailbox.wanted:
            cell.rest()
        elif reason is End.IDLE and self.reopens and cell.mailbox.wanted:
            cell.relaunch()
        elif reason is End.LEAVE and self.reopens and cell.mailbox.wanted and cell.handled > cell.born:
            # One that left without having handled anything would be called for ever by the same messages.
            cell.relaunch()
        elif reason is End.STOP and self.reopens and cell.mailbox.waiting:
            cell.dead_letter_all()
            cell.relaunch()
        else:
            cell.retire()
        self._ending.discard(cell)
        if not self._ending:
            self._ended.set()

    def state(self, limit: int) -> ActorState:
        """The picture of all together, and of the first `limit` of them."""
        totals = self.totals()
        return ActorState(
            path=self.path,
            kind=self.kind.name,
            state="stopped" if self._stopped else "down" if self.down else "running",
            depth=totals.depth,
            size=self.mailbox_size,
            handled=totals.handled,
            restarts=totals.restarts,
            alive=totals.alive,
            children=tuple(self.state_of(cell) for cell in islice(self.cells.values(), limit)),
        )

    def _make(self, key: object, factory: Callable[[], Actor[M]] | None = None) -> Cell[M]:
        cell = self.cells[key] = Cell(self, key)
        cell.factory = factory
        cell.watched = factory is not None
        if not self.down:
            cell.launch()
        return cell

    def _restart(self, cell: Cell[M]) -> None:
        spec = self._spec
        if cell.history is None:
            cell.history = RestartHistory(spec.intensity, spec.period_seconds, spec.back_off)
        delay = cell.history.next_delay(self.runtime.clock.monotonic())
        if delay is not None:
            cell.restart_after(delay)
            return
        self._given_up += 1
        log.error(
            "%s is given up after %d restarts within %g s", cell.path, spec.intensity, spec.period_seconds
        )
        cell.retire()

    def _rest(self) -> None:
        self.down = True
        if self._looks is not None:
            self._looks.cancel()
            self._looks = None

    async def _end_all(self, reason: End) -> None:
        """Not all at once: each may have something to write down, and takes a task for it."""
        cells = list(self.cells.values())
        for first in range(0, len(cells), SLICE):
            some = [cell for cell in cells[first : first + SLICE] if cell.state is not State.STOPPED]
            if some:
                await self._end(some, reason)

    async def _end(self, cells: list[Cell[M]], reason: End) -> None:
        self._ending = set(cells)
        self._ended = trio.Event()
        for cell in cells:
            cell.request(reason)
        await self._ended.wait()

    def _look(self) -> None:
        self._look_at(iter(list(self.cells.values())))

    def _look_at(self, cells: Iterator[Cell[M]]) -> None:
        """Let those leave that had no message for LOOKS looks."""
        looked = 0
        for cell in islice(cells, SLICE):
            looked += 1
            if cell.handled != cell.seen or not cell.at_rest:
                cell.seen = cell.handled
                cell.quiet = 0
                continue
            cell.quiet += 1
            if cell.quiet >= LOOKS:
                cell.quiet = 0
                with CrashGuard(cell):
                    assert cell.actor is not None
                    if cell.actor.may_leave():
                        cell.end(End.IDLE)
        if looked == SLICE:
            self.runtime.timers.after(0, partial(self._look_at, cells))
