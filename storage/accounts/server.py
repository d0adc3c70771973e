"""The one row of server settings, whether the server has been initialised, and when it last ran."""

from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table, Versioned
from motorpool.storage.records import ServerSettings

TABLE = Table("server", ServerSettings, sort="id", keywords=(), secrets=frozenset({"attributes"}))


async def fetch(q: Queries) -> ServerSettings:
    """Return the settings."""
    return (await fetch_versioned(q)).record


async def fetch_versioned(q: Queries, *, lock: bool = False) -> Versioned[ServerSettings]:
    """Return the settings and the version of their row; `lock` as in `Table.fetch`."""
    found = await TABLE.fetch_versioned(q, 1, lock=lock)
    assert found is not None
    return found


async def save(q: Queries, settings: ServerSettings) -> ServerSettings:
    """Replace the settings; return them as stored."""
    stored = await TABLE.update(q, msgspec.structs.replace(settings, id=1))
    assert stored is not None
    return stored


async def is_initialised(q: Queries) -> bool:
    """Return whether there is or was a user, so that nobody becomes administrator by being the first."""
    return await q.fetch_value("select initialised from server where id = 1") is True


async def mark_alive(q: Queries, now: datetime) -> None:
    """Record that a server runs at `now`."""
    await q.execute(
        "insert into heartbeats values (1, $1)"
        " on conflict (id) do update set last_alive = excluded.last_alive",
        now,
    )


async def last_alive(q: Queries) -> datetime | None:
    """Return when a server was last known to run; None before the first `mark_alive`."""
    found: datetime | None = await q.fetch_value("select last_alive from heartbeats where id = 1")
    return found


async def initialise(transaction: Queries) -> bool:
    """Record that the first user is created; return whether this transaction is the one that creates it.

    Of concurrent transactions one gets True, the others wait until it has ended. If it is rolled back, the
    next one gets True.
    """
    sql = "update server set initialised = true where id = 1 and not initialised returning true"
    return await transaction.fetch_value(sql) is True
