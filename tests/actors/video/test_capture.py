"""One capture between a stream that hands it units and the list that keeps its record."""

import errno
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import av
import msgspec
import pytest
import trio
from msgspec.structs import replace
from tests.runtime.actor_testing import Probe

from motorpool.actors.files.media_store import MediaStore, media_key
from motorpool.actors.messages.captures import CAPTURE, EndCapture
from motorpool.actors.messages.live_stream import (
    STREAM,
)
from motorpool.actors.messages.playback import (
    PLAYBACK,
)
from motorpool.actors.messages.publishing import (
    MOVED,
    SERVER_STOPPED,
    FragmentsReady,
    StreamEnded,
    StreamReplaced,
    Subscribe,
    Unsubscribe,
)
from motorpool.actors.video.capture import Continuation, capture_spec
from motorpool.actors.video.capture_files import CaptureWriter
from motorpool.actors.video.capture_records import CAPTURE_RECORDS, AdoptCaptures, CaptureRecords, OpenCapture
from motorpool.actors.video.capture_start import start_capture
from motorpool.actors.video.decoders import ProbeFormat
from motorpool.actors.video.settings import CaptureSettings
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.mp4.capture_file import CaptureState
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.runtime import ActorFailed, ActorStopped, ChildSpec, DynamicSpec, Failure
from motorpool.storage.devices import devices
from motorpool.storage.video import captures as storage
from motorpool.storage.video.captures import CaptureRecord

START = datetime(2026, 1, 1, tzinfo=UTC)


class Source(Probe):
    """A stream or playback: records, and lets go of its taker with what is open."""

    def __init__(self, answers):
        super().__init__(answers)
        self.segmenter = Segmenter(1.0, live=False)
        self.is_busy = False

    def handle(self, message):
        if isinstance(message, Unsubscribe) and not self.is_busy:
            message.subscriber.offer(StreamEnded(message.reason, self.segmenter.peek()))
        return super().handle(message)


class House:
    """A running system with probes for streams and playbacks."""

    def __init__(self, system, row, sources, media, database, time, limits):
        self.system, self.row, self.sources, self.media = system, row, sources, media
        self.database, self.time, self.limits = database, time, limits

    async def start(self, *, live=False, seconds=None):
        record = await start_capture(
            self.system,
            OpenCapture(self.row.id, 1, live, unique_id=self.row.unique_id, max_seconds=seconds),
        )
        self.ref = self.system.ref(CAPTURE, record.id)
        self.id = record.id
        return record

    async def record(self):
        return await storage.fetch(self.database, self.id)

    def told(self, kind=PLAYBACK):
        return [type(message) for message in self.sources[kind].messages]

    @property
    def segmenter(self):
        return self.sources[PLAYBACK].segmenter

    async def show(self, units):
        for unit in units:
            fragment = self.segmenter.push(unit, 0.0)
            if fragment is not None:
                await self.ref.tell(FragmentsReady((fragment,)))
        await self.time.settle()

    async def end(self, reason="the device ended it"):
        await self.ref.tell(StreamEnded(reason, self.segmenter.flush()))
        await self.time.settle()

    @property
    def files(self):
        return sorted(self.media.rglob("*.mp4"))


@pytest.fixture
def house(database, make_device, tree, time, tmp_path, neighbours):
    """`async with house(answers=…, …) as captures:`"""

    class Opened:
        def __init__(self, answers=None, per_device=8, **limits):
            self.answers = {Subscribe: None} if answers is None else answers
            self.per_device = per_device
            self.limits = CaptureSettings(**limits)

        async def __aenter__(self):
            row = await make_device("van 1")
            source = Source(self.answers)
            sources = {PLAYBACK: source, STREAM: Source(self.answers)}
            sources[STREAM].segmenter = source.segmenter
            specs = [
                DynamicSpec(kind=kind, name=name, factory=lambda key, kind=kind: sources[kind])
                for kind, name in ((PLAYBACK, "playbacks"), (STREAM, "streams"))
            ]
            self.running = tree(
                ChildSpec(
                    kind=CAPTURE_RECORDS,
                    factory=lambda: CaptureRecords(database, self.per_device, node=0),
                ),
                neighbours.decoders_spec,
                neighbours.sound_spec,
                neighbours.renditions_spec,
                *specs,
                capture_spec(database, MediaStore(tmp_path), self.limits),
            )
            system = await self.running.__aenter__()
            return House(system, row, sources, tmp_path, database, time, self.limits)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


