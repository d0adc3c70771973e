"""Files of captures on a real disk, looked after beside captures that are being written."""

import os
from datetime import UTC, datetime

import av
import pytest
from tests.actors.capture_at import CaptureAt
from tests.actors.conftest import NOW
from tests.runtime.actor_testing import Probe

from motorpool.actors.files.file_locks import create_locked
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.messages.captures import CAPTURE, EndCapture
from motorpool.actors.video import unrecorded_captures
from motorpool.actors.video.capture_records import (
    CAPTURE_RECORDS,
    SERVER_ENDED,
    BeginCapture,
    CaptureEnded,
    CaptureRecords,
    OpenCapture,
)
from motorpool.actors.video.capture_retention import CaptureRetention
from motorpool.actors.video.settings import CaptureSettings
from motorpool.runtime import ChildSpec, DynamicSpec, TaskSpec
from motorpool.storage.database import nodes
from motorpool.storage.helpdesk import ticket_files
from motorpool.storage.helpdesk.ticket_files import FileFacts
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureChange, CaptureRecord

DAY = 86_400.0


def capture_retention_spec(database, store, quota_bytes, days, *, node=0, clustered=False):
    settings = CaptureSettings(quota_bytes=quota_bytes, retention_days=days)
    return TaskSpec(
        name="capture_retention",
        factory=lambda: CaptureRetention(database, store, lambda: settings, node=node, clustered=clustered),
    )


class House:
    def __init__(self, system, database, device, media, clock, running):
        self.system, self.database, self.device = system, database, device
        self.media, self.clock, self.running = media, clock, running

    async def captured(self, size, ago=0.0, *, ended=True):
        """A capture of so many bytes, last written so long ago: its record and its file."""
        record = await self.system.ref(CAPTURE_RECORDS).ask(OpenCapture(self.device.id, 1))
        await self.system.ref(CAPTURE_RECORDS).ask(BeginCapture(record.id))
        path = self.media / "van" / record.file_name
        path.parent.mkdir(exist_ok=True)
        file = create_locked(path)
        file.write(bytes(size))
        at = self.clock.now().timestamp() - ago
        os.utime(path, (at, at))
        if ended:
            file.close()
            await self.system.ref(CAPTURE_RECORDS).ask(CaptureEnded(record.id, "COMPLETE", "over", size))
        else:
            self.being_written = file
            await self.system.start(CAPTURE, record.id, lambda: self.running)
        return record, path

    async def record(self, record):
        return await captures.fetch(self.database, record.id)


@pytest.fixture
def house(tree, tmp_path, clock, database, make_device, time):
    class Opened:
        def __init__(self, quota_bytes=0, days=0):
            self.settings = quota_bytes, days

        async def __aenter__(self):
            self.running = tree(
                ChildSpec(
                    kind=CAPTURE_RECORDS,
                    factory=lambda: CaptureRecords(database, 100, node=0),
                ),
                DynamicSpec(kind=CAPTURE, name="captures", start_on_message=False),
                capture_retention_spec(database, MediaStore(tmp_path), *self.settings),
            )
            system = await self.running.__aenter__()
            device = await make_device("van")
            # The first look is over before there is anything to see.
            await time.settle()
            return House(system, database, device, tmp_path, clock, Probe({EndCapture: None}))

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


async def test_past_the_quota_the_oldest_go_and_their_records_say_so(house, time):
    async with house(quota_bytes=50_000) as files:
        old, old_path = await files.captured(30_000, ago=60)
        young, young_path = await files.captured(30_000)
        await time.passes(61)
        assert (old_path.exists(), young_path.exists()) == (False, True)
        found = await files.record(old)
        assert (found.removed, found.reason) == (True, "removed: past the quota of 50000 bytes")
        assert not (await files.record(young)).removed


async def test_files_go_after_their_days(house, time):
    async with house(days=2) as files:
        old, old_path = await files.captured(30_000, ago=2 * DAY)
        _, young_path = await files.captured(30_000, ago=DAY)
        await time.passes(61)
        assert (old_path.exists(), young_path.exists()) == (False, True)
        assert (await files.record(old)).reason == "removed: past 2 days"


async def test_without_either_nothing_goes(house, time):
    async with house() as files:
        _, path = await files.captured(30_000, ago=900 * DAY)
        await time.passes(121, step=60)
        assert path.exists()


async def test_captures_that_are_too_much_while_they_are_written_are_ended(house, time):
    async with house(quota_bytes=50_000) as files:
        _, path = await files.captured(60_000, ended=False)
        await time.passes(61)
        assert files.running.messages[0] == EndCapture("the quota of captures is used up")
        assert path.exists()
        files.being_written.close()


async def test_evidence_of_tickets_stays_and_does_not_count(house, time, database):
    async with house(quota_bytes=50_000, days=2) as files:
        held, held_path = await files.captured(40_000, ago=3 * DAY)
        await ticket_files.add(database, 1, 1, FileFacts(held.file_name, 40_000, "0" * 64))
        _, path = await files.captured(30_000, ago=DAY)
        await time.passes(61)
        assert (held_path.exists(), path.exists()) == (True, True)
        await database.execute("delete from ticket_files")
        await time.passes(61)
        assert (held_path.exists(), path.exists()) == (False, True)


async def test_what_a_crash_has_left_is_readable_after_the_start(
    tree, tmp_path, film, cut_up, time, database
):
    writing = CaptureAt(tmp_path / "van" / "capture-a.mp4")
    writing.add(cut_up(film(7)))
    writing.close()
    os.truncate(writing.path, writing.size - 50)
    async with tree(capture_retention_spec(database, MediaStore(tmp_path), 0, 0)):
        await time.settle()
    with av.open(str(writing.path)) as container:
        assert sum(packet.size > 0 for packet in container.demux()) == 30


