import msgspec

from motorpool.storage import server
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
