from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.storage.accounts import tokens, users
from motorpool.storage.accounts.tokens import IssuedToken
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import User

NOW = datetime(2026, 6, 1, tzinfo=UTC)


async def test_a_token_taken_back_stays_so_until_it_would_have_expired(database):
    assert not await tokens.is_revoked(database, "a")
    assert await tokens.revoke(database, "a", NOW + timedelta(hours=1))
    assert not await tokens.revoke(database, "a", NOW + timedelta(hours=1))
    assert await tokens.is_revoked(database, "a")
    await tokens.delete_expired(database, NOW)
    assert await tokens.is_revoked(database, "a")
    await tokens.delete_expired(database, NOW + timedelta(hours=1))
    assert not await tokens.is_revoked(database, "a")


async def test_a_key_is_made_once_whoever_asks_first(database):
    given = []

    async def ask(number):
        given.append(await tokens.signing_key(database, "tokens", lambda: bytes([number])))

    async with trio.open_nursery() as nursery:
        for number in range(4):
            nursery.start_soon(ask, number)
    assert len(set(given)) == 1
    assert await tokens.signing_key(database, "tokens", lambda: b"later") == given[0]
    assert await tokens.signing_key(database, "others", lambda: b"later") == b"later"


async def test_of_many_who_use_what_serves_once_only_one_is_first(database):
    first = []

    async def use():
        first.append(await tokens.revoke(database, "a", NOW + timedelta(hours=1)))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(use)
    assert sorted(first) == [False, False, False, True]


HOUR = timedelta(hours=1)


@pytest.fixture
async def user(database):
    return await users.TABLE.insert(database, User(email="a@example.com"))


async def issue(database, token_id, user, *, parent=None, issuer=0, purpose="session", hours=1):
    token = IssuedToken(token_id, purpose, user.id, issuer, parent, NOW, NOW + hours * HOUR)
    async with database.transaction() as transaction:
        await tokens.add(transaction, token, NOW)
    return token


async def test_tokens_are_listed_until_they_expire_or_are_ended(database, user):
    one = await issue(database, "one", user)
    two = await issue(database, "two", user, hours=2)
    await issue(database, "share", user, purpose="share", issuer=user.id)
    assert await tokens.of_user(database, user.id, NOW, since=None) == [one, two]
    assert await tokens.of_user(database, user.id, NOW + HOUR, since=NOW) == [two]
    assert await tokens.of_user(database, user.id, NOW, since=NOW + HOUR) == []
    assert await tokens.fetch(database, "one") == one
    assert await tokens.fetch(database, "three") is None
    await tokens.delete_expired(database, NOW + HOUR)
    assert await tokens.fetch(database, "one") is None


async def test_with_a_token_end_those_that_were_issued_with_it(database, user):
    other = await users.TABLE.insert(database, User(email="b@example.com"))
    await issue(database, "root", user)
    await issue(database, "child", user, parent="root")
    await issue(database, "grandchild", other, parent="child", purpose="share", issuer=user.id)
    await issue(database, "stranger", user)
    ended = await tokens.revoke_with_descendants(database, "root", user.id, NOW + HOUR)
    assert ended == {"root": user.id, "child": user.id, "grandchild": other.id}
    for token_id in ended:
        assert await tokens.is_revoked(database, token_id)
        assert await tokens.fetch(database, token_id) is None
    assert not await tokens.is_revoked(database, "stranger")
    # One without a row, as of earlier versions, can be revoked too.
    assert await tokens.revoke_with_descendants(database, "old", user.id, NOW + HOUR) == {"old": user.id}


async def test_the_number_of_tokens_holds_for_parallel_requests(database, user, monkeypatch):
    monkeypatch.setattr(tokens, "MAX_TOKENS", 3)
    refused = []

    async def ask(number):
        try:
            await issue(database, f"t{number}", user)
        except StatementRejected as error:
            refused.append(str(error))

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(ask, number)
    assert len(refused) == 3
    assert "3 tokens that have not expired" in refused[0]
    await issue(database, "shared", user, purpose="share", issuer=user.id)
