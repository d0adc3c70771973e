"""Stills that users took of videos: the rows by which the library shows them (docs/video.md#library)."""

from datetime import datetime
from typing import Final

import msgspec

from motorpool.storage.database.queries import Queries

KEPT_OF_DEVICE: Final = 1_000
"""Stills of one device that are listed; the oldest go when another one is taken."""


class StillRecord(msgspec.Struct, frozen=True):
    """A still that is kept as a file of its device."""

    name: str
    device_id: int
    channel: int
    """0: not known."""
    time: datetime
    """When it was kept."""
    shown_at: datetime | None
    """When what it shows was; None: not known."""
    user_id: int
    """Who took it."""


async def add(transaction: Queries, still: StillRecord) -> None:
    """List a still; the oldest of the device are no longer listed where there are too many."""
    await transaction.execute(
        "insert into stills (name, device_id, channel, time, shown_at, user_id)"
        " values ($1, $2, $3, $4, $5, $6)",
        *msgspec.structs.astuple(still),
    )
    await transaction.execute(
        "delete from stills where id in (select id from stills where device_id = $1"
        " and not exists (select from kept_files where kept_files.name = stills.name)"
        " order by time desc, id desc offset $2)",
        still.device_id,
        KEPT_OF_DEVICE,
    )


async def remove(q: Queries, name: str) -> None:
    """Take a still from the list."""
    await q.execute("delete from stills where name = $1", name)
