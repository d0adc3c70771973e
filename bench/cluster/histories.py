"""Random histories of servers on one database, in one process and on simulated time.

The rules of servers are those of the program: rows of servers, homes of devices and duties, with their
statements and actors. What is around them is simulated: connections of devices, broadcasts and faults. The
seed chooses faults and turns; statements that get a turn together are executed side by side.
"""

import random
from collections import Counter, deque
from collections.abc import Iterable
from functools import partial

import trio

from motorpool.actors.change_feed import apply_changes
from motorpool.actors.devices.homes import homes_spec
from motorpool.actors.duties import Duties
from motorpool.actors.messages.changes import LOCAL_CHANGES, Change, DutyReleased, EverythingChanged
from motorpool.actors.messages.homes import HOMES, DeviceConnected, DeviceDisconnected
from motorpool.actors.messages.uplink import DEVICE, ConnectedElsewhere, DeviceMessage
from motorpool.bench.checks.server_history import Decision, Edge, History, Version, Whereabouts
from motorpool.bench.cluster.history_tables import empty
from motorpool.bench.cluster.turns import Pace, PacedDatabase, Turns
from motorpool.runtime import Actor, DynamicSpec, System
from motorpool.runtime.testing import open_tree
from motorpool.storage import membership, nodes
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = ["run_history"]

SERVERS = 3
FAULTY_SECONDS = 40.0
SETTLE_SECONDS = 30.0
"""Longer than a take-over and the return of a device to its home."""
FROZEN_SECONDS = (0.5, 3.0, 7.0, 15.0, 20.0)
EDGE_SECONDS = 1.0
LOOK_SECONDS = 1.0
DUTY = "schedule"


async def run_history(
    database: Database, seed: int, devices: Iterable[int], *, frozen_deciders: float = 0.04
) -> History:
    """Run one history, and return what was noted.

    `frozen_deciders` is the probability that a server that is about to commit is frozen, at each step.
    """
    await empty(database)
    async with trio.open_nursery() as nursery:
        world = _World(database, random.Random(seed), tuple(devices), nursery, frozen_deciders)
        await world.run()
        history = await world.noted()
        nursery.cancel_scope.cancel()
    return history


class _Connection:
    """Of a device to a server."""

    def __init__(self, device: int, server: "_Server") -> None:
        self.device = device
        self.server = server
        self.since = 0.0


class _Device(Actor[DeviceMessage]):
    """The actor of a device at one server."""

    def __init__(self, server: "_Server", device: int) -> None:
        self._server = server
        self._device = device

    def handle(self, message: DeviceMessage) -> None:
        """Close the connection if the device is connected elsewhere."""
        if isinstance(message, ConnectedElsewhere):
            self._server.close(self._device)