def count(path: Path) -> int:
    with av.open(str(path)) as container:
        return sum(packet.size > 0 for packet in container.demux(video=0))


async def test_the_format_of_the_pictures_is_found_outside_of_the_server(house, film, neighbours):
    async with house() as captures:
        await captures.start()
        await captures.show(film(4))
        await captures.end()
        (path,) = captures.files
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            assert (stream.width, stream.height) == (64, 64)
    # Once for the file.
    assert [type(message) for message in neighbours.decoders.messages] == [ProbeFormat]


async def test_pictures_whose_format_is_not_found_are_captured_all_the_same(
    house, film, neighbours, monkeypatch, caplog
):
    monkeypatch.setattr(neighbours.decoders, "handle", lambda _: Failure(CodecError("the decoder crashed")))
    async with house() as captures:
        await captures.start()
        await captures.show(film(4))
        await captures.end()
        assert (await captures.record()).status == "COMPLETE"
        (path,) = captures.files
        assert count(path) == 20
    assert "the format of the pictures is not known: the decoder crashed" in caplog.text


async def test_a_record_says_when_what_it_holds_was_recorded(house, film):
    begins = datetime(2026, 5, 1, 14, 32, tzinfo=UTC)
    async with house() as captures:
        await captures.start()
        fragments = [
            fragment for unit in film(7) if (fragment := captures.segmenter.push(unit, 0.0)) is not None
        ]
        # The device goes back half a minute after the third second.
        seconds = [0, 1, 2, -30, -29, -28]
        for second, fragment in zip(seconds, fragments, strict=True):
            recorded_at = begins + timedelta(seconds=second)
            await captures.ref.tell(FragmentsReady((replace(fragment, recorded_at=recorded_at),)))
        await captures.end()
        record = await captures.record()
        assert (record.start_time, record.end_time) == (
            begins - timedelta(seconds=30),
            begins + timedelta(seconds=3),
        )


