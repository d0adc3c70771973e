"""The life of one actor: from its first message, over crashes and restarts, to its end.

A cell is what refs resolve to. It keeps the mailbox while actors are started and replaced inside it. It
takes a few hundred bytes and has tasks only while something waits:

- the *worker* awaits `start`, handlers that wait, and `stop`, and drains what queued meanwhile; it ends when
  the mailbox is empty;
- the *body* is the actor's own `run`, if it has one; an actor that outlives it goes on without a task.

With no worker the actor is idle, and a message to it is handled at once in the sender's task
(`handle_now`), one at a time: what arrives from inside that handler queues behind it. Either way a failure
is a crash of the actor and never reaches the sender.

A life ends in two steps. `ending` is set, once; from then on no message is begun. When the last task has
ended, or the inline turn where there was none, the life is closed and the group decides what comes next:
`launch` again, now or after a while, or `retire`.
"""

import logging
from collections.abc import Callable, Coroutine
from time import perf_counter
from types import CoroutineType
from typing import Any, Final, Generic, Protocol, TypeVar

import trio

from motorpool.runtime.deferred import Envelope
from motorpool.runtime.errors import ActorFailed, ActorStopped
from motorpool.runtime.guard import CrashGuard
from motorpool.runtime.intensity import RestartHistory
from motorpool.runtime.kind import Kind, M
from motorpool.runtime.life_scope import LifeScope
from motorpool.runtime.lifecycle import EndReason, State
from motorpool.runtime.mailbox import Mailbox
from motorpool.runtime.runtime_context import RuntimeContext
from motorpool.runtime.snapshot import KindTotals
from motorpool.runtime.timer_heap import Timer

INLINE_DEPTH: Final = 16
"""Handlers that run inside one another's `tell`; deeper ones get a task of their own."""

INLINE_TURNS: Final = 16
"""Messages one sender handles for an actor before a worker takes over what queued behind them."""

SLICE_SECONDS: Final = 0.002
"""A worker yields to other tasks after this time. Real seconds, not the clock's: the limit is on CPU time."""

SLICE_CHECK_MESSAGES: Final = 16
"""Messages between two checks of the time slice; a check costs as much as half a message."""

M_contra = TypeVar("M_contra", contravariant=True)

log = logging.getLogger(__name__)


class Behaviour(Protocol[M_contra]):
    """The interface that a cell calls: the methods of an `Actor`."""

    @property
    def context(self) -> object:
        """Identifies this actor object, as opposed to the one before a restart."""

    @property
    def outlives_run(self) -> bool:
        """Whether the life goes on when `run` has returned."""

    def overrides(self, method: str) -> bool:
        """Whether `start`, `run` or `stop` does anything."""

    async def start(self) -> None:
        """Load the initial state."""

    def handle(self, message: M_contra) -> object:
        """Handle one message; a coroutine is awaited."""

    async def run(self) -> None:
        """Work beside the messages."""

    def may_leave(self) -> bool:
        """Whether it may end when it is idle."""

    async def stop(self) -> None:
        """End in order."""

    def release(self) -> None:
        """Release everything."""


class Group(Protocol[M]):
    """The actors of one kind, as their cells and refs see them."""

    kind: Kind[Any, M]
    path: str
    runtime: RuntimeContext
    system: Any
    """The System; only contexts use it, and it stands above this module."""
    cells: "dict[object, Cell[M]]"
    mailbox_size: int
    start_seconds: float
    shutdown_seconds: float
    starts_on_message: bool
    """Whether an actor that was stopped is started again by the next message."""

    @property
    def restarts_after_leaving(self) -> bool:
        """Whether an actor that ended on its own is replaced."""

    def path_of(self, key: object) -> str:
        """Return the path of the actor with this key."""

    def find(self, key: object) -> "Cell[M]":
        """Return the cell of this key, created if the spec says so; else raise ActorStopped."""

    async def start_child(self, key: Any, factory: Callable[[], Behaviour[M]] | None) -> None:  # noqa: ANN401 - any key
        """Start the actor of this key, made by `factory`."""

    def totals(self) -> KindTotals:
        """Return the sums over all actors."""

    def create(self, cell: "Cell[M]") -> Behaviour[M]:
        """Return a new actor for `cell`, with its context."""

    def refuse(self, cell: "Cell[M]") -> None:
        """Stop accepting messages for an ending actor."""

    def closed(self, cell: "Cell[M]", reason: EndReason) -> None:
        """Restart, keep or remove a cell whose life has ended."""

    def forget(self, cell: "Cell[M]") -> None:
        """Drop a retired cell."""


