"""Tokens that were issued or revoked, and the keys that sign them."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.errors import StatementRejected

KEY_VALUE = "keys.value"
"""The column that is encrypted, as the context of `Keyring.encrypt_bytes`."""
MAX_TOKENS = 1000
"""Tokens that one user may have issued for a purpose and that have not expired."""


class IssuedToken(msgspec.Struct, frozen=True):
    """A token for logging in that was issued and not revoked."""

    id: str
    purpose: str
    """"session" or "share"."""
    user_id: int
    """Whom it logs in."""
    issuer_id: int
    """Who issued it for that user; 0 if they issued it for themselves."""
    parent_id: str | None
    """The token with which it was issued, and with which it ends."""
    issued: datetime
    expires: datetime


class SharedToken(msgspec.Struct, frozen=True):
    """A share link."""

    id: str
    user_id: int
    """The temporary user that holders of the token act as."""
    device_id: int
    """0 for a group."""
    group_id: int
    """0 for a device."""
    issued: datetime
    expires: datetime


_TABLE = Table("tokens", IssuedToken, sort="issued", keywords=())
_SHARED = """
    select t.id, t.user_id, coalesce(min(d.device_id), 0), coalesce(min(g.group_id), 0), t.issued, t.expires
    from tokens t
        left join user_device d on d.user_id = t.user_id left join user_group g on g.user_id = t.user_id
    where t.purpose = 'share' and t.issuer_id = $1 and t.expires > $2
    group by t.id order by t.issued desc, t.id
"""
_REVOKE_SHARES = """
    with ended as (
        delete from tokens where purpose = 'share' and issuer_id = $1 returning id, user_id, expires
    ),
    revoked as (
        insert into revoked_tokens (id, expires) select id, expires from ended on conflict do nothing
    ),
    closed as (delete from sessions where token_id in (select id from ended))
    select id, user_id from ended
"""
_REVOKE_ALL = """
    with recursive ended (id, user_id, expires) as (
        select $1::text, $2::bigint, $3::timestamptz
        union select t.id, t.user_id, t.expires from ended join tokens t on t.parent_id = ended.id
    ),
    removed as (delete from tokens where id in (select id from ended)),
    revoked as (
        insert into revoked_tokens (id, expires) select id, expires from ended on conflict do nothing
    )
    select id, user_id from ended
"""


async def add(transaction: Queries, token: IssuedToken, now: datetime) -> None:
    """Store a token that is being issued.

    Raises:
        StatementRejected: The user is gone, or has MAX_TOKENS of this purpose that have not expired.
    """
    issuer_id = token.issuer_id or token.user_id
    # Of two transactions of one user the second one waits, and counts what the first has stored.
    await transaction.execute("select from users where id = $1 for update", issuer_id)
    count = await transaction.fetch_value(
        "select count(*) from tokens where (user_id = $1 and issuer_id is null or issuer_id = $1)"
        " and purpose = $2 and expires > $3",
        issuer_id,
        token.purpose,
        now,
    )
    if count >= MAX_TOKENS:
        raise StatementRejected(f"{MAX_TOKENS} tokens that have not expired are all that a user may have")
    await _TABLE.insert_named(transaction, token)


async def fetch(q: Queries, token_id: str) -> IssuedToken | None:
    """Return a token by its id."""
    found = await _TABLE.select(q, "where id = $1", token_id)
    return found[0] if found else None


async def of_user(q: Queries, user_id: int, now: datetime, *, since: datetime | None) -> list[IssuedToken]:
    """Return the session tokens of a user that have not expired, newest first; none issued before `since`."""
    return await _TABLE.select(
        q,
        "where user_id = $1 and purpose = 'session' and expires > $2"
        " and ($3::timestamptz is null or issued >= $3) order by issued desc, id",
        user_id,
        now,
        since,
    )


async def shared_by(q: Queries, user_id: int, now: datetime) -> list[SharedToken]:
    """Return the share links of a user that have not expired, newest first."""
    return [SharedToken(*row.values()) for row in await q.fetch(_SHARED, user_id, now)]


async def is_revoked(q: Queries, token_id: str) -> bool:
    """Return whether a token has been revoked."""
    return bool(await q.fetch_value("select exists (select from revoked_tokens where id = $1)", token_id))


async def revoke(q: Queries, token_id: str, expires: datetime) -> bool:
    """Revoke a token; return False if it was already revoked. `expires` is the expiry of the token.

    Single-use tokens are revoked by their use: of two concurrent uses only one gets True.
    """
    sql = "insert into revoked_tokens (id, expires) values ($1, $2) on conflict do nothing returning true"
    return await q.fetch_value(sql, token_id, expires) is True


async def revoke_with_descendants(
    q: Queries, token_id: str, user_id: int, expires: datetime
) -> dict[str, int]:
    """Revoke a token and all that were issued with it; return the user of each by the token's id."""
    return {row[0]: row[1] for row in await q.fetch(_REVOKE_ALL, token_id, user_id, expires)}


async def revoke_shares(q: Queries, issuer_id: int) -> dict[str, int]:
    """Revoke all share links of a user and end their sessions; return the guest of each link by its id."""
    return {row[0]: row[1] for row in await q.fetch(_REVOKE_SHARES, issuer_id)}


async def delete_expired(q: Queries, now: datetime) -> None:
    """Delete tokens that have expired, and their revocations."""
    await q.execute("delete from revoked_tokens where expires <= $1", now)
    await q.execute("delete from tokens where expires <= $1", now)


async def signing_key(q: Queries, name: str, make: Callable[[], bytes]) -> bytes:
    """Return the key of this name; the first call stores the result of `make`."""
    await q.execute(
        "insert into keys (name, value) values ($1, $2) on conflict do nothing",
        name,
        q.keyring.encrypt_bytes(make(), KEY_VALUE),
    )
    key: bytes = await q.fetch_value("select value from keys where name = $1", name)
    return q.keyring.decrypt_bytes(key, KEY_VALUE)
