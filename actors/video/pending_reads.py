"""Readers of a stream, answered when what they asked for is there: a first segment, a part, a picture."""

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from motorpool.runtime import Deferred

__all__ = ["PendingReads"]


class _Reader(msgspec.Struct, frozen=True):
    until: float
    is_ready: Callable[[], bool]
    answer: Callable[[], Any]
    overdue: Callable[[], Any]
    reply: Deferred[Any]


class PendingReads:
    """Those who wait, each for his own time. Whoever goes away meanwhile is answered in vain."""

    def __init__(self) -> None:
        self._waiting: deque[_Reader] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(
        self,
        until: float,
        is_ready: Callable[[], bool],
        answer: Callable[[], Any],
        *,
        overdue: Callable[[], Any] | None = None,
    ) -> Deferred[Any]:
        """Answer with `answer()` once `is_ready()`, or at `until` (monotonic seconds) with `overdue()`.

        Without `overdue` also then with `answer()`.
        """
        reply: Deferred[Any] = Deferred()
        self._waiting.append(_Reader(until, is_ready, answer, overdue or answer, reply))
        return reply

    def settle(self, now: float) -> None:
        """Answer whose wait has an end."""
        for _ in range(len(self._waiting)):
            reader = self._waiting.popleft()
            if reader.is_ready():
                reader.reply.answer(reader.answer())
            elif reader.until <= now:
                reader.reply.answer(reader.overdue())
            else:
                self._waiting.append(reader)

    def next_end(self) -> float | None:
        """When the first of them has waited long enough; None: nobody waits."""
        return min((reader.until for reader in self._waiting), default=None)

    def dismiss(self) -> None:
        """Nothing more comes: answer all with what there is."""
        while self._waiting:
            reader = self._waiting.popleft()
            reader.reply.answer(reader.answer())
