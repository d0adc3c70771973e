"""Random histories of servers on one database, in one process and on the virtual clock.

The rules of servers are those of the program: membership, duties, homes of devices and the relay of changes,
with their statements and actors. What is around them is simulated: connections of devices, NOTIFY, the clock
of the database, and faults. The seed chooses faults and turns; statements that get a turn together run beside
each other.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

import trio
from tests.cluster.fake_pipe import FakeNetwork, FakePipe
from tests.cluster.history_server import DUTY, EDGE_SECONDS, DeviceConnection, HistoryServer
from tests.cluster.history_tables import empty, set_clock
from tests.cluster.notices import Notices
from tests.cluster.statement_scheduler import StatementScheduler
from trio.testing import MockClock

from motorpool.bench.checks.server_history import (
    Command,
    Death,
    Decision,
    Edge,
    History,
    Result,
    Version,
    Whereabouts,
)
from motorpool.storage.database import nodes
from motorpool.storage.database.database import Database

SERVERS = 3
FAULTY_SECONDS = 40.0
SETTLE_SECONDS = 20.0
"""Longer than a take-over after an outage, and the return of a device to its home."""
FAULT_SECONDS = (0.5, 3.0, 7.0, 15.0, 20.0)
FAULTS = {"freeze": 0.04, "kill": 0.02, "stop": 0.02, "notices": 0.04, "cut": 0.03, "outage": 0.01}
"""The probability of each at each step. `notices`: the connection for these alone is lost."""


async def run_history(
    database: Database,
    seed: int,
    devices: Iterable[int],
    *,
    faults: Collection[str] | None = None,
    frozen_deciders: float = 0.04,
    linked: bool = False,
) -> History:
    """Run one history, and return what was noted. Trio's clock must be a MockClock; it stands meanwhile.

    Args:
        database: that of `open_histories`, or another one that `prepare` has seen.
        seed: of faults and turns.
        devices: their ids.
        faults: names from FAULTS; None: the seed chooses some of them, since rare ones hide behind others.
        frozen_deciders: the probability, at each step, that a server that begins a transaction is frozen
            until it has been declared dead.
        linked: whether servers have a link, by which commands go to devices; it delays, loses and is cut.
    """
    await empty(database)
    choose = random.Random(seed)
    if faults is None:
        faults = [name for name in FAULTS if choose.random() < 0.5]
    async with trio.open_nursery() as nursery:
        with _standing_clock() as clock:
            world = _World(
                database, clock, choose, tuple(devices), nursery, faults, frozen_deciders, linked=linked
            )
            try:
                await world.run()
                return await world.noted()
            finally:
                world.end()
                if linked:
                    # What is on its way, and who waits for an answer.
                    nursery.cancel_scope.cancel()


@contextmanager
def _standing_clock() -> Iterator[MockClock]:
    clock = trio.lowlevel.current_clock()
    assert isinstance(clock, MockClock)
    rate, clock.rate = clock.rate, 0.0
    try:
        yield clock
    finally:
        clock.rate = rate


LINK_DELAYS = ((0.0, 0.0), (0.0, 1.0), (0.5, 6.0))
"""Seconds that a message takes, least and most."""
LINK_LOSSES = (0.0, 0.05, 0.3)


class _World:
    """Servers, devices and what befalls them."""

    def __init__(
        self,
        database: Database,
        clock: MockClock,
        choose: random.Random,
        devices: tuple[int, ...],
        nursery: trio.Nursery,
        faults: Collection[str],
        frozen_deciders: float,
        *,
        linked: bool = False,
    ) -> None:
        self._clock = clock
        self._began = trio.current_time()
        self._database = database
        self._devices = devices
        self._scheduler = StatementScheduler(database, random.Random(choose.random()))
        self._notices = Notices()
        self._all: list[HistoryServer] = []
        self._choose = choose
        self._nursery = nursery
        self._faults = faults
        self._frozen_deciders = frozen_deciders
        self._network = None
        if linked:
            delays = choose.choice(LINK_DELAYS)
            self._network = FakeNetwork(nursery, choose.random(), delays, choose.choice(LINK_LOSSES))
        self._commands: dict[str, Result] = {}
        """What clients were answered; unknown until then."""
        self._cut_pipes: dict[FakePipe, float] = {}
        """Until when each is cut."""
        self._connections: dict[int, DeviceConnection | None] = dict.fromkeys(devices)
        """The one that each device uses."""
        self._outages: list[list[float]] = []
        """When each began, and when it ends."""

    @property
    def _now(self) -> float:
        return trio.current_time() - self._began

    @property
    def _running(self) -> list[HistoryServer]:
        return [server for server in self._all if not server.has_ended]

    def _closed(self, connection: DeviceConnection) -> None:
        """A device notices that its connection is closed."""
        if self._connections[connection.device] is connection:
            self._connections[connection.device] = None

    async def run(self) -> None:
        """Let time pass with faults, and then without."""
        choose = self._choose
        while self._now < FAULTY_SECONDS:
            self._befall()
            await self._pass(choose.uniform(0.0, 0.8), share=0.7)
        self._heal()
        end = self._now + SETTLE_SECONDS
        while self._now < end:
            if not self._running:
                self._start()
            self._move(0.0, 1.0)
            if self._network is not None:
                self._send_commands()
            await self._pass(0.5, share=1.0)

    def _befall(self) -> None:
        """Start what is missing; let servers and the database fail, and devices move."""
        choose = self._choose
        running = self._running
        if len(running) < SERVERS and (not running or choose.random() < 0.2):
            self._start()
        server = choose.choice(self._running)
        fault = choose.choices((*FAULTS, ""), (*FAULTS.values(), 1 - sum(FAULTS.values())))[0]
        if fault in self._faults:
            self._fail(server, fault)
        for deciding in self._running:
            if self._scheduler.is_deciding(deciding.pace) and choose.random() < self._frozen_deciders:
                self._freeze(deciding, max(FAULT_SECONDS))
        self._move(0.06, 0.4)
        if self._network is not None:
            self._befall_link()

    def _befall_link(self) -> None:
        """Let a server lose its connection to the others, and people send commands."""
        choose = self._choose
        for server in self._running:
            if server.pipe.is_connected and choose.random() < 0.03:
                server.pipe.cut()
                self._cut_pipes[server.pipe] = self._until()
        self._send_commands()

    def _send_commands(self) -> None:
        asked = [server for server in self._running if server.is_serving and not server.pace.is_frozen]
        for _ in range(self._choose.randrange(3) if asked else 0):
            name = f"command {len(self._commands) + 1}"
            self._commands[name] = "unknown"
            server = self._choose.choice(asked)
            self._nursery.start_soon(self._send_command, server, self._choose.choice(self._devices), name)

    async def _send_command(self, server: HistoryServer, device: int, name: str) -> None:
        self._commands[name] = await server.send(device, name)

    def _tend_pipes(self, *, heals: bool = False) -> None:
        """Mend the connections of servers, and let those that woke read."""
        for server in self._running:
            if server.pipe is None:
                continue
            if not server.pipe.is_connected and (
                heals or self._cut_pipes[server.pipe] <= trio.current_time()
            ):
                server.pipe.mend()
            if server.pace.is_frozen:
                server.pipe.is_frozen = True
            elif server.pipe.is_frozen:
                server.pipe.thaw()

    def _until(self) -> float:
        return trio.current_time() + self._choose.choice(FAULT_SECONDS)

    def _fail(self, server: HistoryServer, fault: str) -> None:
        pace = server.pace
        match fault:
            case "freeze":
                self._freeze(server, self._choose.choice(FAULT_SECONDS))
            case "kill":
                self._kill(server)
            case "stop":
                server.stop()
            case "notices" if pace.notices is not None:
                pace.notices.terminate()
            case "cut" if not pace.is_cut:
                pace.is_refused = self._choose.random() < 0.5
                if pace.is_refused:
                    self._lose_connections(server)
                pace.cut_until = self._until()
            case "outage" if not self._scheduler.is_down:
                self._scheduler.is_down = True
                self._outages.append([trio.current_time(), self._until()])
                for each in self._running:
                    self._lose_connections(each)
                self._scheduler.lose_connections(self._scheduler.postgres)

    def _freeze(self, server: HistoryServer, seconds: float) -> None:
        if not server.pace.is_frozen:
            server.pace.frozen_until = trio.current_time() + seconds

    def _kill(self, server: HistoryServer) -> None:
        server.kill()
        self._ended(server)

    async def _run(self, server: HistoryServer) -> None:
        await server.run()
        self._ended(server)

    def _ended(self, server: HistoryServer) -> None:
        for connection in list(self._connections.values()):
            if connection is not None and connection.server is server:
                self._closed(connection)

    def _lose_connections(self, server: HistoryServer) -> None:
        self._scheduler.lose_connections(server.pace)
        if server.pace.notices is not None:
            server.pace.notices.terminate()

    def _start(self) -> None:
        server = HistoryServer(
            self._database,
            self._scheduler,
            self._notices,
            self._devices,
            self._closed,
            self._began,
            None if self._network is None else self._network.pipe(),
        )
        self._all.append(server)
        self._nursery.start_soon(self._run, server)

    def _move(self, moving: float, returning: float) -> None:
        """Let devices connect: those that are connected, and those that are not, with these probabilities."""
        serving = [server for server in self._all if server.is_serving]
        for device, old in self._connections.items():
            chance = returning if old is None else moving
            if old is not None and old.server.pace.is_frozen:
                # Without an answer it tries elsewhere.
                chance = returning
            if not serving or self._choose.random() >= chance:
                continue
            if old is not None and self._choose.random() < 0.8:
                old.server.received.append((old, False))
            connection = DeviceConnection(device, self._choose.choice(serving))
            connection.server.received.append((connection, True))
            self._connections[device] = connection

    async def _pass(self, seconds: float, share: float) -> None:
        """Let time pass, and this share of what waits happen."""
        await self._scheduler.quiet()
        cut = [server for server in self._running if server.pace.is_cut]
        self._clock.jump(seconds)
        await set_clock(self._database, trio.current_time())
        self._reach_again(cut)
        self._tend_pipes()
        for server in self._running:
            if not server.pace.is_frozen:
                # Without faults it reads all that waits, as a process does that wakes.
                for _ in range(len(server.received) if share == 1.0 else self._choose.random() < share):
                    server.receive()
                if (
                    server.pace.notices is not None
                    and not server.pace.is_cut
                    and self._choose.random() < share
                ):
                    server.pace.notices.receive()
        self._scheduler.give(to_all=share == 1.0)
        await self._scheduler.quiet()

    def _reach_again(self, cut: list[HistoryServer]) -> None:
        """End the outage, and what cut these servers off, if it is time."""
        if self._outages and self._outages[-1][1] <= trio.current_time():
            self._scheduler.is_down = False
        for server in cut:
            # Without an answer for a while, connections may be lost or not.
            if not server.pace.is_cut and not server.pace.is_refused and self._choose.random() < 0.5:
                self._lose_connections(server)

    def _heal(self) -> None:
        """End all faults."""
        now = trio.current_time()
        self._scheduler.is_down = False
        if self._outages:
            self._outages[-1][1] = min(self._outages[-1][1], now)
        for server in self._running:
            server.pace.frozen_until = server.pace.cut_until = now
        self._tend_pipes(heals=True)

    async def noted(self) -> History:
        """Return what the database noted, and where devices are at the end."""
        fetch = self._database.fetch
        versions = await fetch("select key, epoch, owner, number from history_versions")
        decisions = await fetch("select key, epoch, number, what from history_decisions")
        edges = await fetch("select edge from history_edges")
        homes = await fetch("select device_id, coalesce(node, 0) from homes")
        deaths = await fetch("select node, fresh_until, declared from history_deaths")
        runs = Counter(row[0] for row in edges)
        last = max(int(FAULTY_SECONDS / EDGE_SECONDS), *runs, 1)
        where = {row[0]: row[1] for row in homes}
        arrived = Counter(name for server in self._all for name in server.arrived)
        return History(
            commands=[Command(name, result, arrived[name]) for name, result in self._commands.items()],
            versions=[Version(*row.values()) for row in versions],
            decisions=[Decision(*row.values()) for row in decisions],
            edges=[Edge(DUTY, float(edge), runs[edge]) for edge in range(1, last + 1)],
            whereabouts=[self._whereabouts(device, where.get(device, 0)) for device in self._devices],
            deaths=[
                Death(node, declared - renewed - self._outage(renewed, declared))
                for node, renewed, declared in (
                    (row[0], row[1] - nodes.LIFE_SECONDS, row[2]) for row in deaths
                )
                if any(each.node == node and each.ending_since >= declared for each in self._all)
            ],
        )

    def _whereabouts(self, device: int, home: int) -> Whereabouts:
        connection = self._connections[device]
        node, since = 0, self._now
        if connection is not None and connection.server.connections.get(device) is connection:
            node, since = connection.server.node, connection.since - self._began
        return Whereabouts(str(device), node, home, self._now - max(since, FAULTY_SECONDS))

    def _outage(self, began: float, ended: float) -> float:
        """Return the seconds of this time in which the database answered nobody."""
        return sum(max(0.0, min(ended, end) - max(began, begin)) for begin, end in self._outages)

    def end(self) -> None:
        """End all servers, and what PostgreSQL does for them."""
        self._scheduler.postgres.is_killed = True
        self._scheduler.lose_connections(self._scheduler.postgres)
        for server in self._running:
            server.kill()
