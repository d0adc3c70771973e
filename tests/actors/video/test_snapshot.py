"""Snapshots of a channel: key frames of the stream, each decoded once."""

import io

import pytest
import trio
from PIL import Image

from motorpool.actors.messages.live_stream import STREAM, StreamKeyframe
from motorpool.actors.messages.publishing import Publish, PublisherLeft, UnitsPublished
from motorpool.actors.messages.uplink import CommandRefused, CommandSent, SendCommand
from motorpool.actors.video.settings import VideoSettings
from motorpool.actors.video.snapshot import SNAPSHOT, DecodeSnapshot, Snapshot, SnapshotFailed, read_snapshot
from motorpool.actors.video.stream import stream_spec
from motorpool.codecs.media.h264 import H264
from motorpool.runtime import ActorStopped, DynamicSpec, Failure


class House:
    """A stream of channel 1 with its snapshots."""

    def __init__(self, system, neighbours, key, time):
        self.system, self.neighbours, self.key, self.time = system, neighbours, key, time
        self.stream = system.ref(STREAM, key)

    @property
    def commands(self):
        return [told.type for told in self.neighbours.devices[self.key[0]].messages]

    async def read(self):
        return await read_snapshot(self.system, self.key, 60)

    async def publish(self, units):
        """A connection brings these."""
        connection, _ = await self.neighbours.connect(self.system, 1)
        assert await self.stream.ask(Publish(connection))
        await self.stream.tell(UnitsPublished(connection, units))
        await self.time.settle()
        return connection


@pytest.fixture
def house(database, make_device, tree, neighbours, time):
    """`async with house(answer) as running:` for a device that answers commands so."""

    class Opened:
        def __init__(self, answer=None, **limits):
            self.answer, self.limits = answer or CommandSent(), VideoSettings(**limits)

        async def __aenter__(self):
            row = await make_device()
            neighbours.device(row.id, {SendCommand: self.answer})
            self.running = tree(
                neighbours.devices_spec,
                neighbours.decoders_spec,
                neighbours.sound_spec,
                stream_spec(database, self.limits),
                DynamicSpec(
                    kind=SNAPSHOT,
                    name="snapshots",
                    factory=lambda _: Snapshot(),
                ),
                neighbours.connections_spec,
            )
            return House(await self.running.__aenter__(), neighbours, (row.id, 1), time)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


def brightness(picture):
    with Image.open(io.BytesIO(picture.jpeg)) as image:
        return image.convert("L").getpixel((32, 32))


def in_full_range(luma):
    return (luma - 16) * 255 / 219


async def test_the_first_reader_starts_the_camera_and_gets_its_first_key_frame(house, film, clock, time):
    async with house() as running:
        pictures = []

        async def read():
            pictures.append(await running.read())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            nursery.start_soon(read)
            await time.settle()
            assert running.commands == ["videoStart"]
            await time.passes(3)
            connection = await running.publish(film(1)[1:])
            assert pictures == []
            arrived = clock.now()
            await running.stream.tell(UnitsPublished(connection, film(2)[5:6]))
        assert len(pictures) == 2
        assert pictures[0] is pictures[1]
        assert pictures[0].taken_at == arrived
        assert abs(brightness(pictures[0]) - in_full_range(16 + 5)) < 4


async def test_a_key_frame_is_decoded_once_however_many_ask_and_the_next_one_anew(
    house, film, time, neighbours
):
    decoded = neighbours.decoders.messages
    async with house(unrequested=True) as running:
        connection = await running.publish(film(1))
        pictures = []

        async def read():
            pictures.append(await running.read())

        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(read)
        assert len(decoded) == 1
        assert len({id(picture) for picture in pictures}) == 1
        assert running.commands == []
        await time.passes(7)
        assert (await running.read()) is pictures[0]
        await running.stream.tell(UnitsPublished(connection, film(4)[5:]))
        later = await running.read()
        assert len(decoded) == 2
        assert (later.taken_at - pictures[0].taken_at).total_seconds() == pytest.approx(7)


async def test_a_device_that_does_not_stream_has_no_picture(house, time):
    async with house(CommandRefused("the device is offline")) as running:
        assert await running.read() is None
        assert running.commands == ["videoStart"]


async def test_a_device_that_never_films_has_no_picture_after_the_time_to_start(house, time):
    async with house(start_seconds=10.0) as running, trio.open_nursery() as nursery:
        found = []

        async def read():
            found.append(await running.read())

        nursery.start_soon(read)
        await time.passes(9.9, step=1)
        assert found == []
        await time.passes(0.2)
        assert found == [None]


async def test_what_a_stream_showed_last_is_still_there_with_its_time(house, film, clock, time):
    async with house(unrequested=True, autostart=False) as running:
        seen = clock.now()
        connection = await running.publish(film(1))
        await running.stream.tell(PublisherLeft(connection))
        await time.passes(30, step=5)
        assert (await running.read()).taken_at == seen


async def test_a_key_frame_that_does_not_decode_is_an_error_told_once_and_harms_nothing(
    house, film, clock, time, caplog
):
    spoilt = StreamKeyframe("0-0", H264, b"\0\0\0\1\x65" + bytes(20), clock.now())
    async with house(unrequested=True) as running:
        snapshots = running.system.ref(SNAPSHOT, running.key)
        for _ in range(3):
            failed = await snapshots.ask(DecodeSnapshot(spoilt))
            assert isinstance(failed, SnapshotFailed)
            assert failed.reason.startswith("the key frame does not decode")
        assert caplog.text.count("no snapshot: the key frame does not decode") == 1
        await running.publish(film(1))
        assert (await running.read()).jpeg.startswith(b"\xff\xd8")


async def test_while_no_decoder_answers_the_same_key_frame_is_tried_again(
    house, film, neighbours, monkeypatch
):
    async with house(unrequested=True) as running:
        await running.publish(film(1))
        with monkeypatch.context() as patch:
            patch.setattr(neighbours.decoders, "handle", lambda _: Failure(ActorStopped("decoders")))
            assert isinstance(await running.read(), SnapshotFailed)
        assert (await running.read()).jpeg.startswith(b"\xff\xd8")


async def test_reading_pictures_keeps_a_stream_that_a_reader_began(house, film, time):
    async with house(linger_seconds=60.0) as running:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(running.read)
            await time.settle()
            await running.publish(film(1))
        for _ in range(4):
            await time.passes(40, step=5)
            assert await running.read() is not None
        assert running.commands == ["videoStart"]
        await time.passes(70, step=5)
        assert running.commands == ["videoStart", "videoStop"]


async def test_readers_that_wait_are_let_go_when_the_server_stops(house, time):
    found = []
    async with trio.open_nursery() as nursery:
        async with house() as running:

            async def read():
                found.append(await running.read())

            nursery.start_soon(read)
            await time.settle()
        nursery.cancel_scope.deadline = trio.current_time() + 5
    assert found == [None]
