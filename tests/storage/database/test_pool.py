import pytest
import trio

from motorpool.storage.database.pool import Pool
from motorpool.storage.errors import StorageUnavailable


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


class Slow(Connections):
    """Connections that are opened when the test says so."""

    def __init__(self):
        super().__init__()
        self.may_open = trio.Semaphore(0)

    async def connect(self):
        await self.may_open.acquire()
        return await super().connect()


async def acquire_into(taken, pool):
    try:
        taken.append(await pool.acquire())
    except StorageUnavailable as error:
        taken.append(str(error))


async def test_who_waits_for_a_connection_to_open_takes_one_that_is_released(nursery):
    made = Slow()
    made.may_open.release()
    pool = made.pool(size=3)
    await nursery.start(pool.run)
    first = await pool.acquire()
    taken = []
    for _ in range(2):
        nursery.start_soon(acquire_into, taken, pool)
        await trio.testing.wait_all_tasks_blocked()
    pool.release(first)
    await trio.testing.wait_all_tasks_blocked()
    assert (taken, made.made) == ([first], 1)
    made.may_open.release()
    await trio.testing.wait_all_tasks_blocked()
    assert (taken, made.made) == ([first, 2], 2)


async def test_connections_are_opened_one_after_another_for_all_who_wait(nursery):
    made = Slow()
    pool = made.pool(size=4)  # one is kept for urgent users
    await nursery.start(pool.run)
    taken = []
    for _ in range(4):
        nursery.start_soon(acquire_into, taken, pool)
    for opened in range(1, 4):
        await trio.testing.wait_all_tasks_blocked()
        made.may_open.release()
        await trio.testing.wait_all_tasks_blocked()
        assert taken == list(range(1, opened + 1))
    pool.release(1)
    await trio.testing.wait_all_tasks_blocked()
    assert taken == [1, 2, 3, 1]


async def test_a_failed_connect_fails_all_who_waited_for_it(nursery):
    made = Slow()
    made.refuse = True
    pool = made.pool(size=4)  # one is kept for urgent users
    await nursery.start(pool.run)
    taken = []
    for _ in range(3):
        nursery.start_soon(acquire_into, taken, pool)
    await trio.testing.wait_all_tasks_blocked()
    made.may_open.release()
    await trio.testing.wait_all_tasks_blocked()
    assert taken == ["no", "no", "no"]
    made.refuse = False
    made.may_open.release()
    assert await pool.acquire() == 1


async def test_cancelled_while_it_opens_a_connection_the_next_opens_one(nursery):
    made = Slow()
    pool = made.pool(size=2)
    await nursery.start(pool.run)
    taken = []
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as opening:
            opening.start_soon(pool.acquire)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(acquire_into, taken, pool)
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    made.may_open.release()
    await trio.testing.wait_all_tasks_blocked()
    assert (taken, pool.acquired) == ([1], 1)


async def test_cancelled_while_another_opens_leaves_nothing_lent(nursery):
    made = Slow()
    pool = made.pool(size=2)
    await nursery.start(pool.run)
    taken = []
    nursery.start_soon(acquire_into, taken, pool)
    await trio.testing.wait_all_tasks_blocked()
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as waiting:
            waiting.start_soon(pool.acquire)
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    made.may_open.release()
    await trio.testing.wait_all_tasks_blocked()
    assert (taken, pool.acquired) == ([1], 1)


async def test_the_last_connection_is_kept_for_urgent_users(nursery, autojump_clock):
    made = Connections()
    pool = made.pool(size=3, seconds=5)
    await nursery.start(pool.run)
    shared = [await pool.acquire() for _ in range(2)]
    with pytest.raises(StorageUnavailable, match="all 3 connections"):
        await pool.acquire()
    urgent = await pool.acquire(urgent=True)
    assert pool.acquired == 3
    with pytest.raises(StorageUnavailable):
        await pool.acquire(urgent=True)
    # What an urgent user gives back is for the next one, and what another gives back is for anybody.
    pool.release(urgent)
    with pytest.raises(StorageUnavailable):
        await pool.acquire()
    pool.release(shared.pop(), clean=False)
    urgent = [await pool.acquire(urgent=True) for _ in range(2)]
    pool.release(urgent.pop())
    shared.append(await pool.acquire())
    for connection in (*shared, *urgent):
        pool.release(connection)
    assert pool.acquired == 0
    assert [await pool.acquire() for _ in range(2)]
