"""Connections that bring the files of alarms: real sockets and codecs, devices that record."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.files.uploads import UploadStorage
from motorpool.actors.gateway.deadlines import UPLOAD_IDLE_SECONDS, UPLOAD_SECONDS
from motorpool.actors.gateway.device_connection import DeviceConnection
from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.identity import IDENTIFICATION, Identification
from motorpool.actors.gateway.settings import DeviceSettings, RegisterSettings
from motorpool.actors.messages.downlink import CONNECTION, AcknowledgeStored
from motorpool.actors.messages.uplink import (
    AlarmFileStored,
    AuthorizeAlarmUpload,
    Connected,
    Disconnected,
    PositionReported,
)
from motorpool.bench.vehicles.jt808.attachment_sender import (
    alarm_label,
    encode_attachment_list,
    encode_file_begin,
    encode_file_chunks,
    encode_file_end,
)
from motorpool.bench.vehicles.jt808.platform_messages import (
    AttachmentRequest,
    FileEndResponse,
    GeneralResponse,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.runtime import ChildSpec

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
PHONE = "13912345678"
LABEL = alarm_label(b"TERM001", NOW, 0, 1)
ASKED = AttachmentRequest(0x9208, 0, b"", "h", 1, 0, LABEL, "0" * 32)
CONTENT = bytes(range(256)) * 4


class Line:
    """A terminal's connection, made for files or not."""

    def __init__(self, socket, terminal, read, time, folder, ref, room):
        self.socket, self.terminal, self.time, self.folder, self.ref = socket, terminal, time, folder, ref
        self._read, self.room = read, room

    async def say(self, data):
        """Send; what comes back, None once the connection is closed."""
        while data:
            data = data[self.socket.send(data) :]
        await self.settle()
        answer = self._read(self.socket)
        return None if answer is None else self.terminal.receive(answer)

    async def settle(self):
        """Wait for the disk as well, whose threads are the room's own."""
        await self.time.settle()
        while self.room.writers.borrowed_tokens:
            await self.time.settle()

    async def upload(self, name=b"x.jpg", content=CONTENT):
        terminal = self.terminal
        await self.say(encode_attachment_list(terminal, ASKED, {name: len(content)}))
        await self.say(encode_file_begin(terminal, name, 0, len(content)))
        await self.say(b"".join(encode_file_chunks(name, content)))
        return await self.say(encode_file_end(terminal, name, 0, len(content)))

    @property
    def files(self):
        return [path for path in self.folder.rglob("*") if path.is_file()]


@pytest.fixture
def line(database, tcp, tree, neighbours, read, time, tmp_path):
    """`async with line(wanted_by=row) as peer:`, a device that wants the files unless `claim` is empty."""

    class Opened:
        def __init__(self, row, *, claim=PHONE, takes=True):
            self.claim, self.takes = claim, takes
            if row is not None:
                neighbours.device(row.id, {AuthorizeAlarmUpload: claim})

        async def __aenter__(self):
            self.running = tree(
                neighbours.directory_spec,
                neighbours.devices_spec,
                ChildSpec(kind=IDENTIFICATION, factory=lambda: Identification(database, RegisterSettings())),
                neighbours.checked_connections_spec,
            )
            system = await self.running.__aenter__()
            ours, theirs = tcp
            device_socket = DeviceSocket(ours)
            room = UploadStorage(MediaFiles(MediaStore(tmp_path)), 5000)
            settings = DeviceSettings(login_seconds=30.0, idle_seconds=1800.0)

            def make():
                return DeviceConnection(
                    device_socket,
                    codec_type=Jt808,
                    database=database,
                    rule_cache=RuleCache(database),
                    settings=settings,
                    uploads=room if self.takes else None,
                )

            ref = await system.start(CONNECTION, 1, make)
            return Line(theirs, Terminal(PHONE), read, time, tmp_path, ref, room)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


def results(answers):
    return [(each.answered_id, each.result) for each in answers if isinstance(each, GeneralResponse)]


async def test_a_whole_file_is_kept_told_to_the_device_and_answered_once_it_is_stored(
    make_device, line, neighbours
):
    row = await make_device()
    async with line(row) as peer:
        assert await peer.upload() == []
        (path,) = peer.files
        assert path.read_bytes() == CONTENT
        claimed, kept = neighbours.devices[row.id].messages
        assert isinstance(claimed, AuthorizeAlarmUpload)
        assert isinstance(kept, AlarmFileStored)
        assert (kept.name, kept.upload.label, kept.connection) == (path.name, LABEL.hex(), peer.ref)
        await peer.ref.tell(AcknowledgeStored((kept.file.receipt,)))
        (answer,) = await peer.say(b"")
        assert isinstance(answer, FileEndResponse)
        assert (answer.name, answer.missing) == (b"x.jpg", ())


async def test_a_file_survives_a_power_failure_before_the_device_hears_of_it(
    make_device, line, neighbours, disk_log, monkeypatch
):
    row = await make_device()
    async with line(row) as peer:
        told = neighbours.devices[row.id].messages
        when = []
        sync = os.fsync
        monkeypatch.setattr(os, "fsync", lambda opened: (sync(opened), when.append(len(told)))[0])
        await peer.upload()
        media, name = peer.folder.name, told[1].name
        assert disk_log == [f"sync {media}", "sync .part", f"rename {name}", f"sync {PHONE}"]
        # Authorized before; the file was announced to the device after the last of them.
        assert when == [1, 1, 1]
        assert len(told) == 2


