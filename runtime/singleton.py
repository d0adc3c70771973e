"""A child of which there is only one: started and restarted by its supervisor."""

import trio

from motorpool.runtime.actor import Actor
from motorpool.runtime.actor_group import ActorGroup
from motorpool.runtime.cell import Cell
from motorpool.runtime.errors import ActorFailed, ActorStopped
from motorpool.runtime.kind import M
from motorpool.runtime.lifecycle import EndReason, State
from motorpool.runtime.node import Parent
from motorpool.runtime.snapshot import ActorState
from motorpool.runtime.specs import ChildSpec, Restart
from motorpool.runtime.system import System


class Singleton(ActorGroup[None, M]):
    """The one actor of a `ChildSpec`. Its mailbox exists from the start of the system to its end."""

    def __init__(self, spec: ChildSpec[M], path: str, system: System, supervisor: Parent) -> None:
        super().__init__(spec.kind, path, spec, system)
        self._factory = spec.factory
        self._supervisor = supervisor
        self._cell = self.cells[None] = Cell(self, None)
        self._suspended = trio.Event()
        self._started_before = False

    def path_of(self, key: object) -> str:
        """Return its path."""
        return self.path

    def find(self, key: object) -> Cell[M]:
        """Return the cell. Raises ActorStopped once it has ended."""
        if key is not None:
            raise KeyError(f"there is only one {self.path}, and no {key!r} of it")
        if self._cell.state is State.STOPPED:
            raise ActorStopped(self.path)
        return self._cell

    def build(self, cell: Cell[M]) -> Actor[M]:
        """A new actor."""
        return self._factory()

    @property
    def restarts_after_leaving(self) -> bool:
        """Whether an actor that ended on its own is replaced."""
        return self.restart is Restart.PERMANENT

    @property
    def down(self) -> bool:
        """Whether a start is due."""
        return self._cell.state is State.DOWN

    async def start(self) -> None:
        """Start the actor and wait until it has started. Raises ActorFailed, caused by what happened."""
        cell = self._cell
        if not self.down:
            return
        cell.restarts += self._started_before
        self._started_before = True
        cell.start_awaited = True
        try:
            cell.launch()
            await cell.wait_settled()
        finally:
            unstarted, cell.start_awaited = cell.start_awaited, False
        if unstarted and cell.error is not None:
            raise ActorFailed(self.path) from cell.error

    async def suspend(self) -> None:
        """End the actor, keep its mailbox."""
        if self._cell.state in (State.DOWN, State.STOPPED):
            return
        if self._suspended.is_set():
            self._suspended = trio.Event()
        self._cell.request(EndReason.SUSPEND)
        await self._suspended.wait()

    async def stop(self) -> None:
        """End the actor for good."""
        if self._cell.state is not State.STOPPED:
            gone = self._cell.stopped_event()
            self._cell.request(EndReason.STOP)
            await gone.wait()

    def abort(self) -> None:
        """End the actor at once."""
        self._cell.abort()

    def closed(self, cell: Cell[M], reason: EndReason) -> None:
        """Leave restarts to the supervisor."""
        failed = reason is EndReason.CRASH and self.restart is not Restart.TEMPORARY
        if reason is EndReason.SUSPEND or (failed and cell.start_awaited):
            cell.rest()
        elif failed or (reason is EndReason.LEAVE and self.restarts_after_leaving):
            cell.rest()
            self._supervisor.child_failed(self, cell.error)
        else:
            cell.retire()
        self._suspended.set()

    def forget(self, cell: Cell[M]) -> None:
        """Keep the cell, so that its last state stays in snapshots."""

    def state(self, limit: int) -> ActorState:
        """Return the state of the actor."""
        return self.state_of(self._cell)
