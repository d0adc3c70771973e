"""Commands that are sent for a ticket (docs/tickets.md#commands)."""

from typing import Any

from motorpool.actors.tickets.draft import to_milliseconds
from motorpool.actors.tickets.evidence import add_evidence
from motorpool.actors.tickets.facts import Change
from motorpool.actors.tickets.ticket_reader import lock_facts
from motorpool.actors.tickets.ticket_writer import announce, write
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.caller_standing import standing_of
from motorpool.api.resources.helpdesk.ticket_changes import author_of, require_agent
from motorpool.storage import tickets
from motorpool.storage.records import Command, QueuedCommand

__all__ = ["add_command_entry", "require_agent_of_ticket"]


async def require_agent_of_ticket(call: Call, ticket_id: int) -> None:
    """Raise BadRequest unless the ticket exists and the caller handles tickets of its company."""
    company_id = await tickets.company_of(call.context.database, ticket_id)
    standing = await standing_of(call, company_id) if company_id is not None else None
    if standing is None or not standing.linked:
        raise BadRequest("ticketId: no access to it, or no such")
    require_agent(standing)


async def add_command_entry(
    call: Call, ticket_id: int, command: Command, queued: QueuedCommand | None
) -> None:
    """Write into the history of a ticket that the caller sent a command; `queued` if it waits for the device.

    A ticket that was deleted meanwhile has no history.
    """
    context, now = call.context, to_milliseconds(call.now)
    attributes: dict[str, Any] = {
        "commandType": command.type,
        "commandId": command.id,
        "deviceId": command.device_id,
        "status": "sent" if queued is None else "queued",
    }
    if command.description:
        attributes["description"] = command.description
    if queued is not None:
        attributes["queuedCommandId"] = queued.id
    async with context.database.transaction() as transaction:
        found = await lock_facts(transaction, [ticket_id], context.business_calendars, now=now)
        if ticket_id not in found:
            return
        facts = found[ticket_id]
        standing = await standing_of(call, facts.ticket.company_id, transaction)
        outcome = add_evidence(facts, author_of(call, standing), now, attributes)
        changes = await write(transaction, [Change(facts, outcome)], now, context.ticket_mails)
    await announce(context.system, changes)
