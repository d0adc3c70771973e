"""The supervision tree of a system: built from its specs, started, and stopped in reverse."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import trio

from motorpool.runtime.actor_group import ActorGroup
from motorpool.runtime.clock import Clock, SystemClock
from motorpool.runtime.conditions import Conditions
from motorpool.runtime.dynamic import Dynamic
from motorpool.runtime.kind import Kind
from motorpool.runtime.node import Node, Parent
from motorpool.runtime.singleton import Singleton
from motorpool.runtime.specs import ChildSpec, SupervisorSpec
from motorpool.runtime.supervisor import Supervisor
from motorpool.runtime.system import System

F = TypeVar("F", bound=ActorGroup[Any, Any])


class _Tree:
    """The parent of the root supervisor."""

    def __init__(self, spec: SupervisorSpec, system: System) -> None:
        self._system: Final = system
        self._groups: dict[Kind[Any, Any], ActorGroup[Any, Any]] = {}
        self._body = trio.CancelScope()
        self._failure: Exception | None = None
        self._root = self._build(spec, spec.name, "", self)
        system.adopt(self._root, self._groups)

    def child_failed(self, child: Node, error: Exception | None) -> None:
        """The root gave up: end the body with its error."""
        self._failure = error
        self._body.cancel()

    @asynccontextmanager
    async def running(self, stopping: trio.CancelScope) -> AsyncIterator[None]:
        """Start the tree, cancel what is inside if it fails, and stop it in any case."""
        try:
            with self._body:
                await self._root.start()
                yield
        finally:
            with stopping:
                await self._root.stop()
            self._system.close_topics()
            if self._failure is not None:
                raise self._failure

    def _build(self, spec: SupervisorSpec, path: str, prefix: str, parent: Parent) -> Supervisor:
        """Make the node of `spec` and all below it."""
        node = Supervisor(spec, path, self._system.runtime, parent)
        for child in spec.children:
            if isinstance(child, SupervisorSpec):
                inner = prefix + child.name
                node.children.append(self._build(child, inner, f"{inner}/", node))
            elif isinstance(child, ChildSpec):
                node.children.append(
                    self._register(Singleton(child, prefix + child.kind.name, self._system, node))
                )
            else:
                node.children.append(self._register(Dynamic(child, prefix + child.name, self._system)))
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
async def open_system(
    tree: SupervisorSpec, *, clock: Clock | None = None, conditions: Conditions | None = None
) -> AsyncIterator[System]:
    """Run the actors of `tree` around the body.

    Children are started left to right, each `start` awaited, before the body runs; a failure there raises
    ActorFailed. At the body's end, also by an exception or by cancellation from outside, they are stopped
    right to left, each within its `shutdown_seconds`. When the root supervisor gives up, the body is
    cancelled and RestartIntensityExceeded raised. `conditions` are those of the program, if it has some.
    """
    try:
        async with trio.open_nursery() as outer:
            stopping = trio.CancelScope(shield=True)
            # Cancelled here, nobody would end the nursery that is out of reach of it.
            with trio.CancelScope(shield=True):
                nursery = await outer.start(_hold_nursery, stopping)
            try:
                system = System(clock or SystemClock(), nursery, conditions)
                running = _Tree(tree, system).running(stopping)
                nursery.start_soon(system.timers.run)
                async with running:
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