class _Server:
    """One start of a server, from its row to its death."""

    def __init__(self, world: "_World") -> None:
        self.world = world
        self.pace = Pace()
        self.database = PacedDatabase(world.database, world.turns, self.pace)
        self.node = 0
        self.received: deque[tuple[_Connection, bool]] = deque()
        """What arrived on its connections: a login, or the end."""
        self.broadcasts: list[Change] = []
        """Of other servers, not applied yet."""
        self.connections: dict[int, _Connection] = {}
        self.scope = trio.CancelScope()
        self._system: System

    async def run(self, task_status: trio.TaskStatus[None]) -> None:
        """Join the others, and run until killed or declared dead."""
        with self.scope:
            self.node = await nodes.join(self.world.database, "bench", "history", "0")
            duties = Duties(self.database, self.node)
            devices = DynamicSpec(kind=DEVICE, name="devices", factory=partial(_Device, self))
            async with open_tree(homes_spec(self.database, self.node), devices) as system:
                self._system = system
                for device in self.world.devices:
                    await system.start(DEVICE, device, partial(_Device, self, device))
                listener = system.topic(LOCAL_CHANGES).listen(self._broadcast)
                task_status.started()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._renew)
                    nursery.start_soon(self._watch_servers)
                    nursery.start_soon(self._look, duties)
                    nursery.start_soon(self._fire, duties)
                listener.cancel()

    def _broadcast(self, changes: tuple[Change, ...]) -> None:
        for other in self.world.servers:
            if other is not self:
                other.broadcasts.extend(changes)

    async def _sleep(self, seconds: float) -> None:
        await self.world.turns.sleep(self.pace, seconds)

    async def _renew(self) -> None:
        began = self.world.turns.now
        while await nodes.renew(self.database, self.node):
            if self.world.turns.now - began > membership.SETTLED_SECONDS:
                await nodes.bury(self.database)
            await self._sleep(membership.RENEW_SECONDS)
        self.world.end(self)

    async def _watch_servers(self) -> None:
        living: frozenset[int] = frozenset()
        while True:
            before, living = living, await nodes.living(self.database)
            if before - living:
                await apply_changes(self._system, EverythingChanged())
            await self._sleep(membership.RENEW_SECONDS)

    async def _look(self, duties: Duties) -> None:
        duty = duties.duty(DUTY)
        assert duty is not None
        duty.is_wanted = True
        while True:
            await duties.look()
            await self._sleep(LOOK_SECONDS)

    async def _fire(self, duties: Duties) -> None:
        """Decide by what is in memory which edges have passed, as the timetable does."""
        duty = duties.duty(DUTY)
        assert duty is not None
        while True:
            holding = await duty.held()
            last = await self.database.fetch_value("select coalesce(max(edge), 0) from history_edges")
            while duty.holding is holding:
                due = int(self.world.turns.now / EDGE_SECONDS)
                if due > last:
                    try:
                        async with holding.database.transaction() as transaction:
                            await transaction.execute(
                                "insert into history_edges"
                                " select edge, $3::bigint from generate_series($1::int, $2::int) edge",
                                last + 1,
                                due,
                                holding.epoch,
                            )
                    except StorageError:
                        break
                    last = due
                await self._sleep(EDGE_SECONDS / 2)

    # What the world does to it

    def receive(self) -> None:
        """Read the first that has arrived."""
        if self.received:
            connection, is_login = self.received.popleft()
            device = connection.device
            if is_login:
                connection.since = self.world.turns.now
                self.connections[device] = connection
                self._system.ref(HOMES).offer(DeviceConnected(device))
            elif self.connections.get(device) is connection:
                del self.connections[device]
                self._system.ref(HOMES).offer(DeviceDisconnected(device))

    async def apply(self) -> None:
        """Apply the broadcasts of others."""
        changes, self.broadcasts = self.broadcasts, []
        known = [change for change in changes if not isinstance(change, DutyReleased)]
        if known:
            await apply_changes(self._system, *known)

    def close(self, device: int) -> None:
        """Close the connection of a device."""
        connection = self.connections.pop(device, None)
        if connection is not None:
            self._system.ref(HOMES).offer(DeviceDisconnected(device))
            self.world.closed(connection)


