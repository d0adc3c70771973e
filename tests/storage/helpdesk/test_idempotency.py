"""Answers to requests with a key: how many are kept."""

from datetime import UTC, datetime, timedelta

from motorpool.storage.accounts import users
from motorpool.storage.helpdesk import idempotency
from motorpool.storage.helpdesk.idempotency import StoredAnswer
from motorpool.storage.records import User

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
PATH = "POST /api/tickets"


async def test_the_latest_answers_of_each_user_are_kept(database, monkeypatch):
    monkeypatch.setattr(idempotency, "KEYS_OF_A_USER", 3)
    ann, bob = [
        await users.TABLE.insert(database, User(name=name, email=f"{name}@example.org"))
        for name in ("ann", "bob")
    ]
    for minute, key in enumerate("abcde"):
        at = NOON + timedelta(minutes=minute)
        for user in (ann, bob) if minute < 2 else (ann,):
            async with database.transaction() as transaction:
                await idempotency.store(
                    transaction, user.id, key, PATH, StoredAnswer(b"", 200, b"{}"), now=at
                )
    # Of equal age: one goes nevertheless.
    async with database.transaction() as transaction:
        await idempotency.store(
            transaction, ann.id, "f", PATH, StoredAnswer(b"", 200, b"{}"), now=NOON + timedelta(minutes=4)
        )
    rows = await database.fetch("select user_id, key from idempotency_keys order by user_id, key")
    assert [tuple(row.values()) for row in rows] == [
        *((ann.id, key) for key in "def"),
        *((bob.id, key) for key in "ab"),
    ]
