"""Devices."""

from collections.abc import Mapping, Sequence

from motorpool.storage.accounts import access
from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.database.tables import LOCK, Table
from motorpool.storage.records import Device

TABLE = Table(
    "devices",
    Device,
    keywords=("name", "unique_id", "phone", "model", "contact"),
    access=access.devices_of_user,
    not_stored=frozenset({"status", "last_update", "position_id"}),
    secrets=frozenset({"attributes"}),
)


_COLUMNS_AS_TEXT = ", ".join(
    'attributes::text as "attributes"' if column == "attributes" else f'"{column}"'
    for column in TABLE.columns
)


async def rows_with_text(q: Queries, ids: Sequence[int], *, exclude_attributes: bool) -> list[Row]:
    """Return `TABLE.columns` of devices in the order of the ids; unknown ids are left out.

    Attributes are JSON text, in which secrets are encrypted (`secret_attributes.may_hold`): for long lists.
    """
    rows = await q.fetch(
        f"select {_COLUMNS_AS_TEXT} from"  # noqa: S608 - constant names
        f" (select {TABLE.select_list(exclude_attributes=exclude_attributes)} from devices"
        " where id = any($1::bigint[])) devices",
        ids,
    )
    found = {row[0]: row for row in rows}
    return [found[number] for number in ids if number in found]


async def by_unique_ids(q: Queries, candidates: Sequence[str]) -> Device | None:
    """Return the device that one of the names is of; the first name counts most (docs/decisions/0021)."""
    return first_known(await all_by_unique_ids(q, candidates), candidates)


def first_known(known: Mapping[str, Device], candidates: Sequence[str]) -> Device | None:
    """Return the first device that has one of the names; `known` is of `all_by_unique_ids`."""
    return next((known[unique_id] for unique_id in candidates if unique_id in known), None)


async def all_by_unique_ids(q: Queries, unique_ids: Sequence[str]) -> dict[str, Device]:
    """Return the devices with these names, by name; unknown names are left out."""
    found = await TABLE.select(q, "where unique_id = any($1::text[])", list(unique_ids))
    return {device.unique_id: device for device in found}


async def lock_by_unique_ids(transaction: Queries, unique_ids: Sequence[str]) -> dict[str, Device]:
    """As `all_by_unique_ids`; until the transaction ends no other one changes or deletes these devices.

    They are locked in the order of their ids, so that two transactions do not wait for each other.
    """
    condition = f"where unique_id = any($1::text[]) order by id{LOCK}"
    found = await TABLE.select(transaction, condition, list(unique_ids))
    return {device.unique_id: device for device in found}


async def register(transaction: Queries, unique_ids: Sequence[str], owner_id: int) -> list[Device]:
    """Create devices named like their identities and link them to a user; return those that are new."""
    rows = await transaction.fetch(
        "insert into devices (name, unique_id) select each, each from unnest($1::text[]) each"  # noqa: S608 - constant names
        f" on conflict do nothing returning {TABLE.select_list()}",
        list(unique_ids),
    )
    registered = [TABLE.from_row(row, transaction.keyring) for row in rows]
    await transaction.execute(
        "insert into user_device (user_id, device_id) select $1, unnest($2::bigint[])",
        owner_id,
        [device.id for device in registered],
    )
    return registered


async def ids_by_unique_ids(q: Queries, unique_ids: tuple[str, ...]) -> list[int]:
    """Return the devices with these names, in the order asked; unknown names are left out."""
    rows = await q.fetch(
        "select id from devices where unique_id = any($1::text[])"
        " order by array_position($1::text[], unique_id)",
        list(unique_ids),
    )
    return [row[0] for row in rows]


async def unique_ids(q: Queries) -> list[tuple[int, str]]:
    """Return the id and the name of every device."""
    return [(row[0], row[1]) for row in await q.fetch("select id, unique_id from devices")]
