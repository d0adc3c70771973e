"""Users and their password hashes, which leave this table by `credential` alone."""

from datetime import datetime

from motorpool.storage import links
from motorpool.storage.queries import Queries
from motorpool.storage.records import User
from motorpool.storage.tables import Table

__all__ = [
    "TABLE",
    "any_exist",
    "by_email",
    "credential",
    "delete_expired_temporary",
    "oldest_administrator",
    "password_hash",
    "register",
    "set_password",
]

TABLE = Table("users", User, keywords=("name", "email"), access=links.of_user(links.USER_USER))

_BY_EMAIL = (
    f"select {TABLE.selected()}, password_hash from users"  # noqa: S608 - names of our own
    " where lower(email) = lower($1) or lower(login) = lower($1)"
    # Somebody's address counts before somebody else's login name.
    " order by lower(email) = lower($1) desc, id limit 1"
)


async def credential(q: Queries, email: str) -> tuple[User, str | None] | None:
    """Return the user with this address or login name, and his password's hash if he has a password."""
    row = await q.fetch_row(_BY_EMAIL, email.strip())
    if row is None:
        return None
    values = dict(row.items())
    stored: str | None = values.pop("password_hash")
    return User(**values), stored


async def by_email(q: Queries, email: str) -> User | None:
    """Return the user with this address or login name."""
    found = await credential(q, email)
    return found[0] if found else None


async def password_hash(q: Queries, user_id: int) -> str | None:
    """Return the hash of a user's password; None without user or password."""
    found: str | None = await q.fetch_value("select password_hash from users where id = $1", user_id)
    return found


async def set_password(q: Queries, user_id: int, stored: str | None) -> bool:
    """Keep the hash of a user's new password; whether there is such a user."""
    sql = "update users set password_hash = $2 where id = $1 returning true"
    return await q.fetch_value(sql, user_id, stored) is True


async def any_exist(q: Queries) -> bool:
    """Whether there is any user."""
    return bool(await q.fetch_value("select exists (select from users)"))


async def register(transaction: Queries) -> bool:
    """Keep all others from creating users until the transaction ends; whether any user exists.

    So the first of two who register at the same time becomes the administrator, and only he.
    """
    await transaction.execute("lock table users in share row exclusive mode")
    return await any_exist(transaction)


async def oldest_administrator(q: Queries) -> User | None:
    """Return the administrator with the lowest id, if there is one who is not disabled."""
    row = await q.fetch_row(
        f"select {TABLE.selected()} from users where administrator and not disabled order by id limit 1"  # noqa: S608 - names of our own
    )
    return None if row is None else TABLE.made(row)


async def delete_expired_temporary(q: Queries, now: datetime) -> list[int]:
    """Delete users made by sharing whose time is over; return them."""
    rows = await q.fetch("delete from users where temporary and expiration_time <= $1 returning id", now)
    return [row[0] for row in rows]
