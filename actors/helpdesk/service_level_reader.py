"""Reads the service levels of a ticket for the view of them (docs/service-levels.md#the-view)."""

from datetime import datetime

from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.service_level_view import EscalationView, ServiceLevelView, view
from motorpool.actors.helpdesk.service_levels import clocks_of
from motorpool.actors.helpdesk.ticket_reader import level_of, ticket_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import ticket_service_levels
from motorpool.storage.helpdesk.company_tables import COMPANIES, PRIORITIES


async def read_service_levels(
    q: Queries, ticket_id: int, calendars: BusinessCalendars, now: datetime
) -> ServiceLevelView | None:
    """Return the service levels of a ticket at an instant; None if there is no such ticket."""
    found = await ticket_service_levels.fetch(q, ticket_id)
    if found is None:
        return None
    ticket = ticket_of(found.row)
    priority = await PRIORITIES.fetch(q, ticket.priority_id)
    company = await COMPANIES.fetch(q, ticket.company_id)
    if company is None:  # deleted meanwhile
        return None
    hours = await calendars.of_priority(q, priority, company, now)
    levels = level_of(found.row, "first_response", ticket), level_of(found.row, "resolution", ticket)
    return view(
        ticket,
        priority,
        levels,
        clocks_of(ticket.created_at, priority, found.pauses, hours),
        found.pauses,
        now,
        EscalationView(ticket.escalated_at, found.team_id, found.priority_id),
    )
