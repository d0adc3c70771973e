"""Which user an identity of an OpenID provider is (docs/authentication.md#openid-connect)."""

from datetime import datetime

from motorpool.storage.database.queries import Queries


async def find_user(q: Queries, issuer: str, subject: str) -> int | None:
    """Return the id of the user that an identity is linked to."""
    found: int | None = await q.fetch_value(
        "select user_id from openid_identities where issuer = $1 and subject = $2", issuer, subject
    )
    return found


async def link(transaction: Queries, issuer: str, subject: str, user_id: int, now: datetime) -> bool:
    """Link an identity to a user; return False if either is linked to another one already."""
    sql = (
        "insert into openid_identities (issuer, subject, user_id, linked) values ($1, $2, $3, $4)"
        " on conflict do nothing returning true"
    )
    return await transaction.fetch_value(sql, issuer, subject, user_id, now) is True


async def delete_of_user(q: Queries, user_id: int) -> bool:
    """Unlink the identities of a user; return whether there were any."""
    return bool(await q.fetch("delete from openid_identities where user_id = $1 returning 1", user_id))
