"""Who may see which device (docs/permissions.md#access-to-devices)."""

from motorpool.actors.messages.access import ACCESS, GetVisible, MaySee
from motorpool.api.auth.caller import Caller
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.logins.authentication import confirm_caller
from motorpool.api.server_context import ServerContext


async def visible_device_ids(context: ServerContext, caller: Caller) -> frozenset[int]:
    """Return the devices that the caller is linked to, directly or by a group; also for administrators."""
    return await context.system.ref(ACCESS).ask(GetVisible(caller.id))


async def may_see_device(call: Call, device_id: int) -> bool:
    """Whether the device exists and the caller may see it; an administrator sees any."""
    access = call.context.system.ref(ACCESS)
    if await access.ask(MaySee(0 if call.caller.administrator else call.caller.id, device_id)):
        return True
    call.was_denied |= await access.ask(MaySee(0, device_id))
    return False


async def confirm_device(call: Call, device_id: int) -> None:
    """Check again, after a wait, that the caller is identified and may see the device."""
    if call.rights_may_have_changed:
        await confirm_caller(call)
        await require_device(call, device_id)


async def require_device(call: Call, device_id: int) -> None:
    """Raise ResourceNotFound for a device that is unknown or that the caller may not see.

    For what is read of a device, and for its video and files (docs/permissions.md#access-to-devices).
    """
    if not await may_see_device(call, device_id):
        raise ResourceNotFound("no such device")


async def require_device_for_change(call: Call, device_id: int) -> None:
    """Raise BadRequest for a device that is unknown or that the caller may not see.

    For what changes a device or has it do something, and for filters of lists.
    """
    if not await may_see_device(call, device_id):
        raise BadRequest("deviceId: no access to the device")
