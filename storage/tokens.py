"""Tokens revoked before their expiry, and the keys that sign tokens."""

from collections.abc import Callable
from datetime import datetime

from motorpool.storage.queries import Queries

__all__ = ["delete_expired", "is_revoked", "revoke", "signing_key"]


async def is_revoked(q: Queries, token_id: str) -> bool:
    """Return whether a token has been revoked."""
    return bool(await q.fetch_value("select exists (select from revoked_tokens where id = $1)", token_id))


async def revoke(q: Queries, token_id: str, expires: datetime) -> bool:
    """Revoke a token; return False if it was already revoked. `expires` is the expiry of the token.

    Single-use tokens are revoked by their use: of two concurrent uses only one gets True.
    """
    sql = "insert into revoked_tokens (id, expires) values ($1, $2) on conflict do nothing returning true"
    return await q.fetch_value(sql, token_id, expires) is True


async def delete_expired(q: Queries, now: datetime) -> None:
    """Delete the revocations of tokens that have expired."""
    await q.execute("delete from revoked_tokens where expires <= $1", now)


async def signing_key(q: Queries, name: str, make: Callable[[], bytes]) -> bytes:
    """Return the key of this name; the first call stores the result of `make`."""
    await q.execute("insert into keys (name, value) values ($1, $2) on conflict do nothing", name, make())
    key: bytes = await q.fetch_value("select value from keys where name = $1", name)
    return key
