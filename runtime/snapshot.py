"""The state of the tree at one moment, as plain values for JSON, metrics and tests."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorState:
    """One node of the tree at one moment: an actor, the actors of one kind, or a supervisor."""

    path: str
    kind: str
    """The kind's name; "supervisor" for a supervisor."""
    state: str
    """down, starting, running, stopping or stopped."""
    depth: int = 0
    """Messages that wait; for a node with children the sum of theirs."""
    size: int = 0
    """Messages that each mailbox holds at most; 0 for a supervisor or a task."""
    handled: int = 0
    """Messages handled; for the actors of one kind by ended ones as well."""
    restarts: int = 0
    """Restarts so far; a supervisor's own, not its children's."""
    last_error: str = ""
    """Class and text of the latest crash; empty when there was none."""
    alive: int = 1
    """Actors here and below."""
    age: float = 0.0
    """Seconds since an actor was started, the last time; 0 for what is no single actor."""
    children: "tuple[ActorState, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTotals:
    """All actors of one kind together."""

    kind: str
    alive: int
    depth: int
    handled: int
    restarts: int
    given_up: int
    """Actors on demand that were removed because they crashed too often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStatistics:
    """One topic at one moment."""

    name: str
    published: int
    subscriptions: int
    lost: int
    """Values that slow readers lost, each counted for each reader."""
    dropped: int
    """Values not forwarded because the actor's mailbox was full."""