class Cell(Generic[M]):
    """The place of one actor: its mailbox, state and tasks. Internal; other code holds a `Ref`."""

    __slots__ = (
        "_run_scope",
        "_settled",
        "_stopped_event",
        "_tasks",
        "_timer",
        "actor",
        "began",
        "ending",
        "error",
        "factory",
        "group",
        "handled",
        "handled_at_check",
        "handled_at_start",
        "history",
        "idle",
        "idle_checks",
        "key",
        "last_error",
        "life_scope",
        "mailbox",
        "requested",
        "restarts",
        "start_awaited",
        "state",
        "worker",
    )

    def __init__(self, group: Group[M], key: object) -> None:
        self.group = group
        self.key = key
        self.mailbox = Mailbox(group.mailbox_size)
        self.actor: Behaviour[M] | None = None
        self.factory: Callable[[], Behaviour[M]] | None = None  # its own, where the group's is not used
        self.state = State.DOWN
        self.began = 0.0  # by the monotonic clock, when this life began
        self.idle = False  # running, no worker, no handler up the stack: messages are handled at once
        self.worker: trio.CancelScope | None = None
        self.requested: EndReason | None = None  # STOP or SUSPEND: requested from outside
        self.ending: EndReason | None = None
        self.error: Exception | None = None  # the crash that ended the latest life
        self.last_error = ""
        self.handled = 0
        self.restarts = 0
        self.history: RestartHistory | None = None
        self.start_awaited = False  # a caller waits for the start and receives its failure
        self.life_scope: LifeScope | None = None
        self.handled_at_start = 0  # `handled` when this life began
        self.handled_at_check = 0  # `handled` at the group's last look for idle actors
        self.idle_checks = 0  # looks since it changed
        self._run_scope: trio.CancelScope | None = None
        self._tasks = 0
        self._timer: Timer | None = None  # the deadline of an orderly end, or the wait before a restart
        self._settled: trio.Event | None = None
        self._stopped_event: trio.Event | None = None

    @property
    def path(self) -> str:
        """Its path in the tree."""
        return self.group.path_of(self.key)

    @property
    def is_quiescent(self) -> bool:
        """Whether no handler, worker or `run` is active."""
        return self.idle and self._run_scope is None

    def launch(self) -> None:
        """Begin a life: build the actor, start it, handle what is queued. A failure counts as a crash."""
        self.state = State.STARTING
        self.requested = self.error = self._timer = None
        self.handled_at_start = self.handled
        self.began = self.group.runtime.clock.monotonic()
        if self.mailbox.sealed:
            self.mailbox.unseal()
        with CrashGuard(self.crash):
            actor = self.actor = self.group.create(self)
            if actor.overrides("start"):
                self.start_worker()
                return
            self.started()
            if self.mailbox.depth:
                self.start_worker()
            else:
                self.idle = True

    def started(self) -> None:
        """Enter the state RUNNING after `start` has returned, and begin `run`."""
        assert self.actor is not None
        self.state = State.RUNNING
        self.start_awaited = False
        self._settle()
        log.debug("%s started", self.path)
        if self.actor.overrides("run"):
            self._spawn_run(self.actor)

    def start_worker(
        self, coroutine: "Coroutine[Any, Any, object] | None" = None, item: object = None
    ) -> None:
        """Start a worker; it first awaits `coroutine`, which handling `item` returned."""
        self.idle = False
        self.worker = trio.CancelScope()
        self._tasks += 1
        self.group.runtime.spawn(run_worker, self, self.worker, coroutine, item, name=self.path)

    def begin_run(self, context: object) -> None:
        """Call `run` again; ignored while it runs, at the end, and for the `context` of an earlier life."""
        actor = self.actor
        if actor is None or actor.context is not context or self.ending is not None:
            return
        if self.state is State.RUNNING and self._run_scope is None:
            self._spawn_run(actor)

    async def become(self, context: object, actor: Behaviour[M]) -> None:
        """Put another actor object in the place of this life's, and start it; messages wait meanwhile.

        `context` is that of both. What is pending, and timers, stay. Raises ActorStopped if the life is over.
        """
        if self.actor is None or self.actor.context is not context:
            raise ActorStopped(self.path)
        former, self.actor = self.actor, actor
        former.release()
        if actor.overrides("start"):
            with trio.fail_after(self.group.start_seconds):
                await actor.start()
        if self.state is State.RUNNING and self.ending is None and actor.overrides("run"):
            self._spawn_run(actor)

    def put_back(self, item: object) -> None:
        """Handle a message once more, after those that wait; beyond the bound, since it was in it before."""
        if isinstance(item, Envelope) and not item.pending:
            return
        if self.idle:
            handle_now(self, item)
        elif self.mailbox.sealed:
            self._dead_letter(item)
        else:
            self.mailbox.put_unbounded(item)

    def _spawn_run(self, actor: Behaviour[M]) -> None:
        self._run_scope = trio.CancelScope()
        self._tasks += 1
        self.group.runtime.spawn(self._run_actor, actor, self._run_scope, name=f"{self.path} run")

    def tick(self, message: M) -> None:
        """Tell the actor a message that comes by time; lost where the mailbox is full."""
        self.handled_at_check += 1  # it does not keep the actor from being idle
        if self.idle:
            handle_now(self, message)
        else:
            self.mailbox.put(message)

    def create_timer(self, context: object, message: M, interval: float | None = None) -> Timer:
        """Return an unarmed timer that sends `message` and ends with the life that `context` belongs to."""
        scope = self.scope_of(context)
        timer = MessageTimer(self, message, interval)
        scope.add_timer(timer)
        return timer

    def scope_of(self, context: object) -> LifeScope:
        """Return the scope of the life that `context` belongs to. Raises ActorStopped if that is over."""
        if self.actor is None or self.actor.context is not context:
            raise ActorStopped(self.path)
        return self.ensure_life_scope()

    def ensure_life_scope(self) -> LifeScope:
        """Return the scope of what ends with this life, created at first use."""
        if self.life_scope is None:
            self.life_scope = LifeScope()
        return self.life_scope

    def end_error(self) -> ActorFailed | ActorStopped:
        """Return the error for requests that were begun and will not be answered because this life ends."""
        return ActorStopped(self.path) if self.error is None else self._failed(self.error)

    def _failed(self, error: Exception) -> ActorFailed:
        failed = ActorFailed(self.path)
        failed.__cause__ = error
        return failed

    def leave(self, context: object) -> None:
        """End at the actor's own request; ignored when `context` belongs to an earlier life."""
        if self.actor is not None and self.actor.context is context:
            self.end(EndReason.LEAVE)

    def request(self, wanted: EndReason) -> None:
        """End at the request of others: STOP after what is accepted, SUSPEND after the current message."""
        if self.state is State.STOPPED or self.requested is EndReason.STOP:
            return
        self.requested = wanted
        if wanted is EndReason.STOP:
            self.group.refuse(self)
        if self.state is State.DOWN:
            self._close()
            return
        if self.state is State.STARTING and (wanted is EndReason.SUSPEND or not self.mailbox.depth):
            self.abort()  # this start is no longer needed
            return
        if wanted is EndReason.SUSPEND or self.idle:
            self.end(wanted)
            return
        self._arm_shutdown_timer()

    def end(self, reason: EndReason) -> None:
        """Begin no further message; finish now, or as soon as the current message is handled."""
        if self.ending is not None:
            return
        self.ending = reason
        if self.life_scope is not None:
            self.life_scope.cancel_timers()  # or the next tick would call for a fresh actor
        if reason in (EndReason.LEAVE, EndReason.IDLE) and not self.group.restarts_after_leaving:
            self.group.refuse(self)
        if self.idle:
            self.finish_ending()
            return
        self._arm_shutdown_timer()

    def finish_ending(self) -> None:
        """Continue an end where there is no worker to do it."""
        assert self.actor is not None
        self.idle = False
        self.state = State.STOPPING
        if self.actor.overrides("stop"):
            self.start_worker()
        elif self._run_scope is not None:
            self._run_scope.cancel()
        elif self._tasks == 0:
            self._close()
            return
        self._arm_shutdown_timer()

    async def stop_actor(self) -> None:
        """Run `stop`, then cancel `run`; the last thing a worker does."""
        assert self.actor is not None
        self.state = State.STOPPING
        with CrashGuard(self.crash):
            await self.actor.stop()
        if self._run_scope is not None:
            self._run_scope.cancel()

    def crash(self, error: Exception, item: object = None) -> None:
        """End because the actor's code failed, on `item` if it was a message."""
        self.last_error = f"{type(error).__name__}: {error}"
        if self.state is State.STARTING and isinstance(error, OSError):
            # Of the system, not of the code: a port is in use, a file cannot be opened.
            log.error("%s does not start: %s", self.path, error.strerror or error)
        else:
            log.error("%s crashed: %s", self.path, self.last_error, exc_info=error)
        if isinstance(item, Envelope):
            item.fail(self._failed(error))
        if self.ending is not None:
            return
        self.ending = EndReason.CRASH
        self.error = error
        self.idle = False
        self._cancel_tasks()

    def abort(self) -> None:
        """End at once: what still runs is cancelled, what still waits is not handled."""
        if self.state is State.DOWN or self.state is State.STOPPED:
            return
        if self.ending is None:
            self.ending = self.requested or EndReason.STOP
        self.idle = False
        self._cancel_tasks()

    def worker_left(self) -> None:
        """Record that the worker's task is over."""
        self.worker = None
        if self.ending is None:
            self.idle = True
        self._task_left()

    async def wait_settled(self) -> None:
        """Wait until the start that is under way has succeeded or failed."""
        if self.state is State.STARTING:
            if self._settled is None:
                self._settled = trio.Event()
            await self._settled.wait()

    def stopped_event(self) -> trio.Event:
        """Set when the actor has ended and is not about to be restarted. Not for a stopped cell."""
        if self._stopped_event is None:
            self._stopped_event = trio.Event()
        return self._stopped_event

    async def wait_stopped(self) -> None:
        """Wait until the actor has ended and is not about to be restarted."""
        if self.state is not State.STOPPED:
            await self.stopped_event().wait()

    def relaunch(self) -> None:
        """Begin a fresh life at once, after an orderly end, for messages that came meanwhile."""
        self._notify_stopped()
        self.launch()

    def restart_after(self, seconds: float) -> None:
        """Begin another life after a while; messages wait."""
        self.restarts += 1
        self.state = State.DOWN
        self._timer = self.group.runtime.timers.after(seconds, self.launch)
        log.info("%s restarts in %.2f s", self.path, seconds)

    def rest(self) -> None:
        """Wait to be launched by a supervisor; messages wait."""
        self.state = State.DOWN
        self.requested = None

    def dead_letter_all(self) -> None:
        """Turn what was accepted and not handled into dead letters."""
        for item in self.mailbox.clear():
            self._dead_letter(item)

    def reject_waiters(self) -> None:
        """Raise ActorStopped in senders that wait for room."""
        for item in self.mailbox.reject_waiters(lambda: ActorStopped(self.path)):
            self._dead_letter(item)

    def retire(self) -> None:
        """End for good; every sender and every waiter is released."""
        self.state = State.STOPPED
        self.mailbox.seal()
        self.dead_letter_all()
        self.reject_waiters()
        self.group.forget(self)
        self._notify_stopped()

    def _dead_letter(self, item: object) -> None:
        if isinstance(item, Envelope):
            item.fail(ActorStopped(self.path))
        else:
            # Its content may be large, or secret.
            log.debug("%s has not handled a %s", self.path, type(item).__name__)
            self.group.runtime.dead_letters += 1

    async def _run_actor(self, actor: Behaviour[M], scope: trio.CancelScope) -> None:
        returned = False
        try:
            with scope, CrashGuard(self.crash):
                await actor.run()
                returned = True
        finally:
            self._run_scope = None
            if not (returned and actor.outlives_run):
                self.end(EndReason.LEAVE)
            self._task_left()

    def _task_left(self) -> None:
        self._tasks -= 1
        if self.ending is not None and self._tasks == 0:
            self._close()

    def _cancel_tasks(self) -> None:
        if self.worker is not None:
            self.worker.cancel()
        if self._run_scope is not None:
            self._run_scope.cancel()
        if self._tasks == 0:
            self._close()

    def _arm_shutdown_timer(self) -> None:
        if self._timer is None:
            self._timer = self.group.runtime.timers.after(
                self.group.shutdown_seconds, self._shutdown_timed_out
            )

    def _shutdown_timed_out(self) -> None:
        self.last_error = f"did not stop within {self.group.shutdown_seconds:g} s"
        log.warning("%s %s and was cancelled", self.path, self.last_error)
        self.abort()

    def _close(self) -> None:
        reason = self.requested or self.ending
        assert reason is not None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.life_scope is not None:
            self.life_scope.close(self.end_error)
        if self.state is not State.DOWN and reason is not EndReason.CRASH:
            log.debug("%s %s", self.path, reason.value)
        if self.actor is not None:
            try:
                self.actor.release()
            except Exception as error:
                log.error("%s crashed in release: %s", self.path, error, exc_info=error)
        self.life_scope = self.actor = self.ending = None
        self.group.closed(self, reason)
        self._settle()

    def _settle(self) -> None:
        if self._settled is not None and self.state is not State.STARTING:
            self._settled.set()
            self._settled = None

    def _notify_stopped(self) -> None:
        if self._stopped_event is not None:
            self._stopped_event.set()
            self._stopped_event = None


