"""Answers of other servers that are given to several clients."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

import msgspec

ENTRY_BYTES = 1024
"""Counted for an answer beside its body."""

K = TypeVar("K", bound=Hashable)


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The answer of another server."""

    status: int
    headers: Mapping[str, str]
    """Headers that concern the content."""
    body: bytes


class AnswerCache(Generic[K]):
    """The answers used last, up to a number of bytes, each until it expires."""

    def __init__(self, max_bytes: int, monotonic: Callable[[], float]) -> None:
        self._max_bytes = max_bytes
        self._monotonic = monotonic
        self._answers: OrderedDict[K, tuple[float, Answer]] = OrderedDict()
        self._bytes = 0

    def get(self, key: K) -> Answer | None:
        """Return an answer that has not expired."""
        kept = self._answers.get(key)
        if kept is None:
            return None
        if kept[0] <= self._monotonic():
            self._drop(key)
            return None
        self._answers.move_to_end(key)
        return kept[1]

    def keep(self, key: K, answer: Answer, seconds: float) -> None:
        """Keep an answer for `seconds`, unless it takes more than a quarter of the memory."""
        self._drop(key)
        if len(answer.body) > self._max_bytes // 4:
            return
        self._answers[key] = (self._monotonic() + seconds, answer)
        self._bytes += len(answer.body) + ENTRY_BYTES
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._answers)))

    def drop_expired(self) -> None:
        """Drop what has expired."""
        now = self._monotonic()
        for key in [key for key, (expires, _) in self._answers.items() if expires <= now]:
            self._drop(key)

    def _drop(self, key: K) -> None:
        kept = self._answers.pop(key, None)
        if kept is not None:
            self._bytes -= len(kept[1].body) + ENTRY_BYTES
