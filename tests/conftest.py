"""What tests of several folders share: a real PostgreSQL with an empty database for each test, and small
servers for what leaves the house.

Making a database takes longer than most tests. So each test gets a used one that was emptied, unless the
tests before it changed more than rows: such a one is thrown away and the template is copied again.
"""

import asyncio  # noqa: TID251 - for the loop of a server that is not ours
import itertools
import queue
import socket
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest
import trio
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope

from motorpool.storage.database import Database, open_database
from motorpool.storage.postgres.embedded import USER, EmbeddedServer, binaries
from motorpool.storage.settings import DatabaseSettings

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
        return await trio.to_thread.run_sync(lambda: self._taken.get(timeout=10), abandon_on_cancel=True)

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
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Serve)
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


def free_port() -> int:
    """A port where nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.fixture
def hanging_port() -> Iterator[int]:
    """A port where connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])
