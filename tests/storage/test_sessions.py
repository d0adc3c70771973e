from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from motorpool.storage import sessions, users
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import Session, User

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def user(database):
    return await users.TABLE.insert(database, User(email="a@example.com"))


def _session(name, user, *, expires=NOW + HOUR, token_expires=None):
    return Session(name, user.id, NOW, NOW, expires, "https://example.com", token_expires)


async def fetch(database, session_id):
    return (await sessions.fetch(database, [session_id])).get(session_id)


async def test_a_session_comes_back_as_it_was_put(database, user):
    session = _session("a", user, token_expires=NOW + HOUR)
    await sessions.insert(database, session)
    assert await fetch(database, "a") == session
    assert await fetch(database, "b") is None


async def test_a_session_of_nobody_is_rejected(database):
    with pytest.raises(StatementRejected, match="userId 9"):
        await sessions.insert(database, _session("a", User(id=9)))


async def test_use_moves_the_expiry_and_nothing_else(database, user):
    session = _session("a", user)
    await sessions.insert(database, session)
    used = msgspec.structs.replace(session, last_used=NOW + HOUR, expires=NOW + 2 * HOUR)
    await sessions.touch(database, msgspec.structs.replace(used, origin="https://evil.example"))
    assert await fetch(database, "a") == used


async def test_all_but_one_session_of_a_user_can_be_ended(database, user):
    for name in "abc":
        await sessions.insert(database, _session(name, user))
    await sessions.delete_of_user(database, user.id, keep="b")
    assert [await fetch(database, name) is not None for name in "abc"] == [False, True, False]
    await sessions.delete_of_user(database, user.id)
    assert await fetch(database, "b") is None


async def test_sessions_go_with_their_user(database, user):
    await sessions.insert(database, _session("a", user))
    await users.TABLE.delete(database, user.id)
    assert await fetch(database, "a") is None


async def test_what_has_expired_is_forgotten(database, user):
    await sessions.insert(database, _session("kept", user))
    await sessions.insert(database, _session("old", user, expires=NOW))
    await sessions.insert(database, _session("token", user, token_expires=NOW))
    await sessions.delete_expired(database, NOW)
    found = [await fetch(database, name) is not None for name in ("kept", "old", "token")]
    assert found == [True, False, False]
    await sessions.delete(database, "kept")
    assert await fetch(database, "kept") is None


async def test_the_sessions_that_a_token_began_can_be_ended(database, user):
    await sessions.insert(database, _session("password", user))
    await sessions.insert(database, _session("token", user, token_expires=NOW + HOUR))
    await sessions.insert(database, _session("other", user, token_expires=NOW + 2 * HOUR))
    await sessions.delete_by_token(database, user.id + 1, NOW + HOUR)
    await sessions.delete_by_token(database, user.id, NOW + HOUR)
    found = [await fetch(database, name) is not None for name in ("password", "token", "other")]
    assert found == [True, False, True]
