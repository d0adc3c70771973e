from contextlib import aclosing
from datetime import UTC, datetime

import pytest
import trio

from motorpool.storage.devices import groups
from motorpool.storage.devices.position_rows import COLUMNS, copy_data, pack_row
from motorpool.storage.errors import Conflict, StorageError, VersionFound
from motorpool.storage.records import Group, Position

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
TIMES = {"server_time": NOON, "device_time": NOON, "fix_time": NOON}


async def names(database):
    return [group.name for group in await groups.TABLE.list(database)]


async def put(q, name):
    await groups.TABLE.insert(q, Group(name=name))


async def put_and_fail(q, name):
    async with q.transaction() as transaction:
        await put(transaction, name)
        raise KeyError


async def test_a_transaction_that_ends_well_is_committed(database):
    async with database.transaction() as transaction:
        await put(transaction, "a")
        assert await names(database) == []
    assert await names(database) == ["a"]
    assert database.pool.acquired == 0


async def test_a_transaction_that_ends_by_an_exception_is_undone(database):
    with pytest.raises(KeyError):
        await put_and_fail(database, "a")
    assert await names(database) == []
    assert (database.pool.acquired, database.pool.idle) == (0, 1)


async def test_an_inner_transaction_is_undone_alone(database):
    async with database.transaction() as outer:
        await put(outer, "a")
        with pytest.raises(KeyError):
            await put_and_fail(outer, "b")
        async with outer.transaction() as inner, inner.transaction() as innermost:
            await put(innermost, "c")
    assert await names(database) == ["a", "c"]


async def test_a_refused_statement_in_an_inner_transaction_spares_the_outer(database):
    await database.execute("insert into keys values ('a', '')")
    async with database.transaction() as outer:
        with pytest.raises(Conflict):
            async with outer.transaction() as inner:
                await inner.execute("insert into keys values ('a', '')")
        await put(outer, "b")
    assert await names(database) == ["b"]


async def test_a_swallowed_failure_does_not_pass_for_a_commit(database):
    await database.execute("insert into keys values ('a', '')")

    async def swallow():
        async with database.transaction() as transaction:
            await put(transaction, "b")
            with pytest.raises(Conflict):
                await transaction.execute("insert into keys values ('a', '')")

    with pytest.raises(StorageError, match="was rolled back"):
        await swallow()
    assert await names(database) == []


async def test_a_cancelled_transaction_is_undone_and_its_connection_comes_back(database):
    with trio.CancelScope() as scope:
        async with database.transaction() as transaction:
            await put(transaction, "a")
            scope.cancel()
            await put(transaction, "b")
    assert scope.cancelled_caught
    # Its lock is gone too: this would wait for the row otherwise.
    with trio.fail_after(120):
        async with database.transaction() as other:
            await other.execute("lock table groups in access exclusive mode")
    assert await names(database) == []


async def test_nothing_more_is_done_in_a_transaction_with_a_cancelled_statement(database):
    async def go_on():
        async with database.transaction() as transaction:
            await put(transaction, "a")
            with trio.move_on_after(0.05):
                await transaction.execute("select pg_sleep(60)")
            await put(transaction, "b")

    with pytest.raises(StorageError, match="was cancelled"):
        await go_on()
    assert await names(database) == []
    await database.check()


async def test_an_inner_transaction_that_is_cancelled_takes_the_outer_along(database):
    async def go_on():
        async with database.transaction() as outer:
            with trio.CancelScope() as scope:
                async with outer.transaction() as inner:
                    await put(inner, "a")
                    scope.cancel()
                    await trio.sleep_forever()
            await put(outer, "b")

    with pytest.raises(StorageError, match="was cancelled"):
        await go_on()
    assert await names(database) == []


async def test_a_cursor_gives_all_rows_in_batches(database):
    batches = [
        [row[0] for row in rows]
        async for rows in database.stream("select * from generate_series(1, $1::int)", 7, batch=3)
    ]
    assert batches == [[1, 2, 3], [4, 5, 6], [7]]
    assert database.pool.acquired == 0


async def test_a_cursor_that_is_left_early_gives_its_connection_back(database):
    async with aclosing(database.stream("select * from generate_series(1, 1000)", batch=10)) as batches:
        async for rows in batches:
            assert len(rows) == 10
            break
    with trio.fail_after(120):
        while database.pool.acquired:
            await trio.testing.wait_all_tasks_blocked(0.001)
    await database.check()


async def test_cursors_of_one_transaction_do_not_disturb_each_other(database):
    async with database.transaction() as transaction:
        pairs = []
        async for outer in transaction.stream("select * from generate_series(1, 2)", batch=1):
            async for inner in transaction.stream("select * from generate_series(1, 2)", batch=1):
                pairs.append((outer[0][0], inner[0][0]))  # noqa: PERF401 - both cursors are seen to be open
    assert pairs == [(1, 1), (1, 2), (2, 1), (2, 2)]


async def test_a_transaction_may_be_given_more_patience(database):
    async with database.transaction(seconds=90) as transaction:
        assert await transaction.fetch_value("show statement_timeout") == "90s"
        assert await groups.TABLE.count(transaction) == 0
    assert await database.fetch_value("show statement_timeout") == "30s"


