from contextlib import AsyncExitStack, aclosing, suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from urllib.parse import quote

import pytest
import trio

from motorpool.storage.database import connections
from motorpool.storage.database.database import open_database
from motorpool.storage.errors import SetupFailed, StatementRejected, StorageError, StorageUnavailable
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 6, 15, tzinfo=UTC)


def opened(url, **settings):
    return open_database(DatabaseSettings(url=url, **settings), clock_now=lambda: NOW)


async def test_values_keep_their_types_both_ways(database):
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    deep = {"a": [1, 2.5, None, True, "é"], "b": {"c": []}}
    row = await database.fetch_row(
        "select $1::timestamptz as at, $2::jsonb as deep, $3::bigint[] as ids, null as nothing,"
        " $4::bytea as raw",
        moment.astimezone(timezone(timedelta(hours=5))),
        deep,
        [1, 2],
        b"\x00\xff",
    )
    assert dict(row.items()) == {
        "at": moment,
        "deep": deep,
        "ids": [1, 2],
        "nothing": None,
        "raw": b"\x00\xff",
    }
    assert row["at"].tzinfo is UTC


async def test_the_other_ways_to_ask(database):
    assert await database.fetch_row("select 1 where false") is None
    assert await database.fetch_value("select 1 where false") is None
    assert [row[0] for row in await database.fetch("select * from generate_series(1, 3)")] == [1, 2, 3]
    assert await database.execute("insert into keys values ('a', '')") == "INSERT 0 1"
    assert await database.execute("delete from keys; insert into keys values ('b', '')") == "INSERT 0 1"


async def test_a_wrong_statement_is_a_plain_storage_error(database):
    with pytest.raises(StorageError, match='relation "nowhere" does not exist') as failed:
        await database.fetch("select * from nowhere")
    assert type(failed.value) is StorageError


@pytest.mark.parametrize(("sql", "value"), [("select $1::bigint", 1 << 70), ("select $1::text", "a\x00")])
async def test_a_value_out_of_range_is_rejected_in_plain_words(database, sql, value):
    with pytest.raises(StatementRejected) as refused:
        await database.fetch_value(sql, value)
    assert "query argument" not in str(refused.value)


async def test_a_statement_that_takes_too_long_ends(database_url):
    answer = None
    with trio.fail_after(120):
        while answer is None:
            # On a busy machine other statements take too long as well.
            with suppress(StorageUnavailable):
                async with opened(database_url, statement_seconds=0.2) as database:
                    with pytest.raises(StorageUnavailable):
                        await database.execute("select pg_sleep(60)")
                    answer = await database.fetch_value("select 5")
    assert answer == 5


async def test_a_server_that_does_not_answer_holds_nobody_for_ever(database_url):
    checked = False
    with trio.fail_after(120):
        while not checked:
            # On a busy machine other statements get no answer in time as well.
            with suppress(StorageUnavailable):
                async with opened(database_url, statement_seconds=0.3, pool_size=1) as database:
                    # The server's own limit is off, so it is ours that must act.
                    await database.execute("set statement_timeout = 0")
                    with pytest.raises(StorageUnavailable, match="no answer"):
                        await database.execute("select pg_sleep(60)")
                    assert not database.available
                    await database.check()
                    assert database.available
                    checked = True


async def test_a_cancelled_statement_leaves_the_pool_usable_and_ends_at_the_server(database_url):
    async with opened(database_url, pool_size=2) as database:
        for _ in range(5):
            with trio.move_on_after(0.02) as scope:
                await database.execute("select pg_sleep(3600)")
            assert scope.cancelled_caught
        assert [await database.fetch_value("select $1::int", n) for n in range(5)] == list(range(5))
        with trio.fail_after(120):
            while database.pool.acquired:
                await trio.testing.wait_all_tasks_blocked(0.001)
        sleeping = (
            "select count(*) from pg_stat_activity where state = 'active' and query like '%pg_sleep(3600)'"
        )
        # PostgreSQL ends a statement a moment after it was asked to.
        with trio.fail_after(120):
            while await database.fetch_value(sleeping):  # noqa: ASYNC110 - of another process
                await trio.sleep(0.01)


