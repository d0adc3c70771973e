import msgspec
import pytest
import trio

from motorpool.storage.accounts import server
from motorpool.storage.records import ServerSettings


async def test_a_new_database_has_the_default_settings(database):
    assert await server.fetch(database) == ServerSettings()


async def test_saved_settings_come_back_whole(database):
    wanted = ServerSettings(
        registration=True,
        map="osm",
        latitude=1.5,
        zoom=7,
        attributes={"speedUnit": "kmh", "deep": {"a": [1, None]}},
    )
    assert await server.save(database, wanted) == wanted
    assert await server.fetch(database) == wanted


async def test_there_is_only_ever_one_row(database):
    await server.save(database, msgspec.structs.replace(ServerSettings(), id=9, readonly=True))
    assert await database.fetch_value("select count(*) from server") == 1
    assert (await server.fetch(database)).readonly


async def test_of_transactions_that_create_the_first_user_one_initialises_the_server(database):
    assert not await server.is_initialised(database)
    firsts = []

    async def create(number):
        async with database.transaction() as transaction:
            if await server.initialise(transaction):
                firsts.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(create, number)
    assert len(firsts) == 1
    assert await server.is_initialised(database)


async def test_a_server_is_not_initialised_by_a_transaction_that_is_rolled_back(database):
    async def fail():
        async with database.transaction() as transaction:
            assert await server.initialise(transaction)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert not await server.is_initialised(database)
