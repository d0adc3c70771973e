"""Which groups and devices a user sees (docs/permissions.md#access-to-devices).

A user sees the devices and groups that they are linked to, and what lies in those groups. A group counts to
three levels: the linked one, its children and its grandchildren. Here is the only SQL that says so; the actor
of `actors/accounts/access.py` mirrors it in memory, and tests compare the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from motorpool.storage.accounts.links import LINK_TYPES, USER_DEVICE, USER_GROUP, LinkType
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries

_LEVELS = (
    ("top.group_id", ""),
    ("g1.id", "join groups g1 on g1.group_id = top.group_id"),
    ("g2.id", "join groups g1 on g1.group_id = top.group_id join groups g2 on g2.group_id = g1.id"),
)
"""For each level below the group `top`: the group of that level, and the joins that lead to it."""
_VISIBLE_GROUPS = " union all ".join(
    f"select top.user_id, {group} as group_id from user_group top {joins}"  # noqa: S608 - constants
    for group, joins in _LEVELS
)
# Each level by itself, and not by way of _VISIBLE_GROUPS: so both a user and a device lead through indexes.
_VISIBLE_DEVICES = " union all ".join(
    [
        "select user_id, device_id from user_device",
        *(
            f"select top.user_id, d.id from user_group top {joins} join devices d on d.group_id = {group}"  # noqa: S608 - constants
            for group, joins in _LEVELS
        ),
    ]
)
_GROUPS = f"select group_id from ({_VISIBLE_GROUPS}) as visible where user_id = {{0}}"  # noqa: S608 - constants
_DEVICES = f"select device_id from ({_VISIBLE_DEVICES}) as visible where user_id = {{0}}"  # noqa: S608 - constants
_GROUP_AND_BELOW = " union all ".join(
    f"select {group} from (select {{0}}::bigint as group_id) as top {joins}"  # noqa: S608 - constants
    for group, joins in _LEVELS
)


def sees_device(user: str, device: str) -> str:
    """Return SQL that holds where a user sees a device; both are SQL expressions of ids."""
    return (
        f"exists (select from ({_VISIBLE_DEVICES}) as visible"
        f" where visible.user_id = {user} and visible.device_id = {device})"
    )


def viewers_of(devices: str) -> str:
    """Return a query for the pairs (user_id, device_id) of who sees these devices, an SQL array of ids."""
    return f"select user_id, device_id from ({_VISIBLE_DEVICES}) as visible where device_id = any({devices})"  # noqa: S608 - constants


def devices_of_user(user_id: int) -> Condition:
    """Return the condition for devices that the user sees."""
    return Condition(f"id in ({_DEVICES})", (user_id,))


def groups_of_user(user_id: int) -> Condition:
    """Return the condition for groups that the user sees."""
    return Condition(f"id in ({_GROUPS})", (user_id,))


def devices_of_group(group_id: int) -> Condition:
    """Return the condition for devices in the group or in a group below it."""
    return Condition(f"group_id in ({_GROUP_AND_BELOW})", (group_id,))


async def devices_linked_to(
    q: Queries, by_device: LinkType, by_group: LinkType, property_id: int
) -> list[int]:
    """Return the devices that a property applies to, in order: linked directly, or below a linked group."""
    sql = [
        f"select {by_device.owner_column} from {by_device.table} where {by_device.property_column} = $1",  # noqa: S608 - constants
        *(
            f"select d.id from {by_group.table} top {joins} join devices d on d.group_id = {group}"  # noqa: S608 - constants
            f" where top.{by_group.property_column} = $1"
            for group, joins in _LEVELS
        ),
    ]
    return [row[0] for row in await q.fetch(" union ".join(sql) + " order by 1", property_id)]


async def properties_of_devices(
    q: Queries,
    by_device: LinkType,
    by_group: LinkType,
    *,
    property_ids: Sequence[int],
    device_ids: Sequence[int],
    most: int,
) -> list[tuple[int, int]]:
    """Return which of the properties apply to which of the devices, at most so many: (property, device)."""
    sql = [
        f"select {by_device.property_column} as property, {by_device.owner_column} as device"  # noqa: S608 - constants
        f" from {by_device.table}",
        *(
            f"select top.{by_group.property_column}, d.id from {by_group.table} top {joins}"  # noqa: S608 - constants
            f" join devices d on d.group_id = {group}"
            for group, joins in _LEVELS
        ),
    ]
    rows = await q.fetch(
        f"select distinct property, device from ({' union all '.join(sql)}) as linked"  # noqa: S608 - constants
        " where property = any($1::bigint[]) and device = any($2::bigint[]) limit $3",
        list(property_ids),
        list(device_ids),
        most,
    )
    return [(row[0], row[1]) for row in rows]


@dataclass(frozen=True, kw_only=True)
class InheritedLink:
    """What an owner has by a link of a group."""

    owner_id: int
    property_id: int
    group_id: int
    """The group whose link it is, or that is linked."""


async def inherited_links(
    q: Queries, link_type: LinkType, *, owner_id: int = 0, property_id: int = 0
) -> list[InheritedLink]:
    """Return what owners have by links of groups, in order; an id of 0 matches any.

    Users see devices and groups below a group that is linked to them; to a device and a group applies what is
    linked to a group above. All other links hold for themselves alone.
    """
    levels = _inheriting(link_type)
    if not levels:
        return []
    sql = (
        f"select distinct owner, property, through from ({' union all '.join(levels)}) as inherited"  # noqa: S608 - constants
        " where ($1::bigint = 0 or owner = $1) and ($2::bigint = 0 or property = $2) order by 1, 2, 3"
    )
    return [
        InheritedLink(owner_id=row[0], property_id=row[1], group_id=row[2])
        for row in await q.fetch(sql, owner_id, property_id)
    ]


def _inheriting(link_type: LinkType) -> list[str]:
    """Return a query for each level of groups, of (owner, property, through)."""
    if link_type in {USER_GROUP, USER_DEVICE}:
        by_user = (
            "select top.user_id as owner, {} as property, top.group_id as through from user_group top {}"
        )
        if link_type is USER_GROUP:
            return [by_user.format(group, joins) for group, joins in _LEVELS[1:]]
        below = "join devices d on d.group_id ="
        return [by_user.format("d.id", f"{joins} {below} {group}") for group, joins in _LEVELS]
    by_group = LINK_TYPES.get(("groupId", link_type.keys[1]))
    if by_group is None or link_type.owner == "user":
        return []
    owned = f"top.{by_group.property_column} as property, top.group_id as through from {by_group.table} top"
    if link_type is by_group:
        return [f"select {group} as owner, {owned} {joins}" for group, joins in _LEVELS[1:]]
    return [
        f"select d.id as owner, {owned} {joins} join devices d on d.group_id = {group}"
        for group, joins in _LEVELS
    ]


async def device_ids(q: Queries, user_id: int) -> set[int]:
    """Return the devices that the user sees."""
    return {row[0] for row in await q.fetch(_DEVICES.format("$1"), user_id)}


async def count_devices(q: Queries, user_ids: Sequence[int]) -> int:
    """Return how many devices any of the users sees."""
    sql = (
        f"select count(distinct device_id) from ({_VISIBLE_DEVICES}) as visible"  # noqa: S608 - constants
        " where user_id = any($1::bigint[])"
    )
    return int(await q.fetch_value(sql, list(user_ids)))


async def with_hidden_groups(q: Queries, user_id: int, group_ids: Sequence[int], *, levels: int) -> set[int]:
    """Return which of the groups have others within some levels below that the user does not see."""
    below = " union all ".join(
        f"select top.group_id as top, {group} as below from unnest($2::bigint[]) as top (group_id) {joins}"  # noqa: S608 - constants
        for group, joins in _LEVELS[1 : levels + 1]
    )
    sql = f"select distinct top from ({below}) as found where below not in ({_GROUPS.format('$1')})"  # noqa: S608 - constants
    return {row[0] for row in await q.fetch(sql, user_id, list(group_ids))}


async def group_ids(q: Queries, user_id: int) -> set[int]:
    """Return the groups that the user sees."""
    return {row[0] for row in await q.fetch(_GROUPS.format("$1"), user_id)}


async def users_of_devices(q: Queries, device_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return who sees which of the devices, as (user, device), in order."""
    rows = await q.fetch(
        f"select distinct user_id, device_id from ({_VISIBLE_DEVICES}) as visible"  # noqa: S608 - constants
        " where device_id = any($1::bigint[]) order by 1, 2",
        list(device_ids),
    )
    return [(row[0], row[1]) for row in rows]


Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Links:
    """The rows that decide who sees what, or some of them."""

    groups: Pairs = ()
    """(group, parent group), 0 without a parent."""
    devices: Pairs = ()
    """(device, group), 0 without a group."""
    user_devices: Pairs = ()
    """(user, device) of each link."""
    user_groups: Pairs = ()
    """(user, group) of each link."""