async def test_more_askers_than_connections_are_all_answered(database_url):
    answers = []

    async with opened(database_url, pool_size=2) as database:

        async def ask(number):
            answers.append(await database.fetch_value("select $1::int from pg_sleep(0.001)", number))

        async with trio.open_nursery() as nursery:
            for number in range(50):
                nursery.start_soon(ask, number)
        assert database.pool.idle <= 2
    assert sorted(answers) == list(range(50))


async def test_who_finds_no_free_connection_in_time_is_told(database_url):
    async with opened(database_url, pool_size=1, acquire_seconds=0.1) as database, database.transaction():
        with pytest.raises(StorageUnavailable, match="all 1 connections"):
            await database.check()


async def test_a_lost_connection_is_replaced(database):
    async with database.transaction() as other:
        victim = await database.fetch_value("select pg_backend_pid()")
        await other.fetch_value("select pg_terminate_backend($1, 5000)", victim)
    answers = []
    for _ in range(3):
        try:
            answers.append(await database.fetch_value("select 1"))
        except StorageUnavailable:
            answers.append(None)
    assert answers[-2:] == [1, 1]


async def test_a_connection_lost_in_mid_statement_is_unavailable(database, postgres):
    async def cut():
        async with database.transaction() as other:
            sql = "select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(61)'"
            while not await other.fetch(sql):
                await trio.testing.wait_all_tasks_blocked(0.001)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cut)
        with trio.fail_after(120), pytest.raises(StorageUnavailable):
            await database.execute("select pg_sleep(61)")
    await database.check()


async def test_outside_the_body_the_error_says_so(database_url):
    async with opened(database_url) as database:
        await database.check()
    with pytest.raises(StorageUnavailable, match="database is closed"):
        await database.check()
    with pytest.raises(StorageUnavailable, match="database is closed"):
        async with database.transaction():
            pass
    assert not database.available


async def test_two_databases_may_be_open_at_once(database_url):
    async with AsyncExitStack() as stack:
        both = [await stack.enter_async_context(opened(database_url)) for _ in range(2)]
        await both[0].execute("insert into keys values ('a', '')")
        assert await both[1].fetch_value("select name from keys") == "a"


async def test_what_the_body_raises_comes_out_as_it_was(database_url):
    with pytest.raises(KeyError, match="mine"):
        async with opened(database_url):
            raise KeyError("mine")
    group = ExceptionGroup("two", [KeyError("a"), ValueError("b")])
    with pytest.raises(ExceptionGroup) as raised:
        async with opened(database_url):
            raise group
    assert raised.value is group


async def test_cancelling_the_body_ends_it(database_url):
    with trio.fail_after(120), trio.CancelScope() as scope:
        async with opened(database_url) as database:
            await database.check()
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_server_that_is_not_there_is_waited_for_but_not_for_ever(tmp_path):
    url = f"postgresql://nobody@/none?host={quote(str(tmp_path), safe='')}"
    with trio.fail_after(120), pytest.raises(StorageUnavailable):
        async with opened(url, start_seconds=0.3):
            pass


@pytest.mark.parametrize("wrong", ["database", "user"])
async def test_a_login_that_is_refused_is_not_tried_again(postgres, wrong):
    url = postgres.server.url("nowhere" if wrong == "database" else "postgres")
    if wrong == "user":
        url = url.replace("motorpool@", "stranger@")
    with (
        trio.fail_after(120),
        pytest.raises(SetupFailed, match=r"the database refuses us: .* does not exist"),
    ):
        async with opened(url):
            pass


