"""The instant that ages are counted to, where what is old is deleted."""

from datetime import datetime, timedelta

from motorpool.runtime import Clock

TOLERANCE_SECONDS = 60.0
"""By which a wall clock may be ahead of the time that has passed: it is being adjusted."""
BELIEVED_SECONDS = 86400.0
"""How long a clock that was set forward has to stay ahead before it counts."""


class AgeClock:
    """The wall clock, but for a day as if it had not been set forward.

    A clock that is ahead by mistake, if only for minutes, would make everything old, and what is deleted does
    not come back when the clock does.
    """

    def __init__(self) -> None:
        self._before: tuple[datetime, float] | None = None
        """A wall time that counts, and the monotonic time of it."""
        self._ahead_since: float | None = None
        """When the wall clock was first seen ahead, monotonic."""

    def now(self, clock: Clock) -> datetime:
        """Return the instant; call it now and then, with the same clock."""
        wall, monotonic = clock.now(), clock.monotonic()
        if self._before is not None:
            start, began = self._before
            passed = start + timedelta(seconds=monotonic - began)
            if wall > passed + timedelta(seconds=TOLERANCE_SECONDS):
                if self._ahead_since is None:
                    self._ahead_since = monotonic
                if monotonic - self._ahead_since < BELIEVED_SECONDS:
                    return passed
        self._before, self._ahead_since = (wall, monotonic), None
        return wall
