"""Captures that ticket rules ask for, and captures whose end a ticket gets."""

import hashlib
import secrets
from datetime import timedelta

import pytest
from tests.actors.capture_at import CaptureAt
from tests.actors.helpdesk.clock.test_rule_follower import alarms, rules_spec, set_rules, store
from tests.fragment_transcoder import FragmentTranscoder
from tests.runtime.actor_testing import Probe

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.files.file_retention import DeviceQuota
from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.files.media_store import MediaKey, MediaStore
from motorpool.actors.files.settings import FileSettings
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.ticket_captures import NO_RIGHT, TicketCaptures
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.access import ACCESS, MaySee
from motorpool.actors.messages.directory import GetDeviceStatuses
from motorpool.actors.messages.live_stream import STREAM
from motorpool.actors.messages.playback import (
    PLAYBACK,
    GetPlaybackState,
    PlaybackRequested,
    PlaybackState,
)
from motorpool.actors.messages.publishing import FragmentsReady, StreamEnded, Subscribe, Unsubscribe
from motorpool.actors.messages.tickets import TICKET_CAPTURES, TicketCapturesWaiting
from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.messages.uplink import CommandRefused, CommandSent, SendCommand
from motorpool.actors.upkeep.file_retention import FILE_RETENTION, FileRetention, FilesHeld
from motorpool.actors.video.capture import CAPTURE, capture_spec
from motorpool.actors.video.capture_files import new_file_name
from motorpool.actors.video.capture_records import CAPTURE_RECORDS, SERVER_ENDED, CaptureRecords, OpenCapture
from motorpool.actors.video.capture_start import start_capture
from motorpool.actors.video.settings import CaptureSettings
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.runtime import ChildSpec, DynamicSpec
from motorpool.storage.accounts import users
from motorpool.storage.helpdesk import tickets
from motorpool.storage.helpdesk.ticket_captures import TicketCapture, add
from motorpool.storage.records import User
from motorpool.storage.video.captures import CaptureRecord

SECOND = timedelta(seconds=1)
SOUND = [AccessUnit(1, AudioCoding.G711A, False, 40 * number, b"\xd5" * 320) for number in range(150)]
CAPTURE_RULE = {"channel": 2, "beforeSeconds": 20, "afterSeconds": 30}


class Source(Probe):
    """A stream or playback that lets its subscriber go when it is told to."""

    def handle(self, message):
        if isinstance(message, Unsubscribe):
            message.subscriber.offer(StreamEnded(message.reason, None))
        return super().handle(message)


class Directory(Probe):
    """Says which devices are connected."""

    def __init__(self, online):
        super().__init__({GetDeviceStatuses: {}})
        self.online = online

    def handle(self, message):
        if isinstance(message, GetDeviceStatuses):
            return {
                number: DeviceStatus(number, "online" if number in self.online else "offline", None, 0)
                for number in message.device_ids
            }
        return super().handle(message)


class Server:
    """The actors of one server that captures take part in."""

    def __init__(self, database, neighbours, media, online=(), node=1):
        self.online = set(online)
        self.neighbours = neighbours
        self.visible = True
        self.playing = {}
        """The states of playbacks, by device and channel."""
        self.sources = {}
        mails = TicketMails(OutgoingServices().mail)
        calendars = BusinessCalendars(timedelta(days=1830))
        holder = secrets.token_hex(8)
        self.specs = (
            ChildSpec(kind=ACCESS, factory=self._access),
            neighbours.devices_spec,
            neighbours.decoders_spec,
            neighbours.sound_spec,
            neighbours.renditions_spec,
            ChildSpec(kind=neighbours.directory_spec.kind, factory=lambda: Directory(self.online)),
            ChildSpec(
                kind=CAPTURE_RECORDS,
                factory=lambda: CaptureRecords(database, 8, node=node),
            ),
            capture_spec(database, MediaStore(media), CaptureSettings(start_seconds=3600, idle_seconds=3600)),
            *(
                DynamicSpec(kind=kind, name=kind.name, factory=lambda key, kind=kind: self._source(kind, key))
                for kind in (PLAYBACK, STREAM)
            ),
            ChildSpec(
                kind=TICKET_CAPTURES,
                factory=lambda: TicketCaptures(database, MediaStore(media), holder, calendars, mails),
            ),
        )

    def _access(self):
        server = self

        class Access(Probe):
            def handle(self, message):
                return server.visible

        return Access({MaySee: True})

    def _source(self, kind, key):
        self.sources[kind, key] = Source({Subscribe: None, GetPlaybackState: self.playing.get(key)})
        return self.sources[kind, key]

    def commands(self, device):
        probe = self.neighbours.devices.get(device.id)
        return [message for message in probe.messages if isinstance(message, SendCommand)] if probe else []


