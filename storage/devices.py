"""Devices."""

from motorpool.storage import access
from motorpool.storage.queries import Queries
from motorpool.storage.records import Device
from motorpool.storage.tables import Table

__all__ = ["TABLE", "by_unique_ids", "ids_by_unique_ids"]

TABLE = Table(
    "devices",
    Device,
    keywords=("name", "unique_id", "phone", "model", "contact"),
    access=access.devices_of_user,
    not_stored=frozenset({"status", "last_update", "position_id"}),
)


async def by_unique_ids(q: Queries, candidates: tuple[str, ...]) -> Device | None:
    """Return the device that one of the names is of; the first name counts most (docs/decisions/0021)."""
    row = await q.fetch_row(
        f"select {TABLE.select_list()} from devices where unique_id = any($1::text[])"  # noqa: S608 - constant names
        " order by array_position($1::text[], unique_id) limit 1",
        list(candidates),
    )
    return None if row is None else TABLE.from_row(row)


async def ids_by_unique_ids(q: Queries, unique_ids: tuple[str, ...]) -> list[int]:
    """Return the devices with these names, in the order asked; unknown names are left out."""
    rows = await q.fetch(
        "select id from devices where unique_id = any($1::text[])"
        " order by array_position($1::text[], unique_id)",
        list(unique_ids),
    )
    return [row[0] for row in rows]
