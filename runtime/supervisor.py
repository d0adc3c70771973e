"""Supervisors: start order, restarts, and stop in reverse order."""

import logging
from math import inf
from typing import Final

import trio

from motorpool.runtime.errors import ActorFailed, RestartIntensityExceeded
from motorpool.runtime.intensity import RestartHistory
from motorpool.runtime.lifecycle import State
from motorpool.runtime.node import Node, Parent
from motorpool.runtime.runtime_context import RuntimeContext
from motorpool.runtime.signal import Signal
from motorpool.runtime.snapshot import ActorState
from motorpool.runtime.specs import Strategy, SupervisorSpec

log = logging.getLogger(__name__)


class Supervisor:
    """One inner node of the tree. Its task sleeps until a child fails."""

    def __init__(self, spec: SupervisorSpec, path: str, runtime: RuntimeContext, parent: Parent) -> None:
        self.path = path
        self.children: list[Node] = []
        """In start order; filled when the tree is built."""
        self._spec: Final = spec
        self._runtime = runtime
        self._parent = parent
        self._state = State.DOWN
        self._history = RestartHistory(spec.intensity, spec.period_seconds, spec.back_off)
        self._restarts = 0
        self._last_error = ""
        self._failed: dict[Node, Exception | None] = {}
        self._child_failure = Signal()
        self._watching = trio.CancelScope()
        self._watch_ended = trio.Event()
        self._watch_ended.set()

    @property
    def down(self) -> bool:
        """Whether a start is due."""
        return self._state is State.DOWN

    def child_failed(self, child: Node, error: Exception | None) -> None:
        """Record that `child` needs a restart; `error` is None where it ended in order."""
        self._failed[child] = error
        self._child_failure.set()

    async def start(self) -> None:
        """Start the children, in order. If one fails, those before it end again and the failure is raised."""
        if not self.down:
            return
        self._state = State.STARTING
        self._failed.clear()
        try:
            for child in self.children:
                await child.start()
        except ActorFailed:
            await self._suspend(self.children)
            self._state = State.DOWN
            raise
        self._state = State.RUNNING
        self._watching = trio.CancelScope()
        self._watch_ended = trio.Event()
        self._runtime.spawn(self._watch, self._watching, self._watch_ended, name=f"{self.path} supervisor")

    async def suspend(self) -> None:
        """End the children, last first; their queued messages are kept."""
        if self._state is State.STOPPED:
            return
        await self._stop_watching()
        await self._suspend(self.children)
        self._state = State.DOWN

    async def stop(self) -> None:
        """End the children for good, last first, within `shutdown_seconds`."""
        limit = self._spec.shutdown_seconds
        with trio.move_on_after(inf if limit is None else limit) as patience:
            await self._stop_watching()
            self._state = State.STOPPING
            for child in reversed(self.children):
                await child.stop()
        if patience.cancelled_caught:
            log.warning("%s did not stop within %g s; what is left is cancelled", self.path, limit)
            self._watching.cancel()
            self.abort()
            for child in reversed(self.children):
                await child.stop()
        self._state = State.STOPPED

    def abort(self) -> None:
        """End the children at once."""
        for child in reversed(self.children):
            child.abort()

    def state(self, limit: int) -> ActorState:
        """Return the state of this node and all below, with at most `limit` children for each kind."""
        children = tuple(child.state(limit) for child in self.children)
        return ActorState(
            path=self.path,
            kind="supervisor",
            state=self._state.value,
            depth=sum(child.depth for child in children),
            handled=sum(child.handled for child in children),
            restarts=self._restarts,
            last_error=self._last_error,
            alive=sum(child.alive for child in children),
            children=children,
        )

    async def _watch(self, scope: trio.CancelScope, over: trio.Event) -> None:
        """Restart children as they fail; escalate when that happens too often."""
        exceeded: RestartIntensityExceeded | None = None
        try:
            with scope:
                exceeded = await self._restart_until_exceeded()
            if exceeded is not None:
                self._last_error = str(exceeded)
                log.error("%s", exceeded)
                await self._suspend(self.children)
                self._state = State.DOWN
        finally:
            over.set()
        if exceeded is not None:
            self._parent.child_failed(self, exceeded)

    async def _restart_until_exceeded(self) -> RestartIntensityExceeded:
        async with trio.open_nursery() as nursery:
            while True:
                while not self._failed:
                    await self._child_failure.wait()
                child = next(iter(self._failed))
                error = self._failed.pop(child)
                delay = self._history.next_delay(self._runtime.clock.monotonic())
                if delay is None:
                    break
                self._restarts += 1
                log.warning("%s is restarted in %.2f s", child.path, delay)
                if self._spec.strategy is Strategy.ONE_FOR_ONE:
                    nursery.start_soon(self._restart, [child], delay)
                else:
                    first = self.children.index(child)
                    await self._suspend(self.children[first + 1 :])
                    await self._restart(self.children[first:], delay)
            nursery.cancel_scope.cancel()  # restarts that still wait for their time
        assert self._spec.intensity is not None
        exceeded = RestartIntensityExceeded(self.path, self._spec.intensity, self._spec.period_seconds)
        exceeded.__cause__ = error
        return exceeded

    async def _restart(self, children: list[Node], delay: float) -> None:
        """Start `children` in order after a while. The one that fails at that is the next to be restarted."""
        await trio.sleep(delay)
        for child in children:
            self._failed.pop(child, None)
            try:
                await child.start()
            except ActorFailed as failed:
                cause = failed.__cause__
                self.child_failed(child, cause if isinstance(cause, Exception) else failed)
                return

    async def _suspend(self, children: list[Node]) -> None:
        for child in reversed(children):
            await child.suspend()

    async def _stop_watching(self) -> None:
        self._watching.cancel()
        await self._watch_ended.wait()
