"""A child of which there is only one: started and restarted by its supervisor."""

import logging
from typing import TYPE_CHECKING

import trio

from motorpool.runtime.actor import Actor
from motorpool.runtime.actor_group import ActorGroup
from motorpool.runtime.cell import Cell
from motorpool.runtime.errors import ActorFailed, ActorStopped
from motorpool.runtime.kind import M
from motorpool.runtime.life import End, State
from motorpool.runtime.runtime_context import RuntimeContext
from motorpool.runtime.snapshot import ActorState
from motorpool.runtime.specs import ChildSpec, Restart

if TYPE_CHECKING:
    from motorpool.runtime.supervisor import Supervisor


class Singleton(ActorGroup[None, M]):
    """The one actor of a `ChildSpec`. Its mailbox is there before and after it, while the system lives."""

    life_level = logging.INFO

    def __init__(
        self, spec: ChildSpec[M], path: str, runtime: RuntimeContext, supervisor: "Supervisor"
    ) -> None:
        super().__init__(spec.kind, path, spec, runtime)
        self.resident = spec.resident
        self._factory = spec.factory
        self._supervisor = supervisor
        self._cell = self.cells[None] = Cell(self, None)
        self._rested = trio.Event()
        self._born = False

    def path_of(self, key: object) -> str:
        """Where it stands in the tree."""
        return self.path

    def find(self, key: object) -> Cell[M]:
        """The one cell; raises ActorStopped once it is gone."""
        if key is not None:
            raise KeyError(f"there is only one {self.path}, and no {key!r} of it")
        if self._cell.state is State.STOPPED:
            raise ActorStopped(self.path)
        return self._cell

    def build(self, cell: Cell[M]) -> Actor[M]:
        """A new actor."""
        return self._factory()

    @property
    def comes_back(self) -> bool:
        """Whether another actor follows one that left by itself."""
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
        cell.restarts += self._born
        self._born = True
        cell.watched = True
        try:
            cell.launch()
            await cell.wait_settled()
        finally:
            unstarted, cell.watched = cell.watched, False
        if unstarted and cell.error is not None:
            raise ActorFailed(self.path) from cell.error

    async def suspend(self) -> None:
        """End the actor, keep its mailbox."""
        if self._cell.state in (State.DOWN, State.STOPPED):
            return
        if self._rested.is_set():
            self._rested = trio.Event()
        self._cell.request(End.SUSPEND)
        await self._rested.wait()

    async def stop(self) -> None:
        """End the actor for good."""
        if self._cell.state is not State.STOPPED:
            gone = self._cell.gone()
            self._cell.request(End.STOP)
            await gone.wait()

    def cut_off(self) -> None:
        """End the actor at once."""
        self._cell.cut_off()

    def closed(self, cell: Cell[M], reason: End) -> None:
        """Leave restarts to the supervisor."""
        failed = reason is End.CRASH and self.restart is not Restart.TEMPORARY
        if reason is End.SUSPEND or (failed and cell.watched):
            cell.rest()
        elif failed or (reason is End.LEAVE and self.comes_back):
            cell.rest()
            self._supervisor.child_failed(self, cell.error)
        else:
            cell.retire()
        self._rested.set()

    def forget(self, cell: Cell[M]) -> None:
        """Keep the cell: its last state stays in the picture."""

    def state(self, limit: int) -> ActorState:
        """The picture of the actor."""
        return self.state_of(self._cell)
