"""A rate limit for each of many keys, in a sliding window."""

from collections import OrderedDict, deque
from collections.abc import Callable

__all__ = ["RateLimit"]

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

    def hit(self, key: str) -> float:
        """Count an event and return 0; past the limit return the seconds to wait, and count nothing."""
        now = self._monotonic()
        times = self._times.setdefault(key, deque())
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) >= self._limit:
            return times[0] + self._seconds - now
        times.append(now)
        self._times.move_to_end(key)
        while len(self._times) > _KEYS:
            self._times.popitem(last=False)
        return 0.0
