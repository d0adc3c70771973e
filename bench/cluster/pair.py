"""Two servers of a cluster as processes, on a PostgreSQL of the bench's own."""

import os
import signal
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import httpx
import trio

from motorpool.bench import machine
from motorpool.bench.cluster.relay import Relay
from motorpool.bench.free_ports import free_port
from motorpool.bench.options import BenchError
from motorpool.bench.server import Server, ServerProcess, fetch_rows, run_server, start_process
from motorpool.storage.postgres.embedded import EmbeddedServer

NAMES = ("A", "B")
MAX_CONNECTIONS = 120
RECOVERY_SECONDS = 60.0
AGAIN_SECONDS = 0.5
LOOK_SECONDS = 0.2
"""Between two looks whether a server has ended."""
MAX_FAILURES = 10
_DATABASE = "motorpool"
_NOT_CONNECTED = "connection to server"
"""In what psql says where there is no database, or it starts."""

# To make one for each client takes 0.15 s.
_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Start = Callable[[Path, Mapping[str, str]], ServerProcess]


class Pair:
    """Two servers, each with a relay to PostgreSQL."""

    def __init__(self, postgres: EmbeddedServer) -> None:
        self.servers: list[Server] = []
        self.token = ""
        """Of the administrator; either server accepts it."""
        self.relays: list[Relay] = []
        self.addresses: list[str] = []
        """Addresses at which the servers reach each other; each keeps its own across restarts."""
        self.roles: list[str] = []
        """The user as which each is connected to PostgreSQL."""
        self._postgres = postgres
        self._down = [0, 0]
        """How many faults keep each server from being started."""
        self._running = [trio.Event(), trio.Event()]
        """Set and replaced when a server has been started again."""

    @property
    def url(self) -> str:
        """Address of the database, past the relays."""
        return self._postgres.url(_DATABASE)

    @property
    def password(self) -> str:
        """That of the administrator of both."""
        return self.servers[0].password

    def client(self, place: int, auth: tuple[str, str] | None = None) -> httpx.AsyncClient:
        """Make a client of one server, as the administrator or another user."""
        headers = {} if auth else {"Authorization": f"Bearer {self.token}"}
        url = f"{self.servers[place].url}/api"
        return httpx.AsyncClient(base_url=url, auth=auth, headers=headers, verify=_TLS, timeout=10.0)

    async def rows(self, sql: str) -> list[list[str]]:
        """Return rows of the database, as text; one that recovers from a crash is waited for.

        Raises:
            BenchError: it refuses the statement, or does not come back.
        """
        deadline = trio.current_time() + RECOVERY_SECONDS
        while True:
            try:
                return await trio.to_thread.run_sync(fetch_rows, self.url, sql)
            except BenchError as error:
                if _NOT_CONNECTED not in str(error) or trio.current_time() > deadline:
                    raise
            await trio.sleep(AGAIN_SECONDS)

    async def numbers(self) -> list[int]:
        """Return the number of each server's last start (its row in `nodes`). Raises BenchError."""
        rows = await self.rows("select address, max(id) from nodes group by address")
        found = {row[0]: int(row[1]) for row in rows}
        return [found.get(address, 0) for address in self.addresses]

    async def holder(self, duty: str) -> int | None:
        """Return the place of the server that has a duty; None if neither has it. Raises BenchError."""
        rows = await self.rows(f"select node from duties where name = '{duty}' and node is not null")  # noqa: S608 - the bench's own
        numbers = await self.numbers()
        return numbers.index(int(rows[0][0])) if rows and int(rows[0][0]) in numbers else None

    def cpu_seconds(self) -> tuple[float, float]:
        """Return the CPU seconds of both servers together, and of PostgreSQL's running processes."""
        servers = sum(server.cpu_seconds() for server in self.servers)
        return servers, 0.0 if self._postgres.pid is None else machine.tree_cpu_seconds(self._postgres.pid)

    @contextmanager
    def kept_down(self, place: int) -> Iterator[None]:
        """End a server's process by SIGKILL, and keep it from being started again during the body."""
        self._down[place] += 1
        self.servers[place].process.kill()
        self.servers[place].process.wait()
        try:
            yield
        finally:
            self._down[place] -= 1

    async def keep_running(self) -> None:
        """Start servers that have ended, killed or declared dead, until cancelled.

        Raises:
            BenchError: one does not start, many times in a row.
        """
        async with trio.open_nursery() as nursery:
            for place in range(len(NAMES)):
                nursery.start_soon(self._keep_running, place)

    async def _keep_running(self, place: int) -> None:
        server = self.servers[place]
        failures = 0
        while True:
            if server.process.poll() is not None and not self._down[place]:
                server.launch()
                try:
                    await trio.to_thread.run_sync(server.await_health, abandon_on_cancel=True)
                except BenchError:
                    # It may have been killed, or a fault of the database was in its way.
                    failures += 1
                    if failures == MAX_FAILURES:
                        raise
                else:
                    failures = 0
                    self._running[place].set()
                    self._running[place] = trio.Event()
            await trio.sleep(LOOK_SECONDS)

    async def until_running(self) -> None:
        """Wait until both servers run and answer; `keep_running` starts them.

        Raises:
            BenchError: one runs and does not answer.
        """
        for place in range(len(NAMES)):
            await self._until_running(place)

    async def _until_running(self, place: int) -> None:
        server = self.servers[place]
        while True:
            process = server.process
            if process.poll() is None and not self._down[place]:
                try:
                    await trio.to_thread.run_sync(server.await_health, abandon_on_cancel=True)
                except BenchError:
                    # One that was frozen ends when it finds itself declared dead.
                    if process.poll() is None:
                        raise
                else:
                    return
            else:
                await self._running[place].wait()

    def freeze(self, place: int) -> None:
        """Stop a server's process without its noticing."""
        _signal(self.servers[place], signal.SIGSTOP)

    def thaw(self, place: int) -> None:
        """Resume a frozen server."""
        _signal(self.servers[place], signal.SIGCONT)

    def crash_postgres(self) -> None:
        """End PostgreSQL as a crash does; it is started again, and recovers."""
        if self._postgres.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._postgres.pid, signal.SIGQUIT)


