"""Children on demand: one actor for each key that a message was sent to."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Final, cast

import trio

from motorpool.runtime.actor import Actor
from motorpool.runtime.actor_group import ActorGroup
from motorpool.runtime.cell import Behaviour, Cell
from motorpool.runtime.errors import ActorFailed, ActorStopped, AlreadyStarted
from motorpool.runtime.guard import CrashGuard
from motorpool.runtime.intensity import RestartHistory
from motorpool.runtime.kind import K, M
from motorpool.runtime.lifecycle import EndReason, State
from motorpool.runtime.snapshot import ActorState
from motorpool.runtime.specs import DynamicSpec, Restart
from motorpool.runtime.system import System
from motorpool.runtime.timer_heap import Timer

IDLE_CHECKS: Final = 4
"""Idle checks of a child within its `idle_seconds`. Counting checks costs a message nothing."""

SLICE: Final = 1000
"""Children that are checked, or asked to stop, before other tasks run."""

TICK_SLICE: Final = 100
"""Children that get their tick in one turn: half a millisecond where they have little to do."""
TICK_PAUSE_SECONDS: Final = 0.002
"""Between two such turns."""

log = logging.getLogger(__name__)


class Dynamic(ActorGroup[K, M]):
    """The actors of a `DynamicSpec`. Each is restarted on its own, after a back-off by a shared timer."""

    def __init__(self, spec: DynamicSpec[K, M], path: str, system: System) -> None:
        super().__init__(spec.kind, path, spec, system)
        self.starts_on_message = spec.start_on_message and spec.factory is not None
        self.down = True
        self._spec = spec
        self._stopped = False
        self._ending: set[Cell[M]] = set()  # cells whose end is awaited
        self._ended = trio.Event()
        self._idle_timer: Timer | None = None
        self._tick_timer: Timer | None = None

    def path_of(self, key: object) -> str:
        """Return the path of the actor with this key."""
        return f"{self.path}/{key}"

    def find(self, key: object) -> Cell[M]:
        """The cell of this key; a missing one is made if messages start actors. Raises ActorStopped."""
        cell = self.cells.get(key)
        if cell is None:
            if not self.starts_on_message:
                raise ActorStopped(self.path_of(key))
            cell = self._make(key)
            if cell.state is State.STOPPED:  # its constructor failed, past the restart intensity
                raise ActorStopped(self.path_of(key))
        return cell

    def build(self, cell: Cell[M]) -> Actor[M]:
        """Return a new actor for `cell`."""
        factory = cell.factory
        if factory is not None:
            if self.restart is Restart.TEMPORARY:
                cell.factory = None  # never called again, and often holds what only this object needs
            return cast("Actor[M]", factory())
        assert self._spec.factory is not None
        return self._spec.factory(cast("K", cell.key))

    @property
    def restarts_after_leaving(self) -> bool:
        """Whether an actor that ended on its own is replaced."""
        return self.starts_on_message or (self.restart is Restart.PERMANENT and not self._stopped)

    async def start_child(self, key: K, factory: Callable[[], Behaviour[M]] | None = None) -> None:
        """Start an actor made by `factory` and wait until it has started.

        Raises AlreadyStarted; ActorFailed, caused by what happened, and then there is no such actor.
        Cancelled: the same.
        """
        if key in self.cells:
            raise AlreadyStarted(self.path_of(key))
        if self.down:
            raise ActorStopped(self.path)
        cell = self._make(key, factory, start_awaited=True)
        try:
            await cell.wait_settled()
        except trio.Cancelled:
            cell.request(EndReason.STOP)
            cell.abort()
            raise
        finally:
            unstarted, cell.start_awaited = cell.start_awaited, False
        if unstarted and cell.error is not None:
            raise ActorFailed(cell.path) from cell.error

    async def start(self) -> None:
        """Start handling messages, first those that were queued before."""
        if not self.down or self._stopped:
            return
        self.down = False
        for cell in list(self.cells.values()):
            cell.launch()
        if self._spec.idle_seconds is not None:
            self._idle_timer = self.runtime.timers.every(
                self._spec.idle_seconds / IDLE_CHECKS, self._check_idle
            )
        if self._spec.tick is not None:
            self._tick_timer = self.runtime.timers.every(self._spec.tick_seconds, self._tick)

    async def suspend(self) -> None:
        """End all actors; messages to actors that a message starts are kept."""
        self._rest()
        await self._end_all(EndReason.SUSPEND)

    async def stop(self) -> None:
        """End all actors, a slice at a time; together they have `shutdown_seconds`."""
        self._rest()
        self._stopped = True
        self.starts_on_message = False
        with trio.move_on_after(self.shutdown_seconds):
            await self._end_all(EndReason.STOP)
        while self.cells:
            self.runtime.timers.after(0, self.abort)
            await self._end(list(self.cells.values()), EndReason.STOP)

    def abort(self) -> None:
        """End all actors at once."""
        for cell in list(self.cells.values()):
            cell.abort()

    def closed(self, cell: Cell[M], reason: EndReason) -> None:
        """Restart, start afresh or forget one child."""
        failed = (
            reason is EndReason.CRASH and self.restart is not Restart.TEMPORARY and not cell.start_awaited
        )
        if failed or (reason is EndReason.LEAVE and self.restart is Restart.PERMANENT):
            self._restart(cell)
        elif reason is EndReason.SUSPEND and self.starts_on_message and cell.mailbox.has_work:
            cell.rest()
        elif reason is EndReason.IDLE and self.starts_on_message and cell.mailbox.has_work:
            cell.relaunch()
        elif (
            reason is EndReason.LEAVE
            and self.starts_on_message
            and cell.mailbox.has_work
            and cell.handled > cell.handled_at_start
        ):
            # An actor that left without handling anything would be started by the same messages for ever.
            cell.relaunch()
        elif reason is EndReason.STOP and self.starts_on_message and cell.mailbox.waiting:
            cell.dead_letter_all()
            cell.relaunch()
        else:
            cell.retire()
        self._ending.discard(cell)
        if not self._ending:
            self._ended.set()

    def state(self, limit: int) -> ActorState:
        """Return the state of all actors together, and of the first `limit` of them."""
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

    def _make(
        self, key: object, factory: Callable[[], Behaviour[M]] | None = None, *, start_awaited: bool = False
    ) -> Cell[M]:
        cell = self.cells[key] = Cell(self, key)
        cell.factory = factory
        cell.start_awaited = start_awaited
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
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        if self._tick_timer is not None:
            self._tick_timer.cancel()
            self._tick_timer = None

    async def _end_all(self, reason: EndReason) -> None:
        """End actors in slices: each may have work in `stop`, which takes a task."""
        cells = list(self.cells.values())
        for first in range(0, len(cells), SLICE):
            some = [cell for cell in cells[first : first + SLICE] if cell.state is not State.STOPPED]
            if some:
                await self._end(some, reason)

    async def _end(self, cells: list[Cell[M]], reason: EndReason) -> None:
        self._ending = set(cells)
        self._ended = trio.Event()
        for cell in cells:
            cell.request(reason)
        await self._ended.wait()

    def _tick(self) -> None:
        self._tick_slice(iter(list(self.cells.values())))

    def _tick_slice(self, cells: Iterator[Cell[M]]) -> None:
        tick = self._spec.tick
        assert tick is not None
        told = 0
        for cell in islice(cells, TICK_SLICE):
            told += 1
            # One that is about to end would have to be started again for it.
            if cell.state is State.RUNNING and cell.ending is None:
                cell.tick(tick)
        if told == TICK_SLICE:
            self.runtime.timers.after(TICK_PAUSE_SECONDS, partial(self._tick_slice, cells))

    def _check_idle(self) -> None:
        self._check_idle_slice(iter(list(self.cells.values())))

    def _check_idle_slice(self, cells: Iterator[Cell[M]]) -> None:
        """End actors that had no message for IDLE_CHECKS checks."""
        looked = 0
        for cell in islice(cells, SLICE):
            looked += 1
            if cell.handled != cell.handled_at_check or not cell.is_quiescent:
                cell.handled_at_check = cell.handled
                cell.idle_checks = 0
                continue
            cell.idle_checks += 1
            if cell.idle_checks >= IDLE_CHECKS:
                cell.idle_checks = 0
                with CrashGuard(cell.crash):
                    assert cell.actor is not None
                    if cell.actor.may_leave():
                        cell.end(EndReason.IDLE)
        if looked == SLICE:
            self.runtime.timers.after(0, partial(self._check_idle_slice, cells))