class TestPlayback:
    async def test_what_came_of_a_playback_before_the_wanted_one_is_not_in_the_file(self, house, film, time):
        first, wanted = (datetime(2026, 5, 1, hour, tzinfo=UTC) for hour in (9, 14))

        async def show(captures, recorded_at):
            for unit in film(3):
                fragment = captures.segmenter.push(unit, 0.0)
                if fragment is not None:
                    await captures.ref.tell(FragmentsReady((replace(fragment, recorded_at=recorded_at),)))
            await time.passes(3)

        async with house() as captures:
            for has_pictures in (True, False):
                await captures.start()
                await show(captures, first)
                captures.segmenter.flush()
                assert (await captures.record()).start_time == first
                await captures.ref.tell(StreamReplaced())
                await time.passes(3)
                assert (await captures.record()).size == 0
                if has_pictures:
                    await show(captures, wanted)
                await captures.end()
                record = await captures.record()
                if has_pictures:
                    (path,) = captures.files
                    assert count(path) == 15
                    assert (record.status, record.size) == ("COMPLETE", path.stat().st_size)
                    assert (record.start_time, record.end_time) == (wanted, wanted + timedelta(seconds=1))
                    path.unlink()
                else:
                    assert (record.status, record.size, captures.files) == ("FAILED", 0, [])

    async def test_what_comes_after_its_creation_is_a_file_when_the_stream_ends(self, house, film, time):
        async with house() as captures:
            created = await captures.start()
            assert (created.status, created.live) == ("RECORDING", False)
            # Before anybody sends a command.
            assert captures.told() == [Subscribe]
            assert captures.sources[PLAYBACK].messages[0].subscriber == captures.ref
            sizes = []
            for second in range(9):
                await captures.show(film(9)[5 * second : 5 * second + 5])
                await time.passes(1)
                sizes.append((await captures.record()).size)
            assert sizes == sorted(sizes)
            assert sizes[0] == 0 < sizes[4] < sizes[8]
            assert (await captures.record()).status == "RECORDING"
            await captures.end("the device ended its playback")
            ended = await captures.record()
            assert (ended.status, ended.reason) == ("COMPLETE", "the device ended its playback")
            (path,) = captures.files
            assert path == captures.media / "van 1" / created.file_name
            assert ended.size == path.stat().st_size
            assert count(path) == 45
            assert ended.completed_at > ended.started_at
            # It has left by itself, and the stream has let go of it.
            assert not captures.ref.alive
            assert captures.told() == [Subscribe]

    async def test_a_burst_is_kept_in_full(self, house, film, time):
        async with house() as captures:
            await captures.start()
            units = film(40)
            for start in range(0, 200, 10):
                await captures.show(units[start : start + 10])
            await captures.end()
            assert (await captures.record()).status == "COMPLETE"
            assert count(captures.files[0]) == 200

    async def test_what_never_starts_fails(self, house, time):
        async with house(start_seconds=60) as captures:
            await captures.start()
            await time.passes(58, step=1)
            assert (await captures.record()).status == "RECORDING"
            await time.passes(3, step=1)
            failed = await captures.record()
            assert (failed.status, failed.reason, failed.size) == (
                "FAILED",
                "nothing came that can be kept: the stream never started",
                0,
            )
            assert failed.completed_at is not None
            assert captures.told()[-1] is Unsubscribe
            assert captures.files == []

    async def test_what_ends_without_anything_that_decodes_fails(self, house, film, time):
        async with house() as captures:
            await captures.start()
            await captures.show([unit for unit in film(2) if not unit.keyframe])
            await captures.end("the device ended it")
            failed = await captures.record()
            assert failed.status == "FAILED"
            assert failed.reason == "nothing came that can be kept: the device ended it"
            assert captures.files == []

    async def test_an_end_before_the_first_unit_fails(self, house, time):
        async with house() as captures:
            await captures.start()
            await captures.end("replaced by a new playback")
            failed = await captures.record()
            assert failed.status == "FAILED"
            assert failed.reason == "nothing came that can be kept: replaced by a new playback"

    async def test_a_terminal_that_never_closes_completes_it_by_time_out(self, house, film, time):
        async with house(idle_seconds=30) as captures:
            await captures.start()
            await captures.show(film(3))
            await time.passes(29, step=1)
            assert (await captures.record()).status == "RECORDING"
            await time.passes(3, step=1)
            ended = await captures.record()
            assert (ended.status, ended.reason) == ("COMPLETE", "the device sent nothing for too long")
            assert count(captures.files[0]) == 15
            assert captures.told()[-1] is Unsubscribe

    async def test_sound_alone_is_enough(self, house, time):
        async with house() as captures:
            await captures.start()
            await captures.show(
                [AccessUnit(1, AudioCoding.G711A, False, 40 * n, b"\xd5" * 320) for n in range(100)]
            )
            await captures.end()
            assert (await captures.record()).status == "COMPLETE"
            with av.open(str(captures.files[0])) as container:
                assert [stream.type for stream in container.streams] == ["audio"]

    async def test_what_was_missed_does_not_end_it(self, house, film, time):
        async with house() as captures:
            await captures.start()
            await captures.show(film(2))
            missed = captures.segmenter.push(film(3)[10], 0.0)
            assert missed is not None
            await captures.show(film(6)[11:])
            await captures.end()
            assert count(captures.files[0]) == 5 + 20
            with av.open(str(captures.files[0])) as container:
                assert container.duration == 6_000_000

    async def test_several_of_one_channel_at_once_and_no_more_than_allowed(self, house, film, time):
        async with house(per_device=2) as captures:
            first, second = await captures.start(), await captures.start()
            wanted = OpenCapture(captures.row.id, 1, unique_id="van 1")
            third = await start_capture(captures.system, wanted)
            assert third is None
            for record in (first, second):
                ref = captures.system.ref(CAPTURE, record.id)
                segmenter = Segmenter(1.0, live=False)
                fragments = [segmenter.push(unit, 0.0) for unit in film(3)]
                await ref.tell(
                    FragmentsReady(tuple(fragment for fragment in fragments if fragment is not None))
                )
                await ref.tell(StreamEnded("over", segmenter.flush()))
            await captures.time.settle()
            assert [count(path) for path in captures.files] == [15, 15]


