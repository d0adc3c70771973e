"""Calendars whose windows are there, as rules find them."""

from datetime import UTC

from motorpool.actors.rules.device_rules import LocalCalendar
from motorpool.codecs.calendars.calendar import block_of, read_calendar
from motorpool.storage.records import Calendar


def local_calendar(text, near):
    """A calendar in UTC with the windows of some months around an instant."""
    calendar, middle = read_calendar(text), block_of(near)
    blocks = {number: calendar.block_edges(number) for number in range(middle - 2, middle + 3)}
    return LocalCalendar(Calendar(), UTC, blocks)
