from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.storage.database.partitions import MAX_MONTHS, ensure_partitions
from motorpool.storage.devices import devices, position_rows, positions
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import Device, Position
from motorpool.storage.upkeep import expired_positions


def at(year, month, day=1, hour=0):
    return datetime(year, month, day, hour, tzinfo=UTC)


async def store(database, *rows, **attributes):
    """Store positions given as (id, device, fix time)."""
    made = [
        Position(
            id=number,
            device_id=device,
            server_time=fix,
            device_time=fix,
            fix_time=fix,
            attributes=attributes,
        )
        for number, device, fix in rows
    ]
    await positions.store(
        database, [position_rows.pack_row(each) for each in made], [each.id for each in made]
    )


async def tables(database):
    """The partitions and the ids of the rows in each."""
    names = await database.fetch(
        "select inhrelid::regclass::text from pg_inherits where inhparent = 'positions'::regclass"
    )
    found = {}
    for (name,) in names:
        rows = await database.fetch(f"select id from {name} order by id")
        found[name.removeprefix("positions_")] = [row[0] for row in rows]
    return dict(sorted(found.items()))


async def add_devices(database, count):
    return [(await devices.TABLE.insert(database, Device(unique_id=str(n)))).id for n in range(1, count + 1)]


async def test_a_new_database_has_the_months_around_now(database):
    # conftest opens it in June 2026.
    assert list(await tables(database)) == ["2026_05", "2026_06", "2026_07", "2026_08", "early", "late"]


async def test_months_are_made_ahead_and_waiting_rows_move_in(database):
    await store(
        database,
        (1, 1, at(2026, 8, 31, 23)),
        (2, 1, at(2026, 9)),
        (3, 1, at(2026, 10, 31)),
        (4, 1, at(2030, 1)),
    )
    assert (await tables(database))["late"] == [2, 3, 4]
    await ensure_partitions(database, at(2026, 8, 15))
    found = await tables(database)
    assert (found["2026_08"], found["2026_09"], found["2026_10"], found["late"]) == ([1], [2], [3], [4])
    assert await positions.count_between(database, 1, at(2020, 1), at(2040, 1), limit=9) == 4


async def test_months_that_are_there_are_left_alone(database):
    before = await tables(database)
    await ensure_partitions(database, at(2026, 6, 15))
    await ensure_partitions(database, at(2024, 1))
    assert await tables(database) == before


async def test_a_year_of_rest_leaves_no_gap(database):
    await ensure_partitions(database, at(2027, 6))
    found = list(await tables(database))
    expected = [f"2026_{month:02}" for month in range(5, 13)] + [f"2027_{month:02}" for month in range(1, 9)]
    assert found == [*expected, "early", "late"]


async def test_a_clock_that_jumps_far_makes_a_bounded_number_of_months(database):
    before = len(await tables(database))
    await ensure_partitions(database, at(2080, 1))
    assert len(await tables(database)) == before + MAX_MONTHS
    await store(database, (1, 1, at(2080, 1)))
    assert (await tables(database))["late"] == [1]


async def test_two_that_look_at_once_make_each_month_once(database):
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ensure_partitions, database, at(2026, 9))
    assert list(await tables(database))[-3:] == ["2026_11", "early", "late"]


async def test_a_table_in_use_is_left_for_later(database, monkeypatch):
    async with database.transaction() as reader:
        await reader.fetch("select count(*) from positions")
        with monkeypatch.context() as impatient:
            impatient.setattr("motorpool.storage.database.partitions._LOCK_SECONDS", 0.1)
            with pytest.raises(StorageUnavailable, match="lock timeout"):
                await ensure_partitions(database, at(2026, 9))
    await ensure_partitions(database, at(2026, 9))
    assert "2026_11" in await tables(database)


async def test_whole_months_are_dropped_and_the_rest_row_by_row(database):
    one, two = await add_devices(database, 2)
    await store(
        database,
        (1, one, at(1999, 1)),
        (2, one, at(2026, 5, 3)),
        (3, one, at(2026, 6, 3)),
        (4, one, at(2026, 6, 10)),
        (5, two, at(2026, 5, 3)),
        (6, two, at(2026, 6, 20)),
    )
    assert await expired_positions.delete_before(database, at(2026, 6, 10)) == 4
    assert await tables(database) == {
        "2026_06": [4, 6],
        "2026_07": [],
        "2026_08": [],
        "early": [],
        "late": [],
    }
    assert await expired_positions.delete_before(database, at(2026, 6, 10)) == 0


async def test_the_latest_of_a_device_stays_however_old(database):
    parked, moving = await add_devices(database, 2)
    await store(
        database,
        (1, parked, at(2026, 5, 1)),
        (2, parked, at(2026, 5, 2)),
        (3, moving, at(2026, 5, 3)),
        (4, moving, at(2026, 7)),
    )
    assert await expired_positions.delete_before(database, at(2026, 7)) == 2
    assert [each.id for each in await positions.latest(database, [parked, moving])] == [2, 4]
    assert (await tables(database))["early"] == [2]
    assert await expired_positions.delete_before(database, at(2026, 7)) == 0
    await store(database, (5, parked, at(2026, 7, 2)))
    assert await expired_positions.delete_before(database, at(2026, 7)) == 1


@pytest.mark.parametrize("day", [2, 28])
async def test_one_where_the_device_cannot_be_does_not_stay_in_place_of_the_latest(database, day):
    """Whether whole months are dropped or single rows."""
    (parked,) = await add_devices(database, 1)
    await store(database, (1, parked, at(2026, 5, 1)), (2, parked, at(2026, 5, 2)))
    await store(database, (3, parked, at(2026, 5, 3)), (4, parked, at(2026, 6, 1)), implausible=True)
    assert await expired_positions.delete_before(database, at(2026, 6, day)) == 3
    assert [each.id for each in await positions.latest(database, [parked])] == [2]


async def test_dropping_goes_on_step_by_step_until_all_is_gone(database, monkeypatch):
    monkeypatch.setattr("motorpool.storage.upkeep.expired_positions._DEVICES_AT_ONCE", 2)
    ids = await add_devices(database, 5)
    await store(
        database,
        *(
            (100 * device + n, device, at(2026, 6, 1) + timedelta(hours=n))
            for device in ids
            for n in range(1, 8)
        ),
    )
    assert await expired_positions.delete_before(database, at(2026, 6, 20)) == 5 * 6


async def test_dropped_months_can_be_written_again(database):
    await expired_positions.delete_before(database, at(2026, 7))
    (device,) = await add_devices(database, 1)
    await store(database, (1, device, at(2026, 5, 5)))
    assert (await tables(database))["early"] == [1]
    await ensure_partitions(database, at(2026, 9))
    assert (await positions.latest(database, [device]))[0].id == 1


async def test_months_do_not_go_while_a_reader_is_at_them(database, monkeypatch):
    monkeypatch.setattr("motorpool.storage.database.partitions._LOCK_SECONDS", 0.1)
    async with database.transaction() as reader:
        await reader.fetch("select count(*) from positions")
        with pytest.raises(StorageUnavailable):
            await expired_positions.delete_before(database, at(2026, 7))
    assert "2026_05" in await tables(database)
