"""Which groups and devices a user sees: his links, and what lies in his groups (open-details 4.3).

A group counts to three levels: the linked one, its children, its grandchildren.
"""

from collections.abc import Iterable

from motorpool.storage.conditions import Condition
from motorpool.storage.queries import Queries

__all__ = [
    "device_ids",
    "devices_of_group",
    "devices_of_user",
    "group_ids",
    "groups_of_user",
    "may_see_device",
    "users_of_device",
    "visible_devices",
]

_GROUPS = """
    select ug.group_id from user_group ug where ug.user_id = {0}
    union select g1.id from user_group ug join groups g1 on g1.group_id = ug.group_id
        where ug.user_id = {0}
    union select g2.id from user_group ug join groups g1 on g1.group_id = ug.group_id
        join groups g2 on g2.group_id = g1.id where ug.user_id = {0}
"""
_DEVICES = f"""
    select ud.device_id from user_device ud where ud.user_id = {{0}}
    union select d.id from devices d where d.group_id in ({_GROUPS})
"""  # noqa: S608 - constants
_BELOW = """
    select {0}::bigint
    union select g1.id from groups g1 where g1.group_id = {0}
    union select g2.id from groups g1 join groups g2 on g2.group_id = g1.id where g1.group_id = {0}
"""
# The user whose devices are meant is not known here: the tree is walked upwards instead.
_USERS = """
    select ud.user_id from user_device ud where ud.device_id = $1
    union select ug.user_id from devices d
        left join groups g0 on g0.id = d.group_id
        left join groups g1 on g1.id = g0.group_id
        join user_group ug on ug.group_id in (d.group_id, g0.group_id, g1.group_id)
        where d.id = $1
"""


def devices_of_user(user_id: int) -> Condition:
    """Return what holds for devices that the user sees."""
    return Condition(f"id in ({_DEVICES})", (user_id,))


def groups_of_user(user_id: int) -> Condition:
    """Return what holds for groups that the user sees."""
    return Condition(f"id in ({_GROUPS})", (user_id,))


def devices_of_group(group_id: int) -> Condition:
    """Return what holds for devices in the group or below it."""
    return Condition(f"group_id in ({_BELOW})", (group_id,))


async def device_ids(q: Queries, user_id: int) -> set[int]:
    """Return the devices that the user sees."""
    return {row[0] for row in await q.fetch(_DEVICES.format("$1"), user_id)}


async def group_ids(q: Queries, user_id: int) -> set[int]:
    """Return the groups that the user sees."""
    return {row[0] for row in await q.fetch(_GROUPS.format("$1"), user_id)}


async def visible_devices(q: Queries, user_id: int, ids: Iterable[int]) -> set[int]:
    """Return those of the devices that the user sees."""
    wanted = list(ids)
    condition = devices_of_user(user_id)
    rows = await q.fetch(
        f"select id from devices where id = any($1::bigint[]) and {condition.numbered(2)}",  # noqa: S608 - constants
        wanted,
        *condition.args,
    )
    return {row[0] for row in rows}


async def may_see_device(q: Queries, user_id: int, device_id: int) -> bool:
    """Whether the user sees the device."""
    return bool(await visible_devices(q, user_id, (device_id,)))


async def users_of_device(q: Queries, device_id: int) -> set[int]:
    """Return the users who see the device."""
    return {row[0] for row in await q.fetch(_USERS, device_id)}
