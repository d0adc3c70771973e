"""How often users were refused (docs/server.md#audit)."""

from datetime import datetime

MAX_COUNTS = 10_000
"""Users and operations that are counted in an hour; refusals of others are written each time."""


class RefusalCounts:
    """Counts refusals by user, operation and hour.

    They are written when their number is 1, 2, 4, 8 and so on: who is always refused makes few statements.
    """

    def __init__(self) -> None:
        self._hour: datetime | None = None
        self._counts: dict[tuple[int, str], int] = {}

    def hit(self, now: datetime, user_id: int, operation: str) -> int:
        """Count a refusal; return how many are to be written now."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        if hour != self._hour:
            self._hour, self._counts = hour, {}
        key = user_id, operation
        count = self._counts.get(key, 0) + 1
        if count > 1 or len(self._counts) < MAX_COUNTS:
            self._counts[key] = count
        return 0 if count & (count - 1) else max(1, count // 2)