async def show(system, reason="the device ended it"):
    """Stream six seconds into the one capture that runs, and end it."""
    (name,) = system.keys(CAPTURE)
    running = system.ref(CAPTURE, name)
    segmenter = Segmenter(live=False)
    cuts = [segmenter.push(unit, 0.0) for unit in SOUND]
    await running.tell(FragmentsReady(tuple(cut for cut in cuts if cut is not None)))
    if reason:
        await running.tell(StreamEnded(reason, segmenter.flush()))
        await running.wait_stopped()


async def evidence(database):
    rows = await database.fetch("select attributes from ticket_events where type = 'evidence' order by id")
    return [row[0] for row in rows]


@pytest.fixture
def entered(database, until):
    """`await entered(2)`: the entries `evidence`, when there are so many: files are read in threads."""

    async def wait(count):
        found = []

        async def is_there():
            found[:] = await evidence(database)
            return len(found) >= count

        await until(is_there)
        assert len(found) == count
        return found

    return wait


async def waiting(database):
    return [row[0] for row in await database.fetch("select status from ticket_captures order by id")]


@pytest.fixture
async def chief(database, world):
    user = await users.TABLE.insert(
        database, User(name="chief", email="chief@example.org", administrator=True)
    )
    await set_rules(database, world, user, capture=CAPTURE_RULE)
    return user


@pytest.fixture
async def device(make_device, neighbours):
    made = await make_device("van 1")
    neighbours.device(made.id, {SendCommand: CommandSent()})
    return made


@pytest.fixture
def server(database, neighbours, tmp_path):
    return Server(database, neighbours, tmp_path)


async def open_ticket(database, tree, time, clock, device, number=100, *extra):
    """Have the rule open a ticket of an alarm that happens now."""
    await store(database, *alarms(device, number, 1, begin=clock.now()))
    async with tree(rules_spec(database), *extra):
        await time.passes(1)


