"""All actors of one kind: how they are found and built, and what follows when a life ends."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic

from motorpool.runtime.actor import Actor, Context
from motorpool.runtime.cell import Behaviour, Cell, Group
from motorpool.runtime.kind import K, Kind, M
from motorpool.runtime.snapshot import ActorState, KindTotals
from motorpool.runtime.specs import ActorSpec
from motorpool.runtime.system import System


class ActorGroup(Group[M], ABC, Generic[K, M]):
    """The runtime's side of a `Kind`, whether of one actor or of many on demand."""

    starts_on_message = False
    """Whether an actor that was stopped is started again by the next message."""

    def __init__(self, kind: Kind[K, M], path: str, spec: ActorSpec, system: System) -> None:
        self.kind = kind
        self.path = path
        self.runtime = system.runtime
        self.system = system
        self.restart = spec.restart
        self.mailbox_size = spec.mailbox_size
        self.start_seconds = spec.start_seconds
        self.shutdown_seconds = spec.shutdown_seconds
        self.cells: dict[object, Cell[M]] = {}
        self._handled = 0  # by actors that were removed
        self._restarts = 0
        self._given_up = 0

    @abstractmethod
    def build(self, cell: Cell[M]) -> Actor[M]:
        """Return a new actor for `cell`, still without a context."""

    async def start_child(self, key: K, factory: Callable[[], Behaviour[M]] | None = None) -> None:
        """Start the actor of this key and wait until it has started. Raises ActorFailed."""
        raise TypeError(f"{self.path} is a child of its supervisor and started by it")

    def create(self, cell: Cell[M]) -> Actor[M]:
        """Return a new actor for `cell`, with its context."""
        actor = self.build(cell)
        actor.context = Context(cell)
        return actor

    def refuse(self, cell: Cell[M]) -> None:
        """Stop accepting messages for an ending actor; senders keep waiting only if a message restarts it."""
        cell.mailbox.seal()
        if not self.starts_on_message:
            cell.reject_waiters()

    def forget(self, cell: Cell[M]) -> None:
        """Drop a retired cell, keeping its counts."""
        if self.cells.get(cell.key) is cell:
            del self.cells[cell.key]
            self._handled += cell.handled
            self._restarts += cell.restarts

    def totals(self) -> KindTotals:
        """Sums over all actors, those that have ended included where something is counted."""
        cells = self.cells.values()
        return KindTotals(
            kind=self.kind.name,
            alive=sum(cell.actor is not None for cell in cells),
            depth=sum(cell.mailbox.depth for cell in cells),
            handled=self._handled + sum(cell.handled for cell in cells),
            restarts=self._restarts + sum(cell.restarts for cell in cells),
            given_up=self._given_up,
        )

    def state_of(self, cell: Cell[M]) -> ActorState:
        """Return the state of one actor."""
        return ActorState(
            path=self.path_of(cell.key),
            kind=self.kind.name,
            state=cell.state.value,
            depth=cell.mailbox.depth,
            size=self.mailbox_size,
            handled=cell.handled,
            restarts=cell.restarts,
            last_error=cell.last_error,
            alive=int(cell.actor is not None),
            age=0.0 if cell.actor is None else round(self.runtime.clock.monotonic() - cell.began, 3),
        )
