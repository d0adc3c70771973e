"""Stored calendars, parsed once and cached.

Shared by all that follow a calendar (docs/calendars.md#windows, docs/decisions/0028).
"""

import base64
import binascii
import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any, TypeVar

import trio

from motorpool.codecs.calendars.calendar import Calendar, read_calendar
from motorpool.codecs.calendars.content_lines import CalendarError, UnknownTimeZone
from motorpool.codecs.calendars.cost import MAX_COST
from motorpool.codecs.calendars.time_zones import find_zone
from motorpool.storage.records import Calendar as CalendarRow

T = TypeVar("T")
_log = logging.getLogger(__name__)

TIME_ZONE = "timezone"
"""The attribute that names the time zone of floating times and whole days."""
ZONE_FIELDS = frozenset({f"attributes.{TIME_ZONE}"})
"""Changed fields of the server that move the windows of calendars without a time zone of their own."""
WINDOW_FIELDS = ZONE_FIELDS | {"data"}
"""Changed fields of a calendar that give it other windows."""
CACHED_CALENDARS = 256
"""Parsed calendars kept in memory."""
HEAVY_COST, HEAVY_TEXT = 20_000, 40_000
"""Steps and characters from which a calendar counts as much work: about a tenth of a second."""
OPEN: Sequence[float] = (-math.inf,)
"""The edges of a block in which a calendar is always open."""


def zone_of(*attributes: Mapping[str, Any]) -> tzinfo:
    """Return the time zone that the first of these attributes names; UTC where none does."""
    for each in attributes:
        name = each.get(TIME_ZONE)
        zone = find_zone(name) if isinstance(name, str) else None
        if zone is not None:
            return zone
    return UTC


class CalendarThreads:
    """Calls functions in threads: those that are much work wait for each other, the others not for them."""

    def __init__(self) -> None:
        self._light, self._heavy = trio.Lock(), trio.Lock()

    async def call(self, work: Callable[[], T], *, is_heavy: bool) -> T:
        """Return the result of `work()`."""
        async with self._heavy if is_heavy else self._light:
            return await trio.to_thread.run_sync(work)


class _Kept:
    """A calendar that was read, or why it cannot be."""

    __slots__ = ("calendar", "data", "error", "lock")

    def __init__(self, data: str) -> None:
        self.data = data
        self.lock = trio.Lock()
        """Held while a thread reads or evaluates it, which one may at a time."""
        self.calendar: Calendar | None = None
        self.error: str | None = None

    @property
    def is_read(self) -> bool:
        """Whether either is known."""
        return self.calendar is not None or self.error is not None


class StoredCalendars:
    """Reads and evaluates calendars in threads: the largest take a second or two."""

    def __init__(self) -> None:
        self._cache: OrderedDict[int, _Kept] = OrderedDict()
        self._threads = CalendarThreads()

    async def compute(self, row: CalendarRow, work: Callable[[Calendar], T]) -> T:
        """Return the result of `work(calendar)`, called in a thread.

        Raises:
            CalendarError: the calendar is invalid or too much work; it was stored before such were refused.
        """
        kept = self._entry(row)
        calendar = await self._calendar(kept, row)
        async with kept.lock:
            is_heavy = calendar.cost > HEAVY_COST
            try:
                return await self._threads.call(partial(work, calendar), is_heavy=is_heavy)
            except CalendarError as error:
                kept.error = str(error)
                _log.warning("calendar %d is treated as one that cannot be read: %s", row.id, error)
                raise

    async def block_edges(self, row: CalendarRow, number: int, zone: tzinfo) -> Sequence[float]:
        """Return the edges of a block for `is_open`. Raises CalendarError as `compute` does."""
        return await self.compute(row, lambda calendar: calendar.block_edges(number, zone))

    async def covers(self, row: CalendarRow, instant: datetime, zone: tzinfo) -> bool:
        """Return whether the calendar is open at an instant. Raises CalendarError as `compute` does."""
        return await self.compute(row, lambda calendar: calendar.covers(instant, zone=zone))

    def _entry(self, row: CalendarRow) -> _Kept:
        kept = self._cache.get(row.id)
        if kept is None or kept.data != row.data:
            kept = self._cache[row.id] = _Kept(row.data)
            while len(self._cache) > CACHED_CALENDARS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(row.id)
        return kept

    async def _calendar(self, kept: _Kept, row: CalendarRow) -> Calendar:
        if not kept.is_read:
            async with kept.lock:
                if not kept.is_read:
                    is_heavy = len(row.data) > HEAVY_TEXT
                    try:
                        kept.calendar = await self._threads.call(
                            partial(read_leniently, row), is_heavy=is_heavy
                        )
                    except CalendarError as error:
                        kept.error = str(error)
        if kept.error is not None:
            raise CalendarError(kept.error)
        assert kept.calendar is not None
        return kept.calendar


def read_stored(written: str) -> Calendar:
    """Parse base64 of iCalendar text. Raises CalendarError with one line that says what is wrong."""
    return read_calendar(_decode(written))


def read_leniently(row: CalendarRow) -> Calendar:
    """Parse a calendar that may have been stored with a time zone that is unknown now; it is read as UTC.

    Raises:
        CalendarError: the text is invalid; it was stored before such text was refused.
    """
    text = _decode(row.data)
    try:
        calendar = read_calendar(text, is_stored=True)
    except UnknownTimeZone as error:
        _log.warning("calendar %d: %s; it is read as UTC", row.id, error)
        calendar = read_calendar(text, is_stored=True, unknown_zone=UTC)
    if calendar.cost > MAX_COST:
        _log.warning(
            "calendar %d was stored before there was a limit on overlapping events, which it exceeds:"
            " it may cost %d steps of %d",
            row.id,
            calendar.cost,
            MAX_COST,
        )
    return calendar


def _decode(written: str) -> bytes:
    try:
        # Some encoders break lines: white space is allowed beside the standard alphabet.
        return base64.b64decode("".join(written.split()), validate=True)
    except (binascii.Error, ValueError):
        raise CalendarError("not base64 of the standard alphabet") from None
