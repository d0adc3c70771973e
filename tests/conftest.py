"""What tests of several folders share: a real PostgreSQL with an empty database for each test, and small
servers for what leaves the house.

Making a database takes longer than most tests. So each test gets a used one that was emptied, unless the
tests before it changed more than rows: such a one is thrown away and the template is copied again.
"""

import asyncio  # noqa: TID251 - for the loop of a server that is not ours
import gc
import inspect
import itertools
import json
import math
import os
import queue
import random
import resource
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import asyncpg
import httpx
import psutil
import pytest
import trio
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope
from asyncpg.protocol import Protocol

from motorpool.bench.free_ports import free_port
from motorpool.bench.server import LOG_FILE, Server, run_server
from motorpool.storage.database import migrations
from motorpool.storage.database.connections import Connection
from motorpool.storage.database.database import Database, open_database
from motorpool.storage.postgres.embedded import USER, EmbeddedServer
from motorpool.storage.settings import DatabaseSettings

pytest_plugins = ["tests.parallel", "tests.thoroughness", "tests.older_postgres"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in random order")


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("shuffle")
    return None if seed is None else f"random order: --shuffle {seed}"


CLOCKS = frozenset({"mock_clock", "autojump_clock"})


def _require_clock_by_name(item: pytest.Item) -> None:
    """Refuse a test that names a clock by its fixtures alone: Trio looks at the arguments of the test."""
    hidden = CLOCKS.intersection(getattr(item, "fixturenames", ()))
    if hidden and not hidden.issubset(inspect.signature(getattr(item, "obj")).parameters):  # noqa: B009 - of functions only
        raise pytest.UsageError(f"{item.nodeid} runs in real time: it has to name {', '.join(hidden)} itself")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort slow files and folders first, so that no process is left with a slow file at the end.

    With --shuffle sort the files at random, and the tests of each: fixtures of a module are made once.
    """
    for item in items:
        _require_clock_by_name(item)
    seed = config.getoption("shuffle")
    if seed is None:
        places = {Path(__file__).parent / name: place for place, name in enumerate(SLOW_FIRST)}

        @cache
        def place(path: Path) -> int:
            return min(places.get(each, len(places)) for each in (path, *path.parents))

        items.sort(key=lambda item: place(item.path))
    else:
        chance = random.Random(seed)
        shuffled = {path: chance.random() for path in sorted({item.path for item in items})}
        items.sort(key=lambda item: (shuffled[item.path], chance.random()))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Do without the garbage collector while tests are collected: it took a quarter of the CPU."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Keep modules and collected tests out of garbage collections, which took 8 % of the CPU of a run.

    With the little garbage among them: to collect it first takes each process a second.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 100)


def pytest_configure(config: pytest.Config) -> None:
    """Give the run a folder for temporary files of its own, which must be empty at the end."""
    if MEMORY.is_dir():
        # First, since they may take the room that is asked for.
        remove_forgotten(MEMORY)
    root = root_of_temporary()
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(root)
    folder = Path(tempfile.mkdtemp(prefix=f"motorpool-tests-{os.getpid()}-", dir=root))
    # PostgreSQL may run as another user, who must be able to enter.
    folder.chmod(0o755)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    config.stash[TEMPORARY] = folder


def root_of_temporary() -> Path:
    """Return the folder for all temporary files: one in memory if there is room and TMPDIR names no other.

    On a disk a third of the CPU of tests with PostgreSQL is spent by the file system, which creates and
    removes the files of their databases, and more than that where it synchronizes.
    """
    usual = Path(tempfile.gettempdir())
    if "TMPDIR" in os.environ or not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return usual
    found = os.statvfs(MEMORY)
    room = min(found.f_bavail * found.f_frsize, psutil.virtual_memory().available)
    if room < MEMORY_BYTES or found.f_flag & os.ST_NOEXEC:
        return usual
    return MEMORY


def remove_forgotten(root: Path) -> None:
    """Remove the temporary files of runs that were killed, which removed nothing."""
    for left in root.glob("motorpool-tests-[0-9]*-*"):
        if not psutil.pid_exists(int(left.name.split("-")[2])):
            shutil.rmtree(left, ignore_errors=True)
    for lock in root.glob("pytest-of-*/pytest-*/.lock"):
        # Pytest itself waits three days.
        with suppress(OSError, ValueError):
            if not psutil.pid_exists(int(lock.read_text())):
                shutil.rmtree(lock.parent, ignore_errors=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that leaves a process or a folder behind."""
    folder = session.config.stash.get(TEMPORARY, None)
    if folder is None:
        return
    processes = _processes_of(folder, session.config._tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
    _, alive = psutil.wait_procs(processes, timeout=30)
    left = [f"process {each.pid}: {' '.join(each.cmdline())[:200]}" for each in alive if each.is_running()]
    left += [f"in the folder for temporary files: {path.name}" for path in folder.iterdir()]
    shutil.rmtree(folder, ignore_errors=True)
    if left:
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line("")
        reporter.write_line("LEFT BEHIND by the tests:", red=True)
        for line in left:
            reporter.write_line(f"  {line}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _processes_of(folder: Path, base: Path) -> list[psutil.Process]:
    """Return what was started with the run's folder for temporary files, or works on a folder of the run."""
    own = psutil.Process()
    kin = {own.pid, *(parent.pid for parent in own.parents())}
    # PostgreSQL gets an environment of its own, but names its data folder.
    places = (str(folder), f"{base}/")
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = " ".join(process.cmdline())
            if process.pid not in kin and (
                process.environ().get("TMPDIR") == str(folder) or any(place in words for place in places)
            ):
                found.append(process)
    return found


TEMPORARY = pytest.StashKey[Path]()
MEMORY = Path("/dev/shm")
"""A file system in memory, on Linux."""
MEMORY_BYTES = 8 << 30
"""What it must have room for, which is several times what a run holds at a time."""
SLOW_FIRST = (
    "journeys/test_schemathesis.py",
    "api/console/test_vitest.py",
    "journeys/test_players.py",
    "journeys/test_console.py",
    "api/test_permission_walk.py",
    "journeys",
    "bench/scenarios",
    "api/program",
    "bench",
    "api",
    "storage/postgres",
    "storage/filled",
    "codecs/test_every_codec.py",
    "codecs/media/test_drift.py",
    "test_parallel.py",
    "test_layers.py",
    "test_recipes.py",
)
"""Files and folders whose tests start programs, send thousands of requests or are many, the slowest first."""

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
"""The wall clock of a test's database; partitions are made around it."""

SHAPE = """
    select md5(string_agg(c.relname || ':' || coalesce(c.relpartbound::text, '') || ':'
        || c.relnatts || ':' || c.relchecks, ',' order by c.relname))
        || (select md5(string_agg(number || name, ',' order by number)) from schema_migrations)
    from pg_class c where c.relnamespace = 'public'::regnamespace
"""
TERMINATE = """
    select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and pid <> all($1::int[])
"""
EMPTYING = f"""
    select ({SHAPE}) as shape, (
        select string_agg(format('delete from %s', oid::regclass), '; ') from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
            and relname not in ('schema_migrations', 'id_blocks', 'installation', 'server')
    ) as rows, (
        select string_agg(format('select setval(%L, 1, false)', seqrelid::regclass), '; ') from pg_sequence
        where pg_sequence_last_value(seqrelid) is not null
    ) as sequences
"""
"""The shape of a database, and the statements that empty it: of the 150 tables and sequences a test uses few.

A table whose file is empty has never had a row; to look for rows in all of them took PostgreSQL 4 ms.
"""
EMPTYING_ALWAYS = """
    update id_blocks set next_id = 1 where next_id > 1; delete from server; insert into server default values
"""

BUILT_IN = 16_384
"""Types with a lower identifier are built into PostgreSQL."""


def introspect_once() -> None:
    """Let the driver ask only once in this process what the built-in types are made of.

    It asks on each connection, about the arrays for one, which takes PostgreSQL longer than to open it.
    """
    introspect = asyncpg.Connection._introspect_types
    answers: dict[frozenset[int], Any] = {}

    async def introspect_types(connection: asyncpg.Connection, types: Any, timeout: float) -> Any:
        key = frozenset(types)
        if key not in answers:
            answer = await introspect(connection, types, timeout)
            if max(key) >= BUILT_IN:
                return answer
            answers[key] = answer[0]
        # The driver parses its own statement again where an unnamed one took its place: none did.
        return answers[key], SimpleNamespace(name="none")

    asyncpg.Connection._introspect_types = introspect_types


introspect_once()


def share_tls_context() -> None:
    """Let the HTTP clients of this process share one TLS context.

    Each would read the certificates of all authorities, which takes 22 ms, most of them to speak plain HTTP.
    """
    create = httpx.create_ssl_context
    shared = cache(create)

    def create_ssl_context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is True and cert is None:
            return shared(trust_env=trust_env)
        return create(verify=verify, cert=cert, trust_env=trust_env)

    httpx._transports.default.create_ssl_context = create_ssl_context


share_tls_context()


def read_migrations_once() -> None:
    """Let the servers of this process share the SQL of the migrations, which are 50 files."""
    ours = cache(migrations.load)

    def load(folder: Path = migrations.FOLDER) -> list[migrations.Migration]:
        return list(ours()) if folder is migrations.FOLDER else ours.__wrapped__(folder)

    migrations.load = load


read_migrations_once()


REPORTED = ("server_version", "client_encoding", "standard_conforming_strings", "integer_datetimes")
"""Parameters that a client is told at the start and that the driver looks at."""


RESET = (
    "close all; unlisten *; reset session authorization; reset all;"
    " select pg_advisory_unlock_all(); discard sequences; discard temp"
)
"""As DISCARD ALL, but that prepared statements and their plans are kept."""
KEPT_STATEMENTS = 400
"""How many prepared statements a session keeps: tests of many subjects use it one after another."""


class PreparedBefore(asyncpg.Connection):
    """A connection that goes on with the statements that were prepared in its session before."""

    __slots__ = ("codecs", "prepared")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.codecs: list[tuple[Any, ...]] = []
        self.prepared: KeptStatements | None = None

    async def set_type_codec(self, *args: Any, **options: Any) -> None:
        # It empties the cache of statements, since those know the codecs of their time.
        await super().set_type_codec(*args, **options)
        self.codecs.append((args, options))
        if self.prepared is not None and self.codecs == self.prepared.codecs:
            for key, statement in self.prepared.statements:
                self._stmt_cache.put(key, statement)
            self._stmts_to_close.update(self.prepared.to_close)
            self.prepared = None

    def take_statements(self) -> "KeptStatements":
        """Take the statements away from a connection that is about to be closed, which would close them."""
        cache = self._stmt_cache
        for entry in cache._entries.values():
            cache._clear_entry_callback(entry)
        taken = [
            (key, entry._statement) for key, entry in cache._entries.items() if not entry._statement.closed
        ]
        cache._entries.clear()
        return KeptStatements(self.codecs, taken, set(self._stmts_to_close))


class KeptStatements(NamedTuple):
    """Statements that are prepared in a session."""

    codecs: list[tuple[Any, ...]]
    """Arguments of set_type_codec(); the statements are good where it is called with the same."""
    statements: list[tuple[Any, Any]]
    to_close: set[Any]


class KeptSession(NamedTuple):
    """A session of PostgreSQL whose client has left: its socket, and what the driver knew of it."""

    driver: asyncpg.Connection
    socket: socket.socket
    pid: int
    greeting: bytes
    """What PostgreSQL says to a client that it lets in."""
    statements: KeptStatements

    def reset(self) -> bool:
        """Make the session as good as new; return False where that fails."""
        query = RESET.encode() + b"\0"
        try:
            self.socket.settimeout(5.0)
            self.socket.sendall(b"Q" + struct.pack("!i", len(query) + 4) + query)
            answer = b""
            # The last message is ReadyForQuery, of a session that is idle.
            while not answer.endswith(b"Z\0\0\0\x05I"):
                piece = self.socket.recv(4096)
                if not piece:
                    return False
                answer += piece
        except OSError:
            return False
        # A message of an error would be the last before ReadyForQuery.
        return answer.endswith(b"DISCARD TEMP\0Z\0\0\0\x05I")

    def is_alive(self) -> bool:
        self.socket.setblocking(False)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        # It was ended, or is being ended with a word of farewell.
        return False


class HandedOver(socket.socket):
    """A socket of a session that is let in already: the first message, which asks to be, is not sent."""

    greet: Callable[[], None] | None = None

    def send(self, data: Any, flags: int = 0) -> int:
        if self.greet is None:
            return super().send(data, flags)
        greet, self.greet = self.greet, None
        greet()
        return len(data)


class KeptSessions:
    """Lets the driver go on with sessions that tests before have left, on the databases that are given here.

    PostgreSQL reads what it knows of tables and types anew in each session: for the start of a server in
    the process that took it three quarters of its CPU time, and the whole run a tenth.
    """

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[asyncpg.Connection, tuple[str, str]] = WeakKeyDictionary()
        self._left: dict[str, list[tuple[str, KeptSession]]] = {}
        self._idle: dict[tuple[str, str], list[KeptSession]] = {}
        self._connect = asyncpg.connect
        self._terminate = Connection.terminate
        asyncpg.connect = self.connect
        kept = self

        def terminate(connection: Connection) -> None:
            kept.keep(connection)
            kept._terminate(connection)

        Connection.terminate = terminate  # type: ignore[method-assign]

    async def connect(self, dsn: str | None = None, **options: Any) -> asyncpg.Connection:
        """As asyncpg.connect()."""
        if dsn not in self._left:
            return await self._connect(dsn, **options)
        key = (dsn, repr(sorted(options.items(), key=str)))
        while self._idle.get(key):
            session = self._idle[key].pop()
            if session.is_alive():
                connection = await self._go_on(session)
                break
            session.socket.close()
        else:
            cached = {
                "statement_cache_size": KEPT_STATEMENTS,
                # A timer for each statement of each session costs more than all of them are worth.
                "max_cached_statement_lifetime": 0,
                "connection_class": PreparedBefore,
            }
            connection = await self._connect(dsn, **{**cached, **options})
        self._of[connection] = key
        return connection

    async def _go_on(self, session: KeptSession) -> asyncpg.Connection:
        driver, loop = session.driver, asyncio.get_running_loop()
        let_in = loop.create_future()
        handed_over = HandedOver(fileno=session.socket.detach())

        def make_protocol() -> Any:
            made = Protocol(driver._addr, let_in, driver._params, asyncpg.Record, loop)
            handed_over.greet = lambda: loop.call_soon(made.data_received, session.greeting) and None
            return made

        transport, protocol = await loop.create_unix_connection(make_protocol, sock=handed_over)
        await let_in
        connection = PreparedBefore(protocol, transport, loop, driver._addr, driver._config, driver._params)
        connection.prepared = session.statements
        protocol.set_connection(connection)
        return connection

    def keep(self, connection: Connection) -> None:
        """Keep the session of a connection that is about to be closed, if it is idle."""
        driver = connection.driver
        key = self._of.pop(driver, None)
        if key is None or key[0] not in self._left or not connection.clean or driver.is_closed():
            return
        if driver.is_in_transaction():
            return
        settings = driver.get_settings()
        protocol = driver._protocol
        greeting = _message(b"R", struct.pack("!i", 0))
        for name in REPORTED:
            greeting += _message(b"S", f"{name}\0{getattr(settings, name)}\0".encode())
        greeting += _message(b"K", struct.pack("!ii", protocol.backend_pid, protocol.backend_secret))
        greeting += _message(b"Z", b"I")
        duplicate = driver._transport.get_extra_info("socket").dup()
        session = KeptSession(driver, duplicate, protocol.backend_pid, greeting, driver.take_statements())
        self._left[key[0]].append((key[1], session))
        # Else the driver would say farewell.
        driver._transport.abort()

    def serve(self, dsn: str) -> None:
        """Keep sessions of this database from now on."""
        self._left[dsn] = []

    def reset(self, dsn: str) -> list[int]:
        """Make what clients have left fit for the next ones; return the identifiers of all that are kept."""
        for options, session in self._left.pop(dsn):
            if session.reset():
                self._idle.setdefault((dsn, options), []).append(session)
            else:
                session.socket.close()
        return [each.pid for key, kept in self._idle.items() if key[0] == dsn for each in kept]

    def drop(self, dsn: str) -> None:
        """Close all sessions of this database."""
        for key in [key for key in self._idle if key[0] == dsn]:
            for session in self._idle.pop(key):
                session.socket.close()


def _message(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("!i", len(content) + 4) + content


class SqlThread:
    """Runs SQL on a connection kept open for each database: an asyncio loop in a thread of its own."""

    def __init__(self, url: Callable[[str], str]) -> None:
        self._url = url
        self._connections: dict[str, asyncpg.Connection] = {}
        self._prepared: dict[tuple[str, str], Any] = {}
        # By its class: trio-asyncio makes loops of its own wherever it is imported.
        self._loop = asyncio.SelectorEventLoop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test SQL")
        self._thread.start()

    def run(self, database: str, sql: str) -> str:
        """Run a statement; return its first value as text, "" where it has none."""
        return self._wait(self._again(self._run, database, sql))

    def empty(self, database: str, shape: str, kept: list[int]) -> bool:
        """Empty a database of this shape; return False where it has another.

        Ends all sessions there but those with the identifiers `kept`.
        """
        return self._wait(self._again(self._empty, database, shape, kept))

    def disconnect(self, database: str) -> None:
        """Close the connection to the database, so that it can be dropped or copied."""
        self._wait(self._disconnect(database))

    def close(self) -> None:
        for database in list(self._connections):
            self.disconnect(database)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, running: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(running, self._loop).result(60)

    async def _again(self, act: Callable[..., Coroutine[Any, Any, Any]], database: str, *args: Any) -> Any:
        try:
            return await act(database, *args)
        except (OSError, asyncpg.PostgresConnectionError, asyncpg.AdminShutdownError, asyncpg.InterfaceError):
            # A test may end all connections to its database, and so ours.
            await self._disconnect(database)
            return await act(database, *args)

    async def _run(self, database: str, sql: str) -> str:
        return _first_value(await (await self._connection(database)).fetch(sql))

    async def _empty(self, database: str, shape: str, kept: list[int]) -> bool:
        await self._fetch(database, TERMINATE, kept)
        (found,) = await self._fetch(database, EMPTYING)
        if found["shape"] != shape:
            return False
        statements = [found["rows"], found["sequences"], EMPTYING_ALWAYS]
        # As of a replica: without triggers, and so without a look at the tables that refer to these.
        await self._connections[database].execute(
            "; ".join(["set local session_replication_role = replica", *filter(None, statements)])
        )
        return True

    async def _fetch(self, database: str, sql: str, *args: Any) -> Any:
        """Run a statement that is prepared, since it is run after every test."""
        prepared = self._prepared.get((database, sql))
        if prepared is None:
            prepared = await (await self._connection(database)).prepare(sql)
            self._prepared[database, sql] = prepared
        return await prepared.fetch(*args)

    async def _connection(self, database: str) -> asyncpg.Connection:
        connection = self._connections.get(database)
        if connection is None:
            connection = await asyncpg.connect(self._url(database), statement_cache_size=0)
            self._connections[database] = connection
        return connection

    async def _disconnect(self, database: str) -> None:
        connection = self._connections.pop(database, None)
        self._prepared = {key: value for key, value in self._prepared.items() if key[0] != database}
        if connection is not None:
            await connection.close()


def _name_in(url: str) -> str:
    """Return the name of the database that a URL names."""
    return urlsplit(url).path.removeprefix("/")


def _first_value(rows: Any) -> str:
    return "" if not rows or rows[0][0] is None else str(rows[0][0])


class TestServer:
    """The embedded PostgreSQL of a process of tests, and its databases."""

    __test__ = False

    def __init__(self, server: EmbeddedServer) -> None:
        self.server = server
        self._sql = SqlThread(server.url)
        self._empty: list[str] = []
        self._numbers = itertools.count(1)
        self._shape = ""
        self._kept = KeptSessions()

    def start(self) -> None:
        """Make the template."""
        # What a commit survives is tested on servers of its own (tests/storage/postgres).
        self.run(f"alter role {USER} set synchronous_commit = off")
        self.run("create database template_motorpool")
        trio.run(self._migrate)
        self._shape = self.run(SHAPE, "template_motorpool")
        self._sql.disconnect("template_motorpool")

    async def _migrate(self) -> None:
        settings = DatabaseSettings(url=self.server.url("template_motorpool"))
        async with open_database(settings, clock_now=lambda: NOW):
            pass

    def take(self) -> str:
        """Return the name of an empty, migrated database."""
        if self._empty:
            name = self._empty.pop()
        else:
            name = f"test_{next(self._numbers)}"
            self.run(f"create database {name} template template_motorpool")
        self._kept.serve(self.server.url(name))
        return name

    def give_back(self, name: str) -> None:
        """Empty the database for the next test, or drop it if its tables were changed."""
        kept = self._kept.reset(self.server.url(name))
        if self._sql.empty(name, self._shape, kept):
            self._empty.append(name)
        else:
            self._kept.drop(self.server.url(name))
            self._sql.disconnect(name)
            self.run(f"drop database {name} with (force)")

    def end_sessions(self, url: str) -> None:
        """End the sessions that are kept on this database, for a test of what another session hinders."""
        self._kept.drop(url)
        self.run(
            "select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity"
            f" where datname = '{_name_in(url)}' and application_name like 'motorpool%'"
        )

    def run(self, sql: str, database: str = "postgres") -> str:
        """Run one statement from outside the program under test; return its first value as text."""
        return self._sql.run(database, sql)

    def close(self) -> None:
        """Close all connections."""
        self._sql.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[TestServer]:
    """A PostgreSQL of this process's own; started by the first test that needs it."""
    # Not in a folder of pytest, which keeps those of runs that fail: this one has 100 MB.
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        server = EmbeddedServer(Path(folder), max_connections=100)
        trio.run(server.start)
        try:
            with closing(TestServer(server)) as test_server:
                test_server.start()
                yield test_server
        finally:
            trio.run(server.stop)


@pytest.fixture
def database_url(postgres: TestServer) -> Iterator[str]:
    """The postgresql:// URL of an empty, migrated database: for tests that start a whole server."""
    name = postgres.take()
    yield postgres.server.url(name)
    postgres.give_back(name)


@pytest.fixture
def altered_database(postgres: TestServer, database_url: str) -> Iterator[Callable[..., Any]]:
    """`with altered_database(change, back):` ALTER DATABASE says so; earlier sessions have ended."""
    name = _name_in(database_url)

    @contextmanager
    def alter(change: str, back: str) -> Iterator[None]:
        postgres.run(f"alter database {name} {change}")
        postgres.end_sessions(database_url)
        try:
            yield
        finally:
            postgres.run(f"alter database {name} {back}")

    yield alter
    # No other test is to get a session that began meanwhile.
    postgres.end_sessions(database_url)


@pytest.fixture
def read_only(altered_database: Callable[..., Any]) -> Callable[[], AbstractContextManager[None]]:
    """`with read_only():` the database takes no changes meanwhile."""
    return lambda: altered_database(
        "set default_transaction_read_only = on", "reset default_transaction_read_only"
    )


@pytest.fixture
def out_of_files() -> Callable[[], AbstractContextManager[None]]:
    """`with out_of_files():` this process can open no file meanwhile."""

    @contextmanager
    def without() -> Iterator[None]:
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        next_free = os.dup(0)
        os.close(next_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_free, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    return without


class Forks:
    """Starts programs as forks of a process that has imported the server (tests/forking.py).

    Where the start is what is tested, the program is started (tests/api/program, tests/bench/test_server.py).
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(str(path))
        self._requests = self._connection.makefile("rw")

    def start(self, folder: Path, environment: Mapping[str, str]) -> "ForkedProgram":
        """Start `motorpool serve` in this folder; it logs to the file server.log there."""
        with (folder / LOG_FILE).open("wb") as log:
            return self.popen(["serve"], cwd=folder, env=environment, stdout=log, stderr=log)

    def popen(self, words: list[str], **options: Any) -> "ForkedProgram":
        """As `subprocess.Popen(["motorpool", *words], cwd=…, env=…)`; takes its standard streams as well."""
        return ForkedProgram(self, words, **{"stdin": subprocess.DEVNULL, **options})

    def run(
        self, words: list[str], *, given: str | None = None, seconds: float = 60, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run(["motorpool", *words], input=given, capture_output=True, text=True, …)`."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with self.popen(words, **pipes, **options) as program:
            try:
                output, errors = program.communicate(given, seconds)
            except BaseException:
                program.kill()
                raise
        return subprocess.CompletedProcess(words, program.returncode, output, errors)

    def ask(self, request: Mapping[str, Any]) -> int | None:
        with self._lock:
            self._requests.write(f"{json.dumps(request)}\n")
            self._requests.flush()
            return json.loads(self._requests.readline())

    def close(self) -> None:
        self._requests.close()
        self._connection.close()


@contextmanager
def forking(folder: Path) -> Iterator[Path]:
    """Run the program that forks servers; its socket is in this folder."""
    path = folder / "forking"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(64)
        program = subprocess.Popen(
            [sys.executable, str(FORKING), str(listening.fileno())],
            pass_fds=[listening.fileno()],
            # Ctrl-C is for the tests, which end their servers.
            process_group=0,
        )
    try:
        yield path
    finally:
        program.kill()
        program.wait()
        path.unlink()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, Any, Any]:
    """Start what the processes of the run share."""
    with ExitStack() as stack:
        if any("forks" in getattr(item, "fixturenames", ()) for item in session.items):
            folder = session.config.stash[TEMPORARY]
            session.config.stash[FORKING_SOCKET] = stack.enter_context(forking(folder))
        return (yield)


FORKING = Path(__file__).parent / "forking.py"
FORKING_SOCKET = pytest.StashKey[Path]()


class ForkedProgram(subprocess.Popen[Any]):
    """The process of a program, which is a child of another process than this one."""

    def __init__(self, forks: Forks, words: list[str], **options: Any) -> None:
        self._forks = forks
        super().__init__(words, **options)

    def _execute_child(self, *given: Any) -> None:
        # As subprocess.Popen calls it, before the options that it has besides.
        words, _, _, _, _, folder, environment, _, _, _, *pipes = given[:16]
        ours = f"/proc/{os.getpid()}/fd"
        self.pid = self._forks.ask(
            {
                "words": words,
                "folder": str(folder),
                "environment": dict(environment),
                "streams": [f"{ours}/{pipes[place]}" for place in (0, 3, 5)],
            }
        )
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            self.returncode = self._forks.ask({"poll": self.pid})
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            time.sleep(0.01)
        return code


@pytest.fixture(scope="session")
def forks(pytestconfig: pytest.Config) -> Iterator[Forks]:
    """The process that the servers of the test run are forked from."""
    with closing(Forks(pytestconfig.stash[FORKING_SOCKET])) as started:
        yield started


@pytest.fixture(scope="session")
def start_server(postgres: TestServer, forks: Forks) -> Callable[..., AbstractContextManager[Server]]:
    """`with start_server({"MOTORPOOL_…": "…"}) as server:` a server process on the test run's PostgreSQL.

    Its database is empty unless the settings name one.
    """

    @contextmanager
    def start(settings: Mapping[str, str] | None = None) -> Iterator[Server]:
        cheap = {"MOTORPOOL_LOGIN_HASH_MEMORY_KIB": "8192", "MOTORPOOL_LOGIN_HASH_ROUNDS": "1"}
        with ExitStack() as stack:
            if "MOTORPOOL_DATABASE" not in (settings or {}):
                name = postgres.take()
                stack.callback(postgres.give_back, name)
                cheap["MOTORPOOL_DATABASE"] = postgres.server.url(name)
            running = stack.enter_context(run_server({**cheap, **(settings or {})}, forks.start))
            # The folder is there from the start where the database is embedded.
            (running.folder / "data").mkdir(exist_ok=True)
            yield running

    return start


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that PostgreSQL may enter as another user.

    Not below that of `tmp_path`, which every run of pytest closes to others as it starts.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An empty, migrated database, open for the test."""
    # Nobody is refused because the machine is busy: by default who waits for a connection has five seconds.
    settings = DatabaseSettings(url=database_url, pool_size=4, acquire_seconds=60)
    async with open_database(settings, clock_now=lambda: NOW) as opened:
        yield opened


class Letters:
    """A real SMTP server (aiosmtpd) on the loopback, which keeps what it is given."""

    def __init__(self, port: int, **options: Any) -> None:
        self.port = port
        self.refusals: dict[str, str] = options.pop("refusals", {})
        """What it answers in place of a welcome, by recipient; a name without @ is for the mail itself."""
        login: tuple[str, str] | None = options.pop("login", None)
        self._taken: queue.Queue[tuple[Envelope, EmailMessage]] = queue.Queue()
        self.attempts = 0
        self.logins: list[str] = []
        if login is not None:
            expected = (login[0].encode(), login[1].encode())

            def authenticate(
                _server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any
            ) -> AuthResult:
                self.logins.append(data.login.decode())
                return AuthResult(success=(data.login, data.password) == expected, handled=False)

            options |= {"authenticator": authenticate, "auth_require_tls": False}
        self.controller = Controller(
            self,
            hostname="127.0.0.1",
            port=port,
            server_hostname="mail.example",
            # By its class: trio-asyncio makes loops of its own wherever it is imported.
            loop=asyncio.SelectorEventLoop(),
            **{"enable_SMTPUTF8": False, **options},
        )

    def stop(self) -> None:
        """End; what has ended may be ended again."""
        if not self.controller.loop.is_closed():
            self.controller.stop()

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.attempts += 1
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        if "data" in self.refusals:
            return self.refusals["data"]
        self._taken.put((envelope, message_from_bytes(envelope.original_content, policy=policy.default)))
        return "250 OK"

    async def next(self) -> tuple[Envelope, EmailMessage]:
        """The next mail that was taken; waits for it."""
        return await trio.to_thread.run_sync(lambda: self._taken.get(timeout=60), abandon_on_cancel=True)

    @property
    def left(self) -> int:
        """Mails taken and not asked for yet."""
        return self._taken.qsize()


@pytest.fixture
def mail_server() -> Iterator[Callable[..., Letters]]:
    """`await mail_server(login=("ann", "secret"))`: an SMTP server; with `port` where one was before."""
    with ExitStack() as stack:

        def start(port: int, options: dict[str, Any]) -> Letters:
            made = Letters(port or free_port(), **options)
            made.controller.start()
            stack.callback(made.stop)
            return made

        async def begin(port: int = 0, **options: Any) -> Letters:
            # In a thread: its loop is not to know that there is Trio.
            return await trio.to_thread.run_sync(start, port, options)

        yield begin


class Asked(NamedTuple):
    """A request that came in."""

    method: str
    path: str
    headers: Any
    body: bytes


class WebServer(ThreadingHTTPServer):
    """A server to which many may connect at once."""

    request_queue_size = 128
    """Five by default: Linux breaks connections off that find no place here."""


class Web:
    """A real HTTP server on the loopback, which answers what the test says."""

    def __init__(self, answer: Callable[[Asked], tuple[int, bytes]], tls: ssl.SSLContext | None) -> None:
        self.asked: list[Asked] = []
        web = self

        class Serve(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length", "0"))
                asked = Asked(self.command, self.path, self.headers, self.rfile.read(length))
                web.asked.append(asked)
                status, body = answer(asked)
                self.send_response(status)
                for name, value in web.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with suppress(ConnectionError):
                    self.wfile.write(body)

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_: Any) -> None:
                """Not into the test's output."""

        self.headers: dict[str, str] = {}
        self.server = WebServer(("127.0.0.1", 0), Serve)
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client may well leave
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def web_server() -> Iterator[Callable[..., Web]]:
    """`web_server(lambda asked: (200, b"…"))`: an HTTP server for the test; `asked` keeps the requests."""
    with ExitStack() as stack:

        def start(
            answer: Callable[[Asked], tuple[int, bytes]] = lambda _: (200, b"{}"),
            tls: ssl.SSLContext | None = None,
        ) -> Web:
            made = Web(answer, tls)
            stack.callback(made.close)
            return made

        yield start


@pytest.fixture(scope="session", name="free_port")
def free_port_fixture() -> Callable[..., int]:
    """`free_port()`: a port to listen at; `free_port(5, 7)`: one with others free so far above it."""
    return free_port


@pytest.fixture
def hanging_port() -> Iterator[int]:
    """A port where connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


@pytest.fixture
def disk_log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What decides what a power failure leaves, in order: "sync NAME" and "rename NAME".

    Incomplete files, whose names are random, are all called ".part".
    """
    log: list[str] = []
    fsync, replace, rename = os.fsync, os.replace, os.rename

    def note_fsync(descriptor: int) -> None:
        fsync(descriptor)
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        log.append(f"sync {'.part' if path.suffix == '.part' else path.name}")

    def note_rename(real: Callable[..., None]) -> Callable[..., None]:
        def renamed(source: Path, target: Path) -> None:
            real(source, target)
            log.append(f"rename {Path(target).name}")

        return renamed

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_rename(replace))
    monkeypatch.setattr(os, "rename", note_rename(rename))
    return log
