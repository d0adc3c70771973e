"""Names of cameras (docs/devices.md#cameras)."""

from typing import Final

from motorpool.storage.database.queries import Queries

_NAME: Final = """
    with recursive above (group_id, attributes, depth) as (
        select group_id, attributes, 0 from devices where id = $1
        union all
        select g.group_id, g.attributes, depth + 1 from groups g join above on g.id = above.group_id
            where depth < 100
    ),
    layers (attributes, depth) as (
        select attributes, depth from above
        union all
        select attributes, 101 from server
    )
    select attributes -> 'cameras' ->> $2 from layers
        where attributes -> 'cameras' ->> $2 <> '' order by depth limit 1
"""


async def name_of(q: Queries, device_id: int, channel: int) -> str | None:
    """Return what a camera is called by its device, else its groups, else the server; None if by none."""
    row = await q.fetch_row(_NAME, device_id, str(channel))
    return None if row is None else row[0]
