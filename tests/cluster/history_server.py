"""A server of a random history: actors of the program, and simulated ones around them."""

import math
from collections import deque
from collections.abc import Callable
from functools import partial

import msgspec
import trio
from tests.cluster.fake_pipe import FakePipe
from tests.cluster.notices import Notices
from tests.cluster.statement_scheduler import Pace, PacedDatabase, StatementScheduler
from tests.runtime.actor_testing import open_tree

from motorpool.actors.cluster.change_relay import ChangeRelay
from motorpool.actors.cluster.duties import Duties
from motorpool.actors.cluster.home_finder import HomeFinder
from motorpool.actors.cluster.homes import Homes
from motorpool.actors.cluster.link_server import LinkServer
from motorpool.actors.devices import far_device
from motorpool.actors.messages.homes import HOMES, DeviceConnected, DeviceDisconnected
from motorpool.actors.messages.uplink import (
    DEVICE,
    CommandOutcome,
    CommandRefused,
    CommandSent,
    ConnectedElsewhere,
    DeviceMessage,
    SendCommand,
)
from motorpool.bench.checks.server_history import Result
from motorpool.runtime import (
    Actor,
    ActorError,
    Arrived,
    Busy,
    ChildSpec,
    DynamicSpec,
    Kind,
    Link,
    NodeLocal,
    SharedTime,
    System,
    TaskSpec,
    Unreachable,
)
from motorpool.storage.cluster.membership import open_membership
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError

DUTY = "schedule"
EDGE_SECONDS = 1.0
_CONNECTIONS: Kind[None, None] = Kind("connections")
_EDGES: Kind[None, None] = Kind("edges")
_FIRE = "insert into history_edges select edge, $3::bigint from generate_series($1::int, $2::int) edge"


class DeviceConnection:
    """Of a device to a server."""

    def __init__(self, device: int, server: "HistoryServer") -> None:
        self.device = device
        self.server = server
        self.since = 0.0
        """When the server read the login."""


class HistoryServer:
    """One start of a server, until it has ended.

    Args:
        database: that of all servers.
        scheduler: when it reaches the database.
        notices: those of all servers.
        devices: their ids.
        on_close: called with a connection that the server closes.
        began: when edges began, by Trio's clock.
        pipe: to the other servers; None: there is no link.
    """

    def __init__(
        self,
        database: Database,
        scheduler: StatementScheduler,
        notices: Notices,
        devices: tuple[int, ...],
        on_close: Callable[[DeviceConnection], None],
        began: float,
        pipe: FakePipe | None = None,
    ) -> None:
        self.pipe = pipe
        self.arrived: list[str] = []
        """The commands that its devices got."""
        self.pace = Pace()
        self.node = 0
        """Its number; 0 while it joins the others."""
        self.is_serving = False
        """Whether devices can connect."""
        self.has_ended = False
        self.ending_since = math.inf
        """When it was killed or told to end, by Trio's clock."""
        self.received: deque[tuple[DeviceConnection, bool]] = deque()
        """What arrived on its connections: a login, or the end."""
        self.connections: dict[int, DeviceConnection] = {}
        self.database = PacedDatabase(database, scheduler, self.pace, notices)
        self.began = began
        self._scheduler = scheduler
        self._devices = devices
        self._on_close = on_close
        self._stopping = trio.Event()
        self._scope = trio.CancelScope()
        self._system: System

    async def run(self) -> None:
        """Join the others, and serve until killed, stopped or declared dead."""
        with self._scope:
            try:
                async with open_membership(self.database, "bench", "0", on_dead=self.stop) as self.node:
                    duties = Duties(self.database, self.node)
                    async with open_tree(
                        *duties.keeper_specs(),
                        ChildSpec(kind=HOMES, factory=lambda: Homes(self.database, self.node)),
                        DynamicSpec(
                            kind=DEVICE,
                            name="devices",
                            factory=self._devices_factory(),
                            # A frozen server waits for the database as long as it is frozen.
                            start_seconds=3600.0,
                        ),
                        ChildSpec(kind=_CONNECTIONS, factory=lambda: _Connections(self)),
                        TaskSpec(name="change_relay", factory=lambda: ChangeRelay(self.database)),
                        duties.only(DUTY, partial(self._edges, duties), _EDGES),
                        *self._link_specs(),
                    ) as self._system:
                        for device in self._devices:
                            await self._system.start(DEVICE, device)
                        self.is_serving = not self._stopping.is_set()
                        await self._stopping.wait()
                        self.is_serving = False
            except StorageError:
                # It did not start, since the database cannot be reached.
                pass
        self.is_serving, self.has_ended = False, True
        if self.pipe is not None and not self.pace.is_killed:
            self.pipe.close()

    def _devices_factory(self) -> Callable[[int], Actor[DeviceMessage]]:
        def here(key: int) -> Actor[DeviceMessage]:
            return _Device(self, key)

        if self.pipe is None:
            return here
        link = self._link = Link(self.pipe, self.node, _SharedClock(), (far_device.CARRIED,))
        finder = HomeFinder(self.database, self.node, trio.current_time)
        return lambda key: far_device.far_device(key, link, finder, here)

    def _link_specs(self) -> list[TaskSpec]:
        if self.pipe is None:
            return []
        return [TaskSpec(name="link", factory=lambda: LinkServer(self._link))]

    async def send(self, device: int, name: str) -> Result:
        """Send a command to a device, wherever it is, as a request of HTTP does."""
        try:
            answer = await self._system.ref(DEVICE, device).ask(SendCommand(name, no_queue=True))
        except (Unreachable, Busy):
            return "fail"
        except (ActorError, StorageError):
            return "unknown"
        return "ok" if isinstance(answer, CommandSent) else "fail"

    def _edges(self, duties: Duties, database: Database) -> "_Edges":
        duty = duties.duty(DUTY)
        assert duty is not None
        assert duty.holding is not None
        return _Edges(database, self.began, duty.holding.epoch)

    def stop(self) -> None:
        """End in order."""
        self.ending_since = min(self.ending_since, trio.current_time())
        self._stopping.set()

    def kill(self) -> None:
        """End at once: nothing that it begins now reaches the database."""
        self.pace.is_killed = True
        self.ending_since = min(self.ending_since, trio.current_time())
        self.is_serving, self.has_ended = False, True
        self._scheduler.lose_connections(self.pace)
        if self.pipe is not None:
            self.pipe.close()
        self._scope.cancel()

    def receive(self) -> None:
        """Read the first that has arrived from devices."""
        if self.received and self.is_serving:
            connection, is_login = self.received.popleft()
            device = connection.device
            if is_login:
                connection.since = trio.current_time()
                self.connections[device] = connection
                self._system.ref(DEVICE, device).offer(_LoggedIn())
                self._system.ref(HOMES).offer(DeviceConnected(device))
            elif self.connections.get(device) is connection:
                del self.connections[device]
                self._system.ref(HOMES).offer(DeviceDisconnected(device))

    def close(self, device: int) -> None:
        """Close the connection of a device."""
        connection = self.connections.pop(device, None)
        if connection is not None:
            self._system.ref(HOMES).offer(DeviceDisconnected(device))
            self._on_close(connection)


