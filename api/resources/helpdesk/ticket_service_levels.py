"""The service levels of a ticket (docs/service-levels.md#the-view)."""

from datetime import datetime

from quart import Response

from motorpool.actors.tickets.service_level_view import (
    NOT_ESCALATED,
    EscalationView,
    ServiceLevelView,
    view,
)
from motorpool.actors.tickets.service_levels import clocks_of
from motorpool.actors.tickets.ticket_reader import read_facts
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.responses import as_json
from motorpool.api.resources.helpdesk.ticket_events import require_readable
from motorpool.storage import ticket_lists

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("tickets")


@OPERATIONS.operation("GET", "/tickets/{id}/sla", answer=ServiceLevelView, errors=(400,))
async def get_ticket_service_levels(call: Call) -> Response:
    """Fetch how the targets of a ticket stand now."""
    await require_readable(call, call.id)
    database, now = call.context.database, call.now
    facts = await read_facts(database, call.id, call.context.business_calendars, now=now)
    if facts is None:
        raise ResourceNotFound("no such ticket")
    clocks = clocks_of(facts.ticket.created_at, facts.priority, facts.pauses, facts.business)
    levels = (facts.first_response, facts.resolution)
    escalation = NOT_ESCALATED
    if facts.ticket.escalated_at is not None:
        escalation = await _escalation(call, facts.ticket.escalated_at)
    return as_json(view(facts.ticket, facts.priority, levels, clocks, facts.pauses, now, escalation))


async def _escalation(call: Call, escalated_at: datetime) -> EscalationView:
    """Return where the ticket went, from the entry of its history; nowhere if all was skipped."""
    found = await ticket_lists.list_history(
        call.context.database, call.id, types=["escalated"], with_internal=True, limit=1
    )
    attributes = found[0].attributes if found else {}
    return EscalationView(
        escalated_at=escalated_at,
        team_id=attributes.get("toTeamId", 0),
        priority_id=attributes.get("toPriorityId", 0),
    )
