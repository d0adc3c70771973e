"""Priorities and calendars that were edited reach a ticket at the latest with what happens to it next."""

from datetime import timedelta

import msgspec
from tests.actors.helpdesk import ticket_world as world

from motorpool.actors.helpdesk.business_time import ALWAYS
from motorpool.actors.helpdesk.comment import comment
from motorpool.actors.helpdesk.settle import settle
from motorpool.actors.helpdesk.transition import transition

HOUR = timedelta(hours=1)


def edit_priority(desk, **fields):
    priorities = dict(desk.setup.priorities)
    priorities[world.SLOW] = msgspec.structs.replace(priorities[world.SLOW], **fields)
    desk.setup = msgspec.structs.replace(desk.setup, priorities=priorities)
    desk.facts = msgspec.structs.replace(desk.facts, setup=desk.setup)


def open_the_office_always(desk):
    desk.hours = {world.OFFICE: ALWAYS}
    desk.facts = msgspec.structs.replace(desk.facts, business_times=desk.hours)


def recalculations(desk):
    return [
        (entry.field, entry.attributes["reason"], entry.attributes["creditSeconds"], entry.to)
        for entry in desk.entries
        if entry.type == "slaRecalculated"
    ]


def test_a_comment_finds_an_edited_target_and_the_recalculation_after_it_nothing():
    desk = world.Desk(priority_id=world.SLOW)
    edit_priority(desk, resolution_minutes=60)
    desk.do(comment, text="word", after=2 * HOUR)
    expected = [("resolutionDue", "priority", 7200, "2026-10-12T11:00:00Z")]
    assert recalculations(desk) == expected
    assert desk.ticket.resolution_due == world.START + 3 * HOUR
    assert not desk.keep(settle(desk.facts, desk.now, reason="calendar")).entries
    assert recalculations(desk) == expected


def test_a_ticket_that_is_reopened_has_the_target_of_now():
    desk = world.Desk(priority_id=world.SLOW)
    desk.do(transition, status_id=world.RESOLVED, after=2 * HOUR)
    edit_priority(desk, resolution_minutes=60)
    assert not desk.keep(settle(desk.facts, desk.now)).entries
    desk.do(transition, status_id=world.OPEN, after=HOUR)
    assert recalculations(desk) == [("resolutionDue", "priority", 7200, "2026-10-12T12:00:00Z")]
    assert not desk.ticket.resolution_breached


def test_an_edited_calendar_is_found_by_the_ticket_clock():
    desk = world.Desk(priority_id=world.OFFICE, at=world.START + 5 * HOUR)
    open_the_office_always(desk)
    desk.keep(settle(desk.facts, desk.now))
    assert recalculations(desk) == [("resolutionDue", "calendar", 0, "2026-10-12T23:00:00Z")]


def test_a_due_time_that_is_near_is_not_put_off_by_computing_it_again():
    desk = world.Desk(priority_id=world.SLOW)
    due = desk.ticket.resolution_due
    desk.now = due - timedelta(seconds=10)
    desk.keep(settle(desk.facts, desk.now, reason="priority"))
    assert desk.ticket.resolution_due == due


def test_an_edited_calendar_is_found_during_a_pause():
    desk = world.Desk(priority_id=world.OFFICE, at=world.START + 5 * HOUR)
    desk.do(comment, text="word")
    desk.do(transition, status_id=world.PENDING, after=10 * HOUR)
    open_the_office_always(desk)
    desk.keep(settle(desk.facts, desk.now, reason="calendar"))
    # All ten hours count by the new calendar; by the old one five had been used.
    assert recalculations(desk) == [("resolutionDue", "calendar", 5 * 3600, None)]
    assert not desk.keep(settle(desk.facts, desk.now + HOUR, reason="calendar")).entries
