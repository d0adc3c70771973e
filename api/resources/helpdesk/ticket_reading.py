"""What is read of one ticket: its history (docs/tickets.md#history) and its service levels
(docs/service-levels.md#the-view).
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from quart import Response

from motorpool.actors.helpdesk.service_level_view import ServiceLevelView
from motorpool.actors.helpdesk.ticket_reader import read_service_levels
from motorpool.api.engine.batches import slices_of
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Count, Id, PageSize
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.responses import as_json, as_json_array
from motorpool.api.resources.helpdesk.caller_membership import (
    membership_of,
    memberships_of,
    require_linked,
)
from motorpool.api.resources.helpdesk.ticket_json import whole_seconds
from motorpool.storage.helpdesk import ticket_lists, tickets
from motorpool.storage.helpdesk.companies import Membership
from motorpool.storage.helpdesk.helpdesk_records import TicketEvent

OPERATIONS = Operations("tickets")

MAX_TICKETS = 200
"""Tickets of which the service levels are asked for at once."""

EntryType = Literal[
    "created",
    "updated",
    "comment",
    "statusChanged",
    "assigned",
    "firstResponse",
    "slaPaused",
    "slaResumed",
    "slaRecalculated",
    "slaWarning",
    "slaBreached",
    "escalated",
    "escalationSkipped",
    "reopened",
    "linked",
    "evidence",
]


class HistoryQuery(msgspec.Struct, frozen=True, kw_only=True, rename={"start": "from", "end": "to"}):
    """The parameters of a ticket's history."""

    type: tuple[EntryType, ...] = ()
    """Entries of these types."""
    start: Instant | None = None
    """Entries of this instant or later."""
    end: Instant | None = None
    """Entries before this instant."""
    limit: PageSize = 200
    """Maximum number of entries; 0 is 1000."""
    offset: Count = 0
    """Number of entries to skip."""


@OPERATIONS.operation("GET", "/tickets/{id}/events", query=HistoryQuery, answer=list[TicketEvent])
async def list_ticket_events(call: Call) -> Response:
    """List what happened to a ticket, oldest first.

    Internal entries are for agents and managers of the company, and administrators.
    """
    sent = call.query(HistoryQuery)
    membership = await require_readable(call, call.id)
    async with call.turn:
        found = await ticket_lists.list_history(
            call.context.database,
            call.id,
            types=sent.type,
            start=sent.start,
            end=sent.end,
            with_internal=membership.handles_tickets,
            limit=sent.limit,
            offset=sent.offset,
        )
    entries = slices_of([whole_seconds(entry) for entry in found])
    return await as_json_array(call.in_turns(entries))


@OPERATIONS.operation("GET", "/tickets/{id}/sla", answer=ServiceLevelView, errors=(400,))
async def get_ticket_service_levels(call: Call) -> Response:
    """Fetch how the targets of a ticket stand now."""
    await require_readable(call, call.id)
    context = call.context
    found = await read_service_levels(
        context.database, [call.id], context.helpdesk.business_calendars, call.now
    )
    if call.id not in found:
        raise ResourceNotFound("no such ticket")
    return as_json(found[call.id])


class ServiceLevelQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The parameters of the service levels of several tickets."""

    ticket_id: Annotated[tuple[Id, ...], Meta(max_length=MAX_TICKETS)] = ()
    """The tickets."""


@OPERATIONS.operation(
    "GET", "/tickets/sla", query=ServiceLevelQuery, answer=list[ServiceLevelView], errors=(400,)
)
async def list_ticket_service_levels(call: Call) -> Response:
    """List how the targets of several tickets stand now, as a list of tickets shows them, by their ids.

    Unknown tickets, and those of companies that the caller is not linked to, are left out.
    """
    asked = set(call.query(ServiceLevelQuery).ticket_id)
    context = call.context
    if not call.caller.administrator:
        seen = await memberships_of(call)
        companies = await tickets.companies_of(context.database, asked)
        asked = {ticket_id for ticket_id, company_id in companies.items() if company_id in seen}
    async with call.turn:
        found = await read_service_levels(
            context.database, asked, context.helpdesk.business_calendars, call.now
        )
    return as_json([found[ticket_id] for ticket_id in sorted(found)])


async def require_readable(call: Call, ticket_id: int) -> Membership:
    """Return what the caller is in the company of a ticket.

    Raises:
        ResourceNotFound: There is no such ticket.
        BadRequest: The caller is not linked to its company.
    """
    company_id = await tickets.company_of(call.context.database, ticket_id)
    if company_id is None:
        raise ResourceNotFound("no such ticket")
    membership = await membership_of(call, company_id)
    require_linked(membership)
    return membership
