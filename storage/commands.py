"""Saved commands, and commands that wait for their device: first come, first sent."""

from datetime import datetime

from motorpool.storage import links
from motorpool.storage.errors import Rejected
from motorpool.storage.queries import Queries
from motorpool.storage.records import Command, QueuedCommand
from motorpool.storage.tables import Table

__all__ = ["QUEUE_LENGTH", "TABLE", "cancel", "expire", "put", "queued_for", "take"]

TABLE = Table(
    "commands",
    Command,
    sort="description",
    keywords=("description",),
    access=links.of_user(links.USER_COMMAND),
    absent=frozenset({"device_id"}),
)

QUEUE_LENGTH = 1000
"""Commands that may wait for one device."""

_QUEUED = Table("queued_commands", QueuedCommand, sort="id", keywords=())
_PUT = f"""
    insert into queued_commands
        (device_id, type, text_channel, attributes, created, expires, owner_type, owner_id)
    select $1, $2, $3, $4, coalesce($5, now()), $6, $7, $8
    where (select count(*) from queued_commands where device_id = $1) < {QUEUE_LENGTH}
    returning {_QUEUED.selected()}
"""  # noqa: S608 - constants


async def put(
    q: Queries,
    command: QueuedCommand,
    *,
    created: datetime | None = None,
    expires: datetime | None = None,
    owner: tuple[str, int] | None = None,
) -> QueuedCommand:
    """Let a command wait behind those that wait already; return it with its id.

    `owner` is what sent it, as type and id, where that wants to take it back.

    Raises:
        Rejected: there is no such device, or too many commands wait for it.
    """
    row = await q.fetch_row(
        _PUT,
        command.device_id,
        command.type,
        command.text_channel,
        command.attributes,
        created,
        expires,
        *(owner or (None, None)),
    )
    if row is None:
        raise Rejected(f"{QUEUE_LENGTH} commands wait for the device already")
    return _QUEUED.made(row)


async def queued_for(q: Queries, device_id: int, *, now: datetime | None = None) -> list[QueuedCommand]:
    """Return what waits for a device, oldest first; with `now` only what has not expired."""
    rows = await q.fetch(
        f"select {_QUEUED.selected()} from queued_commands"  # noqa: S608 - names of our own
        " where device_id = $1 and ($2::timestamptz is null or expires is null or expires > $2) order by id",
        device_id,
        now,
    )
    return [_QUEUED.made(row) for row in rows]


async def take(q: Queries, queued_id: int) -> QueuedCommand | None:
    """Take a command out of the queue, committed before it is sent; None where it is gone already."""
    row = await q.fetch_row(
        f"delete from queued_commands where id = $1 returning {_QUEUED.selected()}",  # noqa: S608 - names of our own
        queued_id,
    )
    return None if row is None else _QUEUED.made(row)


async def cancel(q: Queries, owner: tuple[str, int]) -> list[QueuedCommand]:
    """Take back what an owner has waiting; return it."""
    rows = await q.fetch(
        f"delete from queued_commands where owner_type = $1 and owner_id = $2 returning {_QUEUED.selected()}",  # noqa: S608 - names of our own
        *owner,
    )
    return [_QUEUED.made(row) for row in rows]


async def expire(q: Queries, now: datetime) -> list[QueuedCommand]:
    """Take out what has waited past its time; return it."""
    rows = await q.fetch(
        f"delete from queued_commands where expires <= $1 returning {_QUEUED.selected()}",  # noqa: S608 - names of our own
        now,
    )
    return [_QUEUED.made(row) for row in rows]
