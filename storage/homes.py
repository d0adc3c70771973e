"""The table `homes`: which server of a cluster each device is connected to (docs/servers.md#devices)."""

from collections.abc import Collection

from motorpool.storage import nodes
from motorpool.storage.queries import Queries

__all__ = ["claim", "connected_elsewhere", "release"]

# The server before is a column: read beside the update, in a common table expression, it would be outdated.
_CLAIM = f"""
    with claimed as (
        insert into homes as home (device_id, node, epoch)
        select id, $1, 1 from devices where id = any($2::bigint[])
        order by id
        on conflict (device_id) do update set node = $1, former = home.node, epoch = home.epoch + 1
        returning device_id, former
    )
    select device_id from claimed where former <> $1 and {nodes.is_live("claimed.former")}
"""  # noqa: S608 - constants
_ELSEWHERE = f"""
    select device_id from homes
    where device_id = any($2::bigint[]) and node <> $1 and {nodes.is_live("homes.node")}
"""  # noqa: S608 - constants


async def claim(q: Queries, node: int, device_ids: Collection[int]) -> list[int]:
    """Note that these devices are connected to the server `node`.

    Return those that, as far as is known, are connected to another server that lives.
    """
    return [row[0] for row in await q.fetch(_CLAIM, node, list(device_ids))]


async def release(q: Queries, node: int, device_ids: Collection[int]) -> None:
    """Note that these devices are not connected to the server `node` any more."""
    await q.execute(
        "update homes set node = null where device_id = any($2::bigint[]) and node = $1",
        node,
        list(device_ids),
    )


async def connected_elsewhere(q: Queries, node: int, device_ids: Collection[int]) -> frozenset[int]:
    """Return those of the devices that are connected to a server that lives and is not `node`."""
    return frozenset(row[0] for row in await q.fetch(_ELSEWHERE, node, list(device_ids)))
