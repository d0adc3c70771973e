"""A running tree of actors, and access to all of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar, cast, overload

import trio

from motorpool.runtime.actor import Actor
from motorpool.runtime.actor_group import ActorGroup
from motorpool.runtime.clock import Clock, SystemClock
from motorpool.runtime.dead_letters import DeadLetters
from motorpool.runtime.dynamic import Dynamic
from motorpool.runtime.errors import UnknownKind
from motorpool.runtime.kind import K, Kind, M, T
from motorpool.runtime.ref import Ref
from motorpool.runtime.runtime_context import RuntimeContext
from motorpool.runtime.singleton import Singleton
from motorpool.runtime.snapshot import ActorState, KindTotals, TopicStatistics
from motorpool.runtime.specs import ChildSpec, SupervisorSpec
from motorpool.runtime.supervisor import Node, Parent, Supervisor
from motorpool.runtime.timers import Timers
from motorpool.runtime.topic import Topic, TopicName

SNAPSHOT_LIMIT: Final = 1000
"""Actors of one kind that a snapshot lists one by one, by default."""

F = TypeVar("F", bound=ActorGroup[Any, Any])


class System:
    """All actors of one tree. Made by `open_system`; for the threads of that Trio run only."""

    def __init__(
        self, tree: SupervisorSpec, clock: Clock, nursery: trio.Nursery, stopping: trio.CancelScope
    ) -> None:
        self.began: Final = clock.now()
        """Wall time of its creation."""
        self._runtime = RuntimeContext(self, clock, nursery)
        self._groups: dict[Kind[Any, Any], ActorGroup[Any, Any]] = {}
        self._topics: dict[TopicName[Any], Topic[Any]] = {}
        self._body = trio.CancelScope()
        self._stopping = stopping
        self._failure: Exception | None = None
        self._root = self._build_node(tree, tree.name, "", self)

    def __repr__(self) -> str:
        return f"<System {self._root.path}: {self._root.state(0).alive} actors>"

    @property
    def clock(self) -> Clock:
        """The one clock of this system."""
        return self._runtime.clock

    @property
    def timers(self) -> Timers:
        """Timers that call plain functions and have no owner; an actor uses those of its context."""
        return self._runtime.timers

    @property
    def dead_letters(self) -> DeadLetters:
        """Messages that were accepted and never handled: `count`, and the last few."""
        return self._runtime.dead_letters

    @overload
    def ref(self, kind: Kind[None, M]) -> Ref[M]: ...

    @overload
    def ref(self, kind: Kind[K, M], key: K) -> Ref[M]: ...

    def ref(self, kind: Kind[Any, M], key: Any = None) -> Ref[M]:
        """Return a handle on an actor, whether it exists or not; starts nothing. Raises UnknownKind."""
        return Ref(self._group(kind), key)

    async def start(self, kind: Kind[K, M], key: K, factory: Callable[[], Actor[M]] | None = None) -> Ref[M]:
        """Start an actor on demand that `factory`, or its spec, makes, also for restarts if its spec has any.

        Returns when its `start` is over. Raises UnknownKind; AlreadyStarted; ActorFailed, caused by the
        crash, and then there is no such actor; ActorStopped while the system stops. Cancelled: there is none
        either.
        """
        group = self._group(kind)
        if not isinstance(group, Dynamic):
            raise TypeError(f"{group.path} is a child of its supervisor and started by it")
        return await group.start_child(key, factory)

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
        return (self._root.state(limit),)

    def totals(self) -> list[KindTotals]:
        """Sums for each kind, in the order of the tree."""
        return [group.totals() for group in self._groups.values()]

    def topics(self) -> list[TopicStatistics]:
        """Return the counts of each topic in use."""
        return [topic.statistics() for topic in self._topics.values()]

    def child_failed(self, child: Node, error: Exception | None) -> None:
        """The root gave up: end the body with its error."""
        self._failure = error
        self._body.cancel()

    def _group(self, kind: Kind[K, M]) -> ActorGroup[K, M]:
        try:
            return self._groups[kind]
        except KeyError:
            raise UnknownKind(kind.name) from None

    def _build_node(self, spec: SupervisorSpec, path: str, prefix: str, parent: Parent) -> Supervisor:
        """Make the node of `spec` and all below it."""
        node = Supervisor(spec, path, self._runtime, parent)
        for child in spec.children:
            if isinstance(child, SupervisorSpec):
                inner = prefix + child.name
                node.children.append(self._build_node(child, inner, f"{inner}/", node))
            elif isinstance(child, ChildSpec):
                node.children.append(
                    self._register(Singleton(child, prefix + child.kind.name, self._runtime, node))
                )
            else:
                node.children.append(self._register(Dynamic(child, prefix + child.name, self._runtime)))
        paths = [child.path for child in node.children]
        if len(set(paths)) < len(paths):
            raise ValueError(f"two children of {path} have the same name")
        return node

    def _register(self, group: F) -> F:
        if group.kind in self._groups:
            raise ValueError(f"two children are of kind {group.kind.name}")
        self._groups[group.kind] = group
        return group

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        """Start the tree, cancel what is inside if it fails, and stop it in any case."""
        try:
            with self._body:
                await self._root.start()
                yield
        finally:
            with self._stopping:
                await self._root.stop()
            for topic in self._topics.values():
                topic.close()
            if self._failure is not None:
                raise self._failure


@asynccontextmanager
async def open_system(tree: SupervisorSpec, *, clock: Clock | None = None) -> AsyncIterator[System]:
    """Run the actors of `tree` around the body.

    Children are started left to right, each `start` awaited, before the body runs; a failure there raises
    ActorFailed. At the body's end, also by an exception or by cancellation from outside, they are stopped
    right to left, each within its `shutdown_seconds`. When the root supervisor gives up, the body is
    cancelled and RestartIntensityExceeded raised.
    """
    try:
        async with trio.open_nursery() as outer:
            stopping = trio.CancelScope(shield=True)
            # Cancelled here, nobody would end the nursery that is out of reach of it.
            with trio.CancelScope(shield=True):
                nursery = await outer.start(_hold_nursery, stopping)
            try:
                system = System(tree, clock or SystemClock(), nursery, stopping)
                nursery.start_soon(system.timers.run)
                async with system._running():
                    yield system
            finally:
                nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The nursery above wraps whatever leaves it; that one layer is ours and of no use to the caller.
        if len(group.exceptions) > 1:
            raise
        alone = group.exceptions[0]
        raise alone from alone.__cause__


async def _hold_nursery(
    stopping: trio.CancelScope, task_status: trio.TaskStatus[trio.Nursery] = trio.TASK_STATUS_IGNORED
) -> None:
    """Own the nursery of all actors, out of reach of a cancellation from outside: they end in their order."""
    try:
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                task_status.started(nursery)
                await trio.sleep_forever()
    finally:
        # After an orderly end this does nothing. When an actor's task ended by a KeyboardInterrupt, all
        # have ended at once.
        stopping.cancel()
