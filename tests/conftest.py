"""What tests of several folders share: a real PostgreSQL, and a database of its own for each test."""

import queue
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from functools import partial

import pytest
import trio

from motorpool.storage.database import Database, DatabaseSettings, open_database
from motorpool.storage.embedded import USER, EmbeddedServer, binaries

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
"""The wall clock of a test's database, where partitions are made around."""

READY = 2
"""Databases copied ahead of the tests that will want them: a copy takes as long as many a test."""


class TestServer:
    """One embedded PostgreSQL for the whole run, with a migrated template and copies of it at hand."""

    __test__ = False

    def __init__(self, server: EmbeddedServer) -> None:
        self.server = server
        self._ready: queue.Queue[str | Exception] = queue.Queue(READY)
        self._used: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ending = threading.Event()
        self._copier = threading.Thread(target=self._copy_ahead, name="database copier")

    def start(self) -> None:
        self.run("create database template_motorpool")
        trio.run(partial(self._migrate, self.server.url("template_motorpool")))
        self._copier.start()

    def stop(self) -> None:
        self._ending.set()
        while self._copier.is_alive():
            try:
                self._ready.get(timeout=0.1)
            except queue.Empty:
                continue

    def take(self) -> str:
        """The name of a fresh database."""
        name = self._ready.get(timeout=60)
        if isinstance(name, Exception):
            raise name
        return name

    def leave(self, name: str) -> None:
        """The database is not needed any more."""
        self._used.put(name)

    def run(self, sql: str, database: str = "postgres") -> str:
        """Run SQL from outside the program under test."""
        command = [
            str(binaries() / "psql"),
            "-XqAt",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            str(self.server.socket_folder),
        ]
        command += ["-U", USER, "-d", database, "-c", sql]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    @staticmethod
    async def _migrate(url: str) -> None:
        async with open_database(DatabaseSettings(url=url), clock_now=lambda: NOW):
            pass

    def _copy_ahead(self) -> None:
        number = 0
        while not self._ending.is_set():
            number += 1
            try:
                self.run(f"create database test_{number} template template_motorpool")
            except Exception as error:  # it is the waiting test's
                self._ready.put(error)
                return
            self._ready.put(f"test_{number}")
            while not self._used.empty():
                self.run(f"drop database if exists {self._used.get()} with (force)")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestServer]:
    """A running PostgreSQL of the test run's own; started by the first test that needs it."""
    server = EmbeddedServer(tmp_path_factory.mktemp("postgres"), max_connections=100)
    trio.run(server.start)
    test_server = TestServer(server)
    try:
        test_server.start()
        yield test_server
    finally:
        test_server.stop()
        trio.run(server.stop)


@pytest.fixture
def database_url(postgres: TestServer) -> Iterator[str]:
    """The postgresql:// URL of a fresh, migrated database: for tests that start a whole server."""
    name = postgres.take()
    yield postgres.server.url(name)
    postgres.leave(name)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh, migrated database, open for the test."""
    settings = DatabaseSettings(url=database_url, pool_size=4)
    async with open_database(settings, clock_now=lambda: NOW) as opened:
        yield opened