class MessageTimer(Timer):
    """Tells the actor in `cell` a message, through its mailbox."""

    __slots__ = ("_cell", "_message")

    def __init__(self, cell: Cell[Any], message: object, interval: float | None) -> None:
        super().__init__(interval)
        self._cell = cell
        self._message = message

    def cancel(self) -> None:
        """Never fire again."""
        super().cancel()
        self._remove()

    def fire(self) -> None:
        """Tell it."""
        cell = self._cell
        if self.interval is not None:
            cell.tick(self._message)
            return
        self._remove()
        cell.handled_at_check += 1  # messages of its own timers do not keep it from being idle
        if cell.idle:
            handle_now(cell, self._message)
        elif not cell.mailbox.sealed:
            # Lost, it could stop the actor for good; there is never more than one for each timer it set.
            cell.mailbox.put_unbounded(self._message)

    def _remove(self) -> None:
        if self._cell.life_scope is not None:
            self._cell.life_scope.remove_timer(self)


def handle_now(cell: Cell[Any], item: object) -> None:
    """Handle `item` in the caller's task, and what queues behind it; only while the cell is idle."""
    runtime = cell.group.runtime
    if runtime.depth >= INLINE_DEPTH:
        cell.mailbox.put(item)
        cell.start_worker()
        return
    actor = cell.actor
    assert actor is not None
    runtime.depth += 1
    cell.idle = False
    turns = 0
    try:
        while True:
            result = actor.handle(item.message if type(item) is Envelope else item)
            if type(result) is CoroutineType:
                cell.start_worker(result, item)
                return
            cell.handled += 1
            if type(item) is Envelope:
                item.answer(result)
                if item.pending:
                    cell.ensure_life_scope().add_pending(item)
            if cell.ending is not None:
                cell.finish_ending()
                return
            if cell.mailbox.incoming is None and (not turns or not cell.mailbox.depth):
                cell.idle = True
                if cell.requested is not None:
                    cell.end(cell.requested)
                return
            turns += 1
            if turns == INLINE_TURNS:
                cell.start_worker()
                return
            item = cell.mailbox.pop()
    except Exception as error:
        cell.crash(error, item)
    except BaseException:
        cell.start_worker()  # for what queued; the exception is the sender's
        raise
    finally:
        runtime.depth -= 1


