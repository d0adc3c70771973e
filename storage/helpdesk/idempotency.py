"""Answers to requests with the header Idempotency-Key, each stored in the transaction of its request
(docs/tickets.md#repeated-requests).
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from motorpool.storage.database.queries import Queries

LIFETIME = timedelta(days=1)
"""How long an answer is kept."""
KEYS_OF_A_USER = 1000
"""Answers kept for each user; the oldest are deleted as others are stored."""
CONSTRAINT = "idempotency_keys_pkey"
"""Violated where another server has stored an answer meanwhile."""
_DELETED_AT_ONCE = 5000
_DELETE_OLDEST = """
    delete from idempotency_keys where ctid in (
        select ctid from idempotency_keys
        where user_id = $1 and (created, key, path) <= (
            select created, key, path from idempotency_keys where user_id = $1
            order by created desc, key desc, path desc offset $2 limit 1
        )
        for update skip locked
    )
"""


class StoredAnswer(NamedTuple):
    """An answer, and the body of the request that it was given to."""

    body_hash: bytes
    status: int
    answer: bytes
    """JSON: the answer, which is an object, or in place of a long one an array of what it is made of."""


async def find(q: Queries, user_id: int, key: str, path: str) -> StoredAnswer | None:
    """Return the answer of a user's earlier request; None if there is none."""
    row = await q.fetch_row(
        "select body_hash, status, answer from idempotency_keys"
        " where user_id = $1 and key = $2 and path = $3",
        user_id,
        key,
        path,
    )
    return None if row is None else StoredAnswer(*row.values())


async def store(
    transaction: Queries, user_id: int, key: str, path: str, answer: StoredAnswer, *, now: datetime
) -> None:
    """Store an answer with the transaction, whose commit raises Conflict if there is one already.

    The oldest answers of the user are deleted, so that `KEYS_OF_A_USER` remain; those that another
    transaction deletes at this moment are left to it.
    """
    await transaction.defer_to_commit(
        "insert into idempotency_keys (user_id, key, path, body_hash, status, answer, created)"
        " values ($1, $2, $3, $4, $5, $6, $7)",
        user_id,
        key,
        path,
        *answer,
        now,
    )
    await transaction.defer_to_commit(_DELETE_OLDEST, user_id, KEYS_OF_A_USER)


async def delete_expired(q: Queries, now: datetime) -> int:
    """Delete answers that are older than `LIFETIME`, at most some thousands; return how many."""
    return await q.affected(
        "delete from idempotency_keys where ctid in ("
        "  select ctid from idempotency_keys where created < $1 order by created limit $2)",
        now - LIFETIME,
        _DELETED_AT_ONCE,
    )
