"""Calendars as they are stored, read once and remembered: the windows of their text, in their own time zone.

One component for whoever follows a calendar (docs/calendars.md#windows, docs/decisions/0028).
"""

import base64
import binascii
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from functools import partial
from typing import Any, TypeVar

import trio

from motorpool.codecs.calendars.calendar import Calendar, CalendarError, find_zone, read_calendar
from motorpool.storage.records import Calendar as CalendarRow

__all__ = ["TIME_ZONE", "StoredCalendars", "read_stored", "zone_of"]

T = TypeVar("T")

TIME_ZONE = "timezone"
"""The attribute that says where floating times and whole days are at home."""
REMEMBERED = 256


def zone_of(*attributes: Mapping[str, Any]) -> tzinfo:
    """Return the first time zone that is named, nearest first: the calendar's, …, the server's; else UTC."""
    for each in attributes:
        name = each.get(TIME_ZONE)
        zone = find_zone(name) if isinstance(name, str) else None
        if zone is not None:
            return zone
    return UTC


class StoredCalendars:
    """Reads in a thread: the largest calendars take a second or two. One at a time."""

    def __init__(self) -> None:
        self._read: OrderedDict[int, tuple[str, Calendar]] = OrderedDict()
        self._one = trio.Lock()

    async def compute(self, work: Callable[[], T]) -> T:
        """Do other work with a calendar in a thread: none may be used in two at once."""
        async with self._one:
            return await trio.to_thread.run_sync(work)

    async def read(self, row: CalendarRow) -> Calendar:
        """Return its calendar; CalendarError where it was stored before such text was refused."""
        known = self._read.get(row.id)
        if known is None or known[0] != row.data:
            calendar = await self.compute(partial(read_stored, row.data))
            self._read[row.id] = known = row.data, calendar
            while len(self._read) > REMEMBERED:
                self._read.popitem(last=False)
        self._read.move_to_end(row.id)
        return known[1]


def read_stored(written: str) -> Calendar:
    """Read base64 of iCalendar text; CalendarError says in one line what is wrong with it."""
    try:
        # Some encoders break lines; that alone is let pass beside the standard alphabet.
        text = base64.b64decode("".join(written.split()), validate=True)
    except (binascii.Error, ValueError):
        raise CalendarError("not base64 of the standard alphabet") from None
    return read_calendar(text)
