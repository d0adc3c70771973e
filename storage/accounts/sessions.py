"""Sessions of users logged in by cookie; they survive restarts (docs/decisions/0012)."""

from collections.abc import Collection, Iterable
from datetime import datetime

from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.records import Session

MAX_SESSIONS = 1000
"""Sessions of one user; past it the one that was not used for the longest time is deleted."""
_TABLE = Table("sessions", Session, sort="last_used", keywords=())
_DELETE_OLDEST = """
    delete from sessions where id in (
        select id from sessions where user_id = $1 order by last_used desc, id offset $2
    ) returning id
"""


async def insert(q: Queries, session: Session) -> list[str]:
    """Store a new session; return the ids of those that were deleted for it.

    Raises:
        StatementRejected: The user has been deleted.
    """
    await _TABLE.insert_named(q, session)
    return [row[0] for row in await q.fetch(_DELETE_OLDEST, session.user_id, MAX_SESSIONS)]


async def fetch(q: Queries, session_ids: Iterable[str]) -> dict[str, Session]:
    """Return the sessions by id, including expired ones; unknown ids are left out."""
    found = await _TABLE.select(q, "where id = any($1::text[])", list(session_ids))
    return {session.id: session for session in found}


async def of_user(q: Queries, user_id: int, now: datetime) -> list[Session]:
    """Return the sessions of a user that have not expired, the one used last first."""
    return await _TABLE.select(
        q,
        "where user_id = $1 and expires > $2 and (token_expires is null or token_expires > $2)"
        " order by last_used desc, id",
        user_id,
        now,
    )


async def touch(q: Queries, session: Session) -> None:
    """Update the last use and the expiry of a session."""
    await q.execute(
        "update sessions set last_used = $2, expires = $3 where id = $1",
        session.id,
        session.last_used,
        session.expires,
    )


async def delete(q: Queries, session_id: str) -> bool:
    """Delete a session; return whether there was one."""
    return await q.fetch_value("delete from sessions where id = $1 returning true", session_id) is True


async def delete_by_tokens(
    q: Queries, token_ids: Collection[str], user_id: int, token_expires: datetime
) -> None:
    """Delete the sessions that began with these tokens.

    Sessions of earlier versions do not name their token; of those the user's sessions are deleted whose token
    had this expiry.
    """
    await q.execute(
        "delete from sessions where token_id = any($1::text[])"
        " or (token_id is null and user_id = $2 and token_expires = $3)",
        list(token_ids),
        user_id,
        token_expires,
    )


async def delete_of_tokens(q: Queries) -> None:
    """Delete all sessions that began with a token."""
    await q.execute("delete from sessions where token_expires is not null")


async def delete_of_user(q: Queries, user_id: int, *, keep: str | None = None) -> list[str]:
    """Delete all sessions of a user, and those that they began as other users, except `keep`; return ids."""
    rows = await q.fetch(
        "delete from sessions where (user_id = $1 or impersonator_id = $1)"
        " and ($2::text is null or id <> $2) returning id",
        user_id,
        keep,
    )
    return [row[0] for row in rows]


async def delete_expired(q: Queries, now: datetime) -> None:
    """Delete expired sessions, and those whose token has expired."""
    await q.execute("delete from sessions where expires <= $1 or token_expires <= $1", now)
