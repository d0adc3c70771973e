"""When to stop trying: restarts are counted over a sliding period."""

from motorpool.runtime.specs import BackOff


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
