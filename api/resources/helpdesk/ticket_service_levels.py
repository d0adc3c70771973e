"""The service levels of a ticket (docs/service-levels.md#the-view)."""

from quart import Response

from motorpool.actors.helpdesk.service_level_view import ServiceLevelView
from motorpool.actors.helpdesk.ticket_reader import read_service_levels
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.responses import as_json
from motorpool.api.resources.helpdesk.ticket_events import require_readable

OPERATIONS = Operations("tickets")


@OPERATIONS.operation("GET", "/tickets/{id}/sla", answer=ServiceLevelView, errors=(400,))
async def get_ticket_service_levels(call: Call) -> Response:
    """Fetch how the targets of a ticket stand now."""
    await require_readable(call, call.id)
    context = call.context
    found = await read_service_levels(
        context.database, call.id, context.helpdesk.business_calendars, call.now
    )
    if found is None:
        raise ResourceNotFound("no such ticket")
    return as_json(found)