class TestLive:
    async def test_it_takes_the_live_stream_for_its_time(self, house, film, time):
        async with house() as captures:
            await captures.start(live=True, seconds=120)
            assert (captures.told(STREAM), captures.told(PLAYBACK)) == ([Subscribe], [])
            await time.passes(60, step=1)
            await captures.show(film(30))
            await time.passes(59, step=1)
            assert (await captures.record()).status == "RECORDING"
            await time.passes(5, step=1)
            ended = await captures.record()
            assert (ended.status, ended.reason) == ("COMPLETE", "the time it was to last is over")
            assert count(captures.files[0]) == 150

    async def test_a_stream_that_may_have_forgotten_it_is_asked_again(self, house, film, time):
        async with house() as captures:
            await captures.start(live=True)
            await captures.show(film(2))
            await time.passes(9, step=1)
            assert captures.told(STREAM) == [Subscribe]
            await time.passes(12, step=1)
            assert captures.told(STREAM) == [Subscribe] * 3


class TestEnds:
    async def test_ended_by_a_user_it_keeps_what_came(self, house, film, time):
        async with house() as captures:
            await captures.start()
            await captures.show(film(3))
            await captures.ref.ask(EndCapture("ended by a user"))
            ended = await captures.record()
            # The last second had not become a cut yet.
            assert (ended.status, ended.reason) == ("COMPLETE", "ended by a user")
            assert count(captures.files[0]) == 15
            await captures.time.settle()
            assert captures.told() == [Subscribe, Unsubscribe]
            with pytest.raises(ActorStopped):
                await captures.ref.ask(EndCapture("again"))

    async def test_ended_before_anything_came_it_has_failed(self, house, time):
        async with house() as captures:
            await captures.start()
            await captures.ref.ask(EndCapture("ended by a user"))
            ended = await captures.record()
            assert ended.status == "FAILED"
            assert ended.reason == "nothing came that can be kept: ended by a user"

    async def test_a_stream_that_does_not_let_go_of_it_is_not_waited_for_longer_than_this(
        self, house, film, time
    ):
        async with house() as captures, trio.open_nursery() as nursery:
            await captures.start()
            await captures.show(film(3))
            captures.sources[PLAYBACK].is_busy = True
            nursery.start_soon(partial(captures.ref.ask, EndCapture("ended by a user"), seconds=20))
            await time.passes(4, step=1)
            assert (await captures.record()).status == "RECORDING"
            await time.passes(3, step=1)
            assert (await captures.record()).status == "COMPLETE"
            assert count(captures.files[0]) == 10

    async def test_an_orderly_stop_of_the_server_finishes_the_file(self, house, film, time):
        async with house() as captures:
            await captures.start()
            await captures.show(film(4)[:16])
            await captures.ref.stop()
            ended = await captures.record()
            assert (ended.status, ended.reason, ended.interrupted) == (
                "COMPLETE",
                "the server was stopped",
                True,
            )
            with av.open(str(captures.files[0])) as container:
                assert container.duration == 3_000_000

    async def test_the_stream_that_ends_with_the_server_interrupts_it(self, house, film, time):
        async with house() as captures:
            await captures.start()
            await captures.show(film(3))
            await captures.ref.tell(StreamEnded(SERVER_STOPPED, captures.segmenter.flush(), interrupted=True))
            await time.settle()
            ended = await captures.record()
            assert (ended.status, ended.reason, ended.interrupted) == ("COMPLETE", SERVER_STOPPED, True)
            await captures.start()
            await captures.end()
            assert not (await captures.record()).interrupted

    async def test_the_folder_is_that_of_the_name_the_device_has_when_it_begins(self, house, film, time):
        async with house() as captures:
            await captures.start()
            await devices.TABLE.update(
                captures.database, devices.Device(id=captures.row.id, unique_id="van 2", name="van 2")
            )
            await captures.show(film(3))
            await captures.end()
            assert [path.parent.name for path in captures.files] == ["van 2"]

    async def test_a_device_that_is_gone_leaves_no_file(self, house, film, time):
        async with house() as captures:
            await captures.start()
            await devices.TABLE.delete(captures.database, captures.row.id)
            await captures.show(film(3))
            await captures.time.passes(5, step=1)
            assert await captures.record() is None
            assert captures.files == []
            assert not captures.ref.alive

    async def test_a_database_that_is_away_does_not_stop_it(self, house, film, outage, time):
        async with house() as captures:
            await captures.start()
            with outage():
                await captures.show(film(3))
                await captures.end()
            await time.passes(20, step=1)
            assert (await captures.record()).status == "COMPLETE"
            assert [path.parent.name for path in captures.files] == ["van 1"]


