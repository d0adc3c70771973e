"""Business hours from stored calendars: which zone, which version, which holidays."""

import base64
import logging
from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.helpdesk import business_calendars
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.business_time import ALWAYS
from motorpool.storage import plain_tables
from motorpool.storage.accounts import server
from motorpool.storage.helpdesk.helpdesk_records import Company, TicketPriority
from motorpool.storage.records import Calendar, ServerSettings

NOW = datetime(2026, 10, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
COMPANY = Company(id=1)


def text(*events, head=()):
    lines = ["BEGIN:VCALENDAR", *head]
    for number, event in enumerate(events):
        lines += ["BEGIN:VEVENT", f"UID:{number}", *event.split("\n"), "END:VEVENT"]
    return base64.b64encode("\r\n".join([*lines, "END:VCALENDAR", ""]).encode()).decode()


FLOATING = "DTSTART:20260105T090000\nDTEND:20260105T170000\nRRULE:FREQ=DAILY"


@pytest.fixture
def store(database):
    async def store(*events, head=(), **attributes):
        row = Calendar(name="c", data=text(*events, head=head), attributes=attributes)
        return await plain_tables.CALENDARS.insert(database, row)

    return store


async def opens(database, calendars, calendar, company=COMPANY, **attributes):
    """When the calendar opens first on the 12th of October."""
    priority = TicketPriority(id=1, company_id=1, calendar_id=calendar.id, attributes=attributes)
    found = await calendars.of_priority(database, priority, company, NOW)
    return found.window_at(NOW)[1]


async def test_floating_times_are_in_the_zone_that_is_named_nearest(database, store):
    calendars, plain = BusinessCalendars(), await store(FLOATING)
    company = Company(id=1, attributes={"timezone": "Asia/Dubai"})
    assert await opens(database, calendars, plain) == NOW + 9 * HOUR
    await server.save(database, ServerSettings(attributes={"timezone": "Europe/Lisbon"}))
    assert await opens(database, calendars, plain) == NOW + 8 * HOUR
    assert await opens(database, calendars, plain, company) == NOW + 5 * HOUR
    berlin = await store(FLOATING, timezone="Europe/Berlin")
    assert await opens(database, calendars, berlin, company) == NOW + 7 * HOUR
    named = await store(FLOATING, head=["X-WR-TIMEZONE:America/New_York"], timezone="Europe/Berlin")
    assert await opens(database, calendars, named, company) == NOW + 13 * HOUR


async def test_an_edited_calendar_counts_at_once_and_an_unchanged_one_is_kept(database, store):
    calendars, stored = BusinessCalendars(), await store(FLOATING)
    priority = TicketPriority(id=1, company_id=1, calendar_id=stored.id)
    first = await calendars.of_priority(database, priority, COMPANY, NOW)
    assert await calendars.of_priority(database, priority, COMPANY, NOW) is first
    later = FLOATING.replace("T090000", "T100000")
    await plain_tables.CALENDARS.update(database, Calendar(id=stored.id, name="c", data=text(later)))
    assert await opens(database, calendars, stored) == NOW + 10 * HOUR


async def test_all_that_tickets_may_ask_for_is_computed_in_a_thread(database, store, calendar_steps):
    calendars, stored = BusinessCalendars(), await store(FLOATING.replace("2026", "2020"))
    priority = TicketPriority(id=1, company_id=1, calendar_id=stored.id)
    old = NOW - timedelta(days=2000)
    found = await calendars.of_priority(database, priority, COMPANY, NOW, since=old)
    calendar_steps.spent = 0
    assert found.due(old, HOUR, now=NOW) == old + 10 * HOUR
    assert found.due(NOW, 1_000_000 * HOUR) is None
    assert found.window_at(NOW) == (None, NOW + 9 * HOUR)
    assert calendar_steps.spent == 0
    # It is there for tickets that are newer, and for three months; then computed anew.
    assert await calendars.of_priority(database, priority, COMPANY, NOW, since=NOW) is found
    later = NOW + timedelta(days=91)
    assert await calendars.of_priority(database, priority, COMPANY, later) is found
    assert calendar_steps.spent == 0
    later = NOW + timedelta(days=93)
    again = await calendars.of_priority(database, priority, COMPANY, later)
    calendar_steps.spent = 0
    assert again is not found
    assert again.due(later, 1_000_000 * HOUR) is None
    assert calendar_steps.spent == 0


async def test_holidays_come_from_a_calendar_of_their_own(database, store):
    calendars, stored = BusinessCalendars(), await store(FLOATING)
    holidays = await store("DTSTART;VALUE=DATE:20261012")
    assert await opens(database, calendars, stored, holidayCalendarId=holidays.id) == NOW + 33 * HOUR
    for nothing in (0, 4711, True, "1", None):
        assert await opens(database, calendars, stored, holidayCalendarId=nothing) == NOW + 9 * HOUR
    every = TicketPriority(id=1, company_id=1, attributes={"holidayCalendarId": holidays.id})
    found = await calendars.of_priority(database, every, COMPANY, NOW)
    assert found.due(NOW, HOUR) == NOW + 25 * HOUR


async def test_without_a_calendar_every_minute_counts(database):
    calendars, priority = BusinessCalendars(), TicketPriority(id=1, company_id=1)
    assert await calendars.of_priority(database, priority, COMPANY, NOW) is ALWAYS
    assert await calendars.of_priority(database, None, Company(id=1), NOW) is ALWAYS


async def test_of_a_stored_calendar_that_is_invalid_now(database, caplog):
    # It was stored by a version that did not refuse it.
    calendars, name = BusinessCalendars(), "Mars/Base"
    odd = FLOATING.replace("DTSTART:", f"DTSTART;TZID={name}:").replace("DTEND:", f"DTEND;TZID={name}:")
    mars = await plain_tables.CALENDARS.insert(database, Calendar(name="c", data=text(odd)))
    broken = await plain_tables.CALENDARS.insert(database, Calendar(name="c", data="!"))
    with caplog.at_level(logging.WARNING):
        assert await opens(database, calendars, mars) == NOW + 9 * HOUR
        assert await opens(database, calendars, broken) is None
    assert [record.getMessage() for record in caplog.records] == [
        f"calendar {mars.id}: line 4: DTSTART: unknown time zone Mars/Base; it is read as UTC",
        f"calendar {broken.id} is never open: not base64 of the standard alphabet",
    ]


async def test_the_windows_that_are_kept_are_bounded(database, store, monkeypatch):
    monkeypatch.setattr(business_calendars, "MAX_KEPT", 4000)
    calendars = BusinessCalendars()
    one, other = await store(FLOATING), await store(FLOATING)
    priorities = [TicketPriority(id=1, company_id=1, calendar_id=each.id) for each in (one, other)]
    first = await calendars.of_priority(database, priorities[0], COMPANY, NOW)
    second = await calendars.of_priority(database, priorities[1], COMPANY, NOW)
    assert 2000 < first.size < 4000
    assert await calendars.of_priority(database, priorities[1], COMPANY, NOW) is second
    assert await calendars.of_priority(database, priorities[0], COMPANY, NOW) is not first


async def test_events_that_are_kept_count_as_well(database, store, monkeypatch):
    monkeypatch.setattr(business_calendars, "MAX_KEPT", 1000)
    calendars, many = BusinessCalendars(), ["DTSTART:20200101T000000Z\nDTEND:20200101T010000Z"] * 20
    one, other = [TicketPriority(id=1, company_id=1, calendar_id=(await store(*many)).id) for _ in range(2)]
    first = await calendars.of_priority(database, one, COMPANY, NOW)
    assert await calendars.of_priority(database, one, COMPANY, NOW) is first
    assert first.size == 0
    await calendars.of_priority(database, other, COMPANY, NOW)
    assert await calendars.of_priority(database, one, COMPANY, NOW) is not first
