"""Logins by cookie; they survive restarts (decisions 12)."""

from datetime import datetime

from motorpool.storage.queries import Queries
from motorpool.storage.records import Session

__all__ = ["delete", "delete_of_user", "fetch", "forget_expired", "put", "touch"]


async def put(q: Queries, session: Session) -> None:
    """Store a new session. Raises Rejected where its user is gone."""
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


async def fetch(q: Queries, session_id: str) -> Session | None:
    """Return a session, expired or not."""
    row = await q.fetch_row("select * from sessions where id = $1", session_id)
    return None if row is None else Session(**dict(row.items()))


async def touch(q: Queries, session: Session) -> None:
    """Write down a session's last use and new expiry."""
    await q.execute(
        "update sessions set last_used = $2, expires = $3 where id = $1",
        session.id,
        session.last_used,
        session.expires,
    )


async def delete(q: Queries, session_id: str) -> None:
    """Forget a session."""
    await q.execute("delete from sessions where id = $1", session_id)


async def delete_of_user(q: Queries, user_id: int, *, keep: str | None = None) -> None:
    """Forget all sessions of a user but the one to keep."""
    await q.execute(
        "delete from sessions where user_id = $1 and ($2::text is null or id <> $2)", user_id, keep
    )


async def forget_expired(q: Queries, now: datetime) -> None:
    """Forget sessions whose time is over."""
    await q.execute("delete from sessions where expires <= $1 or token_expires <= $1", now)
