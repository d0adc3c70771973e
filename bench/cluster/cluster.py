"""Servers of a cluster as processes, on a PostgreSQL of the bench's own, and linked by NATS or not."""

import os
import re
import signal
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import httpx
import msgspec
import trio

from motorpool.bench import machine
from motorpool.bench.cluster.relay import SOCKET, Relay
from motorpool.bench.free_ports import free_port
from motorpool.bench.nats_server import NatsServer, run_nats
from motorpool.bench.options import BenchError
from motorpool.bench.server import Server, ServerProcess, fetch_rows, run_server, start_process
from motorpool.storage.postgres.embedded import EmbeddedServer

MACHINE, MACHINE_FROM = 2, 3
"""Processes of a machine, and the number of servers from which on one of the places is a machine."""
MAX_CONNECTIONS = 160
REPLACE_SECONDS = 300.0
RECOVERY_SECONDS = 60.0
BACK_SECONDS = 180.0
AGAIN_SECONDS = 0.5
LOOK_SECONDS = 0.2
"""Between two looks whether a server has ended."""
MAX_FAILURES = 10
_DATABASE = "motorpool"
_HOST = "127.0.0.1"
_STARTED = re.compile(r"node (\d+) is process (\d+)")
_REPLACED = "all servers have been replaced"
"""In the log of a supervisor."""
_NOT_CONNECTED = "connection to server"
"""In what psql says where there is no database, or it starts."""

# To make one for each client takes 0.15 s.
_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Start = Callable[[Path, Mapping[str, str]], ServerProcess]


class Place(msgspec.Struct, frozen=True):
    """A server with ports of its own: a process, or a machine whose supervisor runs several."""

    name: str
    processes: int
    addresses: tuple[str, ...]
    """At which other servers reach its processes; each keeps its own across restarts."""
    role: str
    """The user as which it is connected to PostgreSQL."""

    @property
    def is_machine(self) -> bool:
        """Whether a supervisor starts its processes."""
        return self.processes > 1


def places_of(servers: int) -> tuple[int, ...]:
    """Return the number of processes at each place; with more than two servers, two share a machine."""
    return (1,) * servers if servers < MACHINE_FROM else (*(1,) * (servers - MACHINE), MACHINE)


class Cluster:
    """Servers that have each a relay to PostgreSQL, and one to NATS if there is any."""

    def __init__(self, postgres: EmbeddedServer, counts: Sequence[int], nats: NatsServer | None) -> None:
        """`counts` are the numbers of processes by place."""
        self.places = [_place(number, count) for number, count in enumerate(counts)]
        self.servers: list[Server] = []
        """By place."""
        self.token = ""
        """Of the administrator; any server accepts it."""
        self.relays: list[Relay] = []
        self.links: list[Relay] = []
        """To NATS; empty without it."""
        self.nats = nats
        self._postgres = postgres
        self._down = [0] * len(counts)
        """How many faults keep each server from being started."""
        self._running = [trio.Event() for _ in counts]
        """Set and replaced when a server has been started again."""

    @property
    def url(self) -> str:
        """Address of the database, past the relays."""
        return self._postgres.url(_DATABASE)

    @property
    def password(self) -> str:
        """Password of the administrator, whom all servers share."""
        return self.servers[0].password

    @property
    def names(self) -> list[str]:
        """Names of the places."""
        return [place.name for place in self.places]

    def client(self, place: int, auth: tuple[str, str] | None = None) -> httpx.AsyncClient:
        """Make a client of one server, as the administrator or another user."""
        headers = {} if auth else {"Authorization": f"Bearer {self.token}"}
        url = f"{self.servers[place].url}/api"
        return httpx.AsyncClient(base_url=url, auth=auth, headers=headers, verify=_TLS, timeout=10.0)

    @asynccontextmanager
    async def clients(self, auth: tuple[str, str] | None = None) -> AsyncIterator[list[httpx.AsyncClient]]:
        """Make a client of each server."""
        async with AsyncExitStack() as stack:
            yield [
                await stack.enter_async_context(self.client(place, auth)) for place in range(len(self.places))
            ]

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

    async def _last_starts(self, place: Place, *, living: bool) -> dict[str, int]:
        """Return the number of the last start of each process of a place, by address; or if it lives."""
        rows = await self.rows(
            "select address, max(id), (array_agg(state order by id desc))[1] from nodes group by address"
        )
        return {
            row[0]: int(row[1])
            for row in rows
            if row[0] in place.addresses and not (living and row[2] == "dead")
        }

    async def numbers(self) -> list[tuple[int, ...]]:
        """Return the numbers (rows in `nodes`) of the processes of each place: of each one its last start.

        Of a machine, those that live. Raises BenchError.
        """
        return [
            tuple((await self._last_starts(place, living=place.is_machine)).values()) for place in self.places
        ]

    async def holder(self, duty: str) -> tuple[int, int] | None:
        """Return place and number of the server that has a duty; None if none has it. Raises BenchError."""
        rows = await self.rows(f"select node from duties where name = '{duty}' and node is not null")  # noqa: S608 - the bench's own
        number = int(rows[0][0]) if rows else 0
        for place, numbers in enumerate(await self.numbers()):
            if number in numbers:
                return place, number
        return None

    async def processes(self, place: int) -> dict[int, int]:
        """Return the process of each number at a place. Raises BenchError."""
        server, where = self.servers[place], self.places[place]
        started = {int(index): int(pid) for index, pid in _STARTED.findall(server.log)}
        found = await self._last_starts(where, living=where.is_machine)
        return {
            found[address]: started[index] if where.is_machine else server.process.pid
            for index, address in enumerate(where.addresses)
            if address in found and (index in started or not where.is_machine)
        }

    def cpu_seconds(self) -> tuple[float, float]:
        """Return the CPU seconds of all servers together, and of PostgreSQL's running processes."""
        servers = sum(
            machine.tree_cpu_seconds(server.process.pid) if place.is_machine else server.cpu_seconds()
            for place, server in zip(self.places, self.servers, strict=True)
        )
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
            for place in range(len(self.places)):
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
        """Wait until all servers run and answer; `keep_running` starts them.

        Raises:
            BenchError: one runs and does not answer.
        """
        for place in range(len(self.places)):
            await self.until_back(place)

    async def until_back(self, place: int) -> None:
        """Wait until a server runs and answers, and the database knows that all its processes live.

        Raises:
            BenchError: it runs and does not answer.
        """
        where = self.places[place]
        deadline = trio.current_time() + BACK_SECONDS
        await self._until_running(place)
        # One that finds itself declared dead starts anew within its process.
        while len(await self._last_starts(where, living=True)) != where.processes:
            if trio.current_time() > deadline:
                raise BenchError(f"{where.name} has not all its processes")
            await trio.sleep(AGAIN_SECONDS)
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

    async def replace(self, place: int) -> None:
        """Have the supervisor of a machine replace its processes one by one, and wait for the last one.

        Raises:
            BenchError: they are not replaced.
        """
        server = self.servers[place]
        count = server.log.count(_REPLACED)
        os.kill(server.process.pid, signal.SIGHUP)
        with trio.move_on_after(REPLACE_SECONDS) as waiting:
            while server.log.count(_REPLACED) == count:  # noqa: ASYNC110 - of another program
                await trio.sleep(LOOK_SECONDS)
        if waiting.cancelled_caught:
            raise BenchError(f"the processes of {self.places[place].name} are not replaced")

    def crash_postgres(self) -> None:
        """End PostgreSQL as a crash does; it is started again, and recovers."""
        if self._postgres.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._postgres.pid, signal.SIGQUIT)


