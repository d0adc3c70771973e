"""The table `homes`: which server of a cluster each device is connected to (docs/servers.md#devices)."""

from collections.abc import Collection

import msgspec

from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries, Row

# A server that was frozen may still read the logins of devices that have gone on to another one meanwhile.
# The server before is a column: read beside the update, in a common table expression, it would be outdated.
_CLAIM = f"""
    with living as ({nodes.live_until_commit("$1")}), claimed as (
        insert into homes as home (device_id, node, epoch, datagrams)
        select devices.id, living.id, 1, devices.id = any($3::bigint[])
        from devices cross join living where devices.id = any($2::bigint[])
        order by devices.id
        on conflict (device_id) do update
        set node = $1, former = home.node, epoch = home.epoch + 1, datagrams = excluded.datagrams
        returning device_id, former
    )
    select device_id from claimed where former <> $1 and {nodes.is_live("claimed.former")}
"""  # noqa: S608 - constants
# Rows are locked in the order of `_CLAIM`, here and in `_RELEASE`: no deadlocks.
_CLAIM_FREE = f"""
    with living as ({nodes.live_until_commit("$1")}), seen as (
        select device_id, (node is null or not {nodes.is_live("homes.node")}) as free,
            coalesce(node <> $1, false) as other
        from homes where device_id = any($2::bigint[]) order by device_id for update
    ), claimed as (
        update homes set node = living.id, former = homes.node, epoch = homes.epoch + 1,
            datagrams = homes.device_id = any($4::bigint[])
        from seen, living
        where homes.device_id = seen.device_id and seen.free and seen.device_id = any($3::bigint[])
    )
    select device_id from seen where other and not free
"""  # noqa: S608 - constants
_RELEASE = """
    with own as (
        select device_id from homes where device_id = any($2::bigint[]) and node = $1
        order by device_id for update
    )
    update homes set node = null, former = $1 from own where homes.device_id = own.device_id
"""
_ELSEWHERE = f"""
    select device_id from homes
    where device_id = any($2::bigint[]) and node <> $1 and {nodes.is_live("homes.node")}
"""  # noqa: S608 - constants

_BY_TCP_ELSEWHERE = f"""
    select exists (select from homes
        where device_id = $2 and node <> $1 and not datagrams and {nodes.is_live("homes.node")})
"""  # noqa: S608 - constants

_FIND = f"""
    select home.device_id, nodes.id, nodes.address, nodes.key, {nodes.responds()} as responds, home.epoch
    from homes home join nodes on nodes.id = coalesce(home.node, home.former)
    where home.device_id = any($2::bigint[]) and nodes.id <> $1 and nodes.state <> 'dead'
"""  # noqa: S608 - constants

_SERVER = f"""
    select nodes.id, nodes.address, nodes.key, {nodes.responds()} as responds, 0 as epoch from nodes
    where nodes.id = $1 and nodes.state <> 'dead' and nodes.address is not null and nodes.key is not null
"""  # noqa: S608 - constants


class Home(msgspec.Struct, frozen=True, gc=False):
    """The server that a device is connected to, or was last."""

    node: int
    """Its number."""
    address: str
    """Where other servers reach it: a URL without a slash at the end; empty if it has none."""
    key: str
    """What it wants to be shown."""
    responds: bool
    """Whether it has renewed its row lately."""
    epoch: int = 0
    """Counts the servers that the device was connected to."""


async def claim(
    q: Queries, node: int, device_ids: Collection[int], datagrams: Collection[int] = ()
) -> list[int]:
    """Record that these devices are connected to the server `node`, unless it has been declared dead.

    Those in `datagrams` are so by an address that sends datagrams. Return the devices that, as far as is
    known, are connected to another live server.
    """
    return [row[0] for row in await q.fetch(_CLAIM, node, list(device_ids), list(datagrams))]


async def claim_free(
    q: Queries,
    node: int,
    device_ids: Collection[int],
    connected: Collection[int],
    datagrams: Collection[int] = (),
) -> frozenset[int]:
    """Return which of the devices are connected to a live server other than `node`.

    In the same statement, devices in `connected` that no live server holds are recorded as connected to
    `node`: another server may have overwritten their rows.
    """
    rows = await q.fetch(_CLAIM_FREE, node, list(device_ids), list(connected), list(datagrams))
    return frozenset(row[0] for row in rows)


async def release(q: Queries, node: int, device_ids: Collection[int]) -> None:
    """Record that these devices are no longer connected to `node`, and that it was their last server."""
    await q.execute(_RELEASE, node, list(device_ids))


async def connected_elsewhere(q: Queries, node: int, device_ids: Collection[int]) -> frozenset[int]:
    """Return which of the devices are connected to a live server other than `node`."""
    return frozenset(row[0] for row in await q.fetch(_ELSEWHERE, node, list(device_ids)))


async def is_elsewhere_by_tcp(q: Queries, node: int, device_id: int) -> bool:
    """Whether the device is connected to a live server other than `node`, and not by datagrams."""
    return await q.fetch_value(_BY_TCP_ELSEWHERE, node, device_id) is True


async def find_elsewhere(q: Queries, node: int, device_ids: Collection[int]) -> dict[int, Home]:
    """Return the homes of those devices that live and are not the server `node`.

    A device that is connected nowhere has the one where it was last.
    """
    rows = await q.fetch(_FIND, node, list(device_ids))
    return {row[0]: _home(row) for row in rows}


async def server(q: Queries, node: int) -> Home | None:
    """Return a server, if it lives and has an address."""
    row = await q.fetch_row(_SERVER, node)
    return None if row is None else _home(row)


def _home(row: Row) -> Home:
    key = row["key"]
    address = row["address"] if key else None
    return Home(row["id"], address or "", key or "", row["responds"], row["epoch"])
