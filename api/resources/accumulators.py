"""A device's distance and engine hours, set by hand (docs/devices.md#operations)."""

from typing import Annotated

import msgspec
from quart import Response

from motorpool.actors.messages.uplink import DEVICE, SetAccumulators
from motorpool.api.access import require_device_for_change
from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.http.errors import BadRequest, Unavailable
from motorpool.api.http.responses import no_content
from motorpool.runtime import AskTimedOut

OPERATIONS = Operations("devices")

STORED_SECONDS = 5.0
"""Shorter than the server's stop, which waits for what is being changed."""

Amount = Annotated[float, msgspec.Meta(ge=0)]


class Accumulators(msgspec.Struct, frozen=True, rename="camel"):
    """What is left out stays as it is."""

    device_id: int = 0
    """Absent, 0, or the id of the path."""
    total_distance: Amount | None = None
    """Metres."""
    """Metres."""
    hours: Amount | None = None
    """Milliseconds."""
    """Milliseconds."""


@OPERATIONS.operation("PUT", "/devices/{id}/accumulators", body=Accumulators, answers={204: NO_CONTENT})
async def set_accumulators(call: Call) -> Response:
    """Set a device's total distance and hours: its latest position is stored again with them."""
    CHANGE["device"].require(call.caller)
    sent = await call.body(Accumulators)
    if sent.device_id not in {0, call.id}:
        raise BadRequest("deviceId: is not that of the path")
    await require_device_for_change(call, call.id)
    device = call.context.system.ref(DEVICE, call.id)
    try:
        stored = await device.ask(SetAccumulators(sent.total_distance, sent.hours), STORED_SECONDS)
    except AskTimedOut:
        raise Unavailable("the new values are not stored yet") from None
    if stored is None:
        raise BadRequest("the device has no position yet")
    await record_action(call, call.context.database, "accumulators", "device", call.id)
    return no_content()
