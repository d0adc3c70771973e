"""Who else is at a ticket (docs/tickets.md#presence)."""

from typing import Literal

import msgspec
from quart import Response

from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.responses import as_json
from motorpool.api.resources.helpdesk.ticket_reading import require_readable
from motorpool.storage.errors import Conflict
from motorpool.storage.helpdesk import ticket_presences
from motorpool.storage.helpdesk.ticket_presences import PresenceState, TicketPresence

OPERATIONS = Operations("tickets")


class OwnPresence(msgspec.Struct, frozen=True):
    """What the caller does at a ticket."""

    state: PresenceState | Literal["LEFT"]
    """VIEWING, WRITING, or LEFT once they have left it."""


@OPERATIONS.operation(
    "PUT",
    "/tickets/{id}/presence",
    body=OwnPresence,
    answer=list[TicketPresence],
    errors=(400,),
)
async def put_ticket_presence(call: Call) -> Response:
    """Say that the caller is at a ticket for the next 30 seconds; answer who else is, at most 50.

    Those who handle tickets of the company are told of each other, the longest there first. Others who read
    the ticket get an empty list, and nobody is told of them.
    """
    state = (await call.body(OwnPresence)).state
    membership = await require_readable(call, call.id)
    if not membership.handles_tickets:
        return as_json([])
    database, user_id = call.context.database, call.caller.id
    if state == "LEFT":
        return as_json(await ticket_presences.leave(database, call.id, user_id))
    try:
        others = await ticket_presences.enter(database, call.id, user_id, state)
    except Conflict:
        raise ResourceNotFound("no such ticket") from None
    return as_json(others)
