"""What of a device's movement must survive a restart: when it was last heard."""

from collections.abc import Mapping
from datetime import datetime

from motorpool.storage.queries import Queries

__all__ = ["all_last_updates", "last_update", "save"]

_SAVE = """
    insert into device_states (device_id, last_update)
    select heard.device_id, heard.last_update
    from unnest($1::bigint[], $2::timestamptz[]) as heard (device_id, last_update)
    join devices on devices.id = heard.device_id
    order by heard.device_id
    on conflict (device_id) do update set last_update = excluded.last_update
"""


async def last_update(q: Queries, device_id: int) -> datetime | None:
    """Return when the device was last heard, as last saved."""
    found: datetime | None = await q.fetch_value(
        "select last_update from device_states where device_id = $1", device_id
    )
    return found


async def all_last_updates(q: Queries) -> dict[int, datetime]:
    """Return when each device was last heard, as last saved."""
    return {row[0]: row[1] for row in await q.fetch("select device_id, last_update from device_states")}


async def save(q: Queries, last_updates: Mapping[int, datetime]) -> None:
    """Remember when devices were last heard; devices that are gone are left out."""
    await q.execute(_SAVE, list(last_updates), list(last_updates.values()))
