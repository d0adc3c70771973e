"""The table `device_states`: when a message of each device was last received."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from motorpool.storage.database.queries import Queries

_SAVE = """
    insert into device_states (device_id, last_update)
    select updates.device_id, updates.last_update
    from unnest($1::bigint[], $2::timestamptz[]) as updates (device_id, last_update)
    join devices on devices.id = updates.device_id
    order by updates.device_id
    on conflict (device_id) do update
    set last_update = greatest(device_states.last_update, excluded.last_update)
"""


async def last_updates(q: Queries, device_ids: Sequence[int]) -> dict[int, datetime]:
    """Return the saved last updates of these devices by device id."""
    rows = await q.fetch(
        "select device_id, last_update from device_states where device_id = any($1::bigint[])",
        list(device_ids),
    )
    return {row[0]: row[1] for row in rows}


async def all_last_updates(q: Queries) -> dict[int, datetime]:
    """Return the saved last updates by device id."""
    # Two values: a row for each of a million devices would take most of a start.
    row = await q.fetch_row("select array_agg(device_id), array_agg(last_update) from device_states")
    assert row is not None
    return dict(zip(row[0] or (), row[1] or (), strict=True))


async def seen_since(q: Queries, instant: datetime) -> frozenset[int]:
    """Return the ids of the devices whose saved last update is not before `instant`."""
    # One value: it may be every device.
    return frozenset(
        await q.fetch_value(
            "select array(select device_id from device_states where last_update >= $1)", instant
        )
    )


async def newest(q: Queries) -> datetime | None:
    """Return the newest saved last update of all devices; None if there is none."""
    found: datetime | None = await q.fetch_value("select max(last_update) from device_states")
    return found


async def save(q: Queries, last_updates: Mapping[int, datetime]) -> None:
    """Save last updates by device id, unless later ones are saved; deleted devices are ignored."""
    await q.execute(_SAVE, list(last_updates), list(last_updates.values()))
