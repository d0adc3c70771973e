"""Stored events are taken of each device in turn."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from motorpool.storage import plain_tables
from motorpool.storage.events import events
from motorpool.storage.events.waiting import PER_DEVICE, WaitingEvents
from motorpool.storage.records import Event, Notification

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TABLE = "unmatched_events"


@pytest.fixture
def store(database):
    """`await store({device_id: count})`: stores alarms that wait, in the order of the devices."""

    async def make(counts):
        await plain_tables.NOTIFICATIONS.insert(database, Notification(type="alarm"))
        new = [
            Event(type="alarm", event_time=NOW, device_id=device)
            for device, count in counts.items()
            for _ in range(count)
        ]
        await events.assign_ids(database, new)
        await events.insert_many(database, new, now=NOW)
        return [each.id for each in new]

    return make


class Taker:
    """Takes events, of which it handles some."""

    def __init__(self, database, table=TABLE):
        self.database, self.table = database, table
        self.waiting = WaitingEvents(table, skips_locked=True)
        self.taken = []

    async def take(self, limit, most=1000):
        """Return the devices of the events that were taken, in order."""
        async with self.database.transaction() as transaction:
            found = await self.waiting.lock(transaction, limit)
            handled = found[:most]
            await transaction.execute(
                f"delete from {self.table} where event_id = any($1::bigint[])",
                [each.event.id for each in handled],
            )
        self.waiting.note(found, len(handled), limit)
        self.taken += [each.event for each in handled]
        return [each.event.device_id for each in handled]


async def test_a_device_with_thousands_does_not_hold_back_others(database, store):
    await store({1: 1000, 2: 1, 3: 2, 4: 1})
    taker = Taker(database)
    assert await taker.take(100) == [1, 2, 3, 4, 1, 3, *[1] * (PER_DEVICE - 2)]
    await store({9: 1})
    assert await taker.take(100) == [1, 9, *[1] * (PER_DEVICE - 1)]


async def test_all_devices_have_their_turn_whoever_has_many(database, store):
    await store(dict.fromkeys(range(1, 8), 50))
    taker = Taker(database)
    assert await taker.take(3) == [1, 2, 3]
    assert await taker.take(3) == [4, 5, 6]
    # Of the last one as many as are taken of a device; then the first ones again.
    assert await taker.take(3) == [7, 7, 7]
    assert await taker.take(3) == [1, 2, 3]
    await store({5: 1, 2: 1})
    counts = Counter()
    for _ in range(20):
        counts.update(await taker.take(3))
    assert set(counts) == set(range(1, 8))


async def test_who_had_no_turn_because_of_the_work_of_others_is_next(database, store):
    await store(dict.fromkeys(range(1, 6), 20))
    taker = Taker(database)
    assert await taker.take(100, most=2) == [1, 2]
    assert await taker.take(100, most=2) == [3, 4]
    assert await taker.take(100, most=2) == [5, 5]
    assert await taker.take(100, most=6) == [1, 2, 3, 4, 5, 1]


async def test_everything_is_taken_once_and_that_of_a_device_in_order(database, store):
    ids = await store({3: 35, 1: 70, 2: 1})
    taker = Taker(database)
    while await taker.take(20, most=17):
        pass
    assert sorted(each.id for each in taker.taken) == ids
    for device in (1, 2, 3):
        of_device = [each.id for each in taker.taken if each.device_id == device]
        assert of_device == sorted(of_device)
    assert not await taker.waiting.any(database)


async def test_what_another_transaction_has_locked_is_left_to_it(database, store):
    await store({1: 2, 2: 1})
    one, other = (WaitingEvents(TABLE, skips_locked=True) for _ in range(2))
    async with database.transaction() as transaction:
        assert len(await one.lock(transaction, 100)) == 3
        async with database.transaction() as meanwhile:
            assert await other.lock(meanwhile, 100) == []


async def test_an_event_that_was_deleted_does_not_wait_any_more(database, store):
    first, second = await store({1: 2})
    await database.execute("delete from events where id = $1", first)
    async with database.transaction() as transaction:
        locked = await WaitingEvents(TABLE, skips_locked=True).lock(transaction, 10)
    assert [(each.event.id, each.place, each.stored) for each in locked] == [(second, 1, NOW)]
    assert await database.fetch_value("select count(*) from unmatched_events") == 1
