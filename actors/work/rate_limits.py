"""A rate limit for each of many keys, in a sliding window."""

from collections import OrderedDict, deque
from collections.abc import Callable
from math import inf

_KEYS = 50_000
"""Keys that are counted; the oldest is dropped first."""


class RateLimit:
    """Allows `limit` events within `seconds` for each key."""

    def __init__(self, limit: int, seconds: float, monotonic: Callable[[], float]) -> None:
        self._limit = limit
        self._seconds = seconds
        self._monotonic = monotonic
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._times)

    def wait(self, key: str, events: int = 1) -> float:
        """Return the seconds until `events` events are allowed: 0 if now, infinite if above the limit."""
        if events > self._limit:
            return inf
        now = self._monotonic()
        times = self._times.get(key)
        while times and times[0] <= now - self._seconds:
            times.popleft()
        excess = len(times or ()) + events - self._limit
        return times[excess - 1] + self._seconds - now if times and excess > 0 else 0.0

    def hit(self, key: str, events: int = 1) -> float:
        """Count events and return 0; past the limit return what `wait` does, and count none of them."""
        if seconds := self.wait(key, events):
            return seconds
        self._times.setdefault(key, deque()).extend([self._monotonic()] * events)
        self._times.move_to_end(key)
        while len(self._times) > _KEYS:
            self._times.popitem(last=False)
        return 0.0

    def uncount(self, key: str, events: int = 1) -> None:
        """Take back the latest events of a key."""
        times = self._times.get(key, deque())
        for _ in range(min(events, len(times))):
            times.pop()
