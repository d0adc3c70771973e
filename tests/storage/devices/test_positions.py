import itertools
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import trio

from motorpool.storage import plain_tables
from motorpool.storage.devices import devices, position_rows, positions, report_days
from motorpool.storage.errors import Conflict, StatementRejected, VersionFound
from motorpool.storage.events import events
from motorpool.storage.records import Device, Event, Notification, Position

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)


def position(position_id, device_id=1, *, fix=NOW, server=None, **fields):
    return Position(
        id=position_id,
        device_id=device_id,
        protocol="jt808",
        server_time=server or max(fix, NOW),
        device_time=fix,
        fix_time=fix,
        **fields,
    )


async def store(database, *stored, happened=()):
    rows = [position_rows.pack_row(each) for each in stored]
    await positions.store(database, rows, [each.id for each in stored], events=happened)


async def test_ids_come_in_blocks_and_never_twice(database):
    first, second = await positions.allocate_ids(database, 1000), await positions.allocate_ids(database, 5)
    assert len(first) == 1000
    assert not set(first) & set(second)


async def test_positions_and_their_events_are_stored_together(database):
    happened = [Event(type="alarm", event_time=NOW, device_id=1, position_id=1, attributes={"alarm": "sos"})]
    await store(database, position(1), position(2), happened=happened)
    assert happened[0].id > 0
    assert await events.TABLE.fetch(database, happened[0].id) == happened[0]


async def test_an_event_that_cannot_be_stored_takes_its_positions_along(database):
    happened = [Event(type="alarm", event_time=NOW, device_id=1 << 70)]
    with pytest.raises(StatementRejected, match="out of range"):
        await store(database, position(1), happened=happened)
    assert await positions.TABLE.fetch_many(database, [1]) == []


async def test_a_repeated_store_neither_doubles_nor_loses(database):
    happened = [Event(type="alarm", event_time=NOW, device_id=1, position_id=2)]
    await store(database, position(1), position(2), happened=happened)
    # The answer was lost, so the caller tries again, and more has come meanwhile.
    happened.append(Event(type="ignitionOn", event_time=NOW, device_id=1))
    for _ in range(2):
        await store(database, position(1), position(2), position(3), happened=happened)
    assert await database.fetch_value("select count(*) from positions") == 3
    assert await database.fetch_value("select count(*) from events") == 2


async def test_how_many_events_wait_is_told_whatever_is_stored_with_them(database):
    await plain_tables.NOTIFICATIONS.insert(database, Notification(type="alarm"))
    late = [(1, NOW - DAY)]
    numbers = itertools.count(1)

    async def left(count, **more):
        stored = [position(next(numbers), fix=NOW - DAY) for _ in range(count)]
        happened = [
            Event(type=kind, event_time=NOW, device_id=1) for kind in ("alarm", "ignitionOn", "alarm")
        ]
        rows = [position_rows.pack_row(each) for each in stored]
        ids = [each.id for each in stored]
        return await positions.store(database, rows, ids, events=happened, now=NOW, **more)

    assert await left(0) == 2
    assert await left(1) == 2
    assert await left(1, late=late) == 2
    # Of a device of which reports keep days the rows are stored another way.
    assert await left(1, late=late, with_days={1}) == 2
    assert await database.fetch_value("select count(*) from unmatched_events") == 8
    assert await database.fetch_value("select count(*) from positions") == 3


async def test_addresses_are_set_where_there_is_none(database):
    early, late = position(1, fix=datetime(1980, 1, 6, tzinfo=UTC)), position(2)
    known = position(3, address="known")
    await store(database, early, late, known)
    found = [msgspec.structs.replace(each, address=f"n\0{each.id}") for each in (early, late, known)]
    found.append(position(99, address="of none"))
    assert await positions.set_addresses(database, found) == {1, 2}
    stored = await positions.TABLE.fetch_many(database, [1, 2, 3])
    assert [each.address for each in stored] == [
        "n\N{REPLACEMENT CHARACTER}1",
        "n\N{REPLACEMENT CHARACTER}2",
        "known",
    ]
    assert stored[1] == msgspec.structs.replace(late, address=stored[1].address)


async def test_an_id_that_is_anothers_is_a_conflict(database):
    await store(database, position(1))
    with pytest.raises(Conflict):
        await store(database, position(2), position(2))


async def test_events_alone_are_stored(database):
    happened = [Event(type="deviceOnline", event_time=NOW, device_id=1)]
    await store(database, happened=happened)
    await store(database)
    assert await events.TABLE.list(database) == happened


async def test_the_latest_has_the_greatest_fix_time_and_then_id(database):
    await store(
        database,
        position(1, fix=NOW - DAY),
        position(2, fix=NOW),
        position(3, fix=NOW),
        position(4, fix=NOW - SECOND),
    )
    assert (await positions.latest(database, [1]))[0].id == 3
    assert await positions.latest(database, [2]) == []


async def test_a_fix_from_the_future_is_never_the_latest(database):
    ahead = position(2, fix=NOW + DAY + SECOND, server=NOW)
    await store(database, position(1, fix=NOW - DAY), ahead, position(3, 2, fix=NOW + DAY, server=NOW))
    assert (await positions.latest(database, [1]))[0].id == 1
    assert (await positions.latest(database, [2]))[0].id == 3
    # It is kept all the same.
    assert await positions.TABLE.fetch_many(database, [2]) == [ahead]


