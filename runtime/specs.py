"""Descriptions of a supervision tree: children, how they start, and when they are restarted.

Units are seconds. Defaults follow OTP where it has one: five seconds to stop, permanent children; an
intensity of five restarts in a minute instead of one in five seconds, because the back-off spreads them.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Never, TypeAlias

from motorpool.runtime.actor import Actor
from motorpool.runtime.intensity import BackOff
from motorpool.runtime.kind import K, Kind, M


class Restart(enum.Enum):
    """When an actor that has ended on its own is restarted. An actor that was asked to stop is not restarted.

    What is not built anew stays away, also when its supervisor restarts the others.
    """

    PERMANENT = "permanent"
    """Always."""
    TRANSIENT = "transient"
    """After a crash."""
    TEMPORARY = "temporary"
    """Never."""


class Strategy(enum.Enum):
    """Which children are restarted when one ends."""

    ONE_FOR_ONE = "one_for_one"
    """That child alone."""
    REST_FOR_ONE = "rest_for_one"
    """That child and those started after it, which depend on it: stopped last first, started in order."""


@dataclass(frozen=True, kw_only=True)
class ActorSpec:
    """Fields common to every actor's description."""

    restart: Restart = Restart.PERMANENT
    mailbox_size: int = 1000
    """Messages that wait at most; one more makes its sender wait."""
    start_seconds: float = 30.0
    """A `start` that takes longer is a crash."""
    shutdown_seconds: float = 5.0
    """To handle what was accepted and to run `stop`; then it is cancelled."""

    def __post_init__(self) -> None:
        if self.mailbox_size < 1:
            raise ValueError(f"a mailbox holds at least one message, not {self.mailbox_size}")


@dataclass(frozen=True, kw_only=True)
class ChildSpec(ActorSpec, Generic[M]):
    """One actor that is there from the start of the system to its end."""

    kind: Kind[None, M]
    factory: Callable[[], Actor[M]]


@dataclass(frozen=True, kw_only=True)
class TaskSpec(ChildSpec[Never]):
    """An actor without a mailbox: a task, which nobody can address.

    It is started, restarted and stopped as other children are; snapshots and metrics show it by its name.
    """

    name: str
    kind: Kind[None, Never] = field(init=False)
    mailbox_size: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.name))


@dataclass(frozen=True, kw_only=True)
class DynamicSpec(ActorSpec, Generic[K, M]):
    """Many actors of one kind, one for each key, made on demand. Idle ones have no task.

    When all have to stop, `shutdown_seconds` is the time for all of them together.

    A child that needs more than `intensity` restarts within the period is given up: it is removed and its
    messages become dead letters. It does not escalate, for one poisoned key must not cost all others. The
    next message starts it afresh.
    """

    kind: Kind[K, M]
    name: str
    """The path segment: `devices` makes `devices/42`."""
    factory: Callable[[K], Actor[M]] | None = None
    """None: children are started by `System.start` only, with factories of their own."""
    restart: Restart = Restart.TRANSIENT
    idle_seconds: float | None = None
    """A child that has had no message for this time (up to a quarter longer) ends. None: never."""
    start_on_message: bool = True
    """Whether a message to a key that has no actor starts one (given a factory) or raises ActorStopped."""
    tick: M | None = None
    """Told to all children every `tick_seconds`: timers of their own would take 260 bytes of each. A child
    whose mailbox is full, or that starts or ends, misses a tick; ticks do not keep it from being idle."""
    tick_seconds: float = 0.0
    """Seconds between two ticks of a child. Many children are told one slice after the other."""
    intensity: int = 5
    period_seconds: float = 60.0
    back_off: BackOff = field(default_factory=BackOff)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)
        if self.idle_seconds is not None and self.idle_seconds <= 0:
            raise ValueError(f"idle_seconds must be positive, not {self.idle_seconds}")
        if self.tick is not None and self.tick_seconds <= 0:
            raise ValueError(f"tick_seconds must be positive, not {self.tick_seconds}")


@dataclass(frozen=True, kw_only=True)
class SupervisorSpec:
    """A node of the tree: children started in order, stopped in reverse, restarted by the strategy.

    More than `intensity` restarts within the period: it stops its children and fails, and its own
    supervisor restarts it as a whole; the root's failure ends the system. With None it never fails: the
    back-off alone limits the restarts.
    """

    name: str
    children: "tuple[Child, ...]"
    strategy: Strategy = Strategy.ONE_FOR_ONE
    intensity: int | None = 5
    period_seconds: float = 60.0
    back_off: BackOff = field(default_factory=BackOff)
    shutdown_seconds: float | None = None
    """For all children together; then those left are cancelled. None: the sum of what they have."""

    def __post_init__(self) -> None:
        check_name(self.name)


# Messages and keys differ from child to child, and no type expresses "some kind with its own messages".
Child: TypeAlias = ChildSpec[Any] | DynamicSpec[Any, Any] | SupervisorSpec


def check_name(name: str) -> None:
    """Refuse what would make a path ambiguous."""
    if not name or "/" in name:
        raise ValueError(f"a name is needed, without a slash, not {name!r}")
