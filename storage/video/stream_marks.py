"""The next numbers of the playlist of a stream, so that they never decrease across restarts.

Numbers are reserved by one statement and given back only by who reserved them last: two servers never issue
the same number of a stream.

In a cluster the row of a live stream names the server that has its last segments, so that others find them.
"""

from collections.abc import Collection

from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries

_RESERVE = """
    insert into stream_marks as mark (device_id, channel, kind, next_index, next_discontinuity)
    select id, $2, $3, $4, $4 from devices where id = $1
    on conflict (device_id, channel, kind) do update
    set next_index = mark.next_index + $4, next_discontinuity = mark.next_discontinuity + $4
    returning next_index - $4, next_discontinuity - $4
"""
_REPLACE = """
    with replaced as (
        update stream_marks set next_index = $5, next_discontinuity = $6
        where device_id = $1 and channel = $2 and kind = $3 and next_index = any($4::bigint[])
        returning true
    )
    select exists (select from replaced) or not exists (
        select from stream_marks where device_id = $1 and channel = $2 and kind = $3)
"""
_NOTE = """
    update stream_marks set node = $4
    where device_id = $1 and channel = $2 and kind = 'live' and next_index = any($3::bigint[])
"""
_FORGET = """
    update stream_marks set node = null
    where device_id = $1 and channel = $2 and kind = 'live' and node = $3
"""
_ELSEWHERE = f"""
    select channel, device_id, node from stream_marks
    where device_id = any($2::bigint[]) and kind = 'live' and node <> $1
        and {nodes.is_live("stream_marks.node")}
"""  # noqa: S608 - constants


async def reserve(q: Queries, device_id: int, channel: int, kind: str, count: int) -> tuple[int, int]:
    """Reserve `count` indices and discontinuities; return the first of each. `kind`: "live" or "playback".

    Of a device that has been deleted they are zeros.
    """
    row = await q.fetch_row(_RESERVE, device_id, channel, kind, count)
    return (0, 0) if row is None else (row[0], row[1])


async def replace(
    q: Queries,
    device_id: int,
    channel: int,
    kind: str,
    expected: Collection[int],
    next_index: int,
    next_discontinuity: int,
) -> bool:
    """Store the next numbers if the next index is one of `expected`; return whether it was.

    True as well for a device that has been deleted: nobody else issues numbers of its streams.
    """
    return (
        await q.fetch_value(
            _REPLACE, device_id, channel, kind, list(expected), next_index, next_discontinuity
        )
        is True
    )


async def holds(q: Queries, device_id: int, channel: int, kind: str, expected: Collection[int]) -> bool:
    """Return whether the next index is still one of `expected`, or the device has been deleted."""
    found = await q.fetch_value(
        "select next_index from stream_marks where device_id = $1 and channel = $2 and kind = $3",
        device_id,
        channel,
        kind,
    )
    return found is None or found in expected


async def note_server(q: Queries, device_id: int, channel: int, expected: Collection[int], node: int) -> None:
    """Record that a server publishes a live stream, if its numbers are the latest, followed by `expected`."""
    await q.execute(_NOTE, device_id, channel, list(expected), node)


async def forget_server(q: Queries, device_id: int, channel: int, node: int) -> None:
    """Record that a server has nothing of a live stream any more."""
    await q.execute(_FORGET, device_id, channel, node)


async def servers(q: Queries, node: int, device_ids: Collection[int]) -> dict[tuple[int, int], int]:
    """Return which live servers but `node` have live streams of these devices, by device and channel."""
    rows = await q.fetch(_ELSEWHERE, node, list(device_ids))
    return {(row["device_id"], row["channel"]): row["node"] for row in rows}