async def run_worker(
    cell: Cell[Any], scope: trio.CancelScope, coroutine: Coroutine[Any, Any, object] | None, item: object
) -> None:
    """The worker's task: the coroutine it was given, then what is queued, then the end if it is due."""
    try:
        with scope:
            if coroutine is not None:
                await _finish(cell, coroutine, item)
            elif cell.state is State.STARTING:
                await _start(cell)
            if cell.ending is None:
                await _drain(cell)
            if cell.ending is not None and cell.ending is not EndReason.CRASH:
                await cell.stop_actor()
    finally:
        cell.worker_left()


async def _start(cell: Cell[Any]) -> None:
    assert cell.actor is not None
    with CrashGuard(cell.crash):
        with trio.fail_after(cell.group.start_seconds):
            await cell.actor.start()
        if cell.ending is None:
            cell.started()


async def _finish(cell: Cell[Any], coroutine: Coroutine[Any, Any, object], item: object) -> None:
    """Await what handling `item` returned."""
    try:
        with CrashGuard(cell.crash, item):
            value = await coroutine
            cell.handled += 1
            if type(item) is Envelope:
                item.answer(value)
                if item.pending:
                    cell.ensure_life_scope().add_pending(item)
    except BaseException:
        if type(item) is Envelope:
            item.fail(cell.end_error())  # cancelled in the middle
        raise


