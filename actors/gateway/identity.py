"""Identifies the device of a connection (docs/decisions/0021), and registers unknown devices if that is
enabled.
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
    """Return the device with one of these identities, preferring the first.

    Raises:
        StorageUnavailable: the device cannot be looked up now.
    """
    return await devices.by_unique_ids(database, unique_ids)


async def identify_device(
    system: System, database: Database, unique_ids: tuple[str, ...], *, register_unknown: bool
) -> Device | None:
    """Return the device with one of these identities if it may report, else None.

    With `register_unknown`, create an unknown device and publish the change.

    Raises:
        StorageUnavailable: the device cannot be looked up now.
    """
    device = await find_device(database, unique_ids)
    if device is None and register_unknown:
        device = await register_device(database, unique_ids)
        if device is not None:
            await publish_changes(system, DeviceChanged(device.id, "created"))
    return device if device is not None and may_report(device, system.clock.now()) else None


async def register_device(database: Database, unique_ids: tuple[str, ...]) -> Device | None:
    """Create a device named like its identity and linked to the oldest administrator.

    Return None if there is no administrator. Two connections with the same identity get the same device.
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
