"""Who may see which device, and the news that this has changed (open-details 4.3)."""

import msgspec

from motorpool.actors.directory import DIRECTORY, DevicesEdited
from motorpool.api.caller import Caller
from motorpool.api.engine.call import Call
from motorpool.api.errors import NoSuch
from motorpool.api.house import House
from motorpool.runtime import TopicName
from motorpool.storage import access, devices

__all__ = [
    "ACCESS_CHANGES",
    "AccessChanged",
    "may_see_device",
    "require_device",
    "tell_access_changed",
    "tell_devices_edited",
    "visible_device_ids",
]


class AccessChanged(msgspec.Struct, frozen=True):
    """Devices, links or users changed: what somebody may see, or whether he may log in, may be different."""

    device_ids: tuple[int, ...] = ()
    """Devices whose rows changed."""


ACCESS_CHANGES: TopicName[AccessChanged] = TopicName("access")
"""After the commit."""


async def visible_device_ids(house: House, caller: Caller) -> frozenset[int]:
    """The devices a user is linked to, directly or by a group; administrators too see no more unasked."""
    return frozenset(await access.device_ids(house.database, caller.id))


async def may_see_device(call: Call, device_id: int) -> bool:
    """Whether the device exists and the caller may see it; an administrator sees any."""
    if not 0 < device_id < 2**63:
        return False
    if call.caller.administrator:
        return await devices.TABLE.fetch(call.house.database, device_id) is not None
    return await access.may_see_device(call.house.database, call.caller.id, device_id)


async def require_device(call: Call, device_id: int) -> None:
    """404 for a device that is unknown or not to be seen (decisions 9)."""
    if not await may_see_device(call, device_id):
        raise NoSuch("no such device")


async def tell_devices_edited(house: House, *device_ids: int) -> None:
    """After the commit: actors reload these devices, sockets look again at what they may see."""
    await house.system.ref(DIRECTORY).tell(DevicesEdited(device_ids))
    house.system.topic(ACCESS_CHANGES).publish(AccessChanged(device_ids))


def tell_access_changed(house: House) -> None:
    """After the commit of a change to users or links."""
    house.system.topic(ACCESS_CHANGES).publish(AccessChanged())