_ALL_GROUPS = "select id, coalesce(group_id, 0) from groups"
_ALL_DEVICES = "select id, coalesce(group_id, 0) from devices"
_ALL_USER_DEVICES = "select user_id, device_id from user_device"
_ALL_USER_GROUPS = "select user_id, group_id from user_group"


_DEVICES_AND_USERS = """
    select d.id, coalesce(d.group_id, 0), ud.user_id
    from devices d left join user_device ud on ud.device_id = d.id where d.id = any($1::bigint[])
"""


async def all_links(q: Queries) -> Links:
    """Return all groups, devices and links."""
    return Links(
        groups=await _pairs(q, _ALL_GROUPS),
        devices=await _pairs(q, _ALL_DEVICES),
        user_devices=await _pairs(q, _ALL_USER_DEVICES),
        user_groups=await _pairs(q, _ALL_USER_GROUPS),
    )


async def links_of_groups(q: Queries, group_ids: Sequence[int]) -> Links:
    """Return these groups and the users linked to them."""
    return Links(
        groups=await _pairs(q, f"{_ALL_GROUPS} where id = any($1::bigint[])", group_ids),
        user_groups=await _pairs(q, f"{_ALL_USER_GROUPS} where group_id = any($1::bigint[])", group_ids),
    )


async def links_of_devices(q: Queries, device_ids: Sequence[int]) -> Links:
    """Return these devices and the users linked to them."""
    rows = await q.fetch(_DEVICES_AND_USERS, list(device_ids))
    return Links(
        devices=list({row[0]: (row[0], row[1]) for row in rows}.values()),
        user_devices=[(row[2], row[0]) for row in rows if row[2] is not None],
    )


async def links_of_users(q: Queries, user_ids: Sequence[int]) -> Links:
    """Return the links of these users."""
    return Links(
        user_devices=await _pairs(q, f"{_ALL_USER_DEVICES} where user_id = any($1::bigint[])", user_ids),
        user_groups=await _pairs(q, f"{_ALL_USER_GROUPS} where user_id = any($1::bigint[])", user_ids),
    )


async def _pairs(q: Queries, sql: str, *ids: Sequence[int]) -> Pairs:
    return [(row[0], row[1]) for row in await q.fetch(sql, *(list(each) for each in ids))]