@asynccontextmanager
async def open_pair(
    start: Start = start_process, more: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Pair]:
    """Start PostgreSQL and two servers of one cluster for the body; `start` as in `run_server`.

    `more` are settings of both.

    Raises:
        BenchError: a server does not start.
    """
    with bench_folder() as folder:
        postgres = EmbeddedServer(folder / "postgres", max_connections=MAX_CONNECTIONS)
        await postgres.start()
        try:
            await _prepare(postgres)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(postgres.watch)
                async with _servers(nursery, folder, postgres, start, more) as pair:
                    yield pair
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await postgres.stop()


@contextmanager
def bench_folder() -> Iterator[Path]:
    """Make a folder for the body, which PostgreSQL can use."""
    with tempfile.TemporaryDirectory(prefix="motorpool-bench-", ignore_cleanup_errors=True) as name:
        # PostgreSQL may run as another user, who must be able to enter the folder.
        Path(name).chmod(0o755)
        yield Path(name)


async def _prepare(postgres: EmbeddedServer) -> None:
    """Create the database, and a user for each server."""
    for sql in (
        f"create database {_DATABASE}",
        *(f"create role {_role(name)} superuser login" for name in NAMES),
    ):
        await trio.to_thread.run_sync(fetch_rows, postgres.url(), sql)


def _role(name: str) -> str:
    return f"server_{name.lower()}"


@asynccontextmanager
async def _servers(
    nursery: trio.Nursery, folder: Path, postgres: EmbeddedServer, start: Start, more: Mapping[str, str]
) -> AsyncIterator[Pair]:
    assert postgres.socket_folder is not None
    pair = Pair(postgres)
    stack = ExitStack()
    try:
        for name in NAMES:
            place = folder / name
            place.mkdir()
            relay = Relay(place, postgres.socket_folder)
            await nursery.start(relay.run)
            pair.relays.append(relay)
            pair.roles.append(_role(name))
            pair.addresses.append(f"http://127.0.0.1:{free_port()}")
            where = quote(str(place), safe="")
            settings = {
                **more,
                "MOTORPOOL_CLUSTER_NAME": "bench",
                "MOTORPOOL_NODE_ADDRESS": pair.addresses[-1],
                "MOTORPOOL_DATABASE": f"postgresql://{_role(name)}@/{_DATABASE}?host={where}",
            }
            if pair.servers:
                settings["MOTORPOOL_ADMIN_PASSWORD"] = pair.password
            server = await trio.to_thread.run_sync(stack.enter_context, run_server(settings, start))
            if pair.servers:
                server.password = pair.password
            pair.servers.append(server)
        pair.token = await trio.to_thread.run_sync(_token, pair.servers[0])
        yield pair
    finally:
        for relay in pair.relays:
            relay.mend()
        for number in range(len(pair.servers)):
            pair.thaw(number)
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(stack.close)


def _token(server: Server) -> str:
    with server.client() as client:
        return client.post("/session/token").raise_for_status().text


def _signal(server: Server, number: signal.Signals) -> None:
    if server.process.poll() is None:
        os.kill(server.process.pid, number)
