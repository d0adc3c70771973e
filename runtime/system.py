"""Access to all actors of a running tree."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast, overload

import trio

from motorpool.runtime.cell import Behaviour, Group
from motorpool.runtime.clock import Clock
from motorpool.runtime.conditions import Conditions
from motorpool.runtime.errors import UnknownKind
from motorpool.runtime.kind import K, Kind, M, T
from motorpool.runtime.node import Node
from motorpool.runtime.ref import Ref
from motorpool.runtime.runtime_context import RuntimeContext
from motorpool.runtime.snapshot import ActorState, KindTotals, TopicStatistics
from motorpool.runtime.timers import Timers
from motorpool.runtime.topic import Topic, TopicName

SNAPSHOT_LIMIT: Final = 1000
"""Actors of one kind that a snapshot lists one by one, by default."""


class System:
    """All actors of one tree. Made by `open_system`; for the threads of that Trio run only."""

    def __init__(self, clock: Clock, nursery: trio.Nursery, conditions: Conditions | None = None) -> None:
        self.conditions: Final = conditions or Conditions(clock)
        """What is wrong at present."""
        self.began: Final = clock.now()
        """Wall time of its creation."""
        self.runtime: Final = RuntimeContext(clock, nursery)
        """What its actors share; for the runtime itself."""
        self._groups: Mapping[Kind[Any, Any], Group[Any]] = {}
        self._singletons: dict[Kind[None, Any], Ref[Any]] = {}
        """The refs of kinds without keys, shared by all who keep one."""
        self._topics: dict[TopicName[Any], Topic[Any]] = {}
        self._root: Node | None = None

    def __repr__(self) -> str:
        (root,) = self.snapshot(0)
        return f"<System {root.path}: {root.alive} actors>"

    def adopt(self, root: Node, groups: Mapping[Kind[Any, Any], Group[Any]]) -> None:
        """Take the tree, whose actors need the system to be made; called once, before they start."""
        self._root = root
        self._groups = groups

    @property
    def clock(self) -> Clock:
        """The one clock of this system."""
        return self.runtime.clock

    @property
    def timers(self) -> Timers:
        """Timers that call plain functions and have no owner; actors use the timers of their context."""
        return self.runtime.timers

    @property
    def dead_letters(self) -> int:
        """How many messages were accepted and never handled; the log names them at level DEBUG."""
        return self.runtime.dead_letters

    @overload
    def ref(self, kind: Kind[None, M]) -> Ref[M]: ...

    @overload
    def ref(self, kind: Kind[K, M], key: K) -> Ref[M]: ...

    def ref(self, kind: Kind[Any, M], key: Any = None) -> Ref[M]:
        """Return a handle on an actor, whether it exists or not; starts nothing. Raises UnknownKind."""
        if key is not None:
            return Ref(self._group(kind), key)
        found = self._singletons.get(kind)
        if found is None:
            found = self._singletons[kind] = Ref(self._group(kind), None)
        return found

    async def start(
        self, kind: Kind[K, M], key: K, factory: Callable[[], Behaviour[M]] | None = None
    ) -> Ref[M]:
        """Start an actor on demand that `factory`, or its spec, makes, also for restarts if its spec has any.

        Returns when its `start` is over. Raises UnknownKind; AlreadyStarted; ActorFailed, caused by the
        crash, and then there is no such actor; ActorStopped while the system stops. Cancelled: there is none
        either.
        """
        group = self._group(kind)
        await group.start_child(key, factory)
        return Ref(group, key)

    def keys(self, kind: Kind[K, Any]) -> list[K]:
        """The keys of all actors of this kind that are there, starting, or waiting for their restart."""
        return cast("list[K]", list(self._group(kind).cells))

    def count(self, kind: Kind[Any, Any]) -> int:
        """How many of them."""
        return len(self._group(kind).cells)

    def topic(self, name: TopicName[T]) -> Topic[T]:
        """Return the topic of this name, created at first use."""
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = Topic(name.name)
        return cast("Topic[T]", topic)

    def snapshot(self, limit: int = SNAPSHOT_LIMIT) -> tuple[ActorState, ...]:
        """Return the tree at this moment: the root with its children, at most `limit` actors of each kind."""
        assert self._root is not None
        return (self._root.state(limit),)

    def totals(self) -> list[KindTotals]:
        """Sums for each kind, in the order of the tree."""
        return [group.totals() for group in self._groups.values()]

    def topics(self) -> list[TopicStatistics]:
        """Return the counts of each topic in use."""
        return [topic.statistics() for topic in self._topics.values()]

    def close_topics(self) -> None:
        """End all subscriptions: nothing more will come."""
        for topic in self._topics.values():
            topic.close()

    def _group(self, kind: Kind[K, M]) -> Group[M]:
        try:
            return self._groups[kind]
        except KeyError:
            raise UnknownKind(kind.name) from None
