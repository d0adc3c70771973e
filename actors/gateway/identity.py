"""Which device a peer is: looked up as docs/decisions/0021 says, registered at first sight where that is
switched on.
"""

from datetime import datetime

from motorpool.storage import devices, links, users
from motorpool.storage.database import Database
from motorpool.storage.errors import Conflict
from motorpool.storage.records import Device

__all__ = ["find_device", "may_report", "register_device"]


async def find_device(database: Database, unique_ids: tuple[str, ...]) -> Device | None:
    """The device known by one of these identities, the exact one first.

    Raises:
        StorageUnavailable: it cannot be told now; the peer is to come again.
    """
    return await devices.by_unique_ids(database, unique_ids)


def may_report(device: Device, now: datetime) -> bool:
    """Whether this device is served: neither disabled nor expired."""
    return not device.disabled and (device.expiration_time is None or device.expiration_time > now)


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
