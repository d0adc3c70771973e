"""Several servers of one machine: starts a process for each, and starts those again that end.

The supervisor has no actors and is never on the way of data. It runs the embedded PostgreSQL, binds the ports
that all servers share, and tells the database at once when the process of one has ended.
"""

import logging
import math
import os
import signal
import socket
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import count as count_from
from operator import itemgetter
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import trio

from motorpool.actors.cluster.change_relay import CHANNEL, texts_of
from motorpool.actors.gateway.inherited_sockets import InheritedSockets
from motorpool.actors.gateway.machine_load import MachineLoad, new_page
from motorpool.actors.gateway.port_binding import listen
from motorpool.actors.gateway.shared_ports import bind_shared_ports
from motorpool.actors.messages.changes import ServerEnded
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.live import open_live_settings
from motorpool.api.nodes.control import Leave, Message, Plan, RestartAsked, Sibling, Siblings
from motorpool.api.nodes.node_process import NodeProcess, start_node, usable_cores
from motorpool.api.program.configured_database import open_configured_database
from motorpool.api.program.demo import FleetProgram, simulate_command
from motorpool.api.program.errors import StartFailed, error_line, is_foreseen
from motorpool.api.program.exceeded_quotas import log_exceeded_quotas
from motorpool.api.program.file_limit import raise_file_limit
from motorpool.api.program.preparation import announce, prepare, warn_of_retention
from motorpool.api.program.serve import bind_http, dialled_address, hide_data, require_used
from motorpool.api.settings import Settings
from motorpool.api.version import program_version
from motorpool.runtime import Signal, SystemClock
from motorpool.storage.cluster.broadcast import notify
from motorpool.storage.database import nodes
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.postgres.data_lock import DataLock

PAUSES = (0.2, 30.0)
"""First and longest delay before a server that has ended is started again, in seconds."""
STEADY_SECONDS = 30.0
"""A server that has run for less before it ended is started again with a longer delay than before."""
START_SECONDS = 150.0
"""A server that takes the place of another one must be ready within this time: the database may be slow."""
LEAVE_SECONDS = 65.0
"""A server that has been replaced must have left within this time: longer than it takes by itself."""
LOOK_SECONDS = 5.0
"""Between two looks at which servers are dead by their rows."""
FROZEN_LOOKS = 3
"""So many times a server may be seen that is dead: one that ends in order has said so before."""
NOTE_SECONDS = 10.0
"""How long is tried to tell the database of the end of a server; after it the others have noticed it."""
LAST_NOTE_SECONDS = 1.0
"""The same for one that is ended, which has said so itself where the database answers."""
NOTE_PAUSE_SECONDS = 0.5

_log = logging.getLogger(__name__)


def node_count(settings: Settings) -> int:
    """Return the number of server processes that the settings ask for.

    Raises:
        SettingsError: several are wanted, and the servers of other machines could not reach them.
    """
    count = settings.nodes
    if count == 0:
        count = max(1, usable_cores() - (settings.database == Settings.database))
    if count > 1 and settings.cluster.name is not None and settings.node.address is None:
        raise SettingsError("nodes: with [cluster] name, several processes need [node] address")
    return count


async def supervise(
    settings: Settings,
    count: int,
    words: Sequence[str],
    *,
    demo: bool = False,
    inherited: InheritedSockets | None = None,
) -> bool:
    """Run `count` servers until SIGTERM or SIGINT; `words` are the options of `serve` for each.

    `inherited` are sockets that a service manager has opened.

    Raises:
        StartFailed: they cannot start.
    """
    wishes = Wishes()
    async with trio.open_nursery() as nursery:
        await nursery.start(wishes.follow_signals)
        with wishes.running:
            try:
                await _supervise(settings, count, words, wishes, inherited or InheritedSockets(), demo=demo)
            except Exception as error:
                if is_foreseen(error) and not isinstance(error, StartFailed):
                    raise StartFailed(error_line(error)) from error
                raise
        _log.info("stopped")
        nursery.cancel_scope.cancel()
    return False


