"""What tests of several folders share: a real PostgreSQL, and an empty database for each test.

Making a database takes longer than most tests. So each test gets a used one that was emptied, unless the
tests before it changed more than rows: such a one is thrown away and the template is copied again.
"""

import itertools
import subprocess
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import pytest
import trio

from motorpool.storage.database import Database, DatabaseSettings, open_database
from motorpool.storage.embedded import USER, EmbeddedServer, binaries

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
"""The wall clock of a test's database; partitions are made around it."""

SHAPE = """
    select md5(string_agg(c.relname || ':' || coalesce(pg_get_expr(c.relpartbound, c.oid), '') || ':'
        || c.relnatts || ':' || c.relchecks, ',' order by c.relname))
        || (select md5(string_agg(number || name, ',' order by number)) from schema_migrations)
    from pg_class c where c.relnamespace = 'public'::regnamespace
"""
EMPTY = f"""
    set session_replication_role = replica;
    do $$
    declare name text;
    begin
        perform pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid();
        for name in select tablename from pg_tables where schemaname = 'public'
            and tablename not in ('schema_migrations', 'id_blocks')
        loop
            execute format('delete from %I', name);
        end loop;
        perform setval(oid, 1, false) from pg_class
            where relkind = 'S' and relnamespace = 'public'::regnamespace;
        update id_blocks set next_id = 1;
        insert into server default values;
    end
    $$;
    {SHAPE};
"""


class TestServer:
    """One embedded PostgreSQL for the whole run, and its databases."""

    __test__ = False

    def __init__(self, server: EmbeddedServer) -> None:
        self.server = server
        self._clean: list[str] = []
        self._numbers = itertools.count(1)
        self._shape = ""

    def start(self) -> None:
        """Make the template."""
        self.run("create database template_motorpool")
        trio.run(self._migrate)
        self._shape = self.run(SHAPE, "template_motorpool")

    async def _migrate(self) -> None:
        settings = DatabaseSettings(url=self.server.url("template_motorpool"))
        async with open_database(settings, clock_now=lambda: NOW):
            pass

    def take(self) -> str:
        """The name of an empty database."""
        if self._clean:
            return self._clean.pop()
        name = f"test_{next(self._numbers)}"
        self.run(f"create database {name} template template_motorpool")
        return name

    def leave(self, name: str) -> None:
        """The test that took it has ended."""
        if self.run(EMPTY, name) == self._shape:
            self._clean.append(name)
        else:
            self.run(f"drop database {name} with (force)")

    def run(self, sql: str, database: str = "postgres") -> str:
        """Run SQL from outside the program under test; return what it printed."""
        command = [str(binaries() / "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1"]
        command += ["-h", str(self.server.socket_folder), "-U", USER, "-d", database, "-c", sql]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestServer]:
    """A PostgreSQL of the test run's own; started by the first test that needs it."""
    server = EmbeddedServer(tmp_path_factory.mktemp("postgres"), max_connections=100)
    trio.run(server.start)
    try:
        test_server = TestServer(server)
        test_server.start()
        yield test_server
    finally:
        trio.run(server.stop)


@pytest.fixture
def database_url(postgres: TestServer) -> Iterator[str]:
    """The postgresql:// URL of an empty, migrated database: for tests that start a whole server."""
    name = postgres.take()
    yield postgres.server.url(name)
    postgres.leave(name)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An empty, migrated database, open for the test."""
    settings = DatabaseSettings(url=database_url, pool_size=4)
    async with open_database(settings, clock_now=lambda: NOW) as opened:
        yield opened
