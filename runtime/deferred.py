"""Requests in transit, and answers other than a value: one that is given later, and one that is an error."""

from collections.abc import Callable
from typing import Final, Generic

import trio

from motorpool.runtime.kind import T


class Failure:
    """Returned by a handler: the ask raises `error`, and the actor goes on.

    For expected errors, such as an unreachable database. An unexpected one is raised and crashes the actor.
    """

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class Deferred(Generic[T]):
    """Returned by a handler in place of an answer; the actor goes on with other messages meanwhile.

        def handle(self, message):
            reply = Deferred()
            self.waiting.append(reply)
            return reply            # later, on another message: reply.answer(value)

    The first answer counts. If none comes, the ask fails by its deadline, or when the actor ends before.
    """

    __slots__ = ("_answered", "_envelope", "_value")

    def __init__(self) -> None:
        self._envelope: Envelope | None = None
        self._answered = False
        self._value: T | Failure | None = None

    def answer(self, value: T | Failure) -> None:
        """Resolve the request now, or as soon as the handler has returned; by a Failure the ask raises."""
        if self._answered:
            return
        self._answered = True
        self._value = value
        if self._envelope is not None:
            self._envelope.answer(value)

    @property
    def is_awaited(self) -> bool:
        """Whether there is no answer yet, and the asker has not been cancelled or timed out."""
        return not self._answered and (self._envelope is None or self._envelope.pending)

    @property
    def envelope(self) -> "Envelope | None":
        """The request that it answers; None before the handler has returned, and for a message told."""
        return self._envelope

    def bind(self, envelope: "Envelope") -> None:
        """Attach the request; called by the runtime."""
        self._envelope = envelope
        if self._answered:
            envelope.answer(self._value)


class Envelope:
    """Carries one request and its answer. The first outcome counts; later ones are dropped."""

    __slots__ = ("_waiter", "error", "message", "on_end", "pending", "value")

    def __init__(self, message: object) -> None:
        self.message: Final = message
        self.pending = True
        self.value: object = None
        self.error: Exception | None = None
        self._waiter: trio.lowlevel.Task | Callable[[Envelope], None] | None = None
        self.on_end: Callable[[Envelope], None] | None = None
        """Called once the request has an outcome, or its asker was cancelled."""

    def answer(self, value: object) -> None:
        """Resolve the request: with a value, the error of a Failure, or later by a Deferred."""
        if type(value) is Deferred:
            value.bind(self)
        elif type(value) is Failure:
            self.fail(value.error)
        elif self.pending:
            self.value = value
            self._end()

    def fail(self, error: Exception) -> None:
        """Raise `error` in the asker."""
        if self.pending:
            self.error = error
            self._end()

    async def wait(self) -> None:
        """Wait for the outcome. Cancelled: a later one is dropped."""
        self._waiter = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(self._abandon)

    def notify(self, settled: "Callable[[Envelope], None]") -> None:
        """Call `settled(self)` with the outcome, in place of a task that waits."""
        self._waiter = settled

    def _abandon(self, _: object) -> trio.lowlevel.Abort:
        self._waiter = None
        self._end()
        return trio.lowlevel.Abort.SUCCEEDED

    def _end(self) -> None:
        self.pending = False
        if self._waiter is not None:
            self._wake(self._waiter)
        if self.on_end is not None:
            self.on_end(self)
            self.on_end = None

    def _wake(self, waiter: "trio.lowlevel.Task | Callable[[Envelope], None]") -> None:
        self._waiter = None
        if isinstance(waiter, trio.lowlevel.Task):
            trio.lowlevel.reschedule(waiter)
        else:
            waiter(self)
