"""Local days."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

_DAY = timedelta(days=1)
_FIRST = datetime(1, 1, 3, tzinfo=UTC)
"""No time zone is so far behind that this lies before the calendar."""
_LAST = date(9999, 1, 1)
TICK = timedelta(microseconds=1)
"""The unit of time in PostgreSQL."""
MAX_DAYS = 1100
"""A longer span is not cut into days: clients that want all there is name years without data."""
ALMOST = timedelta(seconds=1)
"""Clients name the end of a day by its last second or millisecond."""


def midnights(start: datetime, zone: tzinfo, every: int = 1) -> Iterator[datetime]:
    """Yield the beginnings of local days after the one of `start`, in UTC, until the end of the calendar.

    They are `every` days apart. A day begins at its first instant, also where clocks are changed at midnight.
    """
    day = max(start, _FIRST).astimezone(zone).date()
    while day <= _LAST - every * _DAY:
        day += every * _DAY
        yield _midnight(day, zone)


def midnight_before(instant: datetime, zone: tzinfo) -> datetime:
    """Return the beginning of the local day of an instant."""
    return _midnight(max(instant, _FIRST).astimezone(zone).date(), zone)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)


class Piece(NamedTuple):
    """A part of a span that is worked out by itself."""

    begins: datetime
    ends: datetime
    """Not included."""
    is_whole: bool
    """Whether it is a local day, from midnight to midnight."""
    last: datetime
    """The last instant of the span in it: a microsecond before `ends`, or earlier where the span ends."""


@lru_cache(maxsize=8)
def pieces(start: datetime, end: datetime, zone: tzinfo) -> tuple[Piece, ...]:
    """Cut a span, both ends included, at the local midnights; the ends of the pieces adjoin.

    The spans that were asked for last are remembered: a report asks again for each device.
    """
    after = end + TICK if end < datetime.max.replace(tzinfo=UTC) else end
    if end - start > MAX_DAYS * _DAY or start < _FIRST:
        return (Piece(start, after, False, end),)
    found: list[Piece] = []
    begins = start
    is_midnight = start == midnight_before(start, zone)
    for ends in midnights(start, zone):
        if ends > after:
            is_whole = is_midnight and ends - after <= ALMOST
            found.append(Piece(begins, ends if is_whole else after, is_whole, end))
            break
        found.append(Piece(begins, ends, is_midnight, ends - TICK))
        begins, is_midnight = ends, True
        if begins == after:
            break
    return tuple(found)
