"""Due times after edits of priorities, calendars, zones and the tz database."""

import base64
from datetime import timedelta

import msgspec
import pytest
from tests.actors.conftest import NOW
from tests.actors.helpdesk.clock.world import DAY, HOUR, MINUTE, NEVER_WARN, instant
from tests.actors.schedules.scheduling_harness import InterruptibleDatabase, KillSwitch

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.helpdesk import recalculations
from motorpool.actors.messages.changes import (
    CalendarChanged,
    CompanyChanged,
    ServerChanged,
    TicketPriorityChanged,
)
from motorpool.storage.accounts import server

WEEKDAYS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//x//hd//EN
BEGIN:VEVENT
UID:e1
DTSTART{zone}:20260105T090000
DTEND{zone}:20260105T170000
RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR{more}
END:VEVENT
END:VCALENDAR
"""
LISBON = ";TZID=Europe/Lisbon"


def weekdays(zone=LISBON, more=""):
    """Calendar A of docs/service-levels.md; base64."""
    text = WEEKDAYS.format(zone=zone, more=more).replace("\n", "\r\n")
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def recalculated(world):
    """`await recalculated()`: (ticket, reason) of what was written into histories."""

    async def read():
        return [(each[1], each[4]["reason"]) for each in await world.entries("slaRecalculated")]

    return read


async def test_the_calendar_of_a_priority_comes_changes_and_goes(
    tree, time, clock, world, recalculations_spec, recalculated
):
    """Example E10 of docs/service-levels.md."""
    priority = await world.priority(first=0, resolution=1440, **NEVER_WARN)
    ticket = await world.ticket(instant("10-16 18:00"), priority)
    hours = await world.calendar(weekdays())
    clock.set_wall(instant("10-16 19:00"))
    async with tree(recalculations_spec()) as system:
        await time.settle()
        assert await recalculated() == []

        clock.set_wall(instant("10-16 20:00"))
        priority = await world.edit(priority, calendar_id=hours.id)
        await publish_changes(system, TicketPriorityChanged(priority.id, "updated", ("calendar_id",)))
        await time.settle()
        assert await world.column(ticket, "resolution_due") == instant("10-21 16:00")

        clock.set_wall(instant("10-17 09:00"))
        await world.edit(hours, data=weekdays(more=f"\nEXDATE{LISBON}:20261019T090000"))
        await publish_changes(system, CalendarChanged(hours.id, "updated", ("data",)))
        await time.settle()
        assert await world.column(ticket, "resolution_due") == instant("10-22 16:00")

        clock.set_wall(instant("10-19 11:00"))
        priority = await world.edit(priority, calendar_id=0)
        await publish_changes(system, TicketPriorityChanged(priority.id, "updated", ("calendar_id",)))
        await time.settle()
        assert await world.column(ticket, "resolution_due") == instant("10-20 11:00")
    assert await recalculated() == [(ticket, "priority"), (ticket, "calendar"), (ticket, "priority")]
    assert await world.column(ticket, "next_clock_at") == instant("10-20 11:00") + timedelta(milliseconds=1)
    assert await world.breaches() == []


async def test_a_change_that_nobody_announced_is_found(tree, time, world, recalculations_spec, recalculated):
    priority = await world.priority(first=0, resolution=600, **NEVER_WARN)
    ticket = await world.ticket(NOW, priority)
    async with tree(recalculations_spec()):
        await time.passes(120, step=30)
        await world.edit(priority, resolution_minutes=300)
        await time.passes(recalculations.COMPARE_SECONDS, step=30)
        assert await world.column(ticket, "resolution_due") == NOW + 5 * HOUR
    assert await recalculated() == [(ticket, "priority")]


async def test_a_change_while_no_server_ran_is_found_at_the_start(
    tree, time, world, recalculations_spec, recalculated
):
    priority = await world.priority(first=0, resolution=600, **NEVER_WARN)
    ticket = await world.ticket(NOW, priority)
    async with tree(recalculations_spec()):
        await time.settle()
    await world.edit(priority, resolution_minutes=300)
    async with tree(recalculations_spec()):
        await time.settle()
    assert await world.column(ticket, "resolution_due") == NOW + 5 * HOUR
    assert await recalculated() == [(ticket, "priority")]


async def test_zones_that_floating_times_are_read_in(
    tree, time, clock, world, database, recalculations_spec, recalculated
):
    hours = await world.calendar(weekdays(zone=""))
    priority = await world.priority(first=0, resolution=60, calendar_id=hours.id, **NEVER_WARN)
    clock.set_wall(instant("10-16 20:00"))
    ticket = await world.ticket(instant("10-16 20:00"), priority, resolution=instant("10-19 10:00"))
    async with tree(recalculations_spec()) as system:
        await time.settle()
        assert await recalculated() == []
        settings = await server.fetch(database)
        settings = msgspec.structs.replace(settings, attributes={"timezone": "America/New_York"})
        await server.save(database, settings)
        await publish_changes(system, ServerChanged(("attributes.timezone",)))
        await time.settle()
        assert await world.column(ticket, "resolution_due") == instant("10-16 21:00")
        await world.edit(world.company, attributes={"timezone": "Europe/Lisbon"})
        await publish_changes(system, CompanyChanged(world.company.id, "updated", ("attributes.timezone",)))
        await time.settle()
        assert await world.column(ticket, "resolution_due") == instant("10-19 09:00")
    assert await recalculated() == [(ticket, "calendar")] * 2


async def test_holidays_of_a_priority(tree, time, clock, world, recalculations_spec, recalculated):
    hours = await world.calendar(weekdays())
    days_off = await world.calendar(
        base64.b64encode(
            b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//hd//EN\r\nBEGIN:VEVENT\r\nUID:h\r\n"
            b"DTSTART;VALUE=DATE:20261019\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        ).decode(),
        timezone="Europe/Lisbon",
    )
    priority = await world.priority(first=0, resolution=60, calendar_id=hours.id, **NEVER_WARN)
    clock.set_wall(instant("10-16 20:00"))
    ticket = await world.ticket(instant("10-16 20:00"), priority, resolution=instant("10-19 09:00"))
    async with tree(recalculations_spec()) as system:
        await time.settle()
        await world.edit(priority, attributes={**NEVER_WARN, "holidayCalendarId": days_off.id})
        await publish_changes(system, TicketPriorityChanged(priority.id, "updated", ("attributes",)))
        await time.settle()
    assert await world.column(ticket, "resolution_due") == instant("10-20 09:00")
    assert await recalculated() == [(ticket, "priority")]


async def test_a_new_tz_database_computes_tickets_with_calendars_again(
    tree, time, clock, world, recalculations_spec, recalculated, monkeypatch
):
    hours = await world.calendar(weekdays())
    with_hours = await world.priority("Day", first=0, resolution=60, calendar_id=hours.id, **NEVER_WARN)
    always = await world.priority("Always", first=0, resolution=60, **NEVER_WARN)
    clock.set_wall(instant("10-16 20:00"))
    monkeypatch.setattr(recalculations, "tz_database_version", lambda: "2026f")
    async with tree(recalculations_spec()):
        await time.settle()
    # As the old version had it.
    ticket = await world.ticket(instant("10-16 20:00"), with_hours, resolution=instant("10-19 10:00"))
    wrong = await world.ticket(instant("10-16 20:00"), always, resolution=instant("10-16 22:00"))
    for version in ("2026e", "2026f"):
        monkeypatch.setattr(recalculations, "tz_database_version", lambda version=version: version)
        async with tree(recalculations_spec()):
            await time.settle()
        assert await recalculated() == []
    monkeypatch.setattr(recalculations, "tz_database_version", lambda: "2026g")
    async with tree(recalculations_spec()):
        await time.settle()
    assert await recalculated() == [(ticket, "calendar")]
    assert await world.column(ticket, "resolution_due") == instant("10-19 09:00")
    assert await world.column(wrong, "resolution_due") == instant("10-16 22:00")


async def test_a_ticket_that_was_written_with_the_old_priority_is_found_after_a_minute(
    tree, time, world, recalculations_spec, recalculated
):
    priority = await world.priority(first=0, resolution=600, **NEVER_WARN)
    async with tree(recalculations_spec()) as system:
        await time.passes(200, step=10)
        await world.edit(priority, resolution_minutes=300)
        await publish_changes(system, TicketPriorityChanged(priority.id, "updated", ("resolution_minutes",)))
        await time.settle()
        # Its transaction had read the priority before.
        ticket = await world.ticket(NOW + 190 * timedelta(seconds=1), priority)
        await time.passes(50, step=10)
        assert await recalculated() == []
        await time.passes(20, step=10)
        assert await recalculated() == [(ticket, "priority")]


async def test_only_what_moves_is_written_and_a_near_due_time_is_not_put_off(
    tree, time, world, recalculations_spec, recalculated
):
    priority = await world.priority(first=60, resolution=600, **NEVER_WARN)
    near = await world.ticket(NOW - 59.5 * MINUTE, priority)
    done = await world.ticket(
        NOW - HOUR,
        priority,
        kind="resolved",
        resolved_at=NOW,
        resolution_verdict="met",
        resolution_decided_at=NOW,
        first_response_at=NOW,
        first_response_verdict="met",
        first_response_decided_at=NOW,
    )
    async with tree(recalculations_spec()) as system:
        await time.settle()
        await world.edit(priority, resolution_minutes=500)
        await publish_changes(system, TicketPriorityChanged(priority.id, "updated", ("resolution_minutes",)))
        await time.settle()
        await world.edit(priority, name="Other", resolution_minutes=500)
        await publish_changes(system, TicketPriorityChanged(priority.id, "updated", ("name",)))
        await time.settle()
    assert await recalculated() == [(near, "priority")]
    assert await world.column(near, "first_response_due") == NOW + timedelta(seconds=30)
    assert await world.column(done, "resolution_due") == NOW + 9 * HOUR


async def test_a_server_that_is_cut_off_at_any_statement_and_two_that_go_on(
    tree, time, world, database, recalculations_spec, recalculated, monkeypatch
):
    monkeypatch.setattr(recalculations, "BATCH", 4)
    minutes = 600
    priority = await world.priority(first=0, resolution=minutes, **NEVER_WARN)
    tickets = await world.tickets(NOW, priority, 10)
    async with tree(recalculations_spec()):
        await time.settle()
    known = 0
    for statements in range(0, 24, 2):
        minutes -= 10
        priority = await world.edit(priority, resolution_minutes=minutes)
        kill_switch = KillSwitch()
        kill_switch.left = statements
        async with tree(recalculations_spec(InterruptibleDatabase(database, kill_switch))):
            await time.settle()
        async with tree(recalculations_spec()), tree(recalculations_spec()):
            await time.settle()
        fresh = (await recalculated())[known:]
        known += len(fresh)
        assert sorted(fresh) == [(ticket, "priority") for ticket in tickets]
        for place, ticket in enumerate(tickets):
            created = NOW + place * timedelta(seconds=1)
            assert await world.column(ticket, "resolution_due") == created + minutes * MINUTE


async def test_resolved_tickets_are_looked_at_when_their_company_closes_after_other_days(
    tree, time, world, recalculations_spec, clock_spec
):
    priority = await world.priority()
    done = {
        "kind": "resolved",
        "first_response_at": NOW,
        "first_response_verdict": "met",
        "first_response_decided_at": NOW,
        "resolution_verdict": "met",
        "resolution_decided_at": NOW,
        "next_clock_at": None,
    }
    old = await world.ticket(NOW - 30 * DAY, priority, resolved_at=NOW - 20 * DAY, **done)
    young = await world.ticket(NOW - 30 * DAY, priority, resolved_at=NOW - 5 * DAY, **done)
    async with tree(clock_spec(), recalculations_spec()) as system:
        await time.passes(5)
        assert await world.column(old, "next_clock_at") is None
        for days in (10, 6):
            await world.edit(world.company, attributes={"autoCloseDays": days})
            await publish_changes(
                system, CompanyChanged(world.company.id, "updated", ("attributes.autoCloseDays",))
            )
            await time.settle()
            assert await world.column(old, "status_kind") == "closed"
            assert await world.column(young, "next_clock_at") == NOW + (days - 5) * DAY
