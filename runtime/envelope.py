"""A request in transit: the message, the waiting task, and the outcome."""

from typing import Final

import trio

from motorpool.runtime.deferred import Deferred, Failure


class Envelope:
    """Carries one request and its answer. The first outcome counts; later ones are dropped."""

    __slots__ = ("_task", "error", "message", "pending", "value")

    def __init__(self, message: object) -> None:
        self.message: Final = message
        self.pending = True
        self.value: object = None
        self.error: Exception | None = None
        self._task: trio.lowlevel.Task | None = None

    def answer(self, value: object) -> None:
        """Resolve the request: with a value, the error of a Failure, or later by a Deferred."""
        if type(value) is Deferred:
            value.bind(self)
        elif type(value) is Failure:
            self.fail(value.error)
        elif self.pending:
            self.pending = False
            self.value = value
            self._wake()

    def fail(self, error: Exception) -> None:
        """Raise `error` in the asker."""
        if self.pending:
            self.pending = False
            self.error = error
            self._wake()

    async def wait(self) -> None:
        """Wait for the outcome. Cancelled: a later one is dropped."""
        self._task = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(self._abandon)

    def _abandon(self, _: object) -> trio.lowlevel.Abort:
        self.pending = False
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED

    def _wake(self) -> None:
        if self._task is not None:
            trio.lowlevel.reschedule(self._task)
            self._task = None