class Cluster:
    """Two servers of a cluster: the one that looks after captures, and the one that made them."""

    def __init__(self, database, media, device, mine, theirs):
        self.database, self.media, self.device = database, media, device
        self.mine, self.theirs = mine, theirs

    async def begin(self, name, *, size=0, node=None):
        """A capture that is recording by its row, `size` bytes so far."""
        record = CaptureRecord(
            name, self.device.id, 1, False, f"capture-{name}.mp4", NOW, node=node or self.theirs
        )
        async with self.database.transaction() as transaction:
            assert await captures.add(transaction, record, per_device=100)
        await captures.save(self.database, [CaptureChange(id=name, size=size)])
        return self.media / "van" / record.file_name

    async def state(self, name):
        record = await captures.fetch(self.database, name)
        return record.status, record.size, record.interrupted


@pytest.fixture
async def cluster(database, make_device, tmp_path):
    async def join():
        async with database.session() as session:
            return await nodes.join(session, "north", "a server of tests", "0")

    return Cluster(database, tmp_path, await make_device("van"), await join(), await join())


def write(path, fragments):
    """A file as a server leaves it that is killed while it writes it."""
    writing = CaptureAt(path)
    writing.add(fragments)
    return writing


async def test_what_a_dead_server_was_recording_ends_by_what_its_file_holds(
    cluster, database, tree, time, film, cut_up
):
    cut = write(await cluster.begin("cut", size=1_000), cut_up(film(7)))
    whole = write(await cluster.begin("whole", size=1_000), cut_up(film(3)))
    still_open = write(await cluster.begin("open", size=1_000), cut_up(film(3)))
    await cluster.begin("empty")
    # Of a folder that the servers do not share.
    await cluster.begin("elsewhere", size=2_000)
    await cluster.begin("mine", node=cluster.mine)
    for each in (cut, whole):
        each.close()
    os.truncate(cut.path, cut.size - 50)
    spec = capture_retention_spec(
        database, MediaStore(cluster.media), 0, 0, node=cluster.mine, clustered=True
    )
    async with tree(spec):
        await time.passes(120, step=5)
        for name in ("cut", "whole", "open", "empty", "elsewhere", "mine"):
            assert (await cluster.state(name))[0] == "RECORDING", "its server lives"
        await nodes.leave(database, cluster.theirs)
        await time.passes(6)
        assert await cluster.state("cut") == ("COMPLETE", cut.path.stat().st_size, True)
        assert await cluster.state("whole") == ("COMPLETE", whole.size, True)
        assert await cluster.state("empty") == ("FAILED", 0, True)
        assert await cluster.state("elsewhere") == ("COMPLETE", 2_000, True)
        for name in ("open", "mine"):
            assert (await cluster.state(name))[0] == "RECORDING", "a process still writes it"
        record = await captures.fetch(database, "cut")
        assert (record.reason, record.completed_at is None) == (SERVER_ENDED, False)
        # The frozen server is gone as well.
        still_open.close()
        await time.passes(6)
        assert await cluster.state("open") == ("COMPLETE", still_open.size, True)


async def test_a_lone_server_settles_what_a_crash_of_its_own_has_left(
    cluster, database, tree, time, film, cut_up
):
    left = write(await cluster.begin("left", node=cluster.mine), cut_up(film(3)))
    left.close()
    await captures.abandon(database, cluster.mine)
    async with tree(capture_retention_spec(database, MediaStore(cluster.media), 0, 0, node=cluster.mine)):
        await time.settle()
        assert await cluster.state("left") == ("COMPLETE", left.size, True)


async def test_files_of_earlier_releases_get_rows(
    cluster, database, tree, tmp_path, time, film, cut_up, caplog
):
    caplog.set_level("INFO")
    names = {
        folder: f"capture-2026051{number}080000-x.mp4"
        for number, folder in enumerate(("van", "unknown device", "%~hash"))
    }
    for folder, name in names.items():
        writing = CaptureAt(tmp_path / folder / name)
        writing.add(cut_up(film(3)))
        writing.close()
    file = tmp_path / "van" / names["van"]
    file.with_name("capture-by hand.mp4").write_bytes(file.read_bytes())
    named = await cluster.begin("named")
    named.write_bytes(b"")
    for _ in range(2):
        async with tree(capture_retention_spec(database, MediaStore(tmp_path), 0, 0, node=cluster.mine)):
            await time.settle()
    found = await captures.newest(database, device_id=cluster.device.id)
    (record,) = [each for each in found if each.id != "named"]
    assert (record.file_name, record.status, record.channel) == (names["van"], "COMPLETE", 0)
    assert record.started_at == datetime(2026, 5, 10, 8, tzinfo=UTC)
    assert record.size == file.stat().st_size
    assert record.completed_at.timestamp() == pytest.approx(file.stat().st_mtime)
    (said,) = [each for each in caplog.messages if "had no record" in each]
    assert said.endswith("1 files of captures had no record and have one now")


async def test_of_a_device_the_latest_files_get_rows(cluster, database, tmp_path, monkeypatch):
    monkeypatch.setattr(unrecorded_captures, "KEPT_OF_DEVICE", 2)
    folder = tmp_path / "van"
    folder.mkdir()
    for day in (12, 10, 11):
        (folder / f"capture-202605{day}080000-x.mp4").write_bytes(bytes(9))
    assert await unrecorded_captures.record_captures(database, MediaStore(tmp_path)) == 2
    assert [record.started_at.day for record in await captures.newest(database)] == [12, 11]
    assert await unrecorded_captures.record_captures(database, MediaStore(tmp_path)) == 0
