"""For the checker of scheduled commands: Trio in a thread, and on it a server that can be started, stopped
and cut off at any statement.

hypothesis' state machine is no coroutine. So Trio runs in a thread of its own for the whole test, and each
rule has its part done there.
"""

import threading
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import trio

from motorpool.actors.devices.device import device_spec
from motorpool.actors.devices.directory import DIRECTORY
from motorpool.actors.devices.position_writer import POSITION_WRITER
from motorpool.actors.messages.downlink import CONNECTION, EncodingRefused, Transmit, Transmitted
from motorpool.actors.messages.uplink import DEVICE, Connected, Disconnected
from motorpool.actors.tree import schedule_spec
from motorpool.actors.video.media_requests import MEDIA_REQUESTS
from motorpool.codecs.reports import MediaAddress
from motorpool.runtime import Actor, ChildSpec, Deferred, DynamicSpec, Kind, Restart
from motorpool.runtime.testing import TestClock, open_tree
from motorpool.storage.database import open_database
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.settings import DatabaseSettings
from motorpool.storage.statements import Statements

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


class Cord:
    """What a server hangs by: once it is cut nothing that the server does reaches anybody."""

    def __init__(self):
        self.is_cut = False
        self.left = None
        """Statements and commits until it is cut; None: it is not."""

    def pull(self):
        if self.left is not None:
            self.is_cut = self.is_cut or self.left <= 0
            self.left -= 1
        if self.is_cut:
            raise StorageUnavailable("this server is no more")


class Corded(Statements):
    """The database as one life of the server has it."""

    def __init__(self, inner, cord):
        self._inner = inner
        self._cord = cord

    async def _call(self, method, *args, **more):
        self._cord.pull()
        return await self._inner._call(method, *args, **more)

    @asynccontextmanager
    async def transaction(self, *, seconds=None):
        async with self._inner.transaction(seconds=seconds) as inner:
            yield Corded(inner, self._cord)
            self._cord.pull()
        self._cord.pull()


class SimulatedTerminal(Actor):
    """A device's connection."""

    def __init__(self, device, life):
        self._device = device
        self._life = life

    def handle(self, message):
        if not isinstance(message, Transmit):
            return None
        if self._life.cord.is_cut or self._device in self._life.declining:
            return EncodingRefused("not now")
        self._life.received.append((self._device, message.command.attributes["data"]))
        return Deferred() if self._life.is_stalled else Transmitted(None)


class Deaf(Actor):
    """Stands where others are told things that matter to nobody here."""

    def handle(self, message):
        pass


class Callers(Actor):
    """Connects devices before whatever stands lower in the tree."""

    def __init__(self, life, device_ids):
        self._life = life
        self._device_ids = device_ids

    async def start(self):
        for device_id in self._device_ids:
            await self._life.connect(device_id, self.context.system)

    def handle(self, message):
        pass


CALLERS = Kind("callers")


class Life:
    """The server from a start to its end."""

    def __init__(self, stage, now, online, declining):
        self.stage = stage
        self.clock = TestClock(now)
        self.cord = Cord()
        self.declining = declining
        self.received = []
        self.is_stalled = False
        self.system = None
        self.ended = trio.Event()
        self._end = trio.Event()
        self._online = online
        self._lines = {}
        self._numbers = iter(range(1, 1_000_000))

    async def run(self, task_status):
        database = Corded(self.stage.database, self.cord)
        deaf = (POSITION_WRITER, DIRECTORY, MEDIA_REQUESTS)
        tree = open_tree(
            *(ChildSpec(kind=kind, factory=Deaf, resident=False) for kind in deaf),
            device_spec(
                database,
                media=MediaAddress("192.0.2.1", 1, 2, 3),
                media_folder=self.stage.folder,
                status_timeout_seconds=600.0,
            ),
            DynamicSpec(
                kind=CONNECTION,
                name="connections",
                factory=None,
                restart=Restart.TEMPORARY,
                idle_seconds=None,
            ),
            ChildSpec(kind=CALLERS, factory=lambda: Callers(self, self._online)),
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
        self._lines[device_id] = ref
        await system.ref(DEVICE, device_id).tell(Connected(ref, "jt808", "192.0.2.7", "198.51.100.1"))

    async def disconnect(self, device_id):
        ref = self._lines.pop(device_id)
        await self.system.ref(DEVICE, device_id).tell(Disconnected(ref))

    async def stop(self):
        self._end.set()
        await self.stage.time.settle()
        while not self.ended.is_set():
            await self.stage.time.passes(1)


class Stage:
    """Trio in a thread, and on it a database and a server."""

    def __init__(self, url, time, folder):
        self.time, self.folder = time, folder
        self.database = self.life = None
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
        self.life = Life(self, now, online, set(declining))
        await self._nursery.start(self.life.run)
        await self.time.settle()

    async def empty(self):
        await self.database.execute(EMPTY)
