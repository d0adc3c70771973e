"""How many workbooks one user may have rendered at the same time."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class TooManyRunning(Exception):
    """The user has as many running as they may."""


class RunningLimit:
    """Counts running tasks by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: Counter[int] = Counter()

    @contextmanager
    def running(self, key: int) -> Iterator[None]:
        """Count one more during the block. Raises TooManyRunning."""
        if self._running[key] >= self._most:
            raise TooManyRunning
        self._running[key] += 1
        try:
            yield
        finally:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]
