"""Links between rows: what users may see, and what belongs to devices and groups
(docs/permissions.md#links).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries


@dataclass(frozen=True)
class LinkType:
    """A kind of link: a table with two columns, the owner's first."""

    owner: str
    """Name of the owning type, such as "user"."""
    property: str
    """Name of the owned type, such as "device" or "managedUser"."""
    table: str
    owner_column: str
    property_column: str
    keys: tuple[str, str]
    """The two keys of the permission object of the API, such as ("userId", "deviceId")."""


def _link_type(owner: str, owned: str, table: str = "", property_column: str = "") -> LinkType:
    return LinkType(
        owner=owner,
        property=owned,
        table=table or f"{owner}_{owned}",
        owner_column=f"{owner}_id",
        property_column=property_column or f"{owned}_id",
        keys=(f"{owner}Id", f"{owned}Id"),
    )


def _link_types_of_all_owners(owned: str) -> tuple[LinkType, LinkType, LinkType]:
    return _link_type("user", owned), _link_type("device", owned), _link_type("group", owned)


USER_DEVICE = _link_type("user", "device")
USER_GROUP = _link_type("user", "group")
USER_USER = _link_type("user", "managedUser", "user_user", "managed_user_id")
USER_CALENDAR = _link_type("user", "calendar")
USER_COMPANY = _link_type("user", "company")
USER_TEAM = _link_type("user", "team")
DEVICE_DEVICE = _link_type("device", "linkedDevice", "device_device", "linked_device_id")
USER_ATTRIBUTE, DEVICE_ATTRIBUTE, GROUP_ATTRIBUTE = _link_types_of_all_owners("attribute")
USER_COMMAND, DEVICE_COMMAND, GROUP_COMMAND = _link_types_of_all_owners("command")
USER_DRIVER, DEVICE_DRIVER, GROUP_DRIVER = _link_types_of_all_owners("driver")
USER_GEOFENCE, DEVICE_GEOFENCE, GROUP_GEOFENCE = _link_types_of_all_owners("geofence")
USER_MAINTENANCE, DEVICE_MAINTENANCE, GROUP_MAINTENANCE = _link_types_of_all_owners("maintenance")
USER_NOTIFICATION, DEVICE_NOTIFICATION, GROUP_NOTIFICATION = _link_types_of_all_owners("notification")
USER_ORDER, DEVICE_ORDER, GROUP_ORDER = _link_types_of_all_owners("order")
USER_REPORT, DEVICE_REPORT, GROUP_REPORT = _link_types_of_all_owners("report")


def _scheduled(owner: str) -> LinkType:
    return _link_type(owner, "scheduledCommand", f"{owner}_scheduled_command", "scheduled_command_id")


USER_SCHEDULED_COMMAND = _scheduled("user")
DEVICE_SCHEDULED_COMMAND = _scheduled("device")
GROUP_SCHEDULED_COMMAND = _scheduled("group")

LINK_TYPES = {
    link_type.keys: link_type for link_type in tuple(globals().values()) if isinstance(link_type, LinkType)
}
"""All link types, by the keys of the permission object of the API, owner first."""


async def add(q: Queries, link_type: LinkType, owner_id: int, property_id: int) -> bool:
    """Add a link; return whether it is new. Raises StatementRejected if either side does not exist."""
    sql = (
        f"insert into {link_type.table} ({link_type.owner_column}, {link_type.property_column})"  # noqa: S608 - constant names
        " values ($1, $2) on conflict do nothing returning true"
    )
    return await q.fetch_value(sql, owner_id, property_id) is True


async def add_many(q: Queries, link_type: LinkType, pairs: Iterable[tuple[int, int]]) -> None:
    """Add links; those that exist already stay. Raises StatementRejected if a side does not exist."""
    # In a fixed order, so that parallel statements with the same links wait and do not deadlock.
    sql = f"""
        insert into {link_type.table} ({link_type.owner_column}, {link_type.property_column})
        select * from unnest($1::bigint[], $2::bigint[]) order by 1, 2
        on conflict do nothing
    """  # noqa: S608 - constant names
    await q.execute(sql, *_columns(pairs))


async def remove_many(q: Queries, link_type: LinkType, pairs: Iterable[tuple[int, int]]) -> None:
    """Remove links; those that do not exist are ignored."""
    owner, owned = link_type.owner_column, link_type.property_column
    # Locked in a fixed order, see `add_many`.
    sql = f"""
        with locked as (
            select {owner}, {owned} from {link_type.table}
            where ({owner}, {owned}) in (select * from unnest($1::bigint[], $2::bigint[]))
            order by 1, 2 for update
        )
        delete from {link_type.table} where ({owner}, {owned}) in (select * from locked)
    """  # noqa: S608 - constant names
    await q.execute(sql, *_columns(pairs))


def _columns(pairs: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    listed = list(pairs)
    return [owner_id for owner_id, _ in listed], [property_id for _, property_id in listed]


async def exists(q: Queries, link_type: LinkType, owner_id: int, property_id: int) -> bool:
    """Return whether the link exists."""
    return bool(await find(q, link_type, owner_id=owner_id, property_id=property_id))


async def properties(q: Queries, link_type: LinkType, owner_id: int) -> list[int]:
    """Return the ids that an owner has links to, in order."""
    return [property_id for _, property_id in await find(q, link_type, owner_id=owner_id)]


async def owners(q: Queries, link_type: LinkType, property_id: int) -> list[int]:
    """Return the ids of the owners that have a link to a property, in order."""
    return [owner_id for owner_id, _ in await find(q, link_type, property_id=property_id)]


async def find(
    q: Queries, link_type: LinkType, *, owner_id: int = 0, property_id: int = 0
) -> list[tuple[int, int]]:
    """Return links as (owner, property), in order; an id of 0 matches any."""
    sql = (
        f"select {link_type.owner_column}, {link_type.property_column} from {link_type.table}"  # noqa: S608 - constant names
        f" where ($1::bigint = 0 or {link_type.owner_column} = $1)"
        f" and ($2::bigint = 0 or {link_type.property_column} = $2) order by 1, 2"
    )
    return [(row[0], row[1]) for row in await q.fetch(sql, owner_id, property_id)]


def linked_to(link_type: LinkType, owner_id: int) -> Condition:
    """Return the condition for rows that the owner has a link to."""
    sql = (
        f"id in (select {link_type.property_column} from {link_type.table}"  # noqa: S608 - constant names
        f" where {link_type.owner_column} = {{0}})"
    )
    return Condition(sql, (owner_id,))


def access_by_link(link_type: LinkType) -> Callable[[int], Condition]:
    """Return the access rule of a table whose rows are visible only to users linked to them."""
    return lambda user_id: linked_to(link_type, user_id)
