"""Users and their password hashes, which only `accounts` reads."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from motorpool.storage.accounts import access, known_addresses, links, sessions
from motorpool.storage.database.conditions import Condition, all_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import LOCK, ListQuery, Table
from motorpool.storage.errors import Conflict
from motorpool.storage.records import User


def _users_of_manager(manager_id: int) -> Condition:
    """Return the condition for users that a manager has access to; administrators have no manager."""
    return all_of(links.linked_to(links.USER_USER, manager_id), Condition("not administrator"))


TABLE = Table(
    "users",
    User,
    keywords=("name", "email"),
    access=_users_of_manager,
    secrets=frozenset({"totp_key", "attributes"}),
)


class Activity(msgspec.Struct, frozen=True):
    """How much a user sees, and when they were here."""

    user_id: int
    devices: int
    """How many devices they see, by links to them or to groups."""
    last_login: datetime | None
    """When they last logged in with a password, a provider or a token; None if that is not known."""
    sessions: int
    """Their sessions that have not ended, without those of others as them."""


_ACTIVITIES = f"""
    select u.id as user_id, u.last_login,
        (select count(*) from devices where {access.sees_device("u.id", "devices.id")}) as devices,
        (
            select count(*) from sessions s
            where s.user_id = u.id and s.impersonator_id is null and s.expires > $2
                and (s.token_expires is null or s.token_expires > $2)
        ) as sessions
    from users u where u.id = any($1::bigint[]) order by u.id
"""  # noqa: S608 - constant names
_NAMES = 0x6D70_656D
"""Seed of the advisory locks of names to log in with, which keeps them apart from other advisory locks."""


class Account(msgspec.Struct, frozen=True):
    """A user, and the data that their credentials are checked against."""

    user: User
    password_hash: str | None
    """None if they have no password."""
    tokens_since: datetime | None
    """Tokens issued before this time are rejected; None: none are."""
    shared_by: int = 0
    """Who created this temporary user by sharing; 0 for all other users."""


_ACCOUNTS = f"""
    select {TABLE.select_list()}, password_hash, tokens_since, coalesce(shared_by, 0) as shared_by
    from users where id = any($1::bigint[])
"""  # noqa: S608 - constant names
_ID_BY_EMAIL = """
    select id from users where lower(email) = lower($1) or lower(login) = lower($1)
    -- A matching address takes precedence over a matching login name.
    order by lower(email) = lower($1) desc, id limit 1
"""


_NAME_IS_TAKEN = """
    select exists (
        select from users where id <> $2 and (lower(email) = lower($1) or lower(login) = lower($1))
    )
"""
_SHARED_NAMES = """
    select a.email, a.id, b.id from users a join users b on lower(b.login) = lower(a.email) and b.id <> a.id
    order by a.id limit $1
"""


_OTHER_ADMINISTRATORS = """
    select max(case when expiration_time is null then 2 else 1 end) from users
    where administrator and not disabled and not temporary and id <> $1
        and (expiration_time is null or expiration_time > $2)