async def test_a_server_that_is_too_old_is_named(database_url, monkeypatch):
    monkeypatch.setattr("motorpool.storage.postgres.requirements.MIN_MAJOR_VERSION", 99)
    with pytest.raises(SetupFailed, match=r"PostgreSQL 18\.\d+, needed is 99 or later"):
        async with opened(database_url):
            pass


async def test_a_database_that_is_not_encoded_as_utf8_is_refused(make_older):
    why = "the encoding of the database is SQL_ASCII, needed is UTF8: create it with `encoding 'UTF8'"
    with pytest.raises(SetupFailed, match=why):
        async with opened(make_older("encoding 'SQL_ASCII' locale 'C' template template0")):
            pass


@pytest.mark.parametrize(("locale", "warnings"), [("C", 1), ("C.UTF-8", 0)])
async def test_a_locale_without_letters_is_a_warning(make_older, caplog, locale, warnings):
    async with opened(make_older(f"encoding 'UTF8' locale '{locale}' template template0")):
        pass
    assert caplog.text.count("does not compare all letters regardless of case (Ä and ä)") == warnings


async def test_a_password_is_in_no_error_and_no_picture(tmp_path):
    url = f"postgresql://me:s3cret@/none?host={quote(str(tmp_path), safe='')}"
    with pytest.raises(StorageUnavailable) as failed:
        async with opened(url, start_seconds=0.1):
            pass
    assert "s3cret" not in str(failed.value) + repr(failed.value.__cause__)


async def test_a_loose_end_in_the_driver_is_logged_and_ends_nothing(database, caplog):
    database._loop.call_exception_handler({"message": "never retrieved", "exception": OSError("lost")})
    await trio.testing.wait_all_tasks_blocked()
    await database.check()
    assert "never retrieved: OSError('lost')" in caplog.text


async def test_it_is_quiet_about_what_is_going_on(database):
    assert repr(database) == "<database: available, <pool: 0 acquired, 1 idle, at most 4>>"


def test_it_may_be_opened_again_in_another_run(database_url):
    async def once():
        async with opened(database_url) as database:
            return await database.fetch_value("select 1")

    assert [trio.run(partial(once)) for _ in range(2)] == [1, 1]


async def test_each_try_to_reach_the_database_is_a_line_that_names_it_and_the_reason(caplog, monkeypatch):
    monkeypatch.setattr(connections, "_RETRY_SECONDS", 0.01)
    caplog.set_level("WARNING")
    url = "postgresql://motorpool:s3cret@127.0.0.1:1/fleet"
    lines = []
    with trio.fail_after(120):
        # On a busy machine there is only time for one try, or for none.
        while len(lines) < 2:
            caplog.clear()
            with pytest.raises(StorageUnavailable, match=r"127\.0\.0\.1:1 cannot be reached: ") as failed:
                async with opened(url, start_seconds=0.2):
                    pass
            lines = [text for text in caplog.messages if "cannot be reached" in text]
    assert "111" in str(failed.value)
    assert all("the database at 127.0.0.1:1" in line and "trying for another" in line for line in lines)
    assert "s3cret" not in caplog.text


async def test_a_transaction_that_stands_still_frees_what_it_locked(database, database_url, monkeypatch):
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.1)
    await database.execute("insert into keys values ('a', '')")

    async def freeze(frozen):
        async with frozen.transaction() as transaction:
            await transaction.execute("update keys set name = 'b'")
            with trio.fail_after(120):
                assert await database.execute("update keys set name = 'c'") == "UPDATE 1"

    async with opened(database_url) as frozen:
        with pytest.raises(StorageUnavailable):
            await freeze(frozen)
    assert await database.fetch_value("select name from keys") == "c"


async def test_a_stream_waits_for_a_slow_reader(database_url, monkeypatch):
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.1)
    async with opened(database_url) as database:
        numbers = []
        async with aclosing(database.stream("select generate_series(1, 4)", batch=2)) as batches:
            async for rows in batches:
                numbers += [row[0] for row in rows]
                await trio.sleep(0.3)
    assert numbers == [1, 2, 3, 4]
