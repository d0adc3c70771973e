"""Configuration of devices, read for the rules: groups with their attributes, and links."""

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from motorpool.storage.accounts import links
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices.groups import TABLE

RULE_LINKS = (
    links.DEVICE_GEOFENCE,
    links.GROUP_GEOFENCE,
    links.DEVICE_ATTRIBUTE,
    links.GROUP_ATTRIBUTE,
    links.DEVICE_MAINTENANCE,
    links.GROUP_MAINTENANCE,
    links.DEVICE_DRIVER,
    links.GROUP_DRIVER,
    links.DEVICE_DEVICE,
)
"""The kinds of links that the rules know."""


class GroupRow(NamedTuple):
    """A group of devices."""

    parent: int
    """0: none."""
    attributes: dict[str, Any]


async def groups(q: Queries, ids: Iterable[int] | None = None) -> dict[int, GroupRow]:
    """Return groups by their ids; None: all."""
    sql = "select id, coalesce(group_id, 0), attributes from groups"
    rows = (
        await q.fetch(sql) if ids is None else await q.fetch(f"{sql} where id = any($1::bigint[])", list(ids))
    )
    decrypted = partial(TABLE.decrypted, q.keyring, "attributes")
    return {row[0]: GroupRow(row[1], decrypted(row[2])) for row in rows}


async def linked_ids(
    q: Queries, link_type: LinkType, owner_ids: Iterable[int] | None = None
) -> dict[int, tuple[int, ...]]:
    """Return what owners have links to, in the order of ids, by owner; None: of all owners that have any."""
    sql = (
        f"select {link_type.owner_column}, array_agg({link_type.property_column}"  # noqa: S608 - constant names
        f" order by {link_type.property_column}) from {link_type.table}"
    )
    group = f" group by {link_type.owner_column}"
    rows = (
        await q.fetch(sql + group)
        if owner_ids is None
        else await q.fetch(
            f"{sql} where {link_type.owner_column} = any($1::bigint[]){group}", list(owner_ids)
        )
    )
    return {row[0]: tuple(row[1]) for row in rows}