async def test_a_position_where_the_device_cannot_be_is_never_the_latest(database):
    doubted = position(2, fix=NOW, attributes={"implausible": True})
    await store(database, position(1, fix=NOW - SECOND), doubted, position(3, 2, attributes={"sat": 3}))
    assert [each.id for each in await positions.latest(database, [1, 2])] == [1, 3]
    assert await positions.TABLE.fetch_many(database, [2]) == [doubted]


async def test_the_latest_of_many_come_in_the_order_asked(database):
    await store(database, *(position(10 + device, device, fix=NOW) for device in range(1, 5)))
    found = await positions.latest(database, [3, 99, 1, 4])
    assert [each.device_id for each in found] == [3, 1, 4]


async def test_the_latest_is_found_without_sorting_or_reading_the_months_before(database):
    await store(database, *(position(n, fix=NOW - n * SECOND) for n in range(1, 50)))
    await database.execute("analyze positions")
    rows = await database.fetch(
        f"explain analyze {positions._SELECT} where device_id = 1 and {positions._NEWEST}"
    )
    plan = "\n".join(row[0] for row in rows)
    assert "Sort" not in plan
    assert plan.count("never executed") >= 2


async def span(database, device_id, start, end, batch=1000):
    found = []
    async with aclosing(
        positions.stream_between(database, device_id, start, end, batch=lambda: batch)
    ) as pieces:
        async for piece in pieces:
            assert len(piece) <= batch
            found += piece
    return found


async def test_a_span_has_both_its_ends_in_order_of_fix_time(database):
    await store(
        database, *(position(n, fix=NOW + (5 - n) * SECOND) for n in range(1, 6)), position(9, 2, fix=NOW)
    )
    found = await span(database, 1, NOW + SECOND, NOW + 3 * SECOND)
    assert [each.id for each in found] == [4, 3, 2]


async def test_a_span_across_months_and_the_open_ends_is_one(database):
    fixes = [
        datetime(year, month, 1, tzinfo=UTC) for year, month in ((1980, 1), (2026, 5), (2026, 7), (2099, 1))
    ]
    await store(database, *(position(n, fix=fix) for n, fix in enumerate(fixes, 1)))
    found = await span(database, 1, fixes[0], fixes[-1])
    assert [each.fix_time for each in found] == fixes


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
async def test_a_streamed_span_is_the_span_though_many_share_a_fix_time(database, batch):
    await store(database, *(position(n, fix=NOW + (n // 4) * SECOND) for n in range(1, 12)))
    streamed = await span(database, 1, NOW, NOW + SECOND, batch)
    assert [each.id for each in streamed] == list(range(1, 8))


async def test_positions_by_id_come_in_the_order_asked_without_the_unknown(database):
    await store(database, position(1), position(2), position(3))
    assert [each.id for each in await positions.TABLE.fetch_many(database, [3, 77, 1, -1, 1 << 70])] == [3, 1]


async def test_a_span_can_be_deleted_and_the_newest_that_remains_is_the_latest(database):
    await store(
        database, *(position(n, fix=NOW + n * SECOND) for n in range(1, 6)), position(9, 2, fix=NOW + SECOND)
    )
    assert await positions.delete_between(database, 1, NOW + 3 * SECOND, NOW + 5 * SECOND) == 3
    assert (await positions.latest(database, [1]))[0].id == 2
    assert (await positions.latest(database, [2]))[0].id == 9


async def test_one_position_can_be_deleted(database):
    await store(database, position(1), position(2))
    assert await positions.delete(database, 1)
    assert not await positions.delete(database, 1)
    assert await positions.TABLE.fetch_many(database, [1, 2]) == [position(2)]


async def test_what_a_deleted_device_left_is_purged(database, monkeypatch):
    monkeypatch.setattr(positions, "_PURGE_ROWS", 2)
    gone = await devices.TABLE.insert(database, Device(unique_id="gone"))
    kept = await devices.TABLE.insert(database, Device(unique_id="kept"))
    happened = [Event(type="alarm", event_time=NOW, device_id=device.id) for device in (gone, kept)]
    await store(
        database, *(position(n, gone.id) for n in range(1, 6)), position(9, kept.id), happened=happened
    )
    await devices.TABLE.delete(database, gone.id)
    assert await positions.purge_deleted(database) == 6
    # One that was still on its way.
    await store(database, position(10, gone.id))
    assert await positions.purge_deleted(database) == 1
    assert await positions.purge_deleted(database) == 0
    assert await database.fetch_value("select count(*) from deleted_devices") == 0
    assert [each.id for each in await positions.latest(database, [gone.id, kept.id])] == [9]
    assert await events.TABLE.list(database) == happened[1:]


async def test_many_writers_at_once_store_every_row_once(database):
    async def write(number):
        for _ in range(3):
            ids = await positions.allocate_ids(database, 20)
            await store(database, *(position(position_id, number) for position_id in ids))

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            for number in range(1, 7):
                nursery.start_soon(write, number)
    assert await database.fetch_value("select count(distinct id) from positions") == 6 * 60
    assert await database.fetch_value("select count(*) from positions") == 6 * 60


async def test_a_device_gets_no_version_while_a_transaction_expects_that_it_has_none(database):
    async with database.transaction() as transaction:
        await transaction.execute(report_days.expect_none([1, 2]))
        assert await report_days.version(database, 2) is None
    assert await report_days.version(database, 2) == 0
    await database.execute(report_days.expect_none([1, 3]))
    with pytest.raises(VersionFound):
        await database.execute(report_days.expect_none([1, 2]))
