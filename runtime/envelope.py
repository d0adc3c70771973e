"""A request in transit: the message, the waiting task, and the outcome."""

from collections.abc import Callable
from typing import Final

import trio

from motorpool.runtime.deferred import Deferred, Failure


class Envelope:
    """Carries one request and its answer. The first outcome counts; later ones are dropped."""

    __slots__ = ("_task", "error", "message", "on_end", "pending", "value")

    def __init__(self, message: object) -> None:
        self.message: Final = message
        self.pending = True
        self.value: object = None
        self.error: Exception | None = None
        self._task: trio.lowlevel.Task | None = None
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
        self._task = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(self._abandon)

    def _abandon(self, _: object) -> trio.lowlevel.Abort:
        self._task = None
        self._end()
        return trio.lowlevel.Abort.SUCCEEDED

    def _end(self) -> None:
        self.pending = False
        if self._task is not None:
            trio.lowlevel.reschedule(self._task)
            self._task = None
        if self.on_end is not None:
            self.on_end(self)
            self.on_end = None
