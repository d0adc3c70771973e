"""When to restart, and when to stop trying: restarts are counted over a sliding period."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class BackOff:
    """How long to wait before a restart: longer each time, and not all at the same moment."""

    first_seconds: float = 0.1
    factor: float = 2.0
    max_seconds: float = 30.0
    jitter: float = 0.5
    """Up to this share is taken off at random, 0 to 1."""
    random: Callable[[], float] = field(default=random.SystemRandom().random, repr=False)
    """A number from 0 up to 1; tests put their own."""

    def delay(self, attempt: int) -> float:
        """Seconds before the `attempt`-th restart of the period, counted from 1."""
        # Beyond 2**60 the power would overflow long before it mattered.
        longest = min(self.max_seconds, self.first_seconds * self.factor ** min(attempt - 1, 60))
        return longest * (1 - self.jitter * self.random())


class RestartHistory:
    """The restarts of one supervisor, or of one child on demand, within the period."""

    __slots__ = ("_back_off", "_intensity", "_period", "_times")

    def __init__(self, intensity: int | None, period_seconds: float, back_off: BackOff) -> None:
        self._intensity = intensity
        self._period = period_seconds
        self._back_off = back_off
        self._times: list[float] = []

    def next_delay(self, now: float) -> float | None:
        """Note a restart at `now`: how long to wait before it, or None when it is one too many."""
        self._times = [time for time in self._times if now - time < self._period]
        if self._intensity is not None and len(self._times) >= self._intensity:
            return None
        self._times.append(now)
        return self._back_off.delay(len(self._times))