async def _drain(cell: Cell[Any]) -> None:
    """Handle messages until there are none, or until the actor ends."""
    actor, mailbox = cell.actor, cell.mailbox
    assert actor is not None
    handle = actor.handle
    while True:
        batch = mailbox.take()
        if batch is None:
            if cell.requested is not None:
                cell.ending = cell.requested
            return
        until = perf_counter() + SLICE_SECONDS
        countdown = SLICE_CHECK_MESSAGES
        for item in batch:
            if mailbox.waiting is not None:
                mailbox.admit()  # a message that is begun no longer takes a place, however long it runs
            try:
                result = handle(item.message if type(item) is Envelope else item)
            except Exception as error:
                cell.crash(error, item)
                return
            if type(result) is CoroutineType:
                await _finish(cell, result, item)
                if cell.actor is not None:
                    handle = cell.actor.handle  # it may have become another
            else:
                cell.handled += 1
                if type(item) is Envelope:
                    item.answer(result)
                    if item.pending:
                        cell.ensure_life_scope().add_pending(item)
            if cell.ending is not None:
                return
            countdown -= 1
            if countdown == 0:
                countdown = SLICE_CHECK_MESSAGES
                if perf_counter() > until:
                    await trio.lowlevel.checkpoint()
                    until = perf_counter() + SLICE_SECONDS