class TestTrouble:
    async def test_a_full_disk_fails_this_one_with_a_clear_reason(self, house, film, time, monkeypatch):
        async with house() as captures:
            full = await captures.start()
            await captures.show(film(4))
            await time.passes(5, step=1)
            written = (await captures.record()).size
            assert written > 0

            def refuse(self, composed):
                raise OSError(errno.ENOSPC, "No space left on device")

            with monkeypatch.context() as patch:
                patch.setattr(CaptureWriter, "write", refuse)
                await captures.show(film(6)[20:])
                await time.passes(5, step=1)
            failed = await captures.record()
            assert failed.status == "FAILED"
            assert failed.reason == "the disk did not take it: No space left on device"
            assert failed.size == written
            assert captures.told()[-1] is Unsubscribe
            # What was written stays, and others go on.
            assert count(captures.media / "van 1" / full.file_name) == 15
            await captures.start()
            await captures.show(film(4))
            await captures.end()
            assert (await captures.record()).status == "COMPLETE"

    async def test_a_disk_that_fails_at_the_end_fails_it(self, house, film, monkeypatch, time):
        async with house() as captures:
            await captures.start()
            await captures.show(film(4))

            def refuse(self):
                raise OSError(errno.EIO, "Input/output error")

            monkeypatch.setattr(CaptureWriter, "finish", refuse)
            await captures.end()
            failed = await captures.record()
            assert (failed.status, failed.reason) == (
                "FAILED",
                "the disk did not take it: Input/output error",
            )

    async def test_a_crash_leaves_a_record_that_says_so_and_what_was_written(
        self, house, film, time, monkeypatch
    ):
        async with house() as captures:
            await captures.start()
            await captures.show(film(4))
            await time.passes(5, step=1)

            def crash(self, composed):
                raise RuntimeError("a bug")

            with monkeypatch.context() as patch:
                patch.setattr(CaptureWriter, "write", crash)
                await captures.show(film(6)[20:])
                await time.passes(5, step=1)
            await time.passes(2, step=0.5)
            failed = await captures.record()
            assert failed.status == "FAILED"
            assert failed.reason == "the server failed in writing it; what was written before is kept"
            assert failed.size > 0
            assert count(captures.files[0]) == 15
            assert not captures.ref.alive

    async def test_a_stream_that_cannot_be_asked_fails_it_at_once(self, house, time):
        async with house(answers={}) as captures:
            with pytest.raises(ActorFailed):
                await captures.start()
            (record,) = await storage.newest(captures.database, device_id=captures.row.id)
            assert record.status == "FAILED"
            assert record.reason.startswith("the stream could not be asked")

    async def test_memory_stays_bounded_while_the_disk_is_slow(
        self, house, film, monkeypatch, until_full, time
    ):
        release = trio.Event()
        async with house() as captures:
            await captures.start()

            async def hang(self, writing, fragments, *, last=False):
                await release.wait()

            monkeypatch.setattr("motorpool.actors.video.capture.Capture._in_thread", hang)
            await captures.show(film(2))
            nothing = FragmentsReady(())
            assert until_full(lambda _: captures.ref.tell_nowait(nothing)) == 32
            release.set()


async def test_a_capture_of_a_stream_that_has_moved_is_offered_and_ends_if_nobody_goes_on_with_it(
    house, film, time
):
    async with house() as captures:
        await captures.start(live=True)
        await captures.show(film(4))
        captures.sources[STREAM].is_busy = True
        await captures.ref.tell(StreamEnded(MOVED, moved=True))
        await time.settle()
        assert (await captures.record()).status == "RECORDING"
        # Nobody writes the file.
        key = media_key(captures.row.unique_id, (await captures.record()).file_name)
        lock = MediaStore(captures.media).lock(key)
        assert lock is not None
        lock.close()
        for _ in range(40):
            await time.passes(0.5)
        record = await captures.record()
        assert (record.status, record.reason) == ("COMPLETE", MOVED)
        (path,) = captures.files
        assert record.size == path.stat().st_size
        assert count(path) > 0
        # The index is there.
        with av.open(str(path)) as container:
            assert container.duration is not None


