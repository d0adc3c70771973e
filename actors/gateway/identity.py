"""Which device a peer is: looked up as docs/decisions/0021 says, registered at first sight where that is
switched on.
"""

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.messages.changes import DeviceChanged
from motorpool.runtime import System
from motorpool.storage import devices, links, users
from motorpool.storage.database import Database
from motorpool.storage.errors import Conflict
from motorpool.storage.records import Device

__all__ = ["find_device", "identify_device", "register_device"]


async def find_device(database: Database, unique_ids: tuple[str, ...]) -> Device | None:
    """The device known by one of these identities, the exact one first.

    Raises:
        StorageUnavailable: it cannot be told now; the peer is to come again.
    """
    return await devices.by_unique_ids(database, unique_ids)


async def identify_device(
    system: System, database: Database, unique_ids: tuple[str, ...], *, register_unknown: bool
) -> Device | None:
    """Return the device that is known by one of these identities and may report; None where there is none.

    With `register_unknown` a device that is not known is created, and the change announced.

    Raises:
        StorageUnavailable: nobody can say now; the peer is to come again.
    """
    device = await find_device(database, unique_ids)
    if device is None and register_unknown:
        device = await register_device(database, unique_ids)
        if device is not None:
            await publish_changes(system, DeviceChanged(device.id, "created"))
    return device if device is not None and may_report(device, system.clock.now()) else None


async def register_device(database: Database, unique_ids: tuple[str, ...]) -> Device | None:
    """Create the device with its number as name, linked to the oldest administrator.

    None while there is no administrator. Two connections that bring the same number get the same device.
    """
    administrator = await users.oldest_administrator(database)
    if administrator is None:
        return None
    unique_id = unique_ids[-1]
    try:
        async with database.transaction() as transaction:
            device = await devices.TABLE.insert(transaction, Device(name=unique_id, unique_id=unique_id))
            await links.add(transaction, links.USER_DEVICE, administrator.id, device.id)
    except Conflict:
        return await devices.by_unique_ids(database, unique_ids)
    return device
