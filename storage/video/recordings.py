"""Recordings of each device, as it last listed them: one list a device, of structs of the caller's type."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

import msgspec

from motorpool.storage.database.queries import Queries

T = TypeVar("T", bound=msgspec.Struct)


async def load(q: Queries, device_id: int, recording: type[T]) -> tuple[list[T], datetime | None]:
    """Return the stored list of a device as structs of type `recording`, and when it was received.

    Empty where there is none; the time is None also for lists stored before times were.
    """
    row = await q.fetch_row("select list, received_at from recordings where device_id = $1", device_id)
    if row is None:
        return [], None
    return msgspec.convert(row["list"], list[recording]), row["received_at"]  # type: ignore[valid-type]


async def save(
    q: Queries, device_id: int, recordings: Sequence[msgspec.Struct], received_at: datetime
) -> None:
    """Replace the list of a device; does nothing where the device was deleted."""
    await q.execute(
        "insert into recordings (device_id, list, received_at) select id, $2, $3 from devices where id = $1"
        " on conflict (device_id) do update set list = excluded.list, received_at = excluded.received_at",
        device_id,
        msgspec.to_builtins(recordings),
        received_at,
    )