@asynccontextmanager
async def open_cluster(
    counts: Sequence[int] = (1, 1),
    *,
    linked: bool = False,
    start: Start = start_process,
    more: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Cluster]:
    """Start PostgreSQL and servers of one cluster for the body; `start` as in `run_server`.

    Args:
        counts: the number of processes at each place; more than one: under a supervisor.
        linked: whether NATS is started, and links them.
        start: starts a server.
        more: settings of all.

    Raises:
        BenchError: a server does not start, or there is no NATS.
    """
    with bench_folder() as folder, run_nats() if linked else nullcontext() as nats:
        postgres = EmbeddedServer(folder / "postgres", max_connections=MAX_CONNECTIONS)
        await postgres.start()
        try:
            cluster = Cluster(postgres, counts, nats)
            await _prepare(postgres, cluster.places)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(postgres.watch)
                async with _servers(nursery, folder, cluster, postgres, start, more):
                    yield cluster
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


async def _prepare(postgres: EmbeddedServer, places: Sequence[Place]) -> None:
    """Create the database, and a user for each server."""
    for sql in (
        f"create database {_DATABASE}",
        *(f"create role {place.role} superuser login" for place in places),
    ):
        await trio.to_thread.run_sync(fetch_rows, postgres.url(), sql)


def _place(number: int, processes: int) -> Place:
    name = chr(ord("A") + number)
    # One more than there are: a process is replaced by a new one before it ends.
    more = range(1, processes + 1) if processes > 1 else range(0)
    first = free_port(*more)
    addresses = tuple(f"http://{_HOST}:{first + offset}" for offset in (0, *more))
    return Place(name, processes, addresses, f"server_{name.lower()}")


@asynccontextmanager
async def _servers(
    nursery: trio.Nursery,
    folder: Path,
    cluster: Cluster,
    postgres: EmbeddedServer,
    start: Start,
    more: Mapping[str, str],
) -> AsyncIterator[None]:
    assert postgres.socket_folder is not None
    stack = ExitStack()
    try:
        for place in cluster.places:
            where = folder / place.name
            where.mkdir()
            relay = Relay(where / SOCKET, postgres.socket_folder / SOCKET)
            await nursery.start(relay.run)
            cluster.relays.append(relay)
            database = f"postgresql://{place.role}@/{_DATABASE}?host={quote(str(where), safe='')}"
            settings = {
                **more,
                "MOTORPOOL_CLUSTER_NAME": "bench",
                "MOTORPOOL_NODES": str(place.processes),
                "MOTORPOOL_NODE_ADDRESS": place.addresses[0],
                "MOTORPOOL_DATABASE": database,
            }
            if cluster.nats is not None:
                port = free_port()
                link = Relay((_HOST, port), (_HOST, cluster.nats.port))
                await nursery.start(link.run)
                cluster.links.append(link)
                settings["MOTORPOOL_LINK_URL"] = f"nats://{_HOST}:{port}"
            if cluster.servers:
                settings["MOTORPOOL_ADMIN_PASSWORD"] = cluster.password
            server = await trio.to_thread.run_sync(stack.enter_context, run_server(settings, start))
            if cluster.servers:
                server.password = cluster.password
            cluster.servers.append(server)
        cluster.token = await trio.to_thread.run_sync(_token, cluster.servers[0])
        yield
    finally:
        for relay in (*cluster.relays, *cluster.links):
            relay.mend()
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(stack.close)


def _token(server: Server) -> str:
    with server.client() as client:
        return client.post("/session/token").raise_for_status().text
