"""The device actor in a small tree, between probes and with its tables."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from tests.actors.devices.askers import AskedFromElsewhere, server_of_the_asker
from tests.runtime.actor_testing import Probe

from motorpool.actors.devices.device import device_spec
from motorpool.actors.devices.device_loader import DEVICE_LOADER, DeviceLoader
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.devices.position_writer import Append, AppendEvents
from motorpool.actors.devices.rule_cache import RuleCache, RuleCacheActor
from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.messages.command_log import COMMAND_LOG
from motorpool.actors.messages.homes import HOMES
from motorpool.actors.messages.live_stream import STREAM
from motorpool.actors.messages.playback import PLAYBACK
from motorpool.actors.messages.rule_cache import RULE_CACHE
from motorpool.actors.messages.text_channel import TEXT_CHANNEL
from motorpool.actors.messages.tickets import TICKET_COMMANDS
from motorpool.actors.messages.uplink import DEVICE, Connected, SendCommand
from motorpool.codecs.reports import MediaAddress
from motorpool.runtime import ChildSpec, DynamicSpec
from motorpool.storage.devices import commands, position_rows, positions
from motorpool.storage.records import Position

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class DeviceHarness:
    """A running tree of device actors, the probes around them, and their tables."""

    def __init__(
        self, system, *, database, neighbours, streams, playbacks, folder, texts, ticket_commands, command_log
    ):
        self.system, self.database, self.neighbours = system, database, neighbours
        self.streams, self.playbacks, self.folder = streams, playbacks, folder
        self.texts = texts
        self.ticket_commands = ticket_commands
        self.command_log = command_log
        self.asking_system = None
        """That of another server, if those who ask are there."""
        self._numbers = count(1)

    def device(self, row):
        here = self.system.ref(DEVICE, row.id)
        asking = self.asking_system
        return here if asking is None else AskedFromElsewhere(here, asking.ref(DEVICE, row.id))

    @property
    def appended(self):
        return [message for message in self.neighbours.writer.messages if isinstance(message, Append)]

    @property
    def positions(self):
        return [append.position for append in self.appended]

    @property
    def events(self):
        return [
            event
            for message in self.neighbours.writer.messages
            if isinstance(message, AppendEvents)
            for event in message.events
        ]

    @property
    def statuses(self):
        return [message.status.status for message in self.neighbours.directory.messages]

    async def connect(self, row, number=None, protocol="jt808", answers=None):
        """A connection that has identified itself; its ref and its probe."""
        ref, probe = await self.neighbours.connect(self.system, number or next(self._numbers), answers)
        await self.device(row).tell(Connected(ref, protocol, "192.0.2.7", "198.51.100.1", (row.unique_id,)))
        return ref, probe

    async def step(self, row, kind="positionSingle", attributes=None, *, minutes=0, **fields):
        """A run that is `sending`, as the dispatcher has it sent; the run and the device's answer."""
        run_id = await self.database.fetch_value(
            "insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id,"
            " command_id, delay_seconds, followed, time, status)"
            " values (1, $3, 'start', 0, $1, 1, 0, false, $2, 'sending') returning id",
            row.id,
            NOW - MINUTE,
            next(self._numbers),
        )
        command = SendCommand(
            kind,
            attributes or {},
            no_queue=minutes == 0,
            run_id=run_id,
            queue_minutes=minutes,
            **fields,
        )
        return run_id, await self.device(row).ask(command)

    async def run(self, run_id):
        row = await self.database.fetch_row(
            "select status, reason, detail, time from scheduled_command_runs where id = $1", run_id
        )
        return tuple(row.values())

    async def queued(self, row):
        return await commands.queued_for(self.database, row.id)


@pytest.fixture
def make_known_device(database, make_device):
    """Like `make_device`, for a device that has reported a position as a JT/T 808 terminal."""

    async def make(unique_id="13912345678", **fields):
        row = await make_device(unique_id, **fields)
        position = Position(
            id=row.id,
            device_id=row.id,
            protocol="jt808",
            server_time=NOW,
            device_time=NOW,
            fix_time=NOW,
            valid=True,
        )
        await positions.store(database, [position_rows.pack_row(position)], [row.id])
        return row

    return make


@pytest.fixture
def asked_from():
    """Where those are who ask devices (askers.py)."""
    return "here"


@pytest.fixture
def device_harness(database, neighbours, tree, tmp_path, asked_from, clock):
    """`async with device_harness() as running:` with settings of the device's spec."""
    streams, playbacks, texts, ticket_commands, command_log = {}, {}, Probe(), Probe(), Probe()

    def opened_for(probes):
        return lambda key: probes.setdefault(key, Probe())

    def opened(
        *, host="203.0.113.5", status_timeout_seconds=600.0, idle_seconds=300.0, writer=None, **settings
    ):
        options = DeviceOptions(
            MediaAddress(host, 5263, 5363, 5015),
            MediaFiles(MediaStore(tmp_path)),
            status_timeout_seconds,
            **settings,
        )
        rule_cache = RuleCache(database)
        specs = (
            writer or neighbours.writer_spec,
            neighbours.directory_spec,
            neighbours.media_requests_spec,
            ChildSpec(kind=RULE_CACHE, factory=lambda: RuleCacheActor(rule_cache, database)),
            ChildSpec(kind=DEVICE_LOADER, factory=lambda: DeviceLoader(database, rule_cache)),
            device_spec(database, options, rule_cache, idle_seconds=idle_seconds),
            DynamicSpec(kind=STREAM, name="streams", factory=opened_for(streams)),
            DynamicSpec(kind=PLAYBACK, name="playbacks", factory=opened_for(playbacks)),
            neighbours.connections_spec,
            ChildSpec(kind=TEXT_CHANNEL, factory=lambda: texts),
            ChildSpec(kind=HOMES, factory=Probe),
            ChildSpec(kind=TICKET_COMMANDS, factory=lambda: ticket_commands),
            ChildSpec(kind=COMMAND_LOG, factory=lambda: command_log),
        )
        around = {
            "database": database,
            "neighbours": neighbours,
            "streams": streams,
            "playbacks": playbacks,
            "folder": tmp_path,
            "texts": texts,
            "ticket_commands": ticket_commands,
            "command_log": command_log,
        }
        return running(specs, around)

    @asynccontextmanager
    async def running(specs, around):
        async with tree(*specs) as system:
            harness = DeviceHarness(system, **around)
            if asked_from == "here":
                yield harness
            else:
                async with server_of_the_asker(system, clock) as harness.asking_system:
                    yield harness

    return opened
