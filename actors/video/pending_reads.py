"""Reads that are answered later: when what they ask for is there, or when they have waited long enough."""

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from motorpool.runtime import Deferred


class _Read(msgspec.Struct, frozen=True):
    until: float
    is_ready: Callable[[], bool]
    answer: Callable[[], object]
    reply: Deferred[Any]


class PendingReads:
    """Reads with their conditions and timeouts. Answering one whose asker is gone does nothing."""

    def __init__(self) -> None:
        self._waiting: deque[_Read] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, until: float, is_ready: Callable[[], bool], answer: Callable[[], object]) -> Deferred[Any]:
        """Answer with `answer()` once `is_ready()`, or at `until` in monotonic seconds."""
        reply: Deferred[Any] = Deferred()
        self._waiting.append(_Read(until, is_ready, answer, reply))
        return reply

    def settle(self, now: float) -> None:
        """Answer the reads that are ready or timed out."""
        for _ in range(len(self._waiting)):
            read = self._waiting.popleft()
            if read.is_ready() or read.until <= now:
                read.reply.answer(read.answer())
            else:
                self._waiting.append(read)

    def earliest_timeout(self) -> float | None:
        """Return when the first read times out, in monotonic seconds; None where there is none."""
        return min((read.until for read in self._waiting), default=None)

    def answer_all(self) -> None:
        """Answer all reads with what there is: nothing more comes."""
        while self._waiting:
            read = self._waiting.popleft()
            read.reply.answer(read.answer())
