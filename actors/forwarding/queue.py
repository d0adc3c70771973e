"""The bounded queue of one destination."""

from collections import deque

import msgspec

from motorpool.runtime import Signal


class ForwardMessage(msgspec.Struct, frozen=True, gc=False):
    """A position or an event that is to be sent."""

    number: int
    """Increases with each message."""
    kind: str
    """"position" or "event"."""
    device_id: int
    unique_id: str
    content: bytes
    """JSON."""
    expires: float
    """Monotonic time, in seconds, after which it is dropped."""


class ForwardQueue:
    """Messages in order of arrival, in parts that are sent concurrently; all of a device are in one part.

    When there are too many messages or bytes, the oldest messages of all parts are dropped.
    """

    def __init__(self, *, parts: int, max_messages: int, max_bytes: int) -> None:
        self._parts: list[deque[ForwardMessage]] = [deque() for _ in range(parts)]
        self._filled = [Signal() for _ in range(parts)]
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._bytes = 0
        self._waiting = 0
        self._sending = 0

    def __len__(self) -> int:
        """Messages that are not delivered yet, those that are being sent included."""
        return self._waiting + self._sending

    @property
    def parts(self) -> int:
        """How many tasks take messages."""
        return len(self._parts)

    def append(self, message: ForwardMessage) -> int:
        """Add a message; return how many were dropped because of it."""
        number = message.device_id % len(self._parts)
        self._parts[number].append(message)
        self._waiting += 1
        self._bytes += len(message.content)
        self._filled[number].set()
        dropped = 0
        while self._waiting > self._max_messages or (self._bytes > self._max_bytes and self._waiting > 1):
            oldest = min((part for part in self._parts if part), key=lambda part: part[0].number)
            self._remove_first(oldest)
            dropped += 1
        return dropped

    async def wait(self, part: int = 0) -> None:
        """Wait until the part has a message."""
        while not self._parts[part]:
            await self._filled[part].wait()

    def take(self, part: int = 0) -> ForwardMessage | None:
        """Remove and return the first message of the part; None if there is none.

        The caller calls `settled` when it was delivered or given up.
        """
        if not self._parts[part]:
            return None
        self._sending += 1
        return self._remove_first(self._parts[part])

    def settled(self) -> None:
        """Count a message that was taken as delivered or given up."""
        self._sending -= 1

    def _remove_first(self, part: deque[ForwardMessage]) -> ForwardMessage:
        message = part.popleft()
        self._waiting -= 1
        self._bytes -= len(message.content)
        return message
