"""Counts of a day: exact over restarts, midnight and outages."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import trio
import trio.testing

from motorpool.actors.messages.counters import MAIL_SENT, MESSAGES_RECEIVED
from motorpool.actors.messages.topics import POSITIONS
from motorpool.actors.upkeep.statistics import DAYS_KEPT, STATISTICS, DayStatistics, RequestServed, SaveNow
from motorpool.runtime import ChildSpec
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import Position
from motorpool.storage.upkeep import statistics

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
ALWAYS = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


@pytest.fixture
def counting(database, tree):
    return lambda zone=UTC: tree(ChildSpec(kind=STATISTICS, factory=lambda: DayStatistics(database, zone)))


async def days(database):
    return await statistics.between(database, *ALWAYS)


def stored(*pairs):
    return tuple(Position(device_id=device_id, protocol=protocol) for device_id, protocol in pairs)


async def test_requests_and_positions_are_counted_with_their_users_and_devices(database, counting, time):
    async with counting() as system:
        for user_id in (1, 2, 1):
            system.ref(STATISTICS).offer(RequestServed(user_id))
        system.topic(POSITIONS).publish(stored((7, "jt808"), (8, "osmand"), (7, "jt808")))
        MESSAGES_RECEIVED.value += 5
        MAIL_SENT.value += 2
        await system.ref(STATISTICS).ask(SaveNow())
        (day,) = await days(database)
    assert (day.requests, day.active_users) == (3, 2)
    assert (day.messages_stored, day.active_devices) == (3, 2)
    assert (day.messages_received, day.mail_sent, day.sms_sent) == (5, 2, 0)
    assert day.protocols == {"jt808": 1, "osmand": 1}
    assert day.capture_time == NOW


async def test_after_a_restart_the_day_goes_on_and_nobody_is_counted_twice(database, counting):
    for users in ((1, 2), (2, 3)):
        async with counting() as system:
            for user_id in users:
                system.ref(STATISTICS).offer(RequestServed(user_id))
            system.topic(POSITIONS).publish(stored((7, "jt808")))
    (day,) = await days(database)
    assert (day.requests, day.active_users, day.messages_stored, day.active_devices) == (4, 3, 2, 1)


async def test_two_servers_count_in_the_same_day(database, counting):
    async with counting() as one, counting() as other:
        for system, users in ((one, (1, 2)), (other, (2, 3, 3)), (one, (1,))):
            for user_id in users:
                system.ref(STATISTICS).offer(RequestServed(user_id))
            await system.ref(STATISTICS).ask(SaveNow())
        (day,) = await days(database)
        assert (day.requests, day.active_users) == (6, 3)
    assert await days(database) == [day]


async def test_what_is_counted_is_saved_each_minute(database, counting, time):
    async with counting() as system:
        system.ref(STATISTICS).offer(RequestServed(1))
        await time.passes(59)
        assert await days(database) == []
        await time.passes(2)
        assert [day.requests for day in await days(database)] == [1]


async def test_where_nothing_happens_nothing_is_written(database, counting, time):
    async with counting():
        await time.passes(300, step=60)
    assert await days(database) == []


async def test_at_midnight_of_the_zone_a_new_day_begins(database, counting, clock, time):
    berlin = ZoneInfo("Europe/Berlin")
    midnight = datetime(2026, 6, 16, tzinfo=berlin)
    async with counting(berlin) as system:
        counted = system.ref(STATISTICS)
        clock.set_wall(midnight - timedelta(seconds=1))
        counted.offer(RequestServed(1))
        counted.offer(RequestServed(2))
        clock.set_wall(midnight)
        counted.offer(RequestServed(1))
        await counted.ask(SaveNow())
        before, after = await days(database)
        assert (before.requests, before.active_users) == (2, 2)
        assert before.capture_time == midnight - timedelta(milliseconds=1)
        assert (after.requests, after.active_users, after.capture_time) == (1, 1, midnight)
        counted_users = "select count(*) from statistics_users"
        assert await database.fetch_value(counted_users) == 3
        clock.set_wall(midnight + timedelta(days=DAYS_KEPT + 1))
        counted.offer(RequestServed(1))
        await counted.ask(SaveNow())
        assert await database.fetch_value(counted_users) == 2


async def test_a_day_that_ends_while_the_database_is_away_is_saved_later(database, counting, clock, outage):
    async with counting() as system:
        counted = system.ref(STATISTICS)
        with outage():
            counted.offer(RequestServed(1))
            clock.move_wall(86_400)
            counted.offer(RequestServed(1))
            with pytest.raises(StorageUnavailable):
                await counted.ask(SaveNow(), seconds=30)
        await counted.ask(SaveNow())
    assert [day.requests for day in await days(database)] == [1, 1]


async def test_counting_goes_on_while_a_save_waits_and_requests_share_saves(database, counting):
    async with counting() as system:
        counted = system.ref(STATISTICS)
        counted.offer(RequestServed(1))
        async with trio.open_nursery() as nursery, database.transaction() as transaction:
            await transaction.execute("lock table statistics in exclusive mode")
            for _ in range(100):
                nursery.start_soon(counted.ask, SaveNow())
            await trio.testing.wait_all_tasks_blocked()
            # More than the mailbox holds.
            assert all(counted.offer(RequestServed(user_id)) for user_id in range(20_000))
        await counted.ask(SaveNow())
    (day,) = await days(database)
    assert (day.requests, day.active_users) == (20_001, 20_000)


async def test_a_wall_that_is_set_back_counts_in_the_day_it_shows(database, counting, clock):
    async with counting() as system:
        counted = system.ref(STATISTICS)
        for seconds in (0, 86_400, -86_400):
            clock.move_wall(seconds)
            counted.offer(RequestServed(1))
        await counted.ask(SaveNow())
    assert sorted(day.requests for day in await days(database)) == [1, 2]


async def test_without_a_zone_the_day_is_the_machines_own(database, counting):
    async with counting(None) as system:
        system.ref(STATISTICS).offer(RequestServed(1))
    day = NOW.astimezone().date()
    assert await database.fetch_value("select requests from statistics where day = $1", day) == 1
