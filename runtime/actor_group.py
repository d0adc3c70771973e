"""All actors of one kind: their addresses, and what becomes of each when its life ends."""

from abc import ABC, abstractmethod
from typing import Generic

from motorpool.runtime.actor import Actor
from motorpool.runtime.cell import Cell
from motorpool.runtime.kind import K, Kind, M
from motorpool.runtime.life import End
from motorpool.runtime.ref import Ref
from motorpool.runtime.runtime_context import RuntimeContext
from motorpool.runtime.snapshot import ActorState, KindTotals
from motorpool.runtime.specs import ActorSpec


class ActorGroup(ABC, Generic[K, M]):
    """The runtime's side of a `Kind`: a child of a supervisor, and what a cell asks about its kind."""

    resident = False
    """Whether its actors keep a worker."""
    life_level: int
    """The log level of "started" and "left"."""
    reopens = False
    """Whether an actor that was stopped is started again by the next message."""

    def __init__(self, kind: Kind[K, M], path: str, spec: ActorSpec, runtime: RuntimeContext) -> None:
        self.kind = kind
        self.path = path
        self.runtime = runtime
        self.restart = spec.restart
        self.mailbox_size = spec.mailbox_size
        self.start_seconds = spec.start_seconds
        self.shutdown_seconds = spec.shutdown_seconds
        self.cells: dict[object, Cell[M]] = {}
        self._handled = 0  # by actors that are gone
        self._restarts = 0
        self._given_up = 0

    @abstractmethod
    def path_of(self, key: object) -> str:
        """Where the actor with this key stands in the tree."""

    @abstractmethod
    def find(self, key: object) -> Cell[M]:
        """The cell of this key, made if need be. Raises ActorStopped if there is none and none is made."""

    @abstractmethod
    def build(self, cell: Cell[M]) -> Actor[M]:
        """A new actor for `cell`."""

    @abstractmethod
    def closed(self, cell: Cell[M], reason: End) -> None:
        """Decide what becomes of a cell whose life has ended."""

    @property
    @abstractmethod
    def comes_back(self) -> bool:
        """Whether another actor follows one that left by itself."""

    @abstractmethod
    async def start(self) -> None:
        """Be there. Raises ActorFailed."""

    @abstractmethod
    async def suspend(self) -> None:
        """End all actors but keep what they are to be told, until `start`."""

    @abstractmethod
    async def stop(self) -> None:
        """End all actors, for good."""

    @abstractmethod
    def cut_off(self) -> None:
        """End all actors at once: time is up."""

    @abstractmethod
    def state(self, limit: int) -> ActorState:
        """The picture, with at most `limit` children."""

    def ref(self, key: object) -> Ref[M]:
        """A handle on one of them."""
        return Ref(self, key)

    def refuse(self, cell: Cell[M]) -> None:
        """Accept no more for the actor that is about to end; who waits for room waits only if it reopens."""
        cell.mailbox.seal()
        if not self.reopens:
            cell.reject_waiters()

    def forget(self, cell: Cell[M]) -> None:
        """Drop a retired cell, keeping its counts."""
        if self.cells.get(cell.key) is cell:
            del self.cells[cell.key]
            self._handled += cell.handled
            self._restarts += cell.restarts

    def totals(self) -> KindTotals:
        """Sums over all actors, those that are gone included where something is counted."""
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
        """The picture of one actor."""
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
        )
