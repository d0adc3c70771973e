"""The log of who did what."""

from datetime import datetime

from motorpool.storage.queries import Queries
from motorpool.storage.records import AuditAction

__all__ = ["between", "note"]


async def note(q: Queries, action: AuditAction) -> None:
    """Write an action down; its id and e-mail are ignored."""
    await q.execute(
        "insert into audit (action_time, address, user_id, action_type, object_type, object_id, attributes)"
        " values ($1, $2, $3, $4, $5, $6, $7)",
        action.action_time,
        action.address,
        action.user_id,
        action.action_type,
        action.object_type,
        action.object_id,
        action.attributes,
    )


async def between(q: Queries, start: datetime, end: datetime) -> list[AuditAction]:
    """Return actions by time, both ends included, with the user's present e-mail."""
    rows = await q.fetch(
        "select a.id, a.action_time, a.address, a.user_id, u.email as user_email, a.action_type,"
        " a.object_type, a.object_id, a.attributes"
        " from audit a left join users u on u.id = a.user_id"
        " where a.action_time between $1 and $2 order by a.action_time, a.id",
        start,
        end,
    )
    return [AuditAction(**dict(row.items())) for row in rows]
