"""The way of requests to what is stored of the past of devices (docs/permissions.md#history).

Positions, events and recordings are history, and each needs the right to history as well as access to the
device. A module of the API that reads their rows takes this way (tests/test_layers.py: HISTORY).
"""

from collections.abc import Collection

from motorpool.api.access import may_see_device, require_device
from motorpool.api.auth.rights import READ_HISTORY
from motorpool.api.engine.call import Call
from motorpool.api.logins.authentication import confirm_caller
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import positions
from motorpool.storage.events import events
from motorpool.storage.records import Event, Position
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureRecord


async def require_history(call: Call, device_id: int) -> None:
    """Raise unless the caller may read the history of a device.

    Raises:
        BadRequest: The caller may read no history.
        ResourceNotFound: The device is unknown, or the caller has no access to it.
    """
    READ_HISTORY.require(call.caller)
    await require_device(call, device_id)


async def confirm_history(call: Call, device_id: int) -> None:
    """Check again, after a wait, that the caller is identified and may read the history of the device."""
    if call.rights_may_have_changed:
        await confirm_caller(call)
        await require_history(call, device_id)


async def readable_positions(call: Call, ids: Collection[int]) -> dict[int, Position]:
    """Return those of the stored positions that the caller has access to, by id.

    Raises:
        BadRequest: The caller may read no history.
    """
    READ_HISTORY.require(call.caller)
    found = await positions.TABLE.fetch_many(call.context.database, list(ids))
    seen = {device_id: await may_see_device(call, device_id) for device_id in {p.device_id for p in found}}
    return {position.id: position for position in found if seen[position.device_id]}


async def readable_event(call: Call, event_id: int, transaction: Queries | None = None) -> Event | None:
    """Return a stored event; None if there is none, or the caller has no access to its device.

    With a transaction nobody else changes the event until that ends.

    Raises:
        BadRequest: The caller may read no history.
    """
    READ_HISTORY.require(call.caller)
    is_locked = transaction is not None
    found = await events.TABLE.fetch(transaction or call.context.database, event_id, lock=is_locked)
    return found if found is not None and await may_see_device(call, found.device_id) else None


async def readable_capture(call: Call, capture_id: str) -> CaptureRecord | None:
    """Return a capture; None if there is none, or the caller has no access to its device.

    Raises:
        BadRequest: The caller may read no history.
    """
    READ_HISTORY.require(call.caller)
    found = await captures.fetch(call.context.database, capture_id)
    return found if found is not None and await may_see_device(call, found.device_id) else None