"""
_ADMINISTRATORS = 0x6D70_6164
"""Advisory lock of transactions that take the role from an administrator."""


def restricted(flag: str, user: str) -> str:
    """Return SQL that holds where a restriction applies to a user who is no administrator.

    `flag` is its column, `user` an alias of the table of users. actors/accounts/user_rights.py says the same.
    """
    return f"({user}.{flag} or exists (select from server where force_settings and {flag}))"


async def accounts(q: Queries, user_ids: Sequence[int]) -> dict[int, Account]:
    """Return the accounts of these users by id; unknown ids are left out."""
    found = {}
    for row in await q.fetch(_ACCOUNTS, list(user_ids)):
        values = dict(row.items())
        stored, since = values.pop("password_hash"), values.pop("tokens_since")
        sharer_id = values.pop("shared_by")
        found[values["id"]] = Account(TABLE.from_row(values, q.keyring), stored, since, sharer_id)
    return found


async def names(q: Queries, user_ids: Sequence[int]) -> dict[int, str]:
    """Return the names of these users by id; unknown ids are left out."""
    rows = await q.fetch("select id, name from users where id = any($1::bigint[])", list(user_ids))
    return {row["id"]: row["name"] for row in rows}


async def id_by_email(q: Queries, email: str) -> int | None:
    """Return the id of the user with this e-mail address or login name."""
    found: int | None = await q.fetch_value(_ID_BY_EMAIL, email.strip())
    return found


async def by_email(q: Queries, email: str, *, lock: bool = False) -> User | None:
    """Return the user with this e-mail address or login name; `lock` as in `Table.fetch`."""
    user_id = await id_by_email(q, email)
    return None if user_id is None else await TABLE.fetch(q, user_id, lock=lock)


async def by_address(q: Queries, email: str, *, lock: bool = False) -> User | None:
    """Return the user with this e-mail address; login names are not compared. `lock` as in `Table.fetch`."""
    found = await TABLE.select(q, f"where lower(email) = lower($1){LOCK if lock else ''}", email)
    return found[0] if found else None


async def note_login(q: Queries, user_id: int, now: datetime) -> None:
    """Note when a user has proved who they are; not while their row is locked, which no login waits for."""
    await q.execute(
        "update users set last_login = $2 where id = (select id from users where id = $1 for no key update"
        " skip locked)",
        user_id,
        now,
    )


async def activities(q: Queries, user_ids: Sequence[int], now: datetime) -> list[Activity]:
    """Return what these users see and when they were here, by id; unknown ids are left out."""
    rows = await q.fetch(_ACTIVITIES, list(user_ids), now)
    return [Activity(**dict(row.items())) for row in rows]


async def set_sharer(q: Queries, user_id: int, sharer_id: int) -> None:
    """Note who created a temporary user by sharing."""
    await q.execute("update users set shared_by = $2 where id = $1", user_id, sharer_id)


async def end_tokens(q: Queries, user_id: int, now: datetime) -> None:
    """Invalidate all tokens of the user issued before `now`."""
    await q.execute("update users set tokens_since = $2 where id = $1", user_id, now)


async def set_password(q: Queries, user_id: int, stored: str | None) -> bool:
    """Store the password hash of a user, None for no password; return whether the user exists."""
    sql = "update users set password_hash = $2 where id = $1 returning true"
    return await q.fetch_value(sql, user_id, stored) is True


async def replace_hash(q: Queries, user_id: int, old: str, new: str) -> None:
    """Store another hash of the same password, unless the password has been changed meanwhile."""
    sql = "update users set password_hash = $3 where id = $1 and password_hash = $2"
    await q.execute(sql, user_id, old, new)


async def change_password(
    transaction: Queries, user_id: int, stored: str | None, now: datetime, *, keep_session: str | None = None
) -> bool:
    """Store a new password hash, end all tokens and all sessions except `keep_session`, and forget from where
    the user has logged in: anyone who knew the old password may have done so. None is no password.

    Return whether the user exists.
    """
    if not await set_password(transaction, user_id, stored):
        return False
    await end_logins(transaction, user_id, now, keep_session=keep_session)
    await known_addresses.delete_of_user(transaction, user_id)
    return True


async def end_logins(
    transaction: Queries, user_id: int, now: datetime, *, keep_session: str | None = None
) -> None:
    """End all tokens of a user and all sessions except `keep_session`: what they log in with has changed."""
    await end_tokens(transaction, user_id, now)
    await sessions.delete_of_user(transaction, user_id, keep=keep_session)


async def lock_name(transaction: Queries, name: str) -> None:
    """Block others that would give a user this e-mail address or login name until this one ends."""
    await transaction.execute("select pg_advisory_xact_lock(hashtextextended(lower($1), $2))", name, _NAMES)


async def claim_names(transaction: Queries, user_id: int, names: Mapping[str, str]) -> None:
    """Check that no other user logs in with these new e-mail addresses or login names, given by field.

    No constraint can say so: the two are columns of their own, and earlier versions have stored duplicates.
    `user_id` is 0 for a new user. Other transactions cannot take the names until this one ends.

    Raises:
        Conflict: another user has one of them as e-mail address or login name.
    """
    # In a fixed order, so that two transactions with the same names do not wait for each other.
    for name in sorted({name.lower() for name in names.values()}):
        await lock_name(transaction, name)
    for field, name in names.items():
        if await transaction.fetch_value(_NAME_IS_TAKEN, name, user_id):
            raise Conflict(field, "users_names")


async def shared_names(q: Queries, limit: int) -> list[tuple[str, int, int]]:
    """Return names that one user has as e-mail address and another as login name, with the ids of both."""
    return [(row[0], row[1], row[2]) for row in await q.fetch(_SHARED_NAMES, limit)]


async def manages(q: Queries, manager_id: int, user_id: int) -> bool:
    """Return whether a manager has access to this user; nobody manages an administrator."""
    condition = all_of(_users_of_manager(manager_id), Condition("id = {0}", (user_id,)))
    return await TABLE.count(q, condition) > 0


async def managed_by(q: Queries, manager_id: int) -> list[int]:
    """Return the ids of the users of a manager."""
    return await TABLE.ids(q, ListQuery(accessible_to=manager_id))


async def end_management(transaction: Queries, user_id: int, now: datetime) -> None:
    """Remove the links of a new administrator to their managers, and end all their sessions and tokens.

    Managers can open sessions and issue tokens as their users, and nothing tells these from the user's own.
    """
    await transaction.execute("delete from user_user where managed_user_id = $1", user_id)
    await end_logins(transaction, user_id, now)


async def is_last_administrator(transaction: Queries, old: User, new: User | None, now: datetime) -> bool:
    """Return whether nobody could administer the server after this change; None stands for a deletion.

    It counts who can log in at `now`; somebody without an expiration time counts more than those with one,
    who cannot log in some day. Blocks other transactions that take an administrator away until this one ends,
    so of two that would leave nobody the second gets True. Lock the row of the user before.
    """
    before, after = _administration(old, now), 0 if new is None else _administration(new, now)
    if after >= before:
        return False
    await transaction.execute("select pg_advisory_xact_lock($1)", _ADMINISTRATORS)
    others = await transaction.fetch_value(_OTHER_ADMINISTRATORS, old.id, now)
    return (others or 0) < before


def _administration(user: User, now: datetime) -> int:
    """Return 2 for an administrator who can log in, 1 if they will expire, 0 for all other users."""
    if not user.administrator or user.disabled or user.temporary:
        return 0
    if user.expiration_time is None:
        return 2
    return 1 if user.expiration_time > now else 0


async def oldest_administrator(q: Queries) -> User | None:
    """Return the administrator with the lowest id who is not disabled, or None."""
    found = await TABLE.select(q, "where administrator and not disabled order by id limit 1")
    return found[0] if found else None
