"""Which groups and devices a user sees: his links, and what lies in his groups
(docs/permissions.md#access-to-devices).

A group counts to three levels: the linked one, its children, its grandchildren.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from motorpool.storage.conditions import Condition
from motorpool.storage.queries import Queries

__all__ = [
    "Links",
    "all_links",
    "device_ids",
    "devices_of_group",
    "devices_of_user",
    "group_ids",
    "groups_of_user",
    "links_of_devices",
    "links_of_groups",
    "links_of_users",
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


Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Links:
    """All that decides who sees what, or the part of it that was asked for."""

    groups: Pairs = ()
    """Group and the group above it, 0 without one."""
    devices: Pairs = ()
    """Device and its group, 0 without one."""
    user_devices: Pairs = ()
    user_groups: Pairs = ()


_ALL_GROUPS = "select id, coalesce(group_id, 0) from groups"
_ALL_DEVICES = "select id, coalesce(group_id, 0) from devices"
_ALL_USER_DEVICES = "select user_id, device_id from user_device"
_ALL_USER_GROUPS = "select user_id, group_id from user_group"


_DEVICES_AND_USERS = """
    select d.id, coalesce(d.group_id, 0), ud.user_id
    from devices d left join user_device ud on ud.device_id = d.id where d.id = any($1::bigint[])
"""


async def all_links(q: Queries) -> Links:
    """Return everything."""
    return Links(
        groups=await _pairs(q, _ALL_GROUPS),
        devices=await _pairs(q, _ALL_DEVICES),
        user_devices=await _pairs(q, _ALL_USER_DEVICES),
        user_groups=await _pairs(q, _ALL_USER_GROUPS),
    )


async def links_of_groups(q: Queries, group_ids: Sequence[int]) -> Links:
    """Return these groups and who is linked to them."""
    return Links(
        groups=await _pairs(q, f"{_ALL_GROUPS} where id = any($1::bigint[])", group_ids),
        user_groups=await _pairs(q, f"{_ALL_USER_GROUPS} where group_id = any($1::bigint[])", group_ids),
    )


async def links_of_devices(q: Queries, device_ids: Sequence[int]) -> Links:
    """Return these devices and who is linked to them."""
    rows = await q.fetch(_DEVICES_AND_USERS, list(device_ids))
    return Links(
        devices=list({row[0]: (row[0], row[1]) for row in rows}.values()),
        user_devices=[(row[2], row[0]) for row in rows if row[2] is not None],
    )


async def links_of_users(q: Queries, user_ids: Sequence[int]) -> Links:
    """Return what these users are linked to."""
    return Links(
        user_devices=await _pairs(q, f"{_ALL_USER_DEVICES} where user_id = any($1::bigint[])", user_ids),
        user_groups=await _pairs(q, f"{_ALL_USER_GROUPS} where user_id = any($1::bigint[])", user_ids),
    )


async def _pairs(q: Queries, sql: str, *ids: Sequence[int]) -> Pairs:
    return [(row[0], row[1]) for row in await q.fetch(sql, *(list(each) for each in ids))]
