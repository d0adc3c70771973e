"""Tokens that were taken back before their time, and the keys that sign tokens."""

from collections.abc import Callable
from datetime import datetime

from motorpool.storage.queries import Queries

__all__ = ["delete_expired", "is_revoked", "revoke", "signing_key"]


async def is_revoked(q: Queries, token_id: str) -> bool:
    """Whether a token was taken back."""
    return bool(await q.fetch_value("select exists (select from revoked_tokens where id = $1)", token_id))


async def revoke(q: Queries, token_id: str, expires: datetime) -> bool:
    """Take a token back; kept until it would have expired by itself. Whether nobody has done so before.

    What serves once only is revoked by its use: of two at the same time one finds that it was first.
    """
    sql = "insert into revoked_tokens (id, expires) values ($1, $2) on conflict do nothing returning true"
    return await q.fetch_value(sql, token_id, expires) is True


async def delete_expired(q: Queries, now: datetime) -> None:
    """Forget revocations of tokens that have expired."""
    await q.execute("delete from revoked_tokens where expires <= $1", now)


async def signing_key(q: Queries, name: str, make: Callable[[], bytes]) -> bytes:
    """Return the named key; made at the first call, the same ever after."""
    await q.execute("insert into keys (name, value) values ($1, $2) on conflict do nothing", name, make())
    key: bytes = await q.fetch_value("select value from keys where name = $1", name)
    return key
