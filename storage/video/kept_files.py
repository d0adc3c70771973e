"""Files that users keep: retention and quotas leave them until they are released or deleted."""

from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries


class KeptFile(msgspec.Struct, frozen=True):
    """A file that is kept."""

    name: str
    device_id: int
    time: datetime
    """Its place in lists."""
    event_id: int
    """The event that names it; of a capture 0."""
    size: int
    """In bytes."""
    user_id: int
    """Who keeps it."""


async def lock(transaction: Queries) -> None:
    """Have no other transaction keep or release files until this one ends."""
    await transaction.execute("lock table kept_files in share row exclusive mode")


async def add(transaction: Queries, file: KeptFile) -> tuple[int, int]:
    """Keep a file, unless it is kept; return the bytes that its user keeps now, and all users."""
    await lock(transaction)
    await transaction.execute(
        "insert into kept_files (name, device_id, time, event_id, size, user_id)"
        " values ($1, $2, $3, $4, $5, $6) on conflict (name) do nothing",
        *msgspec.structs.astuple(file),
    )
    rows = await transaction.fetch(
        "select coalesce(sum(size) filter (where user_id = $1), 0), coalesce(sum(size), 0) from kept_files",
        file.user_id,
    )
    return int(rows[0][0]), int(rows[0][1])


async def remove(q: Queries, name: str) -> None:
    """Release a file."""
    await q.execute("delete from kept_files where name = $1", name)


async def held(q: Queries) -> dict[str, int]:
    """Return the sizes of all kept files, by name."""
    return {row[0]: row[1] for row in await q.fetch("select name, size from kept_files")}
