"""Names of cameras (docs/devices.md#cameras)."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

from motorpool.storage.database.queries import Queries

CameraNames = Mapping[str, str]
"""What the cameras of a device are called, by their numbers as texts."""
NO_NAMES: Final[CameraNames] = {}

_NAMES: Final = """
    with recursive above (device_id, group_id, cameras, depth) as (
        select id, group_id, attributes -> 'cameras', 0 from devices where id = any($1::bigint[])
        union all
        select above.device_id, g.group_id, g.attributes -> 'cameras', depth + 1
            from groups g join above on g.id = above.group_id
            where depth < 100
    ),
    layers (device_id, cameras, depth) as (
        select device_id, cameras, depth from above
        union all
        select d.id, s.attributes -> 'cameras', 101 from devices d, server s where d.id = any($1::bigint[])
    )
    select distinct on (device_id, camera) device_id, camera, name
        from layers, jsonb_each_text(
            case jsonb_typeof(cameras) when 'object' then cameras else '{}' end
        ) as named (camera, name)
        where name <> ''
        order by device_id, camera, depth
"""


async def names_of(q: Queries, device_ids: Collection[int]) -> Mapping[int, CameraNames]:
    """Return what cameras are called by their devices, else by the groups of these, else by the server.

    Of any other device, and of one none of whose cameras has a name, the result has no names.
    """
    found = defaultdict[int, dict[str, str]](dict)
    if device_ids:
        for row in await q.fetch(_NAMES, list(device_ids)):
            found[row["device_id"]][row["camera"]] = row["name"]
    return found
