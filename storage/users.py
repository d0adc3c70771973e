"""Users and their password hashes, which only `accounts` reads."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage import known_addresses, links, sessions
from motorpool.storage.queries import Queries
from motorpool.storage.records import User
from motorpool.storage.tables import Table

__all__ = [
    "TABLE",
    "Account",
    "accounts",
    "by_address",
    "by_email",
    "change_password",
    "delete_expired_temporary",
    "end_tokens",
    "id_by_email",
    "oldest_administrator",
    "serialize_creation",
    "set_password",
]

TABLE = Table("users", User, keywords=("name", "email"), access=links.access_by_link(links.USER_USER))


_EMAILS = 0x6D70_656D
"""Seed of the advisory locks of e-mail addresses, which keeps them apart from other advisory locks."""


class Account(msgspec.Struct, frozen=True):
    """A user, and the data that their credentials are checked against."""

    user: User
    password_hash: str | None
    """None if they have no password."""
    tokens_since: datetime | None
    """Tokens issued before this time are rejected; None: none are."""


_ACCOUNTS = (
    f"select {TABLE.select_list()}, password_hash, tokens_since from users where id = any($1::bigint[])"  # noqa: S608 - constant names
)
_ID_BY_EMAIL = """
    select id from users where lower(email) = lower($1) or lower(login) = lower($1)
    -- A matching address takes precedence over a matching login name.
    order by lower(email) = lower($1) desc, id limit 1
"""


async def accounts(q: Queries, user_ids: Sequence[int]) -> dict[int, Account]:
    """Return the accounts of these users by id; unknown ids are left out."""
    found = {}
    for row in await q.fetch(_ACCOUNTS, list(user_ids)):
        values = dict(row.items())
        stored, since = values.pop("password_hash"), values.pop("tokens_since")
        found[values["id"]] = Account(User(**values), stored, since)
    return found


async def id_by_email(q: Queries, email: str) -> int | None:
    """Return the id of the user with this e-mail address or login name."""
    found: int | None = await q.fetch_value(_ID_BY_EMAIL, email.strip())
    return found


async def by_email(q: Queries, email: str) -> User | None:
    """Return the user with this e-mail address or login name."""
    user_id = await id_by_email(q, email)
    return None if user_id is None else await TABLE.fetch(q, user_id)


async def by_address(q: Queries, email: str) -> User | None:
    """Return the user with this e-mail address; login names are not compared."""
    sql = f"select {TABLE.select_list()} from users where lower(email) = lower($1)"  # noqa: S608 - constant names
    row = await q.fetch_row(sql, email)
    return None if row is None else TABLE.from_row(row)


async def end_tokens(q: Queries, user_id: int, now: datetime) -> None:
    """Invalidate all tokens of the user issued before `now`."""
    await q.execute("update users set tokens_since = $2 where id = $1", user_id, now)


async def set_password(q: Queries, user_id: int, stored: str | None) -> bool:
    """Store the password hash of a user, None for no password; return whether the user exists."""
    sql = "update users set password_hash = $2 where id = $1 returning true"
    return await q.fetch_value(sql, user_id, stored) is True


async def change_password(
    transaction: Queries, user_id: int, stored: str, now: datetime, *, keep_session: str | None = None
) -> bool:
    """Store a new password hash, end all tokens and all sessions except `keep_session`, and forget from where
    the user has logged in: whoever knew the old password may have done so.

    Return whether the user exists.
    """
    if not await set_password(transaction, user_id, stored):
        return False
    await end_tokens(transaction, user_id, now)
    await sessions.delete_of_user(transaction, user_id, keep=keep_session)
    await known_addresses.delete_of_user(transaction, user_id)
    return True


async def serialize_creation(transaction: Queries, email: str) -> None:
    """Block other transactions that would create a user with this e-mail address until this one ends."""
    await transaction.execute("select pg_advisory_xact_lock(hashtextextended(lower($1), $2))", email, _EMAILS)


async def oldest_administrator(q: Queries) -> User | None:
    """Return the administrator with the lowest id who is not disabled, or None."""
    row = await q.fetch_row(
        f"select {TABLE.select_list()} from users where administrator and not disabled order by id limit 1"  # noqa: S608 - constant names
    )
    return None if row is None else TABLE.from_row(row)


async def delete_expired_temporary(q: Queries, now: datetime) -> list[int]:
    """Delete expired temporary users, which sharing creates; return their ids."""
    rows = await q.fetch("delete from users where temporary and expiration_time <= $1 returning id", now)
    return [row[0] for row in rows]
