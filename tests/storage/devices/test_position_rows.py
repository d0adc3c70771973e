from datetime import UTC, datetime, timedelta

import msgspec
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motorpool.storage.database.database import open_database
from motorpool.storage.devices import positions
from motorpool.storage.devices.position_rows import COLUMNS, copy_data, pack_row
from motorpool.storage.records import Position
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position(position_id, *, fix=NOW, **fields):
    return Position(
        id=position_id,
        device_id=1,
        protocol="jt808",
        server_time=NOW,
        device_time=fix,
        fix_time=fix,
        **fields,
    )


async def store(database, *stored):
    await database.copy_binary("positions", COLUMNS, copy_data(pack_row(each) for each in stored))


MICROSECONDS = st.integers(-(100 * 365 * 86_400 * 10**6), 170 * 365 * 86_400 * 10**6)
TIMES = MICROSECONDS.map(lambda micros: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros))
NUMBERS = st.floats(allow_nan=False)
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 80), 1 << 80) | st.floats(-1e15, 1e15) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
POSITIONS = st.builds(
    Position,
    device_id=st.integers(1, 1 << 62),
    protocol=TEXTS,
    server_time=TIMES,
    device_time=TIMES,
    fix_time=TIMES,
    outdated=st.booleans(),
    valid=st.booleans(),
    latitude=NUMBERS,
    longitude=NUMBERS,
    altitude=NUMBERS,
    speed=NUMBERS,
    course=NUMBERS,
    address=st.none() | TEXTS,
    accuracy=NUMBERS,
    network=st.none() | st.dictionaries(TEXTS, JSON, max_size=3),
    geofence_ids=st.none() | st.lists(st.integers(1, 1 << 62), max_size=4),
    attributes=st.dictionaries(TEXTS, JSON, max_size=5),
)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(POSITIONS, min_size=1, max_size=20))
def test_a_packed_position_comes_back_as_it_was(database_url, given_positions):
    # An asynchronous fixture would live for the first example only.
    async def there_and_back():
        connect = DatabaseSettings(url=database_url, pool_size=1)
        async with open_database(connect, clock_now=lambda: NOW) as database:
            ids = await positions.allocate_ids(database, len(given_positions))
            numbered = [
                msgspec.structs.replace(each, id=position_id)
                for each, position_id in zip(given_positions, ids, strict=True)
            ]
            await store(database, *numbered)
            assert await positions.TABLE.fetch_many(database, ids) == numbered

    trio.run(there_and_back)


async def test_a_time_in_another_zone_is_the_same_instant(database):
    local = datetime.fromisoformat("2026-06-15T14:00:00+02:00")
    await store(database, position(1, fix=local))
    (found,) = await positions.TABLE.fetch_many(database, [1])
    assert found.fix_time == NOW
    assert found.fix_time.tzinfo is UTC


async def test_what_postgresql_cannot_hold_does_not_stop_the_others(database):
    bad = position(1, attributes={"result": "a\x00b\ud800"}, address="street\x00", network={"x": "\x00"})
    await store(database, bad, position(2))
    found = await positions.TABLE.fetch_many(database, [1, 2])
    assert [each.id for each in found] == [1, 2]
    assert found[0].address == "street\ufffd"
    assert found[0].attributes["result"].startswith("a\ufffdb")


async def test_no_rows_are_a_copy_of_nothing(database):
    await store(database)
    assert await database.fetch_value("select count(*) from positions") == 0
