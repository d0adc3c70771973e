"""The scope of one life of an actor: its timers and listeners, and the requests it has not answered yet."""

from collections.abc import Callable
from typing import Protocol

from motorpool.runtime.deferred import Envelope


class Cancellable(Protocol):
    """Something that is cancelled when a life ends: a timer, or a listener of a topic."""

    def cancel(self) -> None:
        """Stop; nothing is called afterwards."""


class LifeScope:
    """Made by the first timer, listener or deferred answer, closed with the life. Most idle actors have none.

    Most of the others have one timer and nothing else, so the sets are made when they are needed.
    """

    __slots__ = ("_pending", "_timers")

    def __init__(self) -> None:
        self._timers: Cancellable | set[Cancellable] | None = None
        self._pending: set[Envelope] | None = None

    def __repr__(self) -> str:
        return f"<LifeScope: {len(self._all_timers())} timers, {len(self._pending or ())} answers pending>"

    def add_timer(self, timer: Cancellable) -> None:
        """Cancel `timer`, or a listener, when this life ends."""
        timers = self._timers
        if timers is None:
            self._timers = timer
        elif isinstance(timers, set):
            timers.add(timer)
        elif timers is not timer:
            self._timers = {timers, timer}

    def remove_timer(self, timer: Cancellable) -> None:
        """Forget a timer that will not fire again."""
        if isinstance(self._timers, set):
            self._timers.discard(timer)
        elif self._timers is timer:
            self._timers = None

    def add_pending(self, envelope: Envelope) -> None:
        """Remember a request whose handler is done and whose answer is to come; forgotten when it ends."""
        if self._pending is None:
            self._pending = set()
        self._pending.add(envelope)
        envelope.on_end = self._pending.discard

    def cancel_timers(self) -> None:
        """Cancel all timers."""
        timers, self._timers = self._all_timers(), None
        for timer in timers:
            timer.cancel()

    def close(self, error: Callable[[], Exception]) -> None:
        """Cancel all timers, and fail each pending request with an `error()`."""
        self.cancel_timers()
        pending, self._pending = self._pending, None
        for envelope in tuple(pending or ()):
            envelope.fail(error())

    def _all_timers(self) -> tuple[Cancellable, ...]:
        timers = self._timers
        if timers is None:
            return ()
        return tuple(timers) if isinstance(timers, set) else (timers,)
