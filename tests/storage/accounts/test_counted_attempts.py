"""Attempts counted by several servers at once."""

from datetime import UTC, datetime, timedelta

import trio

from motorpool.storage.accounts import counted_attempts

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
WINDOW = timedelta(seconds=300)
KEY = ("account", "7 ")


async def add(database, seconds=0, *, limit=3, key=KEY, **more):
    now = NOW + timedelta(seconds=seconds)
    return await counted_attempts.add(database, *key, limit=limit, now=now, window=WINDOW, **more)


async def recent(database, seconds=0, *keys):
    now = NOW + timedelta(seconds=seconds)
    found = await counted_attempts.recent(database, keys or (KEY,), now=now, window=WINDOW)
    return {key: [(at - NOW).total_seconds() for at in times] for key, times in found.items()}


async def test_the_limit_holds_within_the_window_and_for_each_key(database):
    assert await recent(database) == {}
    assert [await add(database, seconds) for seconds in (0, 10, 20, 30)] == [True, True, True, False]
    assert await add(database, 30, key=("address", "7 "))
    assert await recent(database, 30, KEY, ("address", "7 "), ("address", "8 ")) == {
        KEY: [0, 10, 20],
        ("address", "7 "): [30],
    }
    assert not await add(database, 299.999)
    assert await add(database, 300)
    assert await recent(database, 300) == {KEY: [10, 20, 300]}


async def test_several_at_once_are_counted_all_or_none(database):
    assert not await add(database, 0, attempts=4)
    assert await add(database, 0, attempts=2)
    assert not await add(database, 10, attempts=2)
    assert await add(database, 10)
    assert await recent(database, 10) == {KEY: [0, 0, 10]}
    assert await add(database, 300, attempts=2)
    assert await recent(database, 300) == {KEY: [10, 300, 300]}


async def test_what_has_failed_is_counted_past_the_limit_in_place_of_the_oldest(database):
    for seconds in range(6):
        assert await add(database, seconds, always=True)
    assert await recent(database, 6) == {KEY: [3, 4, 5]}


async def test_parallel_attempts_do_not_exceed_the_limit(database):
    counted = []

    async def count(number):
        counted.append(await add(database, number / 1000, limit=5))

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(count, number)
    assert counted.count(True) == 5


async def test_attempts_are_uncounted_one_by_one_and_by_key(database):
    for seconds in (0, 10, 10):
        await add(database, seconds)
    await counted_attempts.remove(database, (KEY,), NOW + timedelta(seconds=10))
    assert await recent(database, 20) == {KEY: [0, 10]}
    await counted_attempts.remove(database, (KEY,), NOW)
    await counted_attempts.remove(database, (KEY,), NOW)
    assert await recent(database, 20) == {KEY: [10]}
    await add(database, 20, key=("account", "7 code"))
    await counted_attempts.clear(database, *KEY)
    assert await recent(database, 20, KEY, ("account", "7 code")) == {("account", "7 code"): [20]}
    await counted_attempts.clear_beginning(database, "account", "7 ")
    assert await recent(database, 20, ("account", "7 code")) == {}


async def test_an_attempt_is_uncounted_for_all_its_keys_and_no_others(database):
    address, other = ("address", "10.0.0.1"), ("address", "7 ")
    for key in (KEY, address, other):
        for seconds in (0, 10):
            await add(database, seconds, key=key)
    await add(database, 20, key=KEY)
    keys = (("known place", "7  d"), KEY, address)
    await counted_attempts.remove(database, keys, NOW + timedelta(seconds=10))
    assert await recent(database, 30, KEY, address, other) == {KEY: [0, 20], address: [0], other: [0, 10]}


async def test_rows_out_of_their_window_and_past_the_bound_are_deleted(database, monkeypatch):
    monkeypatch.setattr(counted_attempts, "MAX_KEYS", 2)
    await add(database, 0, key=("account", "old"))
    for number in range(1, 4):
        await add(database, number, key=("account", f"{number}"))
    await add(database, 1, key=("address", "a"))
    await counted_attempts.clean(database, NOW + WINDOW + timedelta(seconds=0.5))
    rows = await database.fetch("select kind, key from counted_attempts order by kind, key")
    assert [tuple(row.values()) for row in rows] == [("account", "2"), ("account", "3"), ("address", "a")]
