"""What each device has recorded, as it last listed it: one list a device, of structs of the caller's type."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from motorpool.storage.queries import Queries

__all__ = ["load", "save"]

T = TypeVar("T", bound=msgspec.Struct)


async def load(q: Queries, device_id: int, recording: type[T]) -> list[T]:
    """Return the stored list of a device as structs of type `recording`; empty where there is none."""
    found = await q.fetch_value("select list from recordings where device_id = $1", device_id)
    return msgspec.convert(found or [], list[recording])  # type: ignore[valid-type]


async def save(q: Queries, device_id: int, recordings: Sequence[msgspec.Struct]) -> None:
    """Replace the list of a device; does nothing where the device was deleted."""
    await q.execute(
        "insert into recordings (device_id, list) select id, $2 from devices where id = $1"
        " on conflict (device_id) do update set list = excluded.list",
        device_id,
        msgspec.to_builtins(recordings),
    )
