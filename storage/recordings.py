"""What each device has recorded, as it last told: one list a device."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage.queries import Queries

__all__ = ["Recording", "load", "save"]


class Recording(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One entry of a device's list, with the fields of the specification."""

    channel: int
    start_time: datetime
    end_time: datetime
    alarm_flag: int
    type: int
    """0 audio and video, 1 audio, 2 video."""
    stream_type: int
    """1 main stream, 2 sub-stream."""
    memory_type: int
    """1 primary memory, 2 backup memory."""
    size: int
    """Bytes."""


async def load(q: Queries, device_id: int) -> list[Recording]:
    """Return the latest list of a device; empty where it never told one."""
    found = await q.fetch_value("select list from recordings where device_id = $1", device_id)
    return msgspec.convert(found or [], list[Recording])


async def save(q: Queries, device_id: int, recordings: Sequence[Recording]) -> None:
    """Put the list in the place of the one before; nothing happens where the device is gone."""
    await q.execute(
        "insert into recordings (device_id, list) select id, $2 from devices where id = $1"
        " on conflict (device_id) do update set list = excluded.list",
        device_id,
        msgspec.to_builtins(recordings),
    )
