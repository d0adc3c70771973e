"""Tickets: create, fetch, edit and delete (docs/tickets.md)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from quart import Response

from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.edit import EDITABLE, edit, json_name
from motorpool.actors.helpdesk.facts import Outcome
from motorpool.actors.helpdesk.ticket_creation import CreateTicket
from motorpool.actors.helpdesk.ticket_creator import ANSWER_SECONDS, TICKET_CREATOR
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import announce_deletion, write_deletion
from motorpool.actors.messages.changes import TicketChanged
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, BodyRules, Content, Operations
from motorpool.api.engine.resource_operations import require_unchanged
from motorpool.api.engine.versions import IF_MATCH, VERSION_HEADER, require_version
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import no_content
from motorpool.api.resources.helpdesk.caller_membership import (
    membership_of,
    no_company,
    require_linked,
    require_manager,
)
from motorpool.api.resources.helpdesk.idempotency import IDEMPOTENCY_KEY, RepeatableRequest
from motorpool.api.resources.helpdesk.ticket_changes import (
    TicketContext,
    answer_of,
    author_of,
    change_ticket,
    require_agent,
    require_writer,
    serve_once,
)
from motorpool.api.resources.helpdesk.ticket_fields import (
    FIXED,
    LENGTHS,
    READ_ONLY,
    EditedTicket,
    NewTicket,
    check_references,
    checked,
    require_excuser,
    require_plain,
)
from motorpool.api.resources.helpdesk.ticket_json import json_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import tickets
from motorpool.storage.helpdesk.companies import Membership
from motorpool.storage.helpdesk.helpdesk_records import EPOCH, Ticket, TicketCategory

OPERATIONS = Operations("tickets")

AGENT_FIELDS = ("status_id", "team_id", "assignee_id")
"""Fields of a new ticket that only agents set."""
TICKET: dict[int, Content] = {200: Content(shape=Ticket, headers=VERSION_HEADER)}


@OPERATIONS.operation("GET", "/tickets/{id}", answers=TICKET, errors=(400,))
async def get_ticket(call: Call) -> Response:
    """Fetch a ticket."""
    ticket = await tickets.TABLE.fetch(call.context.database, call.id)
    if ticket is None:
        raise ResourceNotFound("no such ticket")
    require_linked(await membership_of(call, ticket.company_id))
    return answer_of(json_of(ticket), ticket)


@OPERATIONS.operation(
    "POST",
    "/tickets",
    body=NewTicket,
    body_rules=BodyRules(required=("company_id", "subject"), max_lengths=LENGTHS, ignored=READ_ONLY),
    answers=TICKET,
    headers=IDEMPOTENCY_KEY,
)
async def create_ticket(call: Call) -> Response:
    """Create a ticket.

    The category gives team and priority where the body has none; without a status the company's first one of
    kind `new`, else `open`, is taken. `createdAt` counts only from administrators. A `uniqueId` that a ticket
    of the company has answers that ticket if it was created with the same fields.
    """
    body = await call.body(NewTicket)
    sent = await call.body_fields()
    values = checked(body, NewTicket.__struct_fields__)
    require_plain(values, None)
    if not body.company_id:
        raise BadRequest("companyId: needed")
    if not values["subject"]:
        raise BadRequest("subject: needed")
    created_at = body.created_at if call.caller.administrator else None
    if created_at is not None and not EPOCH <= created_at <= call.now:
        raise BadRequest("createdAt: in the future, or before 1970")

    async def serve(request: RepeatableRequest) -> Response:
        database = call.context.database
        membership = await membership_of(call, body.company_id)
        require_writer(call, membership)
        earlier = await request.earlier_answer(database)
        if earlier is not None:
            return earlier
        if not membership.handles_tickets and any(values[name] for name in AGENT_FIELDS):
            raise BadRequest("only agents of the company may set status, team and assignee", is_refusal=True)
        require_excuser(membership, {}, body.attributes)
        stored = await _of_unique_id(database, body.company_id, values, sent)
        if stored is None:
            stored = await _create(call, membership, values, created_at, request)
        return answer_of(json_of(stored), stored)

    return await serve_once(call, serve)


async def _create(
    call: Call,
    membership: Membership,
    values: Mapping[str, Any],
    created_at: datetime | None,
    request: RepeatableRequest,
) -> Ticket:
    references = await check_references(call, call.context.database, values["company_id"], values, None)
    found = references["category_id"].get(values["category_id"])
    category = None
    if found is not None:
        category = TicketCategory(team_id=found.team_id, priority_id=found.priority_id)
    fields = {name: value for name, value in values.items() if name not in {"id", "version", "created_at"}}

    async def store_answer(transaction: Queries, ticket: Ticket) -> None:
        await request.store(transaction, json_of(ticket), ticket)

    change = await call.context.system.ref(TICKET_CREATOR).ask(
        CreateTicket(
            Ticket(**fields),
            author_of(call, membership),
            category,
            created_at,
            store_answer if request.has_key else None,
        ),
        seconds=ANSWER_SECONDS,
    )
    if change is None:
        raise no_company()
    return change.outcome.ticket


async def _of_unique_id(
    queries: Queries, company_id: int, values: Mapping[str, Any], sent: frozenset[str]
) -> Ticket | None:
    """Return the ticket that has the external reference, if it was created by an equal request."""
    if not values["unique_id"]:
        return None
    stored = await tickets.of_unique_id(queries, company_id, values["unique_id"])
    if stored is None:
        return None
    initial = await tickets.initial_fields(queries, stored.id)
    for name, value in values.items():
        key = json_name(name)
        if name in {"id", "version", "created_at", "company_id"} or key not in sent or value in ("", 0, {}):
            continue
        if initial.get(key) != value:
            raise BadRequest(f"uniqueId: ticket {stored.number} has it already, with another {key}")
    return stored


@OPERATIONS.operation(
    "PUT",
    "/tickets/{id}",
    body=EditedTicket,
    body_rules=BodyRules(max_lengths=LENGTHS, ignored=(*READ_ONLY, "created_at")),
    answers=TICKET,
    headers=IF_MATCH,
)
async def update_ticket(call: Call) -> Response:
    """Change fields of a ticket; those that are left out stay as they are.

    `attributes` are replaced as a whole. A `version` in the body is checked like If-Match. The company, the
    channel and what caused the ticket cannot be changed.
    """
    body = await call.body(EditedTicket)
    sent = await call.body_fields()
    if body.id not in {0, call.id}:
        raise BadRequest("id: is not the one of the path")
    values = checked(body, EDITABLE)
    fields = {name: values[name] for name in EDITABLE if json_name(name) in sent}
    if fields.get("subject") == "":
        raise BadRequest("subject: needed")
    if fields.get("status_id") == 0:
        # Every ticket has a status.
        del fields["status_id"]

    async def decide(context: TicketContext) -> Outcome:
        require_agent(context.membership)
        ticket = context.ticket
        require_unchanged(FIXED, body, ticket)
        require_plain(fields, ticket)
        if "attributes" in fields:
            require_excuser(context.membership, ticket.attributes, fields["attributes"])
        found = await check_references(call, context.transaction, ticket.company_id, fields, ticket)
        names = {
            field: {number: reference.name for number, reference in known.items()}
            for field, known in found.items()
            if field != "contact_id"
        }
        return edit(context.facts, context.author, context.now, fields=fields, names=names)

    return await change_ticket(
        call,
        decide,
        version=body.version,
        people=[fields.get("assignee_id", 0)],
        priorities=[fields.get("priority_id", 0)],
        lock_company=bool(fields.get("parent_id")),
    )


@OPERATIONS.operation("DELETE", "/tickets/{id}", answers={204: NO_CONTENT}, errors=(400,), headers=IF_MATCH)
async def delete_ticket(call: Call) -> Response:
    """Delete a ticket with its history.

    Only managers of the company and administrators; agents close or cancel it instead.
    """
    context, now = call.context, to_milliseconds(call.now)
    async with context.database.transaction() as transaction:
        found = await lock_facts(transaction, [call.id], context.helpdesk.business_calendars, now=now)
        facts = found.get(call.id)
        if facts is None:
            raise ResourceNotFound("no such ticket")
        ticket = facts.ticket
        membership = await membership_of(call, ticket.company_id, transaction)
        require_writer(call, membership)
        require_manager(membership)
        require_version(call, f"ticket {ticket.id}", ticket.version)
        await write_deletion(transaction, facts, now)
        attributes = {"number": ticket.number, "subject": ticket.subject, "companyId": ticket.company_id}
        await record_action(call, transaction, "remove", "ticket", ticket.id, attributes=attributes)
    await announce_deletion(
        context.system, TicketChanged(ticket.id, "deleted", ticket.company_id, ticket.version)
    )
    return no_content()
