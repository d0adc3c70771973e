"""Each one-time code is accepted once, by whichever server."""

import pytest
import trio

from motorpool.storage.accounts import used_codes, users
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import User

KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
OTHER = "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU"


async def make_user(database, email="a@example.com"):
    return (await users.TABLE.insert(database, User(name=email, email=email))).id


async def test_a_code_and_the_ones_before_it_are_good_once(database):
    user = await make_user(database)
    assert await used_codes.accept(database, user, KEY, 100)
    assert not await used_codes.accept(database, user, KEY, 100)
    assert not await used_codes.accept(database, user, KEY, 99)
    assert await used_codes.accept(database, user, KEY, 101)
    # The clock of a server was set back: what was used stays used.
    assert not await used_codes.accept(database, user, KEY, 100)


async def test_users_and_keys_have_codes_of_their_own(database):
    first, second = await make_user(database), await make_user(database, "b@example.com")
    assert await used_codes.accept(database, first, KEY, 100)
    assert await used_codes.accept(database, second, KEY, 100)
    assert await used_codes.accept(database, first, OTHER, 100)


async def test_of_parallel_logins_with_one_code_one_succeeds(database):
    user = await make_user(database)
    found = []

    async def log_in():
        found.append(await used_codes.accept(database, user, KEY, 100))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(log_in)
    assert sorted(found) == [False] * 9 + [True]


async def test_there_are_none_of_a_user_that_was_deleted(database):
    with pytest.raises(StatementRejected):
        await used_codes.accept(database, 77, KEY, 100)
