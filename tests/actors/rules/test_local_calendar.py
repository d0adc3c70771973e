"""Calendars as rules ask them: for one instant after the other, mostly near to each other."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.actors.rules.local_calendars import local_calendar

from motorpool.actors.rules.device_rules import LocalCalendar, WindowsMissing
from motorpool.codecs.calendars.calendar import block_of, read_calendar
from motorpool.storage.records import Calendar

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
WORKDAYS = """BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:work
DTSTART:20260101T080000Z
DTEND:20260101T170000Z
RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR
END:VEVENT
END:VCALENDAR
"""
INSTANTS = st.floats(-40 * 86_400, 40 * 86_400) | st.integers(-40 * 24, 40 * 24).map(
    lambda hours: hours * 3600
)


@given(st.lists(INSTANTS, min_size=2, max_size=20))
def test_what_was_asked_before_changes_no_answer(seconds):
    asked, calendar = local_calendar(WORKDAYS, NOON), read_calendar(WORKDAYS)
    for each in seconds:
        instant = NOON + timedelta(seconds=each)
        assert asked.covers(instant, NOON) is calendar.covers(instant)


def test_an_open_block_says_nothing_of_others():
    number = block_of(NOON)
    calendar = LocalCalendar(Calendar(), UTC, {number: (-math.inf,)})
    assert calendar.covers(NOON, NOON)
    for days in (-31, 31):
        with pytest.raises(WindowsMissing):
            calendar.covers(NOON + timedelta(days=days), NOON)


def test_no_event_takes_place_five_years_away_where_one_was_asked_for():
    calendar = LocalCalendar(Calendar(), UTC, {block_of(NOON): (-math.inf,)})
    assert calendar.covers(NOON, NOON)
    assert not calendar.covers(NOON, NOON + timedelta(days=1830))