async def test_a_rule_captures_what_the_device_recorded_around_the_event(
    database, tree, time, clock, chief, device, server, tmp_path, entered
):
    event_time = clock.now()
    await open_ticket(database, tree, time, clock, device)
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await time.passes(5)
        assert server.commands(device) == [], "the device has not closed its recording yet"
        await time.passes(40, step=5)
        (command,) = server.commands(device)
        assert (command.type, command.no_queue, command.user_id) == ("videoPlayback", True, chief.id)
        assert command.attributes == {
            "channel": 2,
            "startTime": (event_time - 20 * SECOND).isoformat(),
            "endTime": (event_time + 30 * SECOND).isoformat(),
        }
        subscribed = server.sources[PLAYBACK, (device.id, 2)].messages
        assert [type(message) for message in subscribed] == [Subscribe]
        await show(system)
        await time.passes(2, step=1)
        begun, ended = await entered(2)
    assert (begun["status"], begun["channel"], begun["live"]) == ("RECORDING", 2, False)
    content = (tmp_path / "van 1" / begun["fileName"]).read_bytes()
    assert ended == {
        **begun,
        "status": "COMPLETE",
        "reason": "the device ended it",
        "url": f"/api/media/van%201/{begun['fileName']}",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    assert await database.fetch_value("select name from ticket_files") == begun["fileName"]
    assert await waiting(database) == []
    (action,) = await database.fetch("select user_id, object_id, attributes from audit")
    assert (action["user_id"], action["object_id"]) == (chief.id, device.id)
    assert action["attributes"]["fileName"] == begun["fileName"]


async def test_it_waits_for_a_device_that_is_offline_over_restarts_and_gives_up_after_a_day(
    database, tree, time, clock, chief, device, server, entered
):
    await open_ticket(database, tree, time, clock, device)
    for _ in range(2):
        async with tree(*server.specs):
            await time.passes(120, step=30)
    assert (await evidence(database), await waiting(database)) == ([], ["waiting"])
    async with tree(*server.specs):
        server.online.add(device.id)
        await time.passes(30, step=5)
        assert len(server.commands(device)) == 1
    await database.execute("delete from ticket_captures")
    await store(database, *alarms(device, 200, 1, begin=clock.now()))
    await database.execute("delete from ticket_rule_tickets")
    async with tree(rules_spec(database)):
        await time.passes(1)
    server.online.clear()
    async with tree(*server.specs):
        await time.passes(86_400 + 100, step=30_000)
        last = (await entered(2))[-1]
    assert (last["status"], "captureId" in last, last["deviceId"]) == ("FAILED", False, device.id)
    assert last["reason"] == "the device was not connected in time, or its other playbacks did not end"


async def test_two_servers_capture_once_that_to_which_the_device_is_connected(
    database, tree, time, clock, chief, device, neighbours, tmp_path, entered
):
    await open_ticket(database, tree, time, clock, device)
    both = (
        Server(database, neighbours, tmp_path, [device.id], 1),
        Server(database, neighbours, tmp_path, [device.id], 2),
    )
    async with tree(*both[0].specs) as first, tree(*both[1].specs) as second:
        await time.passes(60, step=5)
        running = [*first.keys(CAPTURE), *second.keys(CAPTURE)]
        assert len(running) == 1
        assert len(both[0].commands(device)) == 1
        await show(first if first.keys(CAPTURE) else second)
        await time.passes(2, step=1)
        assert [entry["status"] for entry in await entered(2)] == ["RECORDING", "COMPLETE"]
        await time.passes(400, step=20)
        await entered(2)


async def test_live_video_is_captured_at_once(
    database, tree, time, clock, world, chief, device, server, entered
):
    await set_rules(
        database, world, chief, capture={"channel": 1, "beforeSeconds": 0, "afterSeconds": 40, "live": True}
    )
    server.online.add(device.id)
    async with tree(rules_spec(database), *server.specs) as system:
        await store(database, *alarms(device, 100, 1, begin=clock.now()))
        await time.passes(31, step=1)
        assert [key for _, key in server.sources] == [(device.id, 1)]
        assert server.commands(device) == []
        await show(system, reason="")
        await time.passes(45, step=5)
        begun, ended = await entered(2)
    assert (begun["status"], begun["live"], ended["status"]) == ("RECORDING", True, "COMPLETE")
    assert ended["reason"] == "the time it was to last is over"


async def test_a_device_that_refuses_or_sends_nothing_leaves_the_reason(
    database, tree, time, clock, chief, device, server, neighbours, entered
):
    neighbours.devices[device.id] = Probe({SendCommand: CommandRefused("videoPlayback is not supported")})
    await open_ticket(database, tree, time, clock, device)
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await time.passes(60, step=5)
        assert not system.keys(CAPTURE)
        (entry,) = await entered(1)
    assert (entry["status"], entry["reason"]) == ("FAILED", "videoPlayback is not supported")
    assert await waiting(database) == []


@pytest.mark.parametrize(
    ("status", "channel", "unread", "waits"),
    [
        ("RUNNING", 1, None, True),
        ("PAUSED", 2, 100, True),
        ("ENDED", 2, 59, True),
        ("ENDED", 2, 60, False),
        ("ENDED", 2, None, False),
        ("ENDED", 1, 0, False),
    ],
)
async def test_what_others_watch_is_not_replaced(
    database, tree, time, clock, chief, device, server, status, channel, unread, waits
):
    await open_ticket(database, tree, time, clock, device)
    server.online.add(device.id)
    server.playing[device.id, channel] = PlaybackState(PlaybackRequested(), status, None, 0.0, None, unread)
    async with tree(*server.specs) as system:
        await system.start(PLAYBACK, (device.id, channel))
        await time.passes(60, step=5)
        assert len(server.commands(device)) == (0 if waits else 1)
        await system.ref(PLAYBACK, (device.id, channel)).stop()
        await time.passes(10, step=5)
        assert len(server.commands(device)) == 1


async def test_without_the_right_nothing_is_captured_and_what_runs_is_ended(
    database, tree, time, clock, chief, device, server, entered
):
    await open_ticket(database, tree, time, clock, device)
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await time.passes(60, step=5)
        assert len(system.keys(CAPTURE)) == 1
        server.visible = False
        await time.passes(15, step=1)
        assert not system.keys(CAPTURE)
        assert [entry["status"] for entry in await entered(2)] == ["RECORDING", "FAILED"]
    await database.execute("delete from ticket_rule_tickets")
    await open_ticket(database, tree, time, clock, device, 200)
    async with tree(*server.specs) as system:
        await time.passes(60, step=5)
        assert (await entered(3))[-1]["reason"] == NO_RIGHT
    assert len(server.commands(device)) == 1


async def test_the_deletion_of_the_ticket_ends_its_capture(
    database, tree, time, clock, chief, device, server
):
    await open_ticket(database, tree, time, clock, device)
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await time.passes(60, step=5)
        assert len(system.keys(CAPTURE)) == 1
        (row,) = await database.fetch("select id, company_id from tickets")
        async with database.transaction() as transaction:
            await tickets.delete(transaction, row["company_id"], row["id"], now=clock.now())
        await time.passes(10, step=1)
        assert not system.keys(CAPTURE)
    assert await waiting(database) == []


async def test_of_one_rule_and_device_five_captures_wait(
    database, tree, time, clock, chief, device, server, entered
):
    for each in range(6):
        await open_ticket(database, tree, time, clock, device, 100 + each)
        await database.execute("delete from ticket_rule_tickets")
    async with tree(*server.specs):
        await time.passes(120, step=10)
        (entry,) = await entered(1)
    assert await waiting(database) == ["waiting"] * 5
    assert entry["reason"] == "5 captures of the rule and device wait already, 5 of the company"


@pytest.fixture
async def followed(database, world, device, clock):
    """`await followed(record)`: a ticket that waits for the end of a running capture."""
    priority = await world.priority(first=0, resolution=0)
    ticket_id = await world.ticket(clock.now(), priority)

    async def follow(record):
        at = record.started_at
        fields = {"begins": at, "ends": at, "not_before": at, "expires": at, "leased_until": at}
        await add(
            database,
            TicketCapture(
                world.company.id,
                ticket_id,
                device.id,
                1,
                status="recording",
                internal=False,
                capture_id=record.id,
                file_name=record.file_name,
                **fields,
            ),
        )

    return follow


@pytest.mark.parametrize("streams", [True, False])
async def test_the_end_of_a_capture_is_entered(
    database, tree, time, device, server, followed, entered, streams
):
    async with tree(*server.specs) as system:
        record = await start_capture(system, OpenCapture(device.id, 1, unique_id="van 1"))
        await followed(record)
        await system.ref(TICKET_CAPTURES).tell(TicketCapturesWaiting())
        await time.passes(3, step=1)
        assert await evidence(database) == []
        if streams:
            await show(system)
        else:
            await system.ref(CAPTURE, record.id).tell(StreamEnded("the device is gone", None))
        await time.passes(3, step=1)
        (entry,) = await entered(1)
    assert entry["captureId"] == record.id
    assert entry["status"] == ("COMPLETE" if streams else "FAILED")
    assert ("sha256" in entry) == streams
    assert await database.fetch_value("select internal from ticket_events where type = 'evidence'") is False


async def test_after_a_crash_what_is_whole_of_the_file_is_evidence(
    database, tree, time, device, server, followed, clock, tmp_path, entered
):
    name = new_file_name(clock.now())
    writer = CaptureAt(tmp_path / "van 1" / name)
    segmenter, transcoder = Segmenter(live=False), FragmentTranscoder()
    cuts = [segmenter.push(unit, 0.0) for unit in SOUND]
    writer.add([transcoder.transcode(cut) for cut in cuts if cut is not None])
    writer.close()
    whole = writer.path.read_bytes()
    writer.path.write_bytes(whole + whole[-100:])
    await followed(CaptureRecord("lost", device.id, 1, False, name, clock.now()))
    async with tree(*server.specs):
        await time.passes(10, step=5)
        (entry,) = await entered(1)
    assert (entry["status"], entry["sha256"]) == ("COMPLETE", hashlib.sha256(whole).hexdigest())
    assert writer.path.read_bytes() == whole


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("is_written", [True, False])
async def test_after_a_restart_what_the_file_holds_is_the_end(
    database, tree, time, device, followed, neighbours, tmp_path, entered, is_written, is_known
):
    server = Server(database, neighbours, tmp_path)
    async with tree(*server.specs) as system:
        record = await start_capture(system, OpenCapture(device.id, 1, unique_id="van 1"))
        await followed(record)
        await time.passes(31, step=31)
        if is_written:
            await show(system, reason="")
            await time.settle()
    if not is_known:
        await database.execute("delete from captures")
    again = Server(database, neighbours, tmp_path, node=2)
    async with tree(*again.specs):
        await time.passes(120, step=10)
        if not is_written and not is_known:
            assert await evidence(database) == [], "another server may have the file"
            await time.passes(300, step=30)
        (entry,) = await entered(1)
    reason = "the server was stopped" if is_known else SERVER_ENDED
    if is_known and not is_written:
        reason = f"nothing came that can be kept: {reason}"
    assert (entry["status"], entry["reason"]) == ("COMPLETE" if is_written else "FAILED", reason)
    if is_written:
        content = (tmp_path / "van 1" / record.file_name).read_bytes()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()


async def test_the_capture_of_a_rule_whose_server_is_killed_is_made_again_by_another_one(
    database, tree, time, clock, chief, device, neighbours, tmp_path, entered
):
    await open_ticket(database, tree, time, clock, device)
    first = Server(database, neighbours, tmp_path, [device.id], 1)
    async with tree(*first.specs) as system:
        await time.passes(60, step=5)
        (killed,) = system.keys(CAPTURE)
    # As the other servers find it.
    await database.execute("update captures set reason = $1 where id = $2", SERVER_ENDED, killed)
    second = Server(database, neighbours, tmp_path, [device.id], 2)
    async with tree(*second.specs) as system:
        await time.passes(120, step=10)
        (again,) = system.keys(CAPTURE)
        assert again != killed
        await show(system)
        await time.passes(2, step=1)
        begun, begun_again, ended = await entered(3)
    assert [entry["captureId"] for entry in (begun, begun_again, ended)] == [killed, again, again]
    assert ended["status"] == "COMPLETE"


async def test_files_that_become_evidence_are_left_by_the_quota_at_once(database, tree, time, tmp_path):
    quota, store = DeviceQuota(1000), MediaStore(tmp_path)
    async with tree(
        ChildSpec(
            kind=FILE_RETENTION,
            factory=lambda: FileRetention(database, MediaFiles(store, quota), FileSettings),
        )
    ) as system:
        await time.passes(1)
        await system.ref(FILE_RETENTION).tell(FilesHeld(("1-a.jpg",)))
        await time.settle()
    (tmp_path / "1").mkdir()
    for name in ("1-a.jpg", "2-b.jpg", "3-c.jpg"):
        (tmp_path / "1" / name).write_bytes(bytes(900))
        quota.add(store, MediaKey("1", name), 900)
    assert {path.name for path in (tmp_path / "1").iterdir()} == {"1-a.jpg", "3-c.jpg"}
