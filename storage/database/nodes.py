"""The servers that use a database, a row for each start of one (docs/servers.md).

A server renews its row; one whose row is not renewed is declared dead, and what it was sending is settled by
the others. The clock of the database alone counts.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import SetupFailed
from motorpool.storage.settings import ROLES

LIFE_SECONDS: Final = 8.0
"""A server that has not renewed its row for this time may be declared dead."""
SILENT_SECONDS: Final = 4.0
"""A server that has not renewed its row for this time, twice in a row, is not waited for."""

_SESSION_LOCK = 0x6D70_6E6F_6465_0001
"""Held exclusively by a single server; shared by the servers of a cluster."""
_JOIN_LOCK = 0x6D70_6E6F_6465_0002
"""Held while one joins."""
_LIVE = "state <> 'dead' and seen_until > clock_timestamp()"
_NEIGHBOURS = f"""
    select host, coalesce(cluster, '') from nodes where {_LIVE} and cluster is distinct from $1 limit 1
"""  # noqa: S608 - constants
_ALONE = f"select host, coalesce(cluster, '') from nodes where {_LIVE} limit 1"  # noqa: S608 - constants
_INSERT = f"""
    insert into nodes
        (cluster, host, release, address, key, encryption_keys, roles, state, started, seen_until)
    values ($1, $2, $3, $4, $5, $6, $7,
        'live', clock_timestamp(), clock_timestamp() + interval '{LIFE_SECONDS} seconds')
    returning id
"""  # noqa: S608 - constants
_RESPONDS = f"nodes.seen_until > clock_timestamp() + interval '{LIFE_SECONDS - SILENT_SECONDS} seconds'"
_RENEW = f"""
    update nodes set seen_until = clock_timestamp() + interval '{LIFE_SECONDS} seconds'
    where id = $1 and state <> 'dead' returning clock_timestamp()
"""  # noqa: S608 - constants
_DECLARE_DEAD = f"""
    update nodes set state = 'dead' where state <> 'dead' and seen_until < clock_timestamp()
        and exists (select from nodes where nodes.id = $1 and {_RESPONDS})
    returning id
"""  # noqa: S608 - constants
_RETIRE = f"""
    update nodes set state = 'dead'
    where state <> 'dead' and not ({_LIVE}) and not exists (select from nodes where {_LIVE})
"""  # noqa: S608 - constants


def is_live(column: str) -> str:
    """Return the SQL condition that the server of this number is not dead."""
    return f"exists (select from nodes where nodes.id = {column} and nodes.state <> 'dead')"


def is_dead(column: str) -> str:
    """Return the SQL condition that the server of this number has been declared dead, 30 days ago at most."""
    return f"exists (select from nodes where nodes.id = {column} and nodes.state = 'dead')"


def live_until_commit(parameter: str) -> str:
    """Return the SQL query for the number of this server, without a row if it is dead.

    It cannot be declared dead before the end of the transaction: `declare_dead` waits, or this does.
    """
    return f"select id from nodes where id = {parameter} and state <> 'dead' for share"  # noqa: S608 - constants


def responds() -> str:
    """Return the SQL condition that the server of a row of `nodes` has renewed it lately."""
    return _RESPONDS


async def responding(q: Queries, numbers: Collection[int]) -> frozenset[int]:
    """Return which of the servers have renewed their rows lately."""
    rows = await q.fetch(
        f"select id from nodes where id = any($1::bigint[]) and state <> 'dead' and {_RESPONDS}",  # noqa: S608 - constants
        list(numbers),
    )
    return frozenset(row[0] for row in rows)


async def lock(session: Queries, cluster: str | None) -> bool:
    """Try to take the servers' lock for this session: exclusively, or shared with the rest of a cluster."""
    function = "pg_try_advisory_lock" if cluster is None else "pg_try_advisory_lock_shared"
    return await session.fetch_value(f"select {function}({_SESSION_LOCK})") is True


async def block_joining(transaction: Queries) -> None:
    """Block servers that join until the transaction ends."""
    await transaction.execute(f"select pg_advisory_xact_lock({_JOIN_LOCK})")


async def lacking_key(q: Queries, key_id: str) -> str | None:
    """Return the host of a live server that has no encryption key of this id; None if there is none."""
    sql = f"select host from nodes where {_LIVE} and $1 <> all(encryption_keys) limit 1"  # noqa: S608 - constants
    host: str | None = await q.fetch_value(sql, key_id)
    return host


