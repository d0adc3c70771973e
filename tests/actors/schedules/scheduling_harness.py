"""For the checker of scheduled commands: Trio in a thread, and on it a server that can be started, stopped
and cut off at any statement.

hypothesis' state machine is no coroutine. So Trio runs in a thread of its own for the whole test, and each
rule has its part done there.
"""

import threading
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import trio
from tests.runtime.actor_testing import TestClock, open_tree

from motorpool.actors.devices.device import device_spec
from motorpool.actors.devices.device_loader import DEVICE_LOADER, DeviceLoader
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.devices.position_writer import POSITION_WRITER
from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.files.media_files import open_media_files
from motorpool.actors.messages.command_log import COMMAND_LOG
from motorpool.actors.messages.directory import DIRECTORY
from motorpool.actors.messages.downlink import CONNECTION, EncodingRefused, Transmit, Transmitted
from motorpool.actors.messages.uplink import DEVICE, Connected, Disconnected
from motorpool.actors.tree import schedule_spec
from motorpool.actors.video.media_requests import MEDIA_REQUESTS
from motorpool.codecs.reports import MediaAddress
from motorpool.runtime import Actor, ChildSpec, Deferred, DynamicSpec, Kind, Restart
from motorpool.storage.database.database import open_database
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
EMPTY = "".join(
    f"delete from {table};"
    for table in (
        "queued_commands",
        "scheduled_command_runs",
        "scheduled_commands",
        "calendars",
        "commands",
        "devices",
        "groups",
        "users",
    )
)


class KillSwitch:
    """Ends a run of the server: once it is cut, nothing that the run does has an effect."""

    def __init__(self):
        self.is_cut = False
        self.left = None
        """Statements and commits until it is cut; None for never."""

    def check(self):
        if self.left is not None:
            self.is_cut = self.is_cut or self.left <= 0
            self.left -= 1
        if self.is_cut:
            raise StorageUnavailable("this server is no more")


class InterruptibleDatabase(Queries):
    """The database as one run of the server sees it."""

    def __init__(self, inner, kill_switch):
        self._inner = inner
        self._kill_switch = kill_switch

    async def _call(self, method, *args, **more):
        self._kill_switch.check()
        return await self._inner._call(method, *args, **more)

    def stream(self, sql, *args, batch=1000):
        self._kill_switch.check()
        return self._inner.stream(sql, *args, batch=batch)

    @asynccontextmanager
    async def transaction(self, *, seconds=None):
        async with self._inner.transaction(seconds=seconds) as inner:
            yield InterruptibleDatabase(inner, self._kill_switch)
            self._kill_switch.check()
        self._kill_switch.check()


class SimulatedTerminal(Actor):
    """A device's connection."""

    def __init__(self, device, server_run):
        self._device = device
        self._server_run = server_run

    def handle(self, message):
        if not isinstance(message, Transmit):
            return None
        if self._server_run.kill_switch.is_cut or self._device in self._server_run.declining:
            return EncodingRefused("not now")
        self._server_run.received.append((self._device, message.command.attributes["data"]))
        return Deferred() if self._server_run.is_stalled else Transmitted(None)


class IgnoringActor(Actor):
    """Stands in for actors whose messages do not matter here."""

    def handle(self, message):
        pass


class Connector(Actor):
    """Connects devices before the actors below it in the tree start."""

    def __init__(self, server_run, device_ids):
        self._server_run = server_run
        self._device_ids = device_ids

    async def start(self):
        for device_id in self._device_ids:
            await self._server_run.connect(device_id, self.context.system)

    def handle(self, message):
        pass


CONNECTOR = Kind("connector")


class ServerRun:
    """One run of the server, from its start to its end."""

    def __init__(self, harness, now, online, declining):
        self.harness = harness
        self.clock = TestClock(now)
        self.kill_switch = KillSwitch()
        self.declining = declining
        self.received = []
        self.is_stalled = False
        self.system = None
        self.ended = trio.Event()
        self._end = trio.Event()
        self._online = online
        self._connections = {}
        self._numbers = iter(range(1, 1_000_000))

    async def run(self, task_status):
        database = InterruptibleDatabase(self.harness.database, self.kill_switch)
        rule_cache = RuleCache(database)
        ignoring = (POSITION_WRITER, DIRECTORY, MEDIA_REQUESTS, COMMAND_LOG)
        tree = open_tree(
            *(ChildSpec(kind=kind, factory=IgnoringActor) for kind in ignoring),
            ChildSpec(kind=DEVICE_LOADER, factory=lambda: DeviceLoader(database, rule_cache)),
            device_spec(
                database,
                DeviceOptions(
                    MediaAddress("192.0.2.1", 1, 2, 3), open_media_files(self.harness.folder), 600.0
                ),
                rule_cache,
                idle_seconds=None,
            ),
            DynamicSpec(
                kind=CONNECTION,
                name="connections",
                factory=None,
                restart=Restart.TEMPORARY,
            ),
            ChildSpec(kind=CONNECTOR, factory=lambda: Connector(self, self._online)),
            schedule_spec(database),
            clock=self.clock,
        )
        async with tree as self.system:
            task_status.started()
            await self._end.wait()
        self.ended.set()

    async def connect(self, device_id, system):
        number = next(self._numbers)
        ref = await system.start(CONNECTION, number, lambda: SimulatedTerminal(device_id, self))
        self._connections[device_id] = ref
        row = await devices.TABLE.fetch(self.harness.database, device_id)
        connected = Connected(ref, "jt808", "192.0.2.7", "198.51.100.1", (row.unique_id,))
        await system.ref(DEVICE, device_id).tell(connected)

    async def disconnect(self, device_id):
        ref = self._connections.pop(device_id)
        await self.system.ref(DEVICE, device_id).tell(Disconnected(ref))

    async def stop(self):
        self._end.set()
        await self.harness.time.settle()
        while not self.ended.is_set():
            await self.harness.time.passes(1)


class Harness:
    """Trio in a thread, and on it a database and a server."""

    def __init__(self, url, time, folder):
        self.time, self.folder = time, folder
        self.database = self.server_run = None
        self._url = url
        self._failure = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._in_thread)

    def __enter__(self):
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_):
        trio.from_thread.run_sync(self._over.set, trio_token=self._token)
        self._thread.join()

    def _in_thread(self):
        try:
            trio.run(self._main, clock=self.time)
        finally:
            self._ready.set()

    async def _main(self):
        self._over = trio.Event()
        database_settings = DatabaseSettings(url=self._url, pool_size=4)
        async with (
            open_database(database_settings, clock_now=lambda: NOW) as self.database,
            trio.open_nursery() as self._nursery,
        ):
            self.time.databases.append(self.database)
            self._token = trio.lowlevel.current_trio_token()
            self._ready.set()
            await self._over.wait()

    def call(self, asyncfn, *args):
        """Have it done in Trio's thread, and wait."""
        return trio.from_thread.run(asyncfn, *args, trio_token=self._token)

    async def begin(self, now, online=(), declining=()):
        self.server_run = ServerRun(self, now, online, set(declining))
        await self._nursery.start(self.server_run.run)
        await self.time.settle()

    async def empty(self):
        await self.database.execute(EMPTY)
