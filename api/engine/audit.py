"""Audit rows: who did what, from where (docs/server.md#audit)."""

from collections.abc import Mapping
from typing import Any

from motorpool.api.engine.call import Call
from motorpool.storage import audit
from motorpool.storage.queries import Queries
from motorpool.storage.records import AuditAction, User

__all__ = ["record_action"]


async def record_action(
    call: Call,
    queries: Queries,
    action: str,
    object_type: str | None = None,
    object_id: int = 0,
    *,
    user: User | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> None:
    """Write an audit row, in the transaction of `queries` if it is one."""
    who = user or (call.optional_caller.user if call.optional_caller else None)
    await audit.record(
        queries,
        AuditAction(
            action_time=call.now,
            address=call.address,
            user_id=who.id if who else 0,
            action_type=action,
            object_type=object_type,
            object_id=object_id,
            attributes=dict(attributes or {}),
        ),
    )
