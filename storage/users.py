"""Users and their password hashes, which leave this table by `accounts` alone."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage import links, sessions
from motorpool.storage.queries import Queries
from motorpool.storage.records import User
from motorpool.storage.tables import Table

__all__ = [
    "TABLE",
    "Account",
    "accounts",
    "any_exist",
    "by_address",
    "by_email",
    "change_password",
    "delete_expired_temporary",
    "end_tokens",
    "id_by_email",
    "oldest_administrator",
    "register",
    "set_password",
]

TABLE = Table("users", User, keywords=("name", "email"), access=links.access_by_link(links.USER_USER))


class Account(msgspec.Struct, frozen=True):
    """A user, and what their credentials are checked against."""

    user: User
    password_hash: str | None
    """None without a password."""
    tokens_since: datetime | None
    """Tokens issued before are refused."""


_ACCOUNTS = (
    f"select {TABLE.select_list()}, password_hash, tokens_since from users where id = any($1::bigint[])"  # noqa: S608 - names of our own
)
_ID_BY_EMAIL = """
    select id from users where lower(email) = lower($1) or lower(login) = lower($1)
    -- Somebody's address counts before somebody else's login name.
    order by lower(email) = lower($1) desc, id limit 1
"""


async def accounts(q: Queries, user_ids: Sequence[int]) -> dict[int, Account]:
    """Return the accounts of these users; those who are gone are left out."""
    found = {}
    for row in await q.fetch(_ACCOUNTS, list(user_ids)):
        values = dict(row.items())
        stored, since = values.pop("password_hash"), values.pop("tokens_since")
        found[values["id"]] = Account(User(**values), stored, since)
    return found


async def id_by_email(q: Queries, email: str) -> int | None:
    """Return the user with this address or login name."""
    found: int | None = await q.fetch_value(_ID_BY_EMAIL, email.strip())
    return found


async def by_email(q: Queries, email: str) -> User | None:
    """Return the user with this address or login name."""
    user_id = await id_by_email(q, email)
    return None if user_id is None else await TABLE.fetch(q, user_id)


async def by_address(q: Queries, email: str) -> User | None:
    """Return the user with this address; what users call themselves (`login`) does not count."""
    sql = f"select {TABLE.select_list()} from users where lower(email) = lower($1)"  # noqa: S608 - names of our own
    row = await q.fetch_row(sql, email)
    return None if row is None else TABLE.from_row(row)


async def end_tokens(q: Queries, user_id: int, now: datetime) -> None:
    """Refuse from now on the tokens that were issued before."""
    await q.execute("update users set tokens_since = $2 where id = $1", user_id, now)


async def set_password(q: Queries, user_id: int, stored: str | None) -> bool:
    """Keep the hash of a user's new password; whether there is such a user."""
    sql = "update users set password_hash = $2 where id = $1 returning true"
    return await q.fetch_value(sql, user_id, stored) is True


async def change_password(
    transaction: Queries, user_id: int, stored: str, now: datetime, *, keep_session: str | None = None
) -> bool:
    """Set a new password, and end the sessions but one, and all tokens, that the old one opened.

    Whether there is such a user.
    """
    if not await set_password(transaction, user_id, stored):
        return False
    await end_tokens(transaction, user_id, now)
    await sessions.delete_of_user(transaction, user_id, keep=keep_session)
    return True


async def any_exist(q: Queries) -> bool:
    """Whether there is any user."""
    return bool(await q.fetch_value("select exists (select from users)"))


async def register(transaction: Queries) -> bool:
    """Keep all others from creating users until the transaction ends; whether any user exists.

    So the first of two who register at the same time becomes the administrator, and nobody else.
    """
    await transaction.execute("lock table users in share row exclusive mode")
    return await any_exist(transaction)


async def oldest_administrator(q: Queries) -> User | None:
    """Return the administrator with the lowest id, if there is one who is not disabled."""
    row = await q.fetch_row(
        f"select {TABLE.select_list()} from users where administrator and not disabled order by id limit 1"  # noqa: S608 - names of our own
    )
    return None if row is None else TABLE.from_row(row)


async def delete_expired_temporary(q: Queries, now: datetime) -> list[int]:
    """Delete users made by sharing whose time is over; return them."""
    rows = await q.fetch("delete from users where temporary and expiration_time <= $1 returning id", now)
    return [row[0] for row in rows]