async def test_a_connection_for_files_never_counts_as_the_devices(make_device, line, neighbours):
    row = await make_device()
    async with line(row) as peer:
        await peer.upload()
        peer.socket.close()
        await peer.settle()
        told = neighbours.devices[row.id].messages
        assert not [each for each in told if isinstance(each, Connected | Disconnected)]


async def test_a_connection_that_says_more_than_files_becomes_the_devices(make_device, line, neighbours):
    row = await make_device()
    async with line(row) as peer:
        await peer.upload()
        await peer.say(peer.terminal.location(encode_location(1, 2, NOW)))
        told = [type(each) for each in neighbours.devices[row.id].messages]
        assert told == [AuthorizeAlarmUpload, AlarmFileStored, Connected, PositionReported]


async def test_files_may_come_on_the_devices_own_connection(make_device, line, neighbours):
    row = await make_device()
    async with line(row) as peer:
        await peer.say(peer.terminal.register())
        await peer.upload()
        told = [type(each) for each in neighbours.devices[row.id].messages]
        assert told == [Connected, AuthorizeAlarmUpload, AlarmFileStored]


@pytest.mark.parametrize("why", ["unknown", "not asked for", "switched off", "disabled"])
async def test_what_is_not_wanted_is_refused_and_costs_its_connection(make_device, line, why):
    row = None if why == "unknown" else await make_device(disabled=why == "disabled")
    claim = "" if why == "not asked for" else PHONE
    async with line(row, claim=claim, takes=why != "switched off") as peer:
        offer = encode_attachment_list(peer.terminal, ASKED, {b"x.jpg": len(CONTENT)})
        assert results(await peer.say(offer)) == [(0x1210, 1)]
        begin = encode_file_begin(peer.terminal, b"x.jpg", 0, len(CONTENT))
        assert results(await peer.say(begin)) == [(0x1211, 1)]
        await peer.say(b"".join(encode_file_chunks(b"x.jpg", CONTENT)))
        assert await peer.say(b"") is None
        assert peer.files == []


async def test_a_known_device_whose_files_are_not_wanted_keeps_its_connection(make_device, line):
    row = await make_device()
    async with line(row, claim="") as peer:
        await peer.say(peer.terminal.register())
        for _ in range(20):
            await peer.upload()
        assert results(await peer.say(peer.terminal.heartbeat())) == [(0x0002, 0)]


async def test_a_file_past_the_limit_is_refused_and_the_next_one_taken(make_device, line):
    row = await make_device()
    async with line(row) as peer:
        await peer.say(encode_attachment_list(peer.terminal, ASKED, {b"big": 5001, b"x.jpg": 1024}))
        assert results(await peer.say(encode_file_begin(peer.terminal, b"big", 2, 5001))) == [(0x1211, 1)]
        assert await peer.say(b"".join(encode_file_chunks(b"big", bytes(5001)))) == []
        assert results(await peer.say(encode_file_begin(peer.terminal, b"x.jpg", 0, 1024))) == [(0x1211, 0)]


async def test_a_full_disk_costs_the_file_and_not_the_connection(make_device, line, caplog):
    row = await make_device()
    async with line(row) as peer:
        (peer.folder / PHONE).write_bytes(b"a file where the folder should be")
        assert await peer.upload() == []
        assert "a file of an alarm was not kept" in caplog.text
        (peer.folder / PHONE).unlink()
        assert await peer.upload() == []
        assert len(peer.files) == 1


async def test_a_line_that_breaks_leaves_nothing(make_device, line):
    row = await make_device()
    async with line(row) as peer:
        await peer.say(encode_attachment_list(peer.terminal, ASKED, {b"x.jpg": 4000}))
        await peer.say(
            encode_file_begin(peer.terminal, b"x.jpg", 0, 4000)
            + b"".join(encode_file_chunks(b"x.jpg", CONTENT))
        )
        assert len(peer.files) == 1
        peer.socket.close()
        await peer.settle()
        assert peer.files == []


async def test_a_connection_for_files_ends_when_no_more_of_them_comes(make_device, line, time):
    row = await make_device()
    async with line(row) as peer:
        await peer.say(encode_attachment_list(peer.terminal, ASKED, {b"x.jpg": 4000}))
        await peer.say(encode_file_begin(peer.terminal, b"x.jpg", 0, 4000))
        # Past the time to say who it is: that has been said.
        await time.passes(UPLOAD_IDLE_SECONDS - 15, step=5)
        assert await peer.say(b"".join(encode_file_chunks(b"x.jpg", CONTENT))) == []
        await time.passes(UPLOAD_IDLE_SECONDS - 15, step=5)
        assert await peer.say(b"") == []
        await time.passes(30, step=5)
        assert await peer.say(b"") is None
        assert peer.files == []


async def test_a_connection_that_drips_ends_as_well(make_device, line, time):
    row = await make_device()
    async with line(row) as peer:
        await peer.say(encode_attachment_list(peer.terminal, ASKED, {b"x.jpg": 4000}))
        await peer.say(encode_file_begin(peer.terminal, b"x.jpg", 0, 4000))
        dripped = timedelta()
        for offset in range(4000):
            if await peer.say(drip(offset)) is None:
                break
            await time.passes(40, step=20)
            dripped += timedelta(seconds=40)
        assert timedelta(seconds=UPLOAD_SECONDS) <= dripped <= timedelta(seconds=UPLOAD_SECONDS + 60)


def drip(offset):
    return b"01cd" + b"x.jpg".ljust(50, b"\0") + offset.to_bytes(4, "big") + b"\0\0\0\1x"