KEY = "insert into keys values ($1, '')"


async def put_later_and_fail(q, name):
    async with q.transaction() as transaction:
        await transaction.defer_to_commit(KEY, name)
        raise KeyError


async def put_group_and_key(q, name):
    async with q.transaction() as transaction:
        await put(transaction, name)
        await transaction.defer_to_commit(KEY, name)


async def test_what_may_wait_goes_out_with_the_commit_in_order(database):
    async with database.transaction() as transaction:
        await transaction.defer_to_commit(KEY, "a")
        await transaction.defer_to_commit("update keys set name = 'b' where name = $1", "a")
        assert await transaction.fetch_value("select count(*) from keys") == 0
    assert await database.fetch_value("select string_agg(name, '') from keys") == "b"
    await database.defer_to_commit(KEY, "c")
    assert await database.fetch_value("select count(*) from keys") == 2


async def test_what_waits_for_the_commit_is_undone_with_the_transaction(database):
    with pytest.raises(KeyError):
        await put_later_and_fail(database, "a")
    async with database.transaction() as outer:
        with pytest.raises(KeyError):
            await put_later_and_fail(outer, "b")
        async with outer.transaction() as inner:
            await inner.defer_to_commit(KEY, "c")
    assert await database.fetch_value("select string_agg(name, '') from keys") == "c"


async def test_a_refused_statement_at_the_commit_undoes_all_of_it(database):
    await database.execute(KEY, "a")
    with pytest.raises(Conflict):
        await put_group_and_key(database, "a")
    assert await names(database) == []
    assert database.pool.acquired == 0
    await put(database, "after")
    assert await names(database) == ["after"]


async def test_a_script_goes_out_with_the_next_statement(database):
    async with database.transaction() as transaction:
        await transaction.execute_with_next("insert into keys values ('a', '')")
        assert await transaction.fetch_value("select count(*) from keys") == 1
        await transaction.execute_with_next("insert into keys values ('b', '')")
        async with transaction.transaction() as inner:
            await inner.execute_with_next("insert into keys values ('c', '')")
            assert await inner.fetch_value("select count(*) from keys") == 3
        await transaction.execute_with_next("insert into keys values ('d', '')")
    assert await database.fetch_value("select string_agg(name, '') from keys") == "abcd"
    await database.execute_with_next("insert into keys values ('e', '')")
    assert await database.fetch_value("select count(*) from keys") == 5


async def script_and_fail(q, script, error=None):
    async with q.transaction() as transaction:
        await put(transaction, "a")
        await transaction.execute_with_next(script)
        if error is not None:
            raise error
        await put(transaction, "b")


async def test_a_script_that_fails_or_is_not_sent_leaves_nothing_behind(database):
    with pytest.raises(StorageError):
        await script_and_fail(database, "select 1 / 0")
    with pytest.raises(KeyError):
        await script_and_fail(database, "select 1 / 0", KeyError())
    async with database.transaction() as transaction:
        # Nothing else is asked: not even this.
        await transaction.execute_with_next("select 1 / 0")
    assert await names(database) == []
    assert database.pool.acquired == 0


async def test_a_statement_after_the_rows_may_refuse_them(database):
    rows = copy_data([pack_row(Position(id=1, device_id=1, protocol="x", **TIMES))])
    refusal = "do $$ begin if exists (select from keys) then raise sqlstate 'MP001'; end if; end $$"
    await database.execute(KEY, "x")
    with pytest.raises(VersionFound):
        await database.copy_binary("positions", COLUMNS, rows, then=refusal)

    async def copy_in_transaction():
        async with database.transaction() as transaction:
            await put(transaction, "a")
            await transaction.copy_binary("positions", COLUMNS, rows, then=refusal, at_commit=True)

    with pytest.raises(VersionFound):
        await copy_in_transaction()
    assert await database.fetch_value("select count(*) from positions") == 0
    await database.execute("delete from keys")
    await database.copy_binary("positions", COLUMNS, rows, then=refusal)
    assert await database.fetch_value("select count(*) from positions") == 1
    assert await names(database) == []
    assert database.pool.acquired == 0


async def test_rows_that_are_copied_at_the_commit(database):
    stored = [Position(id=number, device_id=1, protocol="x", **TIMES) for number in (1, 2)]
    rows = copy_data(pack_row(each) for each in stored)
    async with database.transaction() as transaction:
        await transaction.copy_binary("positions", COLUMNS, rows, at_commit=True)
        assert await transaction.fetch_value("select count(*) from positions") == 0
    assert await database.fetch_value("select count(*) from positions") == 2

    async def copy_again():
        async with database.transaction() as transaction:
            await put(transaction, "a")
            await transaction.copy_binary("positions", COLUMNS, rows, at_commit=True)

    with pytest.raises(Conflict):
        await copy_again()
    assert await names(database) == []
    assert database.pool.acquired == 0


async def test_a_transaction_in_which_nothing_is_asked_asks_nothing(database):
    await put(database, "a")
    async with database.transaction():
        pass
    assert await names(database) == ["a"]
    assert (database.pool.acquired, database.pool.idle) == (0, 1)