class _World:
    """Servers, devices and what befalls them."""

    def __init__(
        self,
        database: Database,
        choose: random.Random,
        devices: tuple[int, ...],
        nursery: trio.Nursery,
        frozen_deciders: float,
    ) -> None:
        self.database = database
        self.devices = devices
        self.turns = Turns(choose)
        self.servers: list[_Server] = []
        self._choose = choose
        self._nursery = nursery
        self._frozen_deciders = frozen_deciders
        self._connections: dict[int, _Connection | None] = dict.fromkeys(devices)
        """The one that each device uses."""

    def closed(self, connection: _Connection) -> None:
        """A device notices that its connection is closed."""
        if self._connections[connection.device] is connection:
            self._connections[connection.device] = None

    def end(self, server: _Server) -> None:
        """Kill a server."""
        if server in self.servers:
            self.servers.remove(server)
            server.scope.cancel()
            for connection in list(self._connections.values()):
                if connection is not None and connection.server is server:
                    self.closed(connection)

    async def run(self) -> None:
        """Let time pass with faults, and then without."""
        choose = self._choose
        while self.turns.now < FAULTY_SECONDS:
            await self._befall()
            await self._pass(choose.uniform(0.0, 0.8), share=0.7)
        for server in self.servers:
            server.pace.frozen_until = 0.0
        end = self.turns.now + SETTLE_SECONDS
        while self.turns.now < end:
            await self._move(0.0, 1.0)
            await self._pass(0.5, share=1.0)

    async def _befall(self) -> None:
        """Start what is missing; freeze, kill, drop broadcasts and move devices."""
        choose = self._choose
        if len(self.servers) < SERVERS and (not self.servers or choose.random() < 0.2):
            await self._start()
        server = choose.choice(self.servers)
        fault = choose.random()
        if fault < 0.04:
            self._freeze(server)
        elif fault < 0.06:
            self.end(server)
        elif fault < 0.1 and server.broadcasts:
            # The connection is lost: everything is read again.
            server.broadcasts = [EverythingChanged()]
        for deciding in self.servers:
            if self.turns.is_deciding(deciding.pace) and choose.random() < self._frozen_deciders:
                self._freeze(deciding)
        await self._move(0.06, 0.4)

    def _freeze(self, server: _Server) -> None:
        if not self.turns.is_frozen(server.pace):
            server.pace.frozen_until = self.turns.now + self._choose.choice(FROZEN_SECONDS)

    async def _start(self) -> None:
        server = _Server(self)
        await self._nursery.start(server.run)
        self.servers.append(server)

    async def _move(self, moving: float, returning: float) -> None:
        """Let devices connect: those that are connected, and those that are not, with these probabilities."""
        if not self.servers:
            await self._start()
        for device, old in self._connections.items():
            chance = returning if old is None else moving
            if old is not None and self.turns.is_frozen(old.server.pace):
                # Without an answer it tries elsewhere.
                chance = returning
            if self._choose.random() >= chance:
                continue
            if old is not None and self._choose.random() < 0.8:
                old.server.received.append((old, False))
            connection = _Connection(device, self._choose.choice(self.servers))
            connection.server.received.append((connection, True))
            self._connections[device] = connection

    async def _pass(self, seconds: float, share: float) -> None:
        """Let time pass, and this share of what waits happen."""
        await self.turns.quiet()
        self.turns.now += seconds
        await self.database.execute(
            "update nodes set seen_until = seen_until - make_interval(secs => $1) where state <> 'dead'",
            seconds,
        )
        for server in list(self.servers):
            if not self.turns.is_frozen(server.pace):
                if self._choose.random() < share:
                    server.receive()
                if self._choose.random() < share:
                    await server.apply()
        self.turns.give(to_all=share == 1.0)
        await self.turns.quiet()

    async def noted(self) -> History:
        """Return what the database noted, and where devices are at the end."""
        versions = await self.database.fetch("select key, epoch, owner, number from history_versions")
        decisions = await self.database.fetch("select key, epoch, number, what from history_decisions")
        edges = await self.database.fetch("select edge from history_edges")
        homes = await self.database.fetch("select device_id, coalesce(node, 0) from homes")
        runs = Counter(row[0] for row in edges)
        where = {row[0]: row[1] for row in homes}
        history = History(
            versions=[Version(*row.values()) for row in versions],
            decisions=[Decision(*row.values()) for row in decisions],
            edges=[
                Edge(DUTY, float(edge), runs[edge])
                for edge in range(1, max(int(FAULTY_SECONDS / EDGE_SECONDS), *runs, 1) + 1)
            ],
        )
        for device, connection in self._connections.items():
            node, since = 0, self.turns.now
            if connection is not None and connection.server.connections.get(device) is connection:
                node, since = connection.server.node, connection.since
            history.whereabouts.append(
                Whereabouts(
                    str(device), node, where.get(device, 0), self.turns.now - max(since, FAULTY_SECONDS)
                )
            )
        return history
