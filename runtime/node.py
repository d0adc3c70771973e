"""The interface between supervisors and their children."""

from typing import Protocol

from motorpool.runtime.snapshot import ActorState


class Node(Protocol):
    """A child of a supervisor: a singleton, a group of actors on demand, or a supervisor."""

    path: str

    @property
    def down(self) -> bool:
        """Whether a start is due."""

    async def start(self) -> None:
        """Start. Raises ActorFailed."""

    async def suspend(self) -> None:
        """End the actors; keep their mailboxes until `start`."""

    async def stop(self) -> None:
        """End for good."""

    def abort(self) -> None:
        """End at once."""

    def state(self, limit: int) -> ActorState:
        """Return the state, with at most `limit` children for each kind."""


class Parent(Protocol):
    """The parent that a child reports its failure to."""

    def child_failed(self, child: Node, error: Exception | None) -> None:
        """Note it; `error` is None where it ended in order."""
