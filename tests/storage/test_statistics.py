from datetime import UTC, date, datetime, timedelta

import msgspec

from motorpool.storage import statistics
from motorpool.storage.records import Statistics

DAY = date(2026, 6, 15)
NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
NONE = dict.fromkeys(statistics.COUNTS, 0)


async def stored(database, **fields):
    (found,) = await statistics.between(database, NOON, NOON + timedelta(hours=12))
    return msgspec.structs.replace(found, id=0) == Statistics(**fields)


async def test_users_and_devices_are_distinct_however_often_they_are_told(database):
    first = {**NONE, "requests": 3, "messages_stored": 4}
    await statistics.save(database, DAY, NOON, first, [1, 2], [(7, "jt808"), (8, "jt808")])
    later = NOON + timedelta(minutes=1)
    second = {**NONE, "requests": 5, "messages_stored": 9}
    await statistics.save(database, DAY, later, second, [2, 3], [(7, "osmand"), (8, "jt808")])
    assert await stored(
        database,
        capture_time=later,
        active_users=3,
        active_devices=2,
        requests=5,
        messages_stored=9,
        protocols={"jt808": 2, "osmand": 1},
    )
    assert await statistics.counts_of(database, DAY) == second


async def test_a_save_that_is_repeated_changes_nothing(database):
    sums = {**NONE, "mail_sent": 2}
    for _ in range(2):
        await statistics.save(database, DAY, NOON, sums, [1], [])
    assert await stored(database, capture_time=NOON, active_users=1, mail_sent=2)


async def test_who_was_counted_is_forgotten_and_the_sums_stay(database):
    await statistics.save(database, DAY, NOON, NONE, [1], [(7, "jt808")])
    await statistics.delete_before(database, DAY)
    assert await database.fetch_value("select count(*) from statistics_users") == 1
    await statistics.delete_before(database, DAY + timedelta(days=1))
    assert await database.fetch_value("select count(*) from statistics_users") == 0
    assert await database.fetch_value("select count(*) from statistics_devices") == 0
    assert await stored(database, capture_time=NOON, active_users=1, active_devices=1, protocols={"jt808": 1})


async def test_both_ends_of_a_span_belong_to_it_and_a_day_without_a_row_counts_nothing(database):
    await statistics.save(database, DAY, NOON, NONE, [], [])
    assert len(await statistics.between(database, NOON, NOON)) == 1
    assert await statistics.between(database, NOON + timedelta(microseconds=1), NOON + timedelta(1)) == []
    assert await statistics.counts_of(database, DAY + timedelta(days=1)) == NONE
