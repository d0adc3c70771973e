"""Local days."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta, tzinfo

__all__ = ["midnights"]

_DAY = timedelta(days=1)
_FIRST = datetime(1, 1, 3, tzinfo=UTC)
"""No time zone is so far behind that this lies before the calendar."""


def midnights(start: datetime, zone: tzinfo) -> Iterator[datetime]:
    """Yield the beginnings of the local days after the one of `start`, in UTC, until the end of the calendar.

    A day begins at its first instant, also where clocks are changed at midnight.
    """
    day = max(start, _FIRST).astimezone(zone).date()
    while day.year < 9999:
        day += _DAY
        yield datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
