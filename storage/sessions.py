"""Sessions of users logged in by cookie; they survive restarts (docs/decisions/0012)."""

from collections.abc import Iterable
from datetime import datetime

from motorpool.storage.queries import Queries
from motorpool.storage.records import Session

__all__ = ["delete", "delete_by_token", "delete_expired", "delete_of_user", "fetch", "insert", "touch"]


async def insert(q: Queries, session: Session) -> None:
    """Store a new session. Raises StatementRejected if its user has been deleted."""
    await q.execute(
        "insert into sessions (id, user_id, created, last_used, expires, origin, token_expires)"
        " values ($1, $2, $3, $4, $5, $6, $7)",
        session.id,
        session.user_id,
        session.created,
        session.last_used,
        session.expires,
        session.origin,
        session.token_expires,
    )


async def fetch(q: Queries, session_ids: Iterable[str]) -> dict[str, Session]:
    """Return the sessions by id, including expired ones; unknown ids are left out."""
    rows = await q.fetch("select * from sessions where id = any($1::text[])", list(session_ids))
    return {row["id"]: Session(**dict(row.items())) for row in rows}


async def touch(q: Queries, session: Session) -> None:
    """Update the last use and the expiry of a session."""
    await q.execute(
        "update sessions set last_used = $2, expires = $3 where id = $1",
        session.id,
        session.last_used,
        session.expires,
    )


async def delete(q: Queries, session_id: str) -> None:
    """Delete a session."""
    await q.execute("delete from sessions where id = $1", session_id)


async def delete_by_token(q: Queries, user_id: int, token_expires: datetime) -> None:
    """Delete the sessions of a user that were opened with a token of this expiry."""
    await q.execute("delete from sessions where user_id = $1 and token_expires = $2", user_id, token_expires)


async def delete_of_user(q: Queries, user_id: int, *, keep: str | None = None) -> None:
    """Delete all sessions of a user except `keep`."""
    await q.execute(
        "delete from sessions where user_id = $1 and ($2::text is null or id <> $2)", user_id, keep
    )


async def delete_expired(q: Queries, now: datetime) -> None:
    """Delete expired sessions, and those whose token has expired."""
    await q.execute("delete from sessions where expires <= $1 or token_expires <= $1", now)