class _LoggedIn(msgspec.Struct, NodeLocal, frozen=True):
    """The device has a connection to this server."""


class _SharedClock(SharedTime):
    """The clock of the database, with which all agree."""

    def __init__(self) -> None:
        """Needs no other clock."""

    def now(self) -> float:
        return trio.current_time()


class _Device(Actor[DeviceMessage]):
    """The actor of a device."""

    def __init__(self, server: HistoryServer, device: int) -> None:
        self._server = server
        self._device = device

    def handle(self, message: DeviceMessage | _LoggedIn) -> CommandOutcome | None:
        """Close the connection if the device is connected elsewhere; pass on commands to one that is here."""
        match message:
            case Arrived():
                return self.handle(message.message)
            case ConnectedElsewhere():
                self._server.close(self._device)
                if self._server.pipe is not None:
                    self.context.leave()
            case SendCommand():
                if self._device in self._server.connections:
                    self._server.arrived.append(message.type)
                    return CommandSent()
                if self._server.pipe is not None:
                    self.context.leave()
                return CommandRefused("the device is offline", offline=True)
        return None


class _Connections(Actor[None]):
    """Ends after what needs homes, and before them."""

    def __init__(self, server: HistoryServer) -> None:
        self._server = server

    def handle(self, message: None) -> None:
        """Takes no messages."""

    async def stop(self) -> None:
        """Close all."""
        for device in list(self._server.connections):
            self._server.close(device)


class _Edges(Actor[None]):
    """Decides by what is in memory which edges have passed, as the timetable does."""

    def __init__(self, database: Database, began: float, epoch: int) -> None:
        self._database = database
        self._began = began
        self._epoch = epoch

    def handle(self, message: None) -> None:
        """Takes no messages."""

    async def run(self) -> None:
        """Fire what is due, until the duty is lost."""
        while True:
            try:
                last = await self._database.fetch_value("select coalesce(max(edge), 0) from history_edges")
                while True:
                    due = int((trio.current_time() - self._began) / EDGE_SECONDS)
                    if due > last:
                        async with self._database.transaction() as transaction:
                            await transaction.execute(_FIRE, last + 1, due, self._epoch)
                        last = due
                    await trio.sleep(EDGE_SECONDS / 2)
            except StorageError:
                # It is not known whether the edges were committed.
                await trio.sleep(EDGE_SECONDS / 2)
