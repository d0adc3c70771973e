from datetime import UTC, datetime, timedelta

import trio

from motorpool.storage import tokens

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
