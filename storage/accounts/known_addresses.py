"""Networks from which users have logged in lately (docs/authentication.md#guessing)."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from motorpool.storage.database.queries import Queries

LIFETIME = timedelta(days=30)
"""How long a network is known after a login."""
MAX_NETWORKS = 100
"""Networks kept of one user; the one whose last login is the oldest is deleted first."""


async def fetch(q: Queries, user_ids: Sequence[int]) -> dict[int, Mapping[str, datetime]]:
    """Return for each user the time of the last login from each network; every id has an entry."""
    rows = await q.fetch(
        "select user_id, network, last_login from known_addresses where user_id = any($1::bigint[])",
        list(user_ids),
    )
    found: dict[int, dict[str, datetime]] = {user_id: {} for user_id in user_ids}
    for row in rows:
        found[row["user_id"]][row["network"]] = row["last_login"]
    return {**found}


async def record_login(q: Queries, user_id: int, network: str, now: datetime) -> None:
    """Store that the user has logged in from a network; nothing happens if the user has been deleted."""
    await q.execute(
        "insert into known_addresses (user_id, network, last_login)"
        " select id, $2, $3 from users where id = $1 for key share"
        " on conflict (user_id, network) do update set last_login = excluded.last_login",
        user_id,
        network,
        now,
    )
    await q.execute(
        "delete from known_addresses where user_id = $1 and network in (select network from known_addresses"
        " where user_id = $1 order by last_login desc, network offset $2)",
        user_id,
        MAX_NETWORKS,
    )


async def delete_of_user(q: Queries, user_id: int) -> None:
    """Forget the networks of a user."""
    await q.execute("delete from known_addresses where user_id = $1", user_id)


async def delete_before(q: Queries, time: datetime) -> None:
    """Delete networks without a login since `time`."""
    await q.execute("delete from known_addresses where last_login < $1", time)
