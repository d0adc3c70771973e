import pytest
import trio

from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.pool import Pool


class Connections:
    """Connections that are numbers, and what became of them."""

    def __init__(self):
        self.made = 0
        self.dropped = []
        self.broken = set()
        self.clean = []
        self.settles = True
        self.refuse = False

    async def connect(self):
        await trio.lowlevel.checkpoint()
        if self.refuse:
            raise StorageUnavailable("no")
        self.made += 1
        return self.made

    async def reset(self, connection):
        await trio.lowlevel.checkpoint()
        self.clean.append(connection)
        return self.settles

    def pool(self, size=2, seconds=5.0):
        return Pool(
            size,
            acquire_seconds=seconds,
            connect=self.connect,
            reset=self.reset,
            is_usable=lambda connection: connection not in self.broken,
            terminate=self.dropped.append,
        )


async def test_a_connection_is_used_again(nursery):
    made = Connections()
    pool = made.pool()
    await nursery.start(pool.run)
    for _ in range(3):
        pool.release(await pool.acquire())
    assert made.made == 1
    assert repr(pool) == "<pool: 0 acquired, 1 idle, at most 2>"


async def test_no_more_than_its_size_are_lent_and_the_next_waits_its_turn(nursery, autojump_clock):
    made = Connections()
    pool = made.pool(size=1)
    await nursery.start(pool.run)
    first = await pool.acquire()
    order = []

    async def use(name):
        connection = await pool.acquire()
        order.append(name)
        pool.release(connection)

    for name in ("a", "b", "c"):
        nursery.start_soon(use, name)
        await trio.testing.wait_all_tasks_blocked()
    assert order == []
    pool.release(first)
    await trio.testing.wait_all_tasks_blocked()
    assert order == ["a", "b", "c"]
    assert made.made == 1


async def test_who_waits_too_long_is_told(nursery, autojump_clock):
    pool = Connections().pool(size=1, seconds=5)
    await nursery.start(pool.run)
    await pool.acquire()
    began = trio.current_time()
    with pytest.raises(StorageUnavailable, match="all 1 connections"):
        await pool.acquire()
    assert trio.current_time() - began == pytest.approx(5)


async def test_a_failed_connect_leaves_its_place_free(nursery):
    made = Connections()
    made.refuse = True
    pool = made.pool(size=1)
    await nursery.start(pool.run)
    for _ in range(3):
        with pytest.raises(StorageUnavailable):
            await pool.acquire()
    made.refuse = False
    assert await pool.acquire() == 1


async def test_a_broken_idle_connection_is_replaced(nursery):
    made = Connections()
    pool = made.pool()
    await nursery.start(pool.run)
    pool.release(await pool.acquire())
    made.broken.add(1)
    assert await pool.acquire() == 2
    assert made.dropped == [1]


async def test_one_left_in_the_middle_is_settled_before_it_is_lent_again(nursery):
    made = Connections()
    pool = made.pool()
    await nursery.start(pool.run)
    connection = await pool.acquire()
    pool.release(connection, clean=False)
    assert pool.acquired == 1
    await trio.testing.wait_all_tasks_blocked()
    assert made.clean == [connection]
    assert (pool.acquired, pool.idle) == (0, 1)


async def test_one_that_does_not_settle_is_dropped_and_its_place_is_free(nursery):
    made = Connections()
    made.settles = False
    pool = made.pool(size=1)
    await nursery.start(pool.run)
    pool.release(await pool.acquire(), clean=False)
    await trio.testing.wait_all_tasks_blocked()
    assert made.dropped == [1]
    assert await pool.acquire() == 2


async def test_cancelled_while_waiting_leaves_nothing_lent(nursery):
    made = Connections()
    pool = made.pool(size=1)
    await nursery.start(pool.run)
    held = await pool.acquire()
    with trio.CancelScope() as scope:
        scope.cancel()
        await pool.acquire()
    assert scope.cancelled_caught
    pool.release(held)
    assert repr(pool) == "<pool: 0 acquired, 1 idle, at most 1>"


async def test_closing_waits_for_what_is_lent_but_not_for_ever(nursery, autojump_clock):
    made = Connections()
    pool = made.pool()
    await nursery.start(pool.run)
    idle, lent = await pool.acquire(), await pool.acquire()
    pool.release(idle)
    began = trio.current_time()
    await pool.close(2.0)
    assert trio.current_time() - began == pytest.approx(2)
    assert made.dropped == [idle]
    pool.release(lent)
    assert made.dropped == [idle, lent]
