import random
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import msgspec
import trio

from motorpool.storage.records import Statistics
from motorpool.storage.upkeep import statistics

DAY = date(2026, 6, 15)
NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
ONE, OTHER = UUID(int=1), UUID(int=2)
NONE = dict.fromkeys(statistics.COUNTS, 0)


async def stored(database, **fields):
    (found,) = await statistics.between(database, NOON, NOON + timedelta(hours=12))
    return msgspec.structs.replace(found, id=0) == Statistics(**fields)


async def test_users_and_devices_are_distinct_however_often_they_are_told(database):
    first = {**NONE, "requests": 3, "messages_stored": 4}
    await statistics.save(database, DAY, ONE, NOON, first, [1, 2], [(7, "jt808"), (8, "jt808")])
    later = NOON + timedelta(minutes=1)
    second = {**NONE, "requests": 5, "messages_stored": 9}
    await statistics.save(database, DAY, ONE, later, second, [2, 3], [(7, "osmand"), (8, "jt808")])
    assert await stored(
        database,
        capture_time=later,
        active_users=3,
        active_devices=2,
        requests=5,
        messages_stored=9,
        protocols={"jt808": 2, "osmand": 1},
    )


async def test_a_save_that_is_repeated_changes_nothing(database):
    sums = {**NONE, "mail_sent": 2}
    for _ in range(2):
        await statistics.save(database, DAY, ONE, NOON, sums, [1], [])
    assert await stored(database, capture_time=NOON, active_users=1, mail_sent=2)


async def test_who_was_counted_is_forgotten_and_the_sums_stay(database):
    await statistics.save(database, DAY, ONE, NOON, NONE, [1], [(7, "jt808")])
    await statistics.delete_before(database, DAY)
    assert await database.fetch_value("select count(*) from statistics_users") == 1
    await statistics.delete_before(database, DAY + timedelta(days=1))
    assert await database.fetch_value("select count(*) from statistics_users") == 0
    assert await database.fetch_value("select count(*) from statistics_devices") == 0
    assert await database.fetch_value("select count(*) from statistics_savers") == 0
    assert await stored(database, capture_time=NOON, active_users=1, active_devices=1, protocols={"jt808": 1})


async def test_both_ends_of_a_span_belong_to_it(database):
    await statistics.save(database, DAY, ONE, NOON, NONE, [], [])
    assert len(await statistics.between(database, NOON, NOON)) == 1
    assert await statistics.between(database, NOON + timedelta(microseconds=1), NOON + timedelta(1)) == []


async def test_servers_add_to_one_day_and_leave_what_others_added(database):
    await statistics.save(database, DAY, ONE, NOON, {**NONE, "requests": 3}, [1, 2], [(7, "jt808")])
    await statistics.save(database, DAY, OTHER, NOON - timedelta(1), {**NONE, "requests": 5}, [2, 3], [])
    await statistics.save(database, DAY, ONE, NOON, {**NONE, "requests": 4}, [], [])
    assert await stored(
        database,
        capture_time=NOON,
        active_users=3,
        active_devices=1,
        requests=9,
        protocols={"jt808": 1},
    )
    own = await statistics.rows(database, NOON, NOON, without={ONE: DAY})
    assert own[DAY].requests == 5
    assert (await statistics.rows(database, NOON, NOON, without={OTHER: DAY - timedelta(1)}))[
        DAY
    ].requests == 9


async def test_saves_of_servers_at_once_lose_nothing_and_wait_for_each_other(database):
    people = [*range(40)]

    async def server(saver):
        for count in range(1, 11):
            users = random.sample(people, 30)
            counts = {**NONE, "requests": count, "mail_sent": 2 * count}
            await statistics.save(
                database, DAY, saver, NOON, counts, users, [(user, "jt808") for user in users]
            )

    async with trio.open_nursery() as nursery:
        for n in range(4):
            nursery.start_soon(server, UUID(int=n))
    (day,) = await statistics.between(database, NOON, NOON)
    assert (day.requests, day.mail_sent) == (40, 80)
