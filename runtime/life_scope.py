"""What ends with one life of an actor: its timers, and the requests it has yet to answer."""

from collections.abc import Callable

from motorpool.runtime.envelope import Envelope
from motorpool.runtime.timer_heap import Timer


class LifeScope:
    """Created by the first timer or deferred answer, closed with the life. Most idle actors have none."""

    __slots__ = ("_pending", "_sweep_at", "_timers")

    def __init__(self) -> None:
        self._timers: set[Timer] = set()
        self._pending: list[Envelope] = []
        self._sweep_at = 16

    def __repr__(self) -> str:
        return f"<LifeScope: {len(self._timers)} timers, {len(self._pending)} answers pending>"

    def add_timer(self, timer: Timer) -> None:
        """Let `timer` end with this life."""
        self._timers.add(timer)

    def remove_timer(self, timer: Timer) -> None:
        """Forget a timer that will not fire again."""
        self._timers.discard(timer)

    def add_pending(self, envelope: Envelope) -> None:
        """Remember a request whose handler is done and whose answer is to come.

        Those that ended by their deadline are swept out as the rest doubles, so that this stays O(1).
        """
        self._pending.append(envelope)
        if len(self._pending) >= self._sweep_at:
            self._pending = [each for each in self._pending if each.pending]
            self._sweep_at = max(16, 2 * len(self._pending))

    def cancel_timers(self) -> None:
        """Cancel all timers."""
        while self._timers:
            self._timers.pop().cancel()

    def close(self, error: Callable[[], Exception]) -> None:
        """Cancel all timers, and fail each pending request with an `error()`."""
        self.cancel_timers()
        for envelope in self._pending:
            envelope.fail(error())
        self._pending.clear()
