"""Duties have one holder; what a former holder decides is not committed."""

import pytest
import trio

from motorpool.storage.cluster import duties
from motorpool.storage.database import nodes
from motorpool.storage.errors import DutyLost, StorageUnavailable

NAMES = ("schedule", "retention")


@pytest.fixture
def join(database):
    """`await join()`: the number of a server that lives."""

    async def started():
        sql = (
            "insert into nodes (cluster, host, release, state, started, seen_until)"
            " values ('north', 'here', '0', 'live', now(), now() + interval '1 day') returning id"
        )
        return await database.fetch_value(sql)

    return started


def fenced(database, node, name, epoch, idle_seconds=60.0):
    async def fence(transaction):
        await duties.check(transaction, node, name, epoch)

    return database.fenced(fence, idle_seconds)


async def test_a_duty_has_one_holder_until_that_is_dead(database, join):
    first, second = await join(), await join()
    assert await duties.take(database, first, NAMES) == {"schedule": 1, "retention": 1}
    assert await duties.take(database, second, NAMES) == {}
    assert await duties.take(database, first, NAMES[:1]) == {"schedule": 1}
    await nodes.leave(database, first)
    assert await duties.take(database, second, NAMES) == {"schedule": 2, "retention": 2}
    # A server that is dead takes none, not even one that it had.
    assert await duties.take(database, first, NAMES) == {}


async def test_a_duty_that_is_released_is_free_at_once_and_only_by_its_holder(database, join):
    first, second = await join(), await join()
    await duties.take(database, first, NAMES)
    await duties.release(database, second, "schedule", 1)
    await duties.release(database, first, "schedule", 7)
    assert await duties.take(database, second, NAMES) == {}
    await duties.release(database, first, "schedule", 1)
    assert await duties.take(database, second, NAMES) == {"schedule": 2}


async def test_a_server_that_is_being_declared_dead_takes_nothing(database, join, meanwhile):
    frozen = await join()
    await database.execute("update nodes set seen_until = clock_timestamp() - interval '1 second'")
    living = await join()
    taken = {}

    async def take():
        taken.update(await duties.take(database, frozen, NAMES))

    assert await duties.take(database, 0, NAMES) == {}
    async with meanwhile(take) as transaction:
        assert await nodes.declare_dead(transaction, living) == [frozen]
    assert taken == {}


async def test_of_many_that_want_a_duty_at_once_one_has_it_and_epochs_have_no_gaps(database, join):
    servers = [await join() for _ in range(6)]
    for round_number in range(1, 8):
        taken = []

        async def take(server, taken=taken):
            taken.extend((await duties.take(database, server, NAMES)).items())

        async with trio.open_nursery() as nursery:
            for server in servers:
                nursery.start_soon(take, server)
        # A duty whose row was locked at that moment is taken by the next look.
        for server in servers:
            taken.extend((await duties.take(database, server, NAMES)).items())
        assert set(taken) == {(name, round_number) for name in NAMES}
        for name in NAMES:
            node = await database.fetch_value("select node from duties where name = $1", name)
            await duties.release(database, node, name, round_number)


async def test_a_transaction_of_a_former_holder_is_rolled_back(database, join):
    first, second = await join(), await join()
    await duties.take(database, first, NAMES)
    mine = fenced(database, first, "schedule", 1)
    async with mine.transaction() as transaction:
        await transaction.execute("update server set attributes = '{\"edge\": 1}'")
    # Declared dead, it decides until another server has taken over.
    await nodes.leave(database, first)
    async with mine.transaction() as transaction:
        await transaction.execute("update server set attributes = '{\"edge\": 2}'")
    await duties.take(database, second, NAMES)
    with pytest.raises(DutyLost, match="schedule"):
        async with mine.transaction() as transaction:
            await transaction.execute("update server set attributes = '{\"edge\": 3}'")
    assert await database.fetch_value("select attributes from server") == {"edge": 2}
    # And each epoch is a holding of its own.
    await duties.release(database, second, "schedule", 2)
    with pytest.raises(DutyLost):
        async with fenced(database, second, "schedule", 2).transaction():
            pass


async def test_no_other_takes_a_duty_between_the_check_and_the_commit(database, join):
    first, second = await join(), await join()
    await duties.take(database, first, NAMES)
    async with database.transaction() as transaction:
        await duties.check(transaction, first, "schedule", 1)
        await nodes.leave(database, first)
        assert await duties.take(database, second, NAMES) == {"retention": 2}
    assert await duties.take(database, second, NAMES) == {"schedule": 2, "retention": 2}


async def test_the_transaction_of_a_frozen_holder_ends_and_frees_what_it_locked(database, join):
    first, second = await join(), await join()
    await duties.take(database, first, NAMES)
    mine = fenced(database, first, "schedule", 1, idle_seconds=0.1)
    before = await database.fetch_value("show idle_in_transaction_session_timeout")

    checked = False

    async def freeze_before_commit():
        nonlocal checked
        async with mine.transaction() as transaction:
            await duties.check(transaction, first, "schedule", 1)
            checked = True
            await nodes.leave(database, first)
            with trio.fail_after(120):
                while "schedule" not in await duties.take(database, second, NAMES):  # noqa: ASYNC110 - a row
                    await trio.sleep(0.02)

    # A busy machine may be too slow for the check.
    while not checked:
        with pytest.raises(StorageUnavailable):
            await freeze_before_commit()
    assert await database.fetch_value("select epoch from duties where name = 'schedule'") == 2
    # The pool's other uses of its sessions are not concerned.
    assert await database.fetch_value("show idle_in_transaction_session_timeout") == before
