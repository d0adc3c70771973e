"""Since when devices move or stand (docs/devices.md#motion)."""

from datetime import datetime

import msgspec
from quart import Response

from motorpool.api.access import visible_device_ids
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.storage.rules.motions import last_motions

OPERATIONS = Operations("devices")

MAX_DEVICES = 500


class DeviceMotion(msgspec.Struct, frozen=True, rename="camel"):
    """Whether a device moves, and since when."""

    device_id: int
    moving: bool
    """Whether it drives, by the events of motion."""
    since: datetime
    """When it started or stopped."""


class MotionQuery(msgspec.Struct):
    """Which devices' motions to list."""

    id: tuple[int, ...]
    """These devices, at most 500."""


@OPERATIONS.operation("GET", "/devices/motion", query=MotionQuery, answer=list[DeviceMotion], errors=(400,))
async def list_motions(call: Call) -> Response:
    """Since when devices move or stand; those without a known start or stop, or not visible, are left out."""
    wanted = set(call.query(MotionQuery).id)
    if len(wanted) > MAX_DEVICES:
        raise BadRequest(f"id: at most {MAX_DEVICES} devices")
    if not call.caller.administrator:
        wanted &= await visible_device_ids(call.context, call.caller)
    found = await last_motions(call.context.database, sorted(wanted))
    return as_json([DeviceMotion(each.device_id, each.is_moving, each.since) for each in found])
