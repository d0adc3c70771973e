"""Commands that are sent for a ticket (docs/tickets.md#commands)."""

from typing import Any

from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.evidence import add_evidence
from motorpool.actors.helpdesk.facts import Change
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import announce, write
from motorpool.actors.messages.tickets import TICKET_COMMANDS, TicketCommandsChanged
from motorpool.actors.messages.uplink import CommandOutcome, CommandQueued, CommandRefused
from motorpool.actors.words.record_json import format_time
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.caller_membership import membership_of
from motorpool.api.resources.helpdesk.ticket_changes import author_of, require_agent
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import ticket_commands, tickets
from motorpool.storage.records import Command


async def require_agent_of_ticket(call: Call, ticket_id: int) -> int:
    """Return the company of a ticket.

    Raises:
        BadRequest: The ticket does not exist, or the caller does not handle tickets of its company.
    """
    company_id = await tickets.company_of(call.context.database, ticket_id)
    membership = await membership_of(call, company_id) if company_id is not None else None
    if company_id is None or membership is None or not membership.linked:
        raise BadRequest("ticketId: no access to it, or no such")
    require_agent(membership)
    return company_id


async def add_ticket_command(call: Call, company_id: int, ticket_id: int, command: Command) -> int:
    """Store that a command is about to be sent for a ticket; return the id of its row.

    Should this server end before `settle_ticket_command`, the history says that what became of it is unknown.
    """
    return await ticket_commands.add(
        call.context.database, company_id, ticket_id, _attributes(command), now=call.now
    )


async def settle_ticket_command(
    call: Call, ticket_id: int, row_id: int, command: Command, outcome: CommandOutcome
) -> None:
    """Enter how a command was handed over: sent, queued or refused.

    A ticket that was deleted meanwhile has no history.
    """
    context, now = call.context, to_milliseconds(call.now)
    attributes = _attributes(command)
    match outcome:
        case CommandQueued():
            attributes |= {"status": "queued", "queuedCommandId": outcome.queued.id}
        case CommandRefused():
            attributes |= {"status": "refused", "reason": outcome.reason}
        case _:
            attributes["status"] = "sent"
    is_over = isinstance(outcome, CommandRefused) and not outcome.uncertain
    async with context.database.transaction() as transaction:
        found = await lock_facts(transaction, [ticket_id], context.helpdesk.business_calendars, now=now)
        await ticket_commands.settle(transaction, row_id, is_over=is_over, now=now)
        if ticket_id not in found:
            return
        facts = found[ticket_id]
        membership = await membership_of(call, facts.ticket.company_id, transaction)
        evidence = add_evidence(facts, author_of(call, membership), now, attributes)
        changes = await write(transaction, [Change(facts, evidence)], now, context.helpdesk.ticket_mails)
    await announce(context.system, changes)
    # An answer may have come before.
    context.system.ref(TICKET_COMMANDS).offer(TicketCommandsChanged())


async def note_command_removed(call: Call, transaction: Queries, queued_command_id: int) -> None:
    """Store for its ticket, if it has one, that the caller has removed a command from a queue."""
    attributes = {
        "status": "removed",
        "queuedCommandId": queued_command_id,
        "userName": call.caller.user.name,
        "time": format_time(call.now),
    }
    await ticket_commands.note_removed(transaction, queued_command_id, call.caller.id, attributes)


def announce_command_removed(call: Call) -> None:
    """Have the removal entered; after the commit."""
    call.context.system.ref(TICKET_COMMANDS).offer(TicketCommandsChanged())


def _attributes(command: Command) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "commandType": command.type,
        "commandId": command.id,
        "deviceId": command.device_id,
    }
    if command.description:
        attributes["description"] = command.description
    return attributes
