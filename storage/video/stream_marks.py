"""The next numbers of the playlist of a stream, so that they never decrease across restarts.

Numbers are reserved by one statement and given back only by who reserved them last: two servers never issue
the same number of a stream.
"""

from collections.abc import Collection

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
