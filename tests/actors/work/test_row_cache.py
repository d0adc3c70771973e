import trio

from motorpool.actors.work.row_cache import RowCache


class Table:
    """Rows, and how often each was fetched."""

    def __init__(self, rows):
        self.rows = dict(rows)
        self.fetched = []
        self.gate = None

    async def fetch(self, keys):
        self.fetched.append(keys)
        found = {key: self.rows[key] for key in keys if key in self.rows}
        if self.gate is not None:
            await self.gate.wait()
        return found


def cached(table, *, max_rows=10, max_age_seconds=60.0, now=lambda: 0.0):
    return RowCache(table.fetch, max_rows=max_rows, max_age_seconds=max_age_seconds, monotonic=now)


async def test_a_row_is_fetched_once_until_it_is_invalidated():
    table = Table({1: "a", 2: "b"})
    cache = cached(table)
    assert [await cache.get(1), await cache.get(1)] == ["a", "a"]
    table.rows[1] = "c"
    cache.invalidate(1)
    assert await cache.get(1) == "c"
    assert table.fetched == [(1,), (1,)]


async def test_of_many_only_the_missing_are_fetched():
    table = Table({1: "a", 2: "b"})
    cache = cached(table)
    await cache.get(2)
    assert await cache.get_many((1, 2, 3)) == {1: "a", 2: "b"}
    assert table.fetched == [(2,), (1, 3)]


async def test_a_missing_row_is_not_cached():
    table = Table({})
    cache = cached(table)
    assert await cache.get(1) is None
    table.rows[1] = "a"
    assert await cache.get(1) == "a"


async def test_a_row_read_before_a_change_is_not_kept_after_it():
    table = Table({1: "old"})
    table.gate = trio.Event()
    cache = cached(table)
    answers = []
    async with trio.open_nursery() as nursery:

        async def ask():
            answers.append(await cache.get(1))

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        table.rows[1] = "new"
        cache.invalidate(1)
        table.gate.set()
    assert answers == ["old"]
    assert await cache.get(1) == "new"


async def test_a_row_is_kept_no_longer_than_its_maximum_age():
    now = [0.0]
    table = Table({1: "a"})
    cache = cached(table, max_age_seconds=30.0, now=lambda: now[0])
    await cache.get(1)
    table.rows[1] = "b"
    now[0] = 29.9
    assert await cache.get(1) == "a"
    now[0] = 30.0
    assert await cache.get_many((1,)) == {1: "b"}


async def test_the_least_recently_used_rows_are_dropped_first():
    table = Table({1: "a", 2: "b", 3: "c"})
    cache = cached(table, max_rows=2)
    for key in (1, 2, 1, 3):
        await cache.get(key)
    assert len(cache) == 2
    await cache.get(1)
    assert table.fetched == [(1,), (2,), (3,)]
    cache.clear()
    assert len(cache) == 0
