"""Stored calendars, parsed once and cached.

Shared by all that follow a calendar (docs/calendars.md#windows, docs/decisions/0028).
"""

import base64
import binascii
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from functools import partial
from typing import Any, TypeVar

import trio

from motorpool.codecs.calendars.calendar import Calendar, read_calendar
from motorpool.codecs.calendars.content_lines import CalendarError, UnknownTimeZone
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


def zone_of(*attributes: Mapping[str, Any]) -> tzinfo:
    """Return the time zone that the first of these attributes names; UTC where none does."""
    for each in attributes:
        name = each.get(TIME_ZONE)
        zone = find_zone(name) if isinstance(name, str) else None
        if zone is not None:
            return zone
    return UTC


class StoredCalendars:
    """Parses in a thread, one calendar at a time: the largest take a second or two."""

    def __init__(self) -> None:
        self._cache: OrderedDict[int, tuple[str, Calendar]] = OrderedDict()
        self._lock = trio.Lock()

    async def compute(self, work: Callable[[], T]) -> T:
        """Return the result of `work()`, called in a thread: a calendar may be used by one at a time."""
        async with self._lock:
            return await trio.to_thread.run_sync(work)

    async def read(self, row: CalendarRow) -> Calendar:
        """Return the parsed calendar of a row.

        Raises:
            CalendarError: the text is invalid; it was stored before such text was refused.
        """
        known = self._cache.get(row.id)
        if known is None or known[0] != row.data:
            calendar = await self.compute(partial(read_leniently, row))
            self._cache[row.id] = known = row.data, calendar
            while len(self._cache) > CACHED_CALENDARS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(row.id)
        return known[1]


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
        return read_calendar(text)
    except UnknownTimeZone as error:
        _log.warning("calendar %d: %s; it is read as UTC", row.id, error)
        return read_calendar(text, unknown_zone=UTC)


def _decode(written: str) -> bytes:
    try:
        # Some encoders break lines: white space is allowed beside the standard alphabet.
        return base64.b64decode("".join(written.split()), validate=True)
    except (binascii.Error, ValueError):
        raise CalendarError("not base64 of the standard alphabet") from None
