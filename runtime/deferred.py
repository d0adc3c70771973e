"""Answers other than a value: one that is given later, and one that is an error."""

from typing import TYPE_CHECKING, Generic

from motorpool.runtime.kind import T

if TYPE_CHECKING:
    from motorpool.runtime.envelope import Envelope


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

    def bind(self, envelope: "Envelope") -> None:
        """Attach the request; called by the runtime."""
        self._envelope = envelope
        if self._answered:
            envelope.answer(self._value)
