"""The service levels of a stored ticket, as GET /tickets/{id}/sla shows them."""

from datetime import timedelta

import pytest
from tests.actors.helpdesk.test_ticket_writer import CALENDARS, Rows
from tests.actors.helpdesk.ticket_world import START

from motorpool.actors.helpdesk.settle import settle
from motorpool.actors.helpdesk.ticket_reader import read_service_levels
from motorpool.actors.helpdesk.transition import transition

HOUR = timedelta(hours=1)


@pytest.fixture
async def rows(database):
    return await Rows(database).make()


async def test_an_unknown_ticket_has_none(database):
    for ticket_id in (4711, 0, -1, 1 << 70):
        assert await read_service_levels(database, [ticket_id], CALENDARS, START) == {}


async def test_what_is_stored_is_shown(database, rows):
    ticket = (await rows.create()).ticket

    def move(kind):
        return lambda facts, at: transition(facts, rows.agent, at, status_id=rows.statuses[kind])

    await rows.change([ticket.id], move("pending"), START + HOUR / 2)
    await rows.change([ticket.id], move("open"), START + HOUR)
    await rows.change([ticket.id], move("pending"), START + 1.5 * HOUR)
    await rows.change([ticket.id], settle, START + 2 * HOUR)
    shown = (await read_service_levels(database, [ticket.id], CALENDARS, START + 3 * HOUR))[ticket.id]
    assert (shown.ticket_id, shown.priority_id, shown.status_kind) == (ticket.id, rows.urgent, "pending")
    assert [(each.from_, each.to, each.status_id) for each in shown.pauses] == [
        (START + HOUR / 2, START + HOUR, rows.statuses["pending"]),
        (START + 1.5 * HOUR, None, rows.statuses["pending"]),
    ]
    assert [each.business_minutes for each in shown.pauses] == [30, 90]
    first = shown.first_response
    assert (first.state, first.due, first.breached_at) == ("overdue", START + HOUR, START + HOUR)
    # Escalated when it breached, with an hour used: the new target of an hour counts from then on.
    assert (shown.escalation.priority_id, shown.escalation.team_id) == (rows.urgent, 0)
    assert shown.escalation.escalated_at == START + 1.5 * HOUR
    resolution = shown.resolution
    assert (resolution.state, resolution.target_minutes) == ("paused", 60)
    assert (resolution.elapsed_minutes, resolution.remaining_minutes, resolution.due) == (60, 60, None)
    assert resolution.credit_seconds == 3600
