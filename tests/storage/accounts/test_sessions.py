from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from motorpool.storage.accounts import sessions, users
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import Session, User

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def user(database):
    return await users.TABLE.insert(database, User(email="a@example.com"))


def _session(name, user, *, expires=NOW + HOUR, token_expires=None, token_id=None):
    return Session(name, user.id, NOW, NOW, expires, "https://example.com", token_expires, token_id)


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


async def test_the_sessions_that_tokens_began_can_be_ended_and_no_others(database, user):
    same = {"token_expires": NOW + HOUR}
    await sessions.insert(database, _session("password", user))
    await sessions.insert(database, _session("token", user, **same, token_id="t"))
    await sessions.insert(database, _session("other", user, **same, token_id="u"))
    await sessions.insert(database, _session("earlier", user, **same))
    await sessions.insert(database, _session("later", user, token_expires=NOW + 2 * HOUR))
    await sessions.delete_by_tokens(database, ["t", "v"], user.id + 1, NOW + HOUR)
    found = [await fetch(database, name) is not None for name in ("token", "earlier")]
    assert found == [False, True]
    await sessions.delete_by_tokens(database, ["t"], user.id, NOW + HOUR)
    names = ("password", "other", "earlier", "later")
    assert [await fetch(database, name) is not None for name in names] == [True, True, False, True]


async def test_a_users_sessions_are_listed_until_they_end(database, user):
    for number in range(3):
        session = _session(f"s{number}", user, expires=NOW + (number + 1) * HOUR)
        await sessions.insert(database, msgspec.structs.replace(session, last_used=NOW + number * HOUR))
    await sessions.insert(database, _session("token", user, token_expires=NOW + HOUR))
    found = await sessions.of_user(database, user.id, NOW + HOUR)
    assert [session.id for session in found] == ["s2", "s1"]


async def test_past_the_limit_the_session_that_was_not_used_longest_ends(database, user, monkeypatch):
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 2)
    for number in range(2):
        used = NOW - number * HOUR
        session = msgspec.structs.replace(_session(f"s{number}", user), last_used=used)
        assert await sessions.insert(database, session) == []
    assert await sessions.insert(database, _session("new", user)) == ["s1"]


async def test_sessions_as_other_users_end_with_the_password(database, user):
    other = await users.TABLE.insert(database, User(email="b@example.com"))
    as_other = msgspec.structs.replace(_session("as other", other), impersonator_id=user.id)
    await sessions.insert(database, as_other)
    assert await fetch(database, "as other") == as_other
    await sessions.delete_of_user(database, user.id)
    assert await fetch(database, "as other") is None
