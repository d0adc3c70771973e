import trio

from motorpool.api.row_cache import RowCache


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


def remembering(table, *, most=10, seconds=60.0, now=lambda: 0.0):
    return RowCache(table.fetch, most=most, seconds=seconds, monotonic=now)


async def test_a_row_is_fetched_once_until_it_is_forgotten():
    table = Table({1: "a", 2: "b"})
    memory = remembering(table)
    assert [await memory.get(1), await memory.get(1)] == ["a", "a"]
    table.rows[1] = "c"
    memory.forget((1,))
    assert await memory.get(1) == "c"
    assert table.fetched == [(1,), (1,)]


async def test_of_many_only_the_missing_are_fetched():
    table = Table({1: "a", 2: "b"})
    memory = remembering(table)
    await memory.get(2)
    assert await memory.get_many((1, 2, 3)) == {1: "a", 2: "b"}
    assert table.fetched == [(2,), (1, 3)]


async def test_what_is_not_there_is_asked_for_again():
    table = Table({})
    memory = remembering(table)
    assert await memory.get(1) is None
    table.rows[1] = "a"
    assert await memory.get(1) == "a"


async def test_a_row_read_before_a_change_is_not_kept_after_it():
    table = Table({1: "old"})
    table.gate = trio.Event()
    memory = remembering(table)
    answers = []
    async with trio.open_nursery() as nursery:

        async def ask():
            answers.append(await memory.get(1))

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        table.rows[1] = "new"
        memory.forget((1,))
        table.gate.set()
    assert answers == ["old"]
    assert await memory.get(1) == "new"


async def test_a_row_is_kept_no_longer_than_said():
    now = [0.0]
    table = Table({1: "a"})
    memory = remembering(table, seconds=30.0, now=lambda: now[0])
    await memory.get(1)
    table.rows[1] = "b"
    now[0] = 29.9
    assert await memory.get(1) == "a"
    now[0] = 30.0
    assert await memory.get_many((1,)) == {1: "b"}


async def test_the_rows_that_were_not_asked_for_longest_go_first():
    table = Table({1: "a", 2: "b", 3: "c"})
    memory = remembering(table, most=2)
    for key in (1, 2, 1, 3):
        await memory.get(key)
    assert len(memory) == 2
    await memory.get(1)
    assert table.fetched == [(1,), (2,), (3,)]
    memory.clear()
    assert len(memory) == 0