def encrypts(key_id: str) -> str:
    """Return the SQL condition that a live server encrypts with the key of this id."""
    return f"exists (select from nodes where {_LIVE} and nodes.encryption_keys[1] = {key_id})"


async def join(
    session: Queries,
    cluster: str | None,
    host: str,
    release: str,
    *,
    address: str | None = None,
    key: str | None = None,
    roles: Sequence[str] = ROLES,
) -> int:
    """Take the lock and insert the row of a server that starts; return its number.

    `address` is where other servers of the cluster reach this one, and `key` what they show it then.

    A server that is alone and gets the lock knows that all others have ended, however fresh their rows are.
    One that does not get it may start if no row is fresh: the session of a machine that lost its power lasts.

    Raises:
        SetupFailed: another server uses the database, and the two are not of one cluster.
    """
    async with session.transaction() as transaction:
        # A server that holds the servers' lock has a row that is visible here.
        await block_joining(transaction)
        locked = await lock(transaction, cluster)
        if cluster is not None:
            other = await transaction.fetch_row(_NEIGHBOURS, cluster)
            # A live single server holds the lock, so this one did not get it.
            refused = other is not None and (other[1] != "" or not locked)
            # Not members of its own cluster with stale rows: the database may have been away. A server
            # that has renewed its own row for a while declares them dead.
            dead = "cluster is distinct from $1"
        else:
            other = await transaction.fetch_row(_ALONE)
            refused = other is not None and not locked
            dead = "$1::text is null"
        if not refused:
            await transaction.execute(
                f"update nodes set state = 'dead' where state <> 'dead' and {dead}",  # noqa: S608 - constants
                cluster,
            )
            await transaction.execute(
                "delete from nodes"
                " where state = 'dead' and seen_until < clock_timestamp() - interval '30 days'"
            )
            node: int = await transaction.fetch_value(
                _INSERT, cluster, host, release, address, key, list(session.keyring.ids), list(roles)
            )
            return node
        if locked:
            await transaction.execute(f"select pg_advisory_unlock_shared({_SESSION_LOCK})")
    assert other is not None
    raise SetupFailed(_refusal(other[0], other[1]))


async def renew(q: Queries, node: int) -> datetime | None:
    """Renew the row of a server; return the time of the database, None if it has been declared dead."""
    now: datetime | None = await q.fetch_value(_RENEW, node)
    return now


async def declare_dead(q: Queries, node: int) -> list[int]:
    """Declare the servers dead that have not renewed their rows; return their numbers.

    Only if `node`, which asks, has renewed its own lately by the time the database does this: a database that
    has stood still meanwhile has kept all of them from it.
    """
    return [row[0] for row in await q.fetch(_DECLARE_DEAD, node)]


async def note_end(q: Queries, node: int) -> bool:
    """Declare a server dead whose process has ended; return False if it was dead already."""
    row = await q.fetch_value(
        "update nodes set state = 'dead', seen_until = clock_timestamp() where id = $1 and state <> 'dead'"
        " returning id",
        node,
    )
    return row is not None


async def note_end_of_cluster(q: Queries, cluster: str) -> None:
    """Declare all servers of a cluster dead: it is known that their processes have ended."""
    await q.execute(
        "update nodes set state = 'dead', seen_until = clock_timestamp()"
        " where cluster = $1 and state <> 'dead'",
        cluster,
    )


async def retire(q: Queries) -> str | None:
    """Declare all servers dead if none has renewed its row in time; return the host of one that is not."""
    await q.execute(_RETIRE)
    # One that has just renewed its row after all is not dead.
    host: str | None = await q.fetch_value(
        "select host from nodes where state <> 'dead' order by seen_until desc limit 1"
    )
    return host


async def living(q: Queries) -> frozenset[int]:
    """Return the numbers of the servers that are not dead."""
    return frozenset(row[0] for row in await q.fetch("select id from nodes where state <> 'dead'"))


async def has_role(q: Queries, role: str) -> bool:
    """Return whether a server lives that has this role."""
    sql = f"select exists (select from nodes where {_LIVE} and $1 = any(roles))"  # noqa: S608 - constants
    return await q.fetch_value(sql, role) is True


async def leave(q: Queries, node: int) -> None:
    """Record that a server has ended."""
    await q.execute("update nodes set state = 'dead', seen_until = clock_timestamp() where id = $1", node)


def _refusal(host: str, cluster: str) -> str:
    of = f" of the cluster {cluster}" if cluster else ""
    return (
        f"another server{of} on {host} uses this database: stop it, or give all servers of the database the"
        " same setting cluster.name"
    )