class Wishes:
    """What is wanted of the supervisor, by signals and by its servers."""

    def __init__(self) -> None:
        self.running = trio.CancelScope()
        """Cancelled to end in order: what runs in it then ends within bounded time. Another one, within the
        database, takes its place as soon as there are servers."""
        self.hurry: Callable[[], None] = lambda: None
        """Called to end at once."""
        self.replacement = Signal()
        """Set to have the servers replaced one by one."""

    def begin(self, hurry: Callable[[], None]) -> trio.CancelScope:
        """Return the scope in which servers run; `hurry()` ends them at once."""
        self.running, self.hurry = trio.CancelScope(), hurry
        return self.running

    async def follow_signals(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """End in order at the first SIGTERM or SIGINT, at once at a second one; replace all at SIGHUP.

        SIGHUP at the end of the terminal that the program was started in ends it, too.
        """
        has_terminal = os.isatty(0)
        with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            task_status.started()
            async for each in signals:
                if each == signal.SIGHUP and not has_terminal:
                    self.replacement.set()
                elif self.running.cancel_called:
                    self.hurry()
                else:
                    _log.info("stopping")
                    self.running.cancel()


async def _supervise(
    settings: Settings,
    count: int,
    words: Sequence[str],
    wishes: Wishes,
    inherited: InheritedSockets,
    *,
    demo: bool,
) -> None:
    _log.info("motorpool %s starts with %d server processes", program_version(), count)
    raise_file_limit(settings)
    hide_data(settings.data)
    clock = SystemClock()
    with ExitStack() as stack:
        http = bind_http(settings, inherited)
        for each in http:
            stack.enter_context(each)
        try:
            served = settings.protocols if "devices" in settings.node.roles else ()
            devices = bind_shared_ports(settings.device, settings.port.offset, served, inherited)
        except ValueError as error:
            raise StartFailed(f"MOTORPOOL_PROTOCOLS: {error}") from None
        for each in devices.values():
            stack.enter_context(each)
        require_used(inherited)
        # One more than usual: a server is replaced by a new one before it ends.
        async with open_configured_database(settings, clock, processes=count + 1) as database:
            prepared = await prepare(settings, database, PasswordHasher(settings.login), demo=demo)
            live = await open_live_settings(database, settings)
            warn_of_retention(live)
            lock = None if database.server is None else database.server.lock_descriptor
            if lock is None and settings.cluster.name is None:
                lock = stack.enter_context(DataLock(settings.data)).descriptor
            plan = _common_plan(settings, database, http, devices, lock)
            if settings.cluster.name is None:
                # Nobody else has this name, and nobody of an earlier start lives: they would have the lock.
                await nodes.note_end_of_cluster(database, plan.cluster)
            _listen(settings, devices)
            command = [sys.executable, "-m", "motorpool", "serve", *words]
            supervisor = Supervisor(database, plan, command, os.environ, wishes.replacement, lock)
            with wishes.begin(supervisor.hurry):
                async with trio.open_nursery() as nursery:
                    await nursery.start(supervisor.run, count)
                    address = dialled_address(http) if http else ("", 0)
                    announce(settings, address, prepared)
                    await log_exceeded_quotas(database, live.settings.quotas)
                    if demo:
                        fleet = simulate_command(address, settings.port.offset, settings.data / "login.json")
                        await _run_fleet(FleetProgram(fleet, os.environ))


async def _run_fleet(fleet: FleetProgram) -> None:
    try:
        await fleet.run()
    finally:
        with trio.CancelScope(shield=True):
            await fleet.stop()


def _listen(settings: Settings, devices: Mapping[int, socket.socket]) -> None:
    """Have devices wait for the first server to be ready."""
    for number, bound in devices.items():
        listen(bound, "devices", settings.device.host, number)


def _common_plan(
    settings: Settings,
    database: Database,
    http: Sequence[socket.socket],
    devices: Mapping[int, socket.socket],
    lock: int | None,
) -> Plan:
    """Return what is the same for all servers of this machine, and differs from the settings."""
    embedded = database.server
    return Plan(
        index=0,
        # Nobody else's: servers of another name do not start beside these.
        cluster=settings.cluster.name or _name_of(lock),
        database=settings.database if embedded is None else embedded.url("motorpool"),
        address=settings.node.address or "http://127.0.0.1:0",
        roles=settings.node.roles,
        http=tuple(each.fileno() for each in http),
        devices={number: each.fileno() for number, each in devices.items()},
        load=new_page(),
        data=str(settings.data),
        device_host=settings.device.host,
        port_offset=settings.port.offset,
        protocols=settings.protocols,
    )


def _name_of(lock: int | None) -> str:
    """Return the name of the servers of a data folder, the same until the machine restarts.

    Host names and paths would not do: containers often have the same, on one machine or on several.
    """
    assert lock is not None
    file = os.fstat(lock)
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = f"{uuid.getnode():x}"
    return f"nodes of {socket.gethostname()} {boot}:{file.st_dev:x}:{file.st_ino:x}"


class _Place:
    """One of the servers that are to run, whatever process it is."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.process: NodeProcess | None = None
        self.scope = trio.CancelScope()
        """Cancelled to end the process in order, and start no other."""
        self.ready = trio.Event()
        """Set once a process has been ready, or the first one has ended before."""
        self.was_ready = False
        self.is_leaving = False
        """Its process ends by itself, and is not started again."""
        self.fault = ""
        """How the first process has ended, if it was never ready."""
        self.ended = trio.Event()


class Supervisor:
    """Keeps the servers of a machine running."""

    def __init__(
        self,
        database: Database,
        plan: Plan,
        command: Sequence[str],
        environ: Mapping[str, str],
        replacement: Signal,
        lock: int | None,
    ) -> None:
        """`plan` is that of each server but for its index. `command` is extended by the descriptor of the
        control channel. `replacement` is set to have the servers replaced. `lock` is the descriptor of the
        locked file of the data folder, if it is locked.
        """
        self._database = database
        self._plan = plan
        self._command = command
        self._environ = environ
        self._replacement = replacement
        self._load = MachineLoad(plan.load)
        # The folder is theirs until the last of them has ended, also if the supervisor is killed.
        self._kept = () if lock is None else (lock,)
        self._places: list[_Place] = []
        self._count = 0
        self._changed = Signal()
        """Set when other servers are ready than before."""

    async def run(self, count: int, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Start `count` servers and keep them running; cancelled, end them in order.

        Started once all are ready.

        Raises:
            StartFailed: one of them ended before.
        """
        self._count = count
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._tell_siblings)
            nursery.start_soon(self._kill_frozen)
            for _ in range(count):
                self._add(nursery)
            for place in tuple(self._places):
                await place.ready.wait()
                if not place.was_ready:
                    raise StartFailed(f"node {place.index} {place.fault}")
            task_status.started()
            while True:
                await self._replacement.wait()
                await self._replace_all(nursery)

    def hurry(self) -> None:
        """Have all servers end at once."""
        for place in self._places:
            if place.process is not None:
                place.process.terminate()

    async def _tell_siblings(self) -> None:
        """Tell all servers which there are, after each change."""
        while True:
            await self._changed.wait()
            processes = [(each.index, each.process) for each in self._places if each.process is not None]
            ready = tuple(
                Sibling(index, process.joined.node, process.joined.url, process.joined.key)
                for index, process in sorted(processes, key=itemgetter(0))
                if process.is_ready and process.joined is not None
            )
            async with trio.open_nursery() as sending:
                for _, process in processes:
                    sending.start_soon(process.send, Siblings(ready, self._count))

    async def _kill_frozen(self) -> None:
        """Kill servers that others have declared dead, and that do not notice it: frozen ones."""
        seen: dict[int, int] = {}
        while True:
            await trio.sleep(LOOK_SECONDS)
            running = {
                place.process.joined.node: place.process
                for place in self._places
                if place.process is not None and place.process.joined is not None
            }
            try:
                living = await nodes.living(self._database)
            except StorageError:
                continue
            seen = {node: seen.get(node, 0) + 1 for node in running.keys() - living}
            for node, looks in seen.items():
                if looks > FROZEN_LOOKS:
                    _log.error("process %d is frozen, and is killed", running[node].pid)
                    running[node].kill()

    def _add(self, nursery: trio.Nursery) -> _Place:
        taken = {place.index for place in self._places}
        place = _Place(next(index for index in count_from(0) if index not in taken))
        self._places.append(place)
        nursery.start_soon(self._keep, place)
        return place

    async def _keep(self, place: _Place) -> None:
        """Keep a server running until its scope is cancelled, or its first process has ended unready."""
        try:
            with place.scope:
                pause = PAUSES[0]
                while True:
                    began = trio.current_time()
                    ending = await self._run_process(place)
                    if place.is_leaving:
                        return
                    if not place.was_ready:
                        place.fault = ending
                        return
                    if trio.current_time() - began >= STEADY_SECONDS:
                        pause = PAUSES[0]
                    _log.warning("node %d %s; it is started again in %g s", place.index, ending, pause)
                    await trio.sleep(pause)
                    pause = min(pause * 2, PAUSES[1])
        finally:
            self._places.remove(place)
            place.ready.set()
            place.ended.set()

    async def _run_process(self, place: _Place) -> str:
        """Run one process to its end; return how it ended, in words."""
        address = _address_of(self._plan.address, place.index)
        plan = msgspec.structs.replace(self._plan, index=place.index, address=address)
        try:
            process = place.process = await start_node(self._command, self._environ, plan, self._kept)
        except OSError as error:
            return f"cannot be started: {error.strerror or error}"
        _log.info("node %d is process %d", place.index, process.pid)

        def follow(message: Message) -> None:
            if isinstance(message, RestartAsked):
                self._replacement.set()
            if process.is_ready:
                place.was_ready = True
                place.ready.set()
                self._changed.set()

        try:
            await process.run(follow)
        finally:
            place.process = None
            self._load.remove(place.index)
            self._changed.set()
            await self._note_end(process)
        return process.ending

    async def _note_end(self, process: NodeProcess) -> None:
        """Tell the database and the other servers that a server is dead, unless it has done so itself."""
        if process.joined is None:
            return
        node = process.joined.node
        is_stopping = trio.current_effective_deadline() == -math.inf
        with trio.move_on_after(LAST_NOTE_SECONDS if is_stopping else NOTE_SECONDS, shield=True):
            while True:
                try:
                    async with self._database.transaction() as transaction:
                        if await nodes.note_end(transaction, node):
                            await notify(transaction, CHANNEL, texts_of([ServerEnded(node)]))
                except StorageError as error:
                    _log.warning("the end of server %d is not stored, trying again: %s", node, error)
                    await trio.sleep(NOTE_PAUSE_SECONDS)
                else:
                    return

    async def _replace_all(self, nursery: trio.Nursery) -> None:
        """Replace the servers one by one, each by one that is ready before it ends."""
        _log.info("the servers are replaced one by one")
        for old in tuple(self._places):
            new = self._add(nursery)
            with trio.move_on_after(START_SECONDS):
                await new.ready.wait()
            if not new.was_ready:
                fault = new.fault or f"is not ready after {START_SECONDS:g} s"
                _log.error("a server that was to take the place of another one %s: all others stay", fault)
                new.scope.cancel()
                await new.ended.wait()
                return
            await self._leave(old)
        _log.info("all servers have been replaced")

    async def _leave(self, place: _Place) -> None:
        """Have a server end once it serves nobody any more, or its time is over."""
        place.is_leaving = True
        if place.process is not None:
            await place.process.send(Leave())
            with trio.move_on_after(LEAVE_SECONDS):
                await place.ended.wait()
        place.scope.cancel()
        await place.ended.wait()


def _address_of(address: str, index: int) -> str:
    """Return the URL of the server of this index: the port is higher by it, where it is not 0."""
    parts = urlsplit(address)
    port = parts.port or 0
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"http://{host}:{port + index if port else 0}"
