"""Links between rows: who may see what, and what belongs to which device or group
(docs/permissions.md#links).
"""

from collections.abc import Callable
from dataclasses import dataclass

from motorpool.storage.conditions import Condition
from motorpool.storage.queries import Queries

__all__ = [
    "DEVICE_ATTRIBUTE",
    "DEVICE_COMMAND",
    "DEVICE_DEVICE",
    "DEVICE_DRIVER",
    "DEVICE_GEOFENCE",
    "DEVICE_MAINTENANCE",
    "DEVICE_NOTIFICATION",
    "DEVICE_ORDER",
    "DEVICE_SCHEDULED_COMMAND",
    "GROUP_ATTRIBUTE",
    "GROUP_COMMAND",
    "GROUP_DRIVER",
    "GROUP_GEOFENCE",
    "GROUP_MAINTENANCE",
    "GROUP_NOTIFICATION",
    "GROUP_ORDER",
    "GROUP_SCHEDULED_COMMAND",
    "LINK_TYPES",
    "USER_ATTRIBUTE",
    "USER_CALENDAR",
    "USER_COMMAND",
    "USER_DEVICE",
    "USER_DRIVER",
    "USER_GEOFENCE",
    "USER_GROUP",
    "USER_MAINTENANCE",
    "USER_NOTIFICATION",
    "USER_ORDER",
    "USER_SCHEDULED_COMMAND",
    "USER_USER",
    "LinkType",
    "access_by_link",
    "add",
    "exists",
    "find",
    "linked_to",
    "owners",
    "properties",
    "remove",
]


@dataclass(frozen=True)
class LinkType:
    """A kind of link: a table with two columns, the owner's first."""

    owner: str
    """The type that owns: "user"."""
    property: str
    """The type that is owned: "device", "managedUser"."""
    table: str
    owner_column: str
    property_column: str
    keys: tuple[str, str]
    """The two keys of the API's permission object: ("userId", "deviceId")."""


def _pair(owner: str, owned: str, table: str = "", property_column: str = "") -> LinkType:
    return LinkType(
        owner=owner,
        property=owned,
        table=table or f"{owner}_{owned}",
        owner_column=f"{owner}_id",
        property_column=property_column or f"{owned}_id",
        keys=(f"{owner}Id", f"{owned}Id"),
    )


def _three(owned: str) -> tuple[LinkType, LinkType, LinkType]:
    return _pair("user", owned), _pair("device", owned), _pair("group", owned)


USER_DEVICE = _pair("user", "device")
USER_GROUP = _pair("user", "group")
USER_USER = _pair("user", "managedUser", "user_user", "managed_user_id")
USER_CALENDAR = _pair("user", "calendar")
DEVICE_DEVICE = _pair("device", "linkedDevice", "device_device", "linked_device_id")
USER_ATTRIBUTE, DEVICE_ATTRIBUTE, GROUP_ATTRIBUTE = _three("attribute")
USER_COMMAND, DEVICE_COMMAND, GROUP_COMMAND = _three("command")
USER_DRIVER, DEVICE_DRIVER, GROUP_DRIVER = _three("driver")
USER_GEOFENCE, DEVICE_GEOFENCE, GROUP_GEOFENCE = _three("geofence")
USER_MAINTENANCE, DEVICE_MAINTENANCE, GROUP_MAINTENANCE = _three("maintenance")
USER_NOTIFICATION, DEVICE_NOTIFICATION, GROUP_NOTIFICATION = _three("notification")
USER_ORDER, DEVICE_ORDER, GROUP_ORDER = _three("order")


def _scheduled(owner: str) -> LinkType:
    return _pair(owner, "scheduledCommand", f"{owner}_scheduled_command", "scheduled_command_id")


USER_SCHEDULED_COMMAND = _scheduled("user")
DEVICE_SCHEDULED_COMMAND = _scheduled("device")
GROUP_SCHEDULED_COMMAND = _scheduled("group")

LINK_TYPES = {pair.keys: pair for pair in tuple(globals().values()) if isinstance(pair, LinkType)}
"""Every pair there is, by the keys of the API's permission object, owner first."""


async def add(q: Queries, pair: LinkType, owner_id: int, property_id: int) -> bool:
    """Make a link; whether it is new. Raises StatementRejected where either side does not exist."""
    sql = f"insert into {pair.table} values ($1, $2) on conflict do nothing returning true"  # noqa: S608 - names of our own
    return await q.fetch_value(sql, owner_id, property_id) is True


async def remove(q: Queries, pair: LinkType, owner_id: int, property_id: int) -> bool:
    """Undo a link; whether there was one."""
    sql = (
        f"delete from {pair.table}"  # noqa: S608 - names of our own
        f" where {pair.owner_column} = $1 and {pair.property_column} = $2 returning true"
    )
    return await q.fetch_value(sql, owner_id, property_id) is True


async def exists(q: Queries, pair: LinkType, owner_id: int, property_id: int) -> bool:
    """Whether there is such a link."""
    return bool(await find(q, pair, owner_id=owner_id, property_id=property_id))


async def properties(q: Queries, pair: LinkType, owner_id: int) -> list[int]:
    """Return what an owner has, by id."""
    return [property_id for _, property_id in await find(q, pair, owner_id=owner_id)]


async def owners(q: Queries, pair: LinkType, property_id: int) -> list[int]:
    """Return whose something is, by id."""
    return [owner_id for owner_id, _ in await find(q, pair, property_id=property_id)]


async def find(
    q: Queries, pair: LinkType, *, owner_id: int = 0, property_id: int = 0
) -> list[tuple[int, int]]:
    """Return links as (owner, property), in order; 0 stands for any."""
    sql = (
        f"select {pair.owner_column}, {pair.property_column} from {pair.table}"  # noqa: S608 - names of our own
        f" where ($1::bigint = 0 or {pair.owner_column} = $1)"
        f" and ($2::bigint = 0 or {pair.property_column} = $2) order by 1, 2"
    )
    return [(row[0], row[1]) for row in await q.fetch(sql, owner_id, property_id)]


def linked_to(pair: LinkType, owner_id: int) -> Condition:
    """Return what holds for rows that the owner has a link to."""
    sql = f"id in (select {pair.property_column} from {pair.table} where {pair.owner_column} = {{0}})"  # noqa: S608 - names of our own
    return Condition(sql, (owner_id,))


def access_by_link(pair: LinkType) -> Callable[[int], Condition]:
    """Return the access rule of a table whose rows a user sees only by a link of their own."""
    return lambda user_id: linked_to(pair, user_id)
