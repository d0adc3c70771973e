"""What one life of an actor has going on outside its mailbox: timers it set, and answers it owes."""

from collections.abc import Callable

from motorpool.runtime.envelope import Envelope
from motorpool.runtime.timer_heap import Timer


class LifeScope:
    """Made by the first timer or deferred answer; cut when the life ends. Most idle actors have none."""

    __slots__ = ("_owed", "_sweep_at", "_timers")

    def __init__(self) -> None:
        self._timers: set[Timer] = set()
        self._owed: list[Envelope] = []
        self._sweep_at = 16

    def __repr__(self) -> str:
        return f"<LifeScope: {len(self._timers)} timers, {len(self._owed)} answers owed>"

    def bind(self, timer: Timer) -> None:
        """Let `timer` end with this life."""
        self._timers.add(timer)

    def loose(self, timer: Timer) -> None:
        """Forget a timer that will not fire again."""
        self._timers.discard(timer)

    def owe(self, envelope: Envelope) -> None:
        """Remember a request whose handler is done and whose answer is to come.

        Those that ended by their deadline are swept out as the rest doubles, so that this stays O(1).
        """
        self._owed.append(envelope)
        if len(self._owed) >= self._sweep_at:
            self._owed = [each for each in self._owed if each.pending]
            self._sweep_at = max(16, 2 * len(self._owed))

    def cancel_timers(self) -> None:
        """Let no timer fire any more."""
        while self._timers:
            self._timers.pop().cancel()

    def cut(self, error: Callable[[], Exception]) -> None:
        """End everything: timers are cancelled, those who still wait for an answer get an `error()`."""
        self.cancel_timers()
        for envelope in self._owed:
            envelope.fail(error())
        self._owed.clear()
