"""Messages that were accepted and will never be handled: a count, and the last few of them."""

from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from motorpool.runtime.clock import Clock

REMEMBERED: Final = 20


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One message that was lost. Its content is not kept: it may be large, or secret."""

    path: str
    """Path of the actor it was sent to."""
    message: str
    """Name of its class."""
    time: datetime


class DeadLetters:
    """The dead letters of one system."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.count = 0
        self.recent: deque[DeadLetter] = deque(maxlen=REMEMBERED)

    def add(self, path: str, message: object) -> None:
        """Record that `message` for `path` is lost."""
        self.count += 1
        self.recent.append(DeadLetter(path, type(message).__name__, self._clock.now()))
