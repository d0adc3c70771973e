"""A device's distance and engine hours, set by hand (docs/devices.md#operations)."""

from typing import Annotated

import msgspec
import trio
from quart import Response

from motorpool.actors.messages.topics import POSITIONS
from motorpool.actors.messages.uplink import DEVICE, SetAccumulators
from motorpool.api.access import may_see_device
from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.http.errors import BadRequest, Unavailable
from motorpool.api.http.responses import nothing
from motorpool.runtime import Lagged
from motorpool.storage.records import Position

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("devices")

STORED_SECONDS = 5.0
"""Shorter than the server's stop, which waits for what is being changed."""

Amount = Annotated[float, msgspec.Meta(ge=0)]


class Accumulators(msgspec.Struct, frozen=True, rename="camel"):
    """What is left out stays as it is."""

    device_id: int = 0
    total_distance: Annotated[Amount, msgspec.Meta(description="Metres.")] | None = None
    hours: Annotated[Amount, msgspec.Meta(description="Milliseconds.")] | None = None


@OPERATIONS.operation("PUT", "/devices/{id}/accumulators", body=Accumulators, answers={204: NO_CONTENT})
async def set_accumulators(call: Call) -> Response:
    """Set a device's total distance and hours: its latest position is stored again with them."""
    CHANGE["device"].require(call.caller)
    sent = await call.body(Accumulators)
    if sent.device_id not in {0, call.id}:
        raise BadRequest("deviceId: is not that of the path")
    if not await may_see_device(call, call.id):
        raise BadRequest("no access to the device")
    system = call.context.system
    async with system.topic(POSITIONS).subscribe() as stored:
        position = await system.ref(DEVICE, call.id).ask(SetAccumulators(sent.total_distance, sent.hours))
        if position is None:
            raise BadRequest("the device has no position yet")
        with trio.move_on_after(STORED_SECONDS) as patience:
            try:
                while not _holds(await stored.receive_batch(), position):
                    pass
            except Lagged:
                raise Unavailable("it is not known whether the new values are stored") from None
        if patience.cancelled_caught:
            raise Unavailable("the new values are not stored yet")
    await record_action(call, call.context.database, "accumulators", "device", call.id)
    return nothing()


def _holds(batches: "list[tuple[Position, ...]]", position: Position) -> bool:
    return any(stored is position for batch in batches for stored in batch)
