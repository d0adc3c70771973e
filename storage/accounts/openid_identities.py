"""Which user an identity of an OpenID provider is (docs/authentication.md#openid-connect)."""

from datetime import datetime

from motorpool.storage.database.queries import Queries


async def find_user(q: Queries, issuer: str, subject: str) -> int | None:
    """Return the id of the user that an identity is linked to."""
    found: int | None = await q.fetch_value(
        "select user_id from openid_identities where issuer = $1 and subject = $2", issuer, subject
    )
    return found


async def link(
    transaction: Queries, issuer: str, subject: str, user_id: int, now: datetime, *, existed: bool
) -> bool:
    """Link an identity to a user; return False if either is linked to another one already.

    `existed` tells an account that was there before from one that is made for the identity.
    """
    sql = (
        "insert into openid_identities (issuer, subject, user_id, linked, existed)"
        " values ($1, $2, $3, $4, $5) on conflict do nothing returning true"
    )
    return await transaction.fetch_value(sql, issuer, subject, user_id, now, existed) is True


async def existed(q: Queries, user_id: int) -> bool:
    """Return whether the user had the account before an identity was linked to it."""
    sql = "select exists (select from openid_identities where user_id = $1 and existed)"
    return await q.fetch_value(sql, user_id) is True


async def delete_of_user(q: Queries, user_id: int) -> bool:
    """Unlink the identities of a user; return whether there were any."""
    return bool(await q.fetch("delete from openid_identities where user_id = $1 returning 1", user_id))
