"""Which devices a report of a user may cover (docs/reports.md#requests)."""

from collections.abc import Collection

from motorpool.actors.messages.access import ACCESS, GetMembers, GetVisible, MaySee
from motorpool.runtime import System
from motorpool.storage.records import User


async def select_devices(
    system: System, user: User, device_ids: Collection[int], group_ids: Collection[int]
) -> list[int]:
    """Return the given devices, and the devices in the given groups, that the user may see, in order.

    Without either, all devices that the user is linked to.
    """
    access = system.ref(ACCESS)
    if not device_ids and not group_ids:
        linked: frozenset[int] = await access.ask(GetVisible(user.id))
        return sorted(linked)
    asked = set(device_ids)
    for group_id in group_ids:
        members: frozenset[int] = await access.ask(GetMembers(group_id))
        asked |= members
    return sorted(await visible_of(system, user, asked))


async def visible_of(system: System, user: User, device_ids: Collection[int]) -> set[int]:
    """Return which of the devices the user may see; an administrator sees every device that exists."""
    access = system.ref(ACCESS)
    if user.administrator:
        return {each for each in device_ids if await access.ask(MaySee(0, each))}
    visible: frozenset[int] = await access.ask(GetVisible(user.id))
    return set(device_ids) & visible
