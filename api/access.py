"""Who may see which device, and the news that this has changed (docs/permissions.md#access-to-devices)."""

from motorpool.actors.access import access
from motorpool.actors.access.access import ACCESS, GetVisible, MaySee
from motorpool.api.auth.caller import Caller
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.server_context import ServerContext
from motorpool.api.timetable import tell_calendars_changed

__all__ = ["may_see_device", "require_device", "tell_changed", "tell_edited", "visible_device_ids"]


async def visible_device_ids(context: ServerContext, caller: Caller) -> frozenset[int]:
    """The devices a user is linked to, directly or by a group; administrators too see no more unasked."""
    return await context.system.ref(ACCESS).ask(GetVisible(caller.id))


async def may_see_device(call: Call, device_id: int) -> bool:
    """Whether the device exists and the caller may see it; an administrator sees any."""
    user_id = 0 if call.caller.administrator else call.caller.id
    return await call.context.system.ref(ACCESS).ask(MaySee(user_id, device_id))


async def require_device(call: Call, device_id: int) -> None:
    """404 for a device that is unknown or not to be seen (docs/decisions/0009)."""
    if not await may_see_device(call, device_id):
        raise ResourceNotFound("no such device")


async def tell_changed(
    context: ServerContext,
    *,
    user_ids: tuple[int, ...] = (),
    device_ids: tuple[int, ...] = (),
    group_ids: tuple[int, ...] = (),
) -> None:
    """After the commit: whatever is remembered of these is read again before the writer is answered.

    `user_ids`: their rows, passwords or links changed. `device_ids`: their rows or the links of users to
    them changed. `group_ids`: their rows changed or are gone. Without names everything is read again.
    """
    unknown = not (user_ids or device_ids or group_ids)
    if unknown or user_ids:
        context.accounts.forget(user_ids)
    if unknown or group_ids:
        # A group that is gone is no longer in the rows of its devices.
        context.devices.clear()
    else:
        context.devices.forget(device_ids)
    await access.tell_changed(context.system, user_ids=user_ids, device_ids=device_ids, group_ids=group_ids)
    if unknown:
        await tell_calendars_changed(context)


async def tell_edited(context: ServerContext, device_id: int) -> None:
    """After the commit of a change to a device's row that is no change of its group."""
    context.devices.forget((device_id,))
    await access.tell_edited(context.system, device_id)
