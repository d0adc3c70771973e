"""Files of captures on a real disk, looked after beside captures that are being written."""

import os

import av
import pytest

from motorpool.actors.files.file_locks import create_locked
from motorpool.actors.video.capture import CAPTURE, EndCapture
from motorpool.actors.video.capture_files import CaptureWriter
from motorpool.actors.video.capture_list import (
    CAPTURE_LIST,
    CaptureEnded,
    GetCapture,
    OpenCapture,
    capture_list_spec,
)
from motorpool.actors.video.capture_retention import capture_retention_spec
from motorpool.runtime import DynamicSpec
from motorpool.runtime.testing import Probe
from motorpool.storage import ticket_files
from motorpool.storage.ticket_files import FileFacts

DAY = 86_400.0


class House:
    def __init__(self, system, media, clock, running):
        self.system, self.media, self.clock, self.running = system, media, clock, running

    async def captured(self, size, ago=0.0, *, ended=True):
        """A capture of so many bytes, last written so long ago: its record and its file."""
        record = await self.system.ref(CAPTURE_LIST).ask(OpenCapture(7, 1))
        path = self.media / "van" / record.file_name
        path.parent.mkdir(exist_ok=True)
        file = create_locked(path)
        file.write(bytes(size))
        at = self.clock.now().timestamp() - ago
        os.utime(path, (at, at))
        if ended:
            file.close()
            await self.system.ref(CAPTURE_LIST).ask(CaptureEnded(record.id, "COMPLETE", "over", size))
        else:
            self.being_written = file
            await self.system.start(CAPTURE, record.id, lambda: self.running)
        return record, path

    async def record(self, record):
        return await self.system.ref(CAPTURE_LIST).ask(GetCapture(record.id))


@pytest.fixture
def house(tree, tmp_path, clock, database):
    class Opened:
        def __init__(self, quota_bytes=0, days=0):
            self.settings = quota_bytes, days

        async def __aenter__(self):
            captures = DynamicSpec(kind=CAPTURE, name="captures", start_on_message=False)
            self.running = tree(
                capture_list_spec(100), captures, capture_retention_spec(database, tmp_path, *self.settings)
            )
            system = await self.running.__aenter__()
            return House(system, tmp_path, clock, Probe({EndCapture: None}))

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
    writing = CaptureWriter(tmp_path / "van", "capture-a.mp4")
    writing.write(cut_up(film(7)))
    writing.close()
    os.truncate(writing.path, writing.size - 50)
    async with tree(capture_list_spec(1), capture_retention_spec(database, tmp_path, 0, 0)):
        await time.settle()
    with av.open(str(writing.path)) as container:
        assert sum(packet.size > 0 for packet in container.demux()) == 30
