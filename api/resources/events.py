"""Single events (docs/events.md)."""

from quart import Response

from motorpool.api.access import may_see_device
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.responses import as_json
from motorpool.storage import events
from motorpool.storage.records import Event

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("events")


@OPERATIONS.operation("GET", "/events/{id}", answer=Event)
async def get_event(call: Call) -> Response:
    """Fetch an event."""
    found = await events.TABLE.fetch(call.context.database, call.id)
    if found is None or not await may_see_device(call, found.device_id):
        raise ResourceNotFound("no such event")
    return as_json(found)