async def test_a_capture_that_another_server_goes_on_with_is_its(house, film, time, database):
    async with house() as captures:
        await captures.start(live=True, seconds=600)
        await captures.show(film(4))
        await time.passes(100)
        await captures.ref.tell(StreamEnded(MOVED, moved=True))
        await time.settle()
        told = msgspec.msgpack.decode(await storage.take_over(database, captures.id, 5), type=Continuation)
        assert told.file.size == captures.files[0].stat().st_size
        assert 400 < told.seconds_left <= 500
        assert await storage.take_over(database, captures.id, 5) is None
        ended = []

        async def end():
            ended.append(await captures.ref.ask(EndCapture("ended by a user"), seconds=60))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(end)
            for _ in range(10):
                await time.passes(0.5)
        record = await captures.record()
        assert (record.status, record.node, record.reason) == ("RECORDING", 5, None)
        assert not captures.ref.alive


async def test_a_capture_goes_on_with_what_another_server_has_written(house, film, time, database):
    async with house() as captures:
        # As the other server: the row and the file are its.
        record = CaptureRecord("abc", captures.row.id, 1, True, "capture-20260101000000-x.mp4", START, node=5)
        async with database.transaction() as transaction:
            assert await storage.add(transaction, record, per_device=8)
        key = media_key(captures.row.unique_id, record.file_name)
        writer = CaptureWriter(MediaStore(captures.media), key, {}, 0)
        segmenter = Segmenter(1.0, live=False)
        fragments = [cut for cut in (segmenter.push(unit, 0.0) for unit in film(3)) if cut is not None]
        writer.write(writer.encode(fragments))
        before = count(captures.media / key.folder / key.name)
        captures.ref, captures.id = captures.system.ref(CAPTURE, record.id), record.id
        await captures.system.ref(CAPTURE_RECORDS).tell(AdoptCaptures((record.id, "gone")))
        await time.settle()
        assert captures.told(STREAM) == [Subscribe]
        # What comes meanwhile waits.
        await captures.show(film(2))
        writer.close()
        told = Continuation(writer.state(), 50.0, None)
        await storage.offer(database, record.id, 5, msgspec.msgpack.encode(told))
        for _ in range(4):
            await time.passes(0.5)
        assert (await captures.record()).node == 0
        await captures.show(film(2))
        for _ in range(60):
            await time.passes(1)
        record = await captures.record()
        assert (record.status, record.reason) == ("COMPLETE", "the time it was to last is over")
        (path,) = captures.files
        assert record.size == path.stat().st_size
        assert count(path) > before


async def test_a_capture_that_is_not_offered_stays_with_the_other_server(house, time, database):
    async with house() as captures:
        record = CaptureRecord("abc", captures.row.id, 1, True, "capture-20260101000000-x.mp4", START, node=5)
        async with database.transaction() as transaction:
            assert await storage.add(transaction, record, per_device=8)
        captures.ref, captures.id = captures.system.ref(CAPTURE, record.id), record.id
        await captures.system.ref(CAPTURE_RECORDS).tell(AdoptCaptures((record.id,)))
        await time.settle()
        assert captures.ref.alive
        for _ in range(40):
            await time.passes(0.5)
        assert not captures.ref.alive
        record = await captures.record()
        assert (record.status, record.node) == ("RECORDING", 5)
        assert captures.told(STREAM)[-1] is Unsubscribe


async def test_a_capture_whose_file_only_the_other_server_has_ends_with_what_that_has(house, time, database):
    async with house() as captures:
        record = CaptureRecord("abc", captures.row.id, 1, True, "capture-20260101000000-x.mp4", START, node=5)
        async with database.transaction() as transaction:
            assert await storage.add(transaction, record, per_device=8)
        captures.id = record.id
        told = Continuation(CaptureState(7_000, 1, (), (), (), ()), None, None)
        await storage.offer(database, record.id, 5, msgspec.msgpack.encode(told))
        await captures.system.ref(CAPTURE_RECORDS).tell(AdoptCaptures((record.id,)))
        await time.settle()
        record = await captures.record()
        assert (record.status, record.reason, record.size) == ("COMPLETE", MOVED, 7_000)
