"""When an outage of the database begins and ends, on a database that is closed, read-only, slow or busy."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
import trio

from motorpool.storage.database import availability
from motorpool.storage.database.database import open_database
from motorpool.storage.errors import (
    DatabaseReadOnly,
    NoAnswer,
    Overloaded,
    StorageError,
    StorageUnavailable,
    TookTooLong,
    TooManyFiles,
)
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


class Told:
    """What `on_outage` was called with."""

    def __init__(self):
        self.all = []
        self._came = trio.Event()

    def __call__(self, error):
        self.all.append(error)
        self._came.set()

    @property
    def kinds(self):
        """Without repetitions."""
        found = [type(error) for error in self.all]
        return [kind for number, kind in enumerate(found) if number == 0 or found[number - 1] is not kind]

    async def until(self, condition):
        with trio.fail_after(60):
            while not condition(self):
                self._came = trio.Event()
                await self._came.wait()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(availability, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(availability, "OUTAGE_SECONDS", 0.05)


@asynccontextmanager
async def opened(url, **settings):
    told = Told()
    chosen = DatabaseSettings(url=url, **{"pool_size": 4, **settings})
    async with open_database(chosen, clock_now=lambda: NOW, on_outage=told) as database:
        yield database, told


async def write(database):
    """Change something; return the class of the error."""
    try:
        await database.execute("insert into keys values ('a', '') on conflict do nothing")
    except StorageUnavailable as error:
        return type(error)
    return None


async def test_nobody_has_to_call_for_an_outage_to_be_told(altered_database, database_url):
    async with opened(database_url) as (database, told):
        with altered_database("with allow_connections false", "with allow_connections true"):
            await told.until(lambda told: told.all)
            assert not database.available
            assert told.kinds == [StorageUnavailable]
            await told.until(lambda told: "not currently accepting connections" in str(told.all[-1]))
        await told.until(lambda told: told.all[-1] is None)
        assert database.available
        await database.check()


async def test_a_database_that_is_read_only_is_so_until_it_can_be_written_again(read_only, database_url):
    async with opened(database_url) as (database, told):
        with read_only():
            with trio.fail_after(30):
                # The first may notice that its session has ended.
                while await write(database) is not DatabaseReadOnly:
                    pass
            await told.until(lambda told: isinstance(told.all[-1], DatabaseReadOnly))
            for _ in range(20):
                # That reads are answered is not the end.
                await database.check()
                assert not database.available
        await told.until(lambda told: told.all[-1] is None)
        # Sessions that began as read-only are not used again.
        assert [await write(database) for _ in range(8)] == [None] * 8


async def test_a_statement_that_takes_too_long_is_no_outage(database_url):
    async with opened(database_url, statement_seconds=1) as (database, told):
        for _ in range(2):
            # Either PostgreSQL or this program is quicker to end it.
            with pytest.raises((TookTooLong, NoAnswer)):
                await database.execute("select pg_sleep(60)")
        assert database.available
        assert told.all == []


async def test_a_pool_that_is_busy_is_no_outage(database_url):
    async with opened(database_url, pool_size=1, acquire_seconds=0.1) as (database, told):
        async with database.transaction() as transaction:
            await transaction.fetch_value("select 1")
            with pytest.raises(Overloaded):
                await database.check()
            await trio.sleep(0.5)  # looks find the pool busy, and the database well
        assert told.all == []


async def test_a_database_that_does_not_answer_a_look_is_told(database_url, monkeypatch):
    monkeypatch.setattr(availability, "PATIENCE_SECONDS", 0.3)
    async with opened(database_url) as (database, told), database.transaction() as other:
        # A look makes a table, and so waits for this.
        await other.execute("lock table pg_class in access exclusive mode")
        database._availability.failed(StorageUnavailable("the connection was lost"))
        await told.until(lambda told: isinstance(told.all[-1], NoAnswer))
        # A call would be answered here; where it is not, it would wait for `statement_seconds`.
        with pytest.raises(NoAnswer, match=r"within 0\.3 s"):
            await database.check()
        await other.execute("commit")
        await told.until(lambda told: told.all[-1] is None)
        await database.check()
    assert told.kinds == [StorageUnavailable, NoAnswer, type(None)]


async def test_too_many_open_files_here_are_no_fault_of_the_database(postgres, database_url, out_of_files):
    async with opened(database_url) as (database, told):
        database.pool.terminate_idle()
        # Tests would go on with a session that is kept.
        postgres.end_sessions(database_url)
        with out_of_files(), pytest.raises(TooManyFiles):
            await database.check()
        await told.until(lambda told: told.all and told.all[-1] is None)
    assert told.kinds == [TooManyFiles, type(None)]


async def test_without_a_watcher_the_next_answer_ends_an_outage():
    found = availability.Availability()
    found.failed(StorageUnavailable("away"))
    assert str(found.outage) == "away"
    found.answered()
    assert found.outage is None


async def test_a_look_that_is_refused_shows_that_the_database_answers(autojump_clock):
    told = Told()
    found = availability.Availability(told)

    async def refuse():
        raise StorageError("permission denied to create temporary tables")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(found.watch, refuse, refuse)
        found.failed(StorageUnavailable("away"))
        await told.until(lambda told: told.all[-1] is None)
        nursery.cancel_scope.cancel()
    assert found.outage is None


def test_a_call_that_meets_a_connection_that_was_ended_does_not_change_the_reason():
    told = []
    found = availability.Availability(told.append)
    read_only = DatabaseReadOnly("cannot execute INSERT in a read-only transaction")
    found.failed(read_only)
    found.failed(StorageUnavailable("the connection was closed"))
    assert found.outage is read_only
    assert told == [read_only]
