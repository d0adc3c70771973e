"""One live stream: pictures in, a playlist and segments out, started and stopped for its readers."""

import gc
import io
import itertools

import av
import m3u8
import pytest
import trio
from tests.runtime.actor_testing import Probe

from motorpool.actors.messages.downlink import Close
from motorpool.actors.messages.live_stream import (
    STREAM,
    AwaitPlaylist,
    Held,
    HoldStream,
    ReadPart,
    ReadPlaylist,
    ReadSegment,
    ReleaseStream,
    ResumeStream,
    WaitFailure,
)
from motorpool.actors.messages.publishing import (
    SERVER_STOPPED,
    Publish,
    PublisherLeft,
    StreamEnded,
    Subscribe,
    UnitsPublished,
    Unsubscribe,
)
from motorpool.actors.messages.uplink import CommandRefused, CommandSent, SendCommand
from motorpool.actors.video import sequence_allocator as numbers_file
from motorpool.actors.video.camera_control import requested_channel
from motorpool.actors.video.settings import VideoSettings
from motorpool.actors.video.stream import Stream, stream_spec
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.runtime import Actor, DynamicSpec, Kind

TAKER = Kind("taker")


class Stuck(Actor):
    """Handles nothing until it is let go."""

    def __init__(self):
        self.messages = []
        self.free = trio.Event()

    async def handle(self, message):
        self.messages.append(message)
        await self.free.wait()


class House:
    """A running stream of channel 1 and what it tells its neighbours."""

    def __init__(self, system, neighbours, row, time, takers):
        self.system, self.neighbours, self.row, self.time = system, neighbours, row, time
        self.subscribers = takers
        self.ref = system.ref(STREAM, (row.id, 1))

    @property
    def commands(self):
        return [told.type for told in self.neighbours.devices[self.row.id].messages]

    async def read(self, question):
        """What is answered, held or not."""
        found = await self.ref.ask(question, seconds=60)
        return found.answer if isinstance(found, Held) else found

    async def playlist(self, **fields):
        return m3u8.loads(await self.read(ReadPlaylist(**fields)))

    async def listed(self):
        """What is listed once a reader gets it; time passes while they wait."""
        read = []
        async with trio.open_nursery() as nursery:

            async def reader():
                read.append(await self.playlist())

            nursery.start_soon(reader)
            await self.time.settle()
            while not read:
                await self.time.passes(0.25)
        return read[0]

    async def take(self, name="taker"):
        """A taker's ref and probe."""
        ref = self.system.ref(TAKER, name)
        await self.ref.ask(Subscribe(ref))
        return ref, self.subscribers.setdefault(name, Probe())

    async def publish(self, number=1):
        """A new publisher's ref and probe, and whether it is wanted."""
        ref, probe = await self.neighbours.connect(self.system, number)
        return ref, probe, await self.ref.ask(Publish(ref))

    async def show(self, connection, units, lossy=False):
        """The publisher hands in pictures as they are taken."""
        for unit in units:
            await self.ref.tell(UnitsPublished(connection, [unit], lossy))
            lossy = False
        await self.time.settle()


@pytest.fixture
def house(database, make_device, tree, neighbours, time):
    """`async with house(answer=…, …) as stream:`"""

    class Opened:
        def __init__(self, answer=None, row=None, **limits):
            self.answer = answer or CommandSent()
            self.limits = VideoSettings(segment_seconds=1.0, **limits)
            self.row = row

        async def __aenter__(self):
            row = self.row or await make_device()
            neighbours.devices.pop(row.id, None)
            neighbours.device(row.id, {SendCommand: self.answer})
            takers = {}
            self.running = tree(
                neighbours.devices_spec,
                neighbours.sound_spec,
                stream_spec(database, self.limits),
                DynamicSpec(
                    kind=TAKER,
                    name="takers",
                    factory=lambda key: takers.setdefault(key, Probe()),
                    mailbox_size=2,
                ),
                neighbours.connections_spec,
            )
            return House(await self.running.__aenter__(), neighbours, row, time, takers)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


def numbers(playlist):
    return list(range(playlist.media_sequence, playlist.media_sequence + len(playlist.segments)))


def first_picture(data):
    """The first picture of a segment: whether it is a key frame, and how many there are."""
    with av.open(io.BytesIO(data), format="mpegts") as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
    return packets[0].is_keyframe, len(packets)


@pytest.mark.parametrize(
    ("attributes", "channel"),
    [
        ({"channel": 3}, 3),
        ({"index": "4"}, 4),
        ({"channel": 2, "index": 5}, 2),
        ({}, 1),
        ({"channel": "x"}, 1),
    ],
)
def test_the_channel_of_a_command_is_channel_then_index_then_one(attributes, channel):
    assert requested_channel(attributes) == channel


class TestReaders:
    async def test_the_first_reader_starts_the_camera_and_is_held_until_the_first_segment(
        self, house, film, time
    ):
        read = []
        async with house() as stream, trio.open_nursery() as nursery:

            async def reader():
                read.append(await stream.playlist())

            for _ in range(3):
                nursery.start_soon(reader)
            await time.settle()
            assert stream.commands == ["videoStart"]
            order = stream.neighbours.devices[stream.row.id].messages[0]
            assert (order.attributes, order.no_queue, order.by_reader) == ({"channel": 1}, True, True)
            await time.passes(3)
            camera, _, wanted = await stream.publish()
            assert wanted
            await stream.show(camera, film(1))
            assert read == []
            await stream.show(camera, film(2)[5:6])
            assert read == []  # with one segment alone, players that poll would run dry
            await time.passes(0.4)
            assert read == []
            await time.passes(0.1)
            assert [numbers(each) for each in read] == [[0]] * 3
            # Reading changes nothing, also where the next segment is overdue.
            await time.passes(1)
            assert (await stream.playlist()).dumps() == read[0].dumps()
            segment = await stream.ref.ask(ReadSegment(0))
            assert first_picture(segment) == (True, 5)
            assert read[0].segments[0].duration == 1.0
            assert await stream.ref.ask(ReadSegment(1)) is None
            assert stream.commands == ["videoStart"]

    async def test_a_reader_that_does_not_wait_starts_the_camera_as_well(self, house, film, time):
        async with house() as stream:
            assert "#EXTINF" not in await stream.ref.ask(ReadPlaylist(wait_seconds=0))
            assert stream.commands == ["videoStart"]
            read = []

            async def reader():
                read.append(await stream.read(ReadPlaylist(wait_seconds=2)))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(reader)
                await time.passes(1.9)
                assert read == []
                await time.passes(0.2)
                assert len(read) == 1
            assert stream.commands == ["videoStart"]

    async def test_a_reload_just_before_the_next_segment_waits_for_it(self, house, film, time):
        read = []
        async with house() as stream, trio.open_nursery() as nursery:

            async def reload():
                read.append(await stream.playlist())

            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            units = film(5)
            await stream.show(camera, units[:11])
            await time.passes(0.4)
            await reload()
            await time.passes(0.2)
            nursery.start_soon(reload)
            await time.passes(0.5)
            assert [numbers(each) for each in read] == [[0, 1]]
            await stream.show(camera, units[11:16])
            assert [numbers(each) for each in read] == [[0, 1], [0, 1, 2]]
            # It does not wait for a segment that does not come, nor for a camera that has left.
            await time.passes(0.9)
            nursery.start_soon(reload)
            await time.passes(0.7)
            assert numbers(read[2]) == [0, 1, 2]
            await stream.show(camera, units[16:21])
            await time.passes(0.9)
            nursery.start_soon(reload)
            await time.settle()
            assert len(read) == 3
            await stream.ref.tell(PublisherLeft(camera))
            await time.settle()
            assert len(read) == 4

    async def test_without_a_picture_the_reader_gets_an_empty_playlist_in_time(self, house, time):
        read = []
        async with house(start_seconds=10) as stream, trio.open_nursery() as nursery:

            async def reader():
                read.append(await stream.playlist())

            nursery.start_soon(reader)
            await time.passes(4)
            nursery.start_soon(reader)
            await time.passes(5.9, step=1)
            assert read == []
            await time.passes(0.2)
            assert [each.segments for each in read] == [[]]
            await time.passes(5, step=1)
            assert [each.segments for each in read] == [[], []]
            # The next reader tries again.
            nursery.start_soon(reader)
            await time.settle()
            assert stream.commands == ["videoStart"] * 2
            await time.passes(11, step=1)

    @pytest.mark.parametrize("case", ["offline", "switched off", "not asked to"])
    async def test_where_nothing_is_started_the_playlist_is_empty_at_once(self, house, case):
        refused = CommandRefused("the device is offline") if case == "offline" else None
        async with house(answer=refused, autostart=case != "switched off") as stream:
            playlist = await stream.playlist(start=case != "not asked to")
            assert playlist.segments == []
            assert stream.commands == (["videoStart"] if case == "offline" else [])

    async def test_what_readers_began_ends_at_the_device_when_nobody_reads(self, house, film, time):
        units = film(60)
        async with house(linger_seconds=20) as stream, trio.open_nursery() as nursery:
            nursery.start_soon(stream.playlist)
            await time.settle()
            camera, probe, _ = await stream.publish()
            await stream.show(camera, units[:6])
            for _ in range(3):  # a segment read counts as well
                await time.passes(15, step=5)
                await stream.ref.ask(ReadSegment(0))
            await time.passes(19, step=1)
            assert stream.commands == ["videoStart"]
            await time.passes(4, step=1)
            assert stream.commands == ["videoStart", "videoStop"]
            assert probe.messages == []  # it may close by itself
            await time.passes(5.1)
            assert probe.messages == [Close("the stream was stopped", 1)]
            # The next reader starts it anew.
            await stream.playlist()
            assert stream.commands[2:] == ["videoStart"]

    async def test_what_video_start_began_is_held_without_readers_until_video_stop(self, house, film, time):
        async with house(linger_seconds=20) as stream:
            await stream.ref.tell(HoldStream())
            camera, probe, wanted = await stream.publish()
            assert wanted
            await stream.show(camera, film(2))
            await time.passes(2)
            assert numbers(await stream.playlist()) == [0]
            await time.passes(600, step=60)
            assert stream.commands == []
            assert stream.ref.alive
            await stream.ref.tell(ReleaseStream())
            await time.passes(5.1)
            assert probe.messages == [Close("the stream was stopped", 1)]

    async def test_after_a_talk_it_begins_again_if_it_is_wanted_and_its_media_have_ended(
        self, house, film, time
    ):
        async with house() as stream:
            await stream.ref.tell(ResumeStream())
            await time.settle()
            assert stream.commands == []
            await stream.ref.tell(HoldStream())
            connection, _, accepted = await stream.publish()
            assert accepted
            await stream.ref.tell(ResumeStream())
            await time.settle()
            assert stream.commands == []
            await stream.ref.tell(PublisherLeft(connection))
            await stream.ref.tell(ResumeStream())
            await time.settle()
            assert stream.commands == ["videoStart"]

    async def test_readers_join_what_is_held_and_their_leaving_does_not_end_it(self, house, film, time):
        async with house(linger_seconds=20) as stream, trio.open_nursery() as nursery:
            nursery.start_soon(stream.playlist)
            await time.settle()
            await stream.ref.tell(HoldStream())
            camera, probe, _ = await stream.publish()
            await stream.show(camera, film(2))
            await time.passes(120, step=5)
            assert stream.commands == ["videoStart"]
            assert probe.messages == []

    async def test_stopping_lets_go_of_who_still_waits(self, house, time):
        read = []
        async with house() as stream, trio.open_nursery() as nursery:

            async def reader():
                read.append(await stream.playlist())

            nursery.start_soon(reader)
            await time.settle()
            await stream.ref.stop()
        assert [each.segments for each in read] == [[]]


class TestPublishers:
    async def test_media_that_nobody_asked_for_is_refused_unless_the_setting_takes_it(
        self, house, film, time
    ):
        async with house() as stream:
            camera, _, wanted = await stream.publish()
            assert wanted is False
            await stream.show(camera, film(3))
            assert (await stream.playlist(start=False)).segments == []
        async with house(unrequested=True, row=stream.row) as stream:
            camera, _, wanted = await stream.publish()
            assert wanted is True
            await stream.show(camera, film(3))
            assert len((await stream.playlist()).segments) == 2
            assert stream.commands == []

    async def test_the_newest_publisher_wins_and_the_older_is_closed(self, house, film, time):
        async with house() as stream:
            await stream.ref.tell(HoldStream())
            older, older_probe, _ = await stream.publish(1)
            await stream.show(older, film(2))
            newer, newer_probe, wanted = await stream.publish(2)
            await time.settle()
            assert wanted
            assert older_probe.messages == [
                Close("replaced by a newer media connection of the same channel", 1)
            ]
            await stream.show(older, film(4)[10:])  # its last words
            await stream.ref.tell(PublisherLeft(older))
            await stream.show(newer, film(2, start=900_000))
            playlist = await stream.listed()
            assert newer_probe.messages == []
            assert numbers(playlist) == [0, 1, 2]
            assert [segment.discontinuity for segment in playlist.segments] == [False, False, True]
            assert sum(segment.duration for segment in playlist.segments) == pytest.approx(3.0)

    async def test_a_storm_of_connections_leaves_one_and_a_playlist_in_order(self, house, film, time):
        units = film(4)
        async with house(window_segments=50) as stream:
            await stream.ref.tell(HoldStream())
            probes = []
            for number in range(30):
                camera, probe, wanted = await stream.publish(number)
                assert wanted
                probes.append(probe)
                # Some say nothing, some break off inside a picture group, some outlast a segment.
                await stream.show(camera, units[: (0, 3, 7)[number % 3]])
            await time.settle()
            replaced = Close("replaced by a newer media connection of the same channel", 1)
            assert [probe.messages for probe in probes] == [[replaced]] * 29 + [[]]
            playlist = await stream.listed()
            # Ten short ones, ten of a segment and a rest; the last connection's rest is open yet.
            assert numbers(playlist) == list(range(29))
            assert [each.discontinuity for each in playlist.segments].count(True) == 20
            assert sum(each.duration for each in playlist.segments) == pytest.approx(
                10 * 0.6 + 10 * 1.4 - 0.4
            )

    async def test_one_that_was_let_go_before_takes_the_place_of_nobody(self, house, film, time):
        async with house(unrequested=True) as stream:
            older, _, _ = await stream.publish(1)
            # Stopped, it still sends: nobody asked for that, whatever the setting says of new ones.
            assert await stream.ref.ask(Publish(older, is_retry=True)) is False
            await stream.ref.tell(HoldStream())
            newer, newer_probe, _ = await stream.publish(2)
            assert await stream.ref.ask(Publish(older, is_retry=True)) is False
            await stream.ref.tell(PublisherLeft(newer))
            assert await stream.ref.ask(Publish(older, is_retry=True)) is True
            assert newer_probe.messages == []
            await stream.show(older, film(2))
            assert len((await stream.listed()).segments) == 1

    async def test_a_publisher_that_leaves_closes_the_open_segment_and_may_come_back(self, house, film, time):
        async with house() as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish(1)
            await stream.show(camera, film(2)[:8])
            assert numbers(await stream.listed()) == [0]
            await stream.ref.tell(PublisherLeft(camera))
            playlist = await stream.listed()
            assert [segment.duration for segment in playlist.segments] == pytest.approx([1.0, 0.6])
            _, _, wanted = await stream.publish(2)
            assert wanted

    async def test_after_lost_pictures_the_next_segment_begins_with_a_key_frame(self, house, film, time):
        units = film(6)
        async with house() as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            await stream.show(camera, units[:7])
            await stream.show(camera, units[12:21], lossy=True)  # from the middle of a group
            playlist = await stream.listed()
            assert [segment.duration for segment in playlist.segments] == pytest.approx([1.0, 0.4, 1.0])
            assert [segment.discontinuity for segment in playlist.segments] == [False, False, True]
            assert first_picture(await stream.ref.ask(ReadSegment(2))) == (True, 5)

    async def test_sound_that_is_transcoded_keeps_pictures_in_order(self, house, film, time):
        sound = [
            AccessUnit(1, AudioCoding.G711A, False, 1000 + 40 * number, bytes(320)) for number in range(75)
        ]
        units = sorted([*film(3), *sound], key=lambda unit: (unit.timestamp, not unit.is_video))
        async with house() as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            await stream.show(camera, units)
            playlist = await stream.listed()
            while len(playlist.segments) < 2:
                await trio.testing.wait_all_tasks_blocked(0.01)
                playlist = await stream.listed()
            assert numbers(playlist) == [0, 1]
            with av.open(io.BytesIO(await stream.ref.ask(ReadSegment(1)))) as container:
                assert {each.type for each in container.streams} == {"video", "audio"}

    async def test_one_encoder_makes_the_telephone_sound_of_all_segments(self, house, film, time):
        sound = [
            AccessUnit(1, AudioCoding.G711A, False, 1000 + 40 * number, bytes(320)) for number in range(100)
        ]
        units = sorted([*film(4), *sound], key=lambda unit: (unit.timestamp, not unit.is_video))
        async with house() as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            await stream.show(camera, units)
            while len((await stream.listed()).segments) < 3:
                await trio.testing.wait_all_tasks_blocked(0.01)
            times = []
            for index in range(3):
                with av.open(io.BytesIO(await stream.ref.ask(ReadSegment(index)))) as container:
                    times += [packet.pts for packet in container.demux(audio=0) if packet.size]
        # 1,024 samples at 8 kHz each: no frame is left out, made twice or cut off at the end of a segment.
        assert {after - before for before, after in itertools.pairwise(times)} == {11_520}
        assert len(times) >= 20


class TestNumbers:
    async def test_the_window_moves_and_memory_stays_bounded(self, house, film, time):
        async with house(window_segments=3) as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            await stream.show(camera, film(40))
            playlist = await stream.listed()
            assert numbers(playlist) == [36, 37, 38]
            assert not playlist.discontinuity_sequence
            kept = [index for index in range(45) if await stream.ref.ask(ReadSegment(index)) is not None]
            assert kept == [33, 34, 35, 36, 37, 38]  # three more for who is late

    async def test_after_an_orderly_end_numbers_go_on_without_a_gap(self, house, film, time):
        async with house() as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            await stream.show(camera, film(4))
        async with house(row=stream.row) as again:
            await again.ref.tell(HoldStream())
            camera, _, _ = await again.publish()
            await again.show(camera, film(2))
            playlist = await again.listed()
            assert numbers(playlist) == [3]
            assert playlist.segments[0].discontinuity

    async def test_after_a_crash_numbers_never_come_twice(self, house, film, time):
        highest = []
        async with house() as stream:
            for number in range(3):
                await stream.ref.tell(HoldStream())
                camera, _, _ = await stream.publish(number)
                await stream.show(camera, film(4))
                playlist = await stream.listed()
                assert len(playlist.segments) == 3
                assert not highest or numbers(playlist)[0] > highest[-1]
                highest.append(numbers(playlist)[-1])
                discontinuities = playlist.discontinuity_sequence or 0
                assert discontinuities >= 1000 * number
                await stream.ref.tell("nonsense")
                await time.passes(1)
        assert highest == [2, 1002, 2002]

    async def test_more_numbers_are_written_down_before_they_are_used(
        self, house, film, time, database, monkeypatch
    ):
        monkeypatch.setattr(numbers_file, "RESERVED_INDICES", 4)

        async def mark():
            return await database.fetch_value("select next_index from stream_marks")

        async with house() as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            for second in range(12):
                await stream.show(camera, film(12)[5 * second : 5 * second + 5])
                if second:
                    assert numbers(await stream.listed())[-1] == second - 1
                assert await mark() > second - 1
        assert await mark() == 11

    async def test_pictures_go_on_through_an_outage(self, house, film, time, outage, monkeypatch, caplog):
        monkeypatch.setattr(numbers_file, "RESERVED_INDICES", 2)
        async with house() as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            with outage():
                await stream.show(camera, film(6))
                assert numbers(await stream.listed()) == [0, 1, 2, 3, 4]
        assert "numbers were not written down" in caplog.text

    async def test_an_idle_stream_leaves_and_a_held_one_stays_as_long_as_its_device(self, house, time):
        async with house() as stream:
            await stream.ref.ask(ReadSegment(0))
            await time.passes(500, step=50)
            assert not stream.ref.alive
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            await time.passes(500, step=50)
            assert stream.ref.alive
            await stream.ref.tell(PublisherLeft(camera))  # and the device with it, for it does not come back
            await time.passes(500, step=50)
            assert not stream.ref.alive


class TestTakers:
    async def test_a_taker_starts_and_holds_the_stream_and_gets_every_cut(self, house, film, time):
        async with house(linger_seconds=20) as stream:
            ref, probe = await stream.take()
            assert stream.commands == ["videoStart"]
            camera, _, wanted = await stream.publish(1)
            assert wanted
            await stream.show(camera, film(2))
            again, _, _ = await stream.publish(2)
            await stream.show(again, film(2, start=500_000)[:7])
            await stream.show(again, film(1, start=502_000), lossy=True)
            assert [
                ([picture.payload for picture in fragment.pictures], fragment.discontinuity)
                for message in probe.messages
                for fragment in message.fragments
            ] == [
                ([unit.payload for unit in film(2)[:5]], False),
                ([unit.payload for unit in film(2)[5:]], False),
                ([unit.payload for unit in film(2)[:5]], True),
                ([unit.payload for unit in film(2)[5:7]], False),
            ]
            await time.passes(300, step=5)
            assert stream.commands == ["videoStart"]
            await stream.ref.tell(Unsubscribe(ref, "enough"))
            ended = probe.messages.pop()
            assert isinstance(ended, StreamEnded)
            assert (ended.reason, len(ended.rest.pictures)) == ("enough", 5)
            await time.passes(6, step=1)
            assert stream.commands == ["videoStart", "videoStop"]
            assert len(probe.messages) == 4

    async def test_a_taker_of_what_runs_commands_nothing_and_ends_with_video_stop(self, house, film, time):
        async with house() as stream:
            await stream.ref.tell(HoldStream())
            camera, _, _ = await stream.publish()
            _, probe = await stream.take()
            await stream.show(camera, film(2)[:7])
            await stream.ref.tell(ReleaseStream())
            await stream.show(camera, film(2)[7:])
            taken, ended = probe.messages
            assert len(taken.fragments[0].pictures) == 5
            assert (ended.reason, len(ended.rest.pictures)) == ("the stream was stopped", 2)
            assert stream.commands == []

    async def test_telephone_sound_reaches_takers_as_aac(self, house, film, time):
        sound = [
            AccessUnit(1, AudioCoding.G711A, False, 1000 + 40 * number, bytes(320)) for number in range(50)
        ]
        units = sorted([*film(2), *sound], key=lambda unit: (unit.timestamp, not unit.is_video))
        async with house() as stream:
            _, probe = await stream.take()
            camera, _, _ = await stream.publish()
            await stream.show(camera, units)
            (taken,) = probe.messages
            assert {each.coding for each in taken.fragments[0].audio_frames} == {AudioCoding.AAC}

    async def test_a_taker_without_room_misses_cuts_and_holds_up_nobody(self, house, film, time, caplog):
        async with house() as stream:
            stuck = stream.subscribers["taker"] = Stuck()
            await stream.take()
            camera, _, _ = await stream.publish()
            await stream.show(camera, film(8))
            assert len((await stream.listed()).segments) == 6
            assert "captures are too slow" in caplog.text
            stuck.free.set()
            await time.settle()
            assert 1 <= len(stuck.messages) <= 4

    async def test_a_taker_waits_for_a_device_that_dropped_but_not_for_ever(self, house, film, time):
        async with house(linger_seconds=60) as stream:
            _, probe = await stream.take()
            camera, _, _ = await stream.publish()
            await stream.show(camera, film(1)[:1])
            await stream.ref.tell(PublisherLeft(camera))
            await time.passes(59, step=1)
            assert len(probe.messages) == 1
            await time.passes(6, step=1)
            assert probe.messages[1:] == [StreamEnded("the device has left")]

    async def test_a_taker_of_an_offline_device_is_told_the_end_after_a_while(self, house, time):
        async with house(linger_seconds=60, answer=CommandRefused("the device is offline")) as stream:
            _, probe = await stream.take()
            await time.passes(59, step=1)
            assert probe.messages == []
            await time.passes(6, step=1)
            assert probe.messages == [StreamEnded("the device has left")]

    async def test_the_end_of_the_server_is_told_as_well(self, house, time):
        async with house() as stream:
            _, probe = await stream.take()
            await stream.ref.stop()
            assert probe.messages == [StreamEnded(SERVER_STOPPED, interrupted=True)]


class TestParts:
    """Low-Latency HLS; five pictures and a key frame a second, two pictures a part."""

    @pytest.fixture
    async def shown(self, house, film, time):
        """A stream with two segments, its publisher, and the pictures that follow."""
        units = film(20)
        async with house(part_seconds=0.4) as stream:
            await stream.ref.tell(HoldStream())
            camera, _, wanted = await stream.publish()
            assert wanted
            await stream.show(camera, units[:11])
            yield stream, camera, units[11:]

    async def test_the_first_reader_gets_a_whole_segment(self, house, film, time):
        read = []
        async with house(part_seconds=0.4) as stream, trio.open_nursery() as nursery:

            async def reader():
                read.append(await stream.playlist())

            nursery.start_soon(reader)
            await time.settle()
            camera, _, _ = await stream.publish()
            await stream.show(camera, film(1))
            assert read == []
            await stream.show(camera, film(2)[5:6])
            (playlist,) = read
            assert [entry.uri for entry in playlist.segments] == ["1.ts"]
            assert [part.uri for part in playlist.segments[0].parts] == ["1.0.ts", "1.1.ts", "1.2.ts"]
            assert playlist.preload_hint.uri == "2.0.ts"

    async def test_a_segment_is_its_parts(self, shown):
        stream, _, _ = shown
        parts = [await stream.ref.ask(ReadPart(2, number)) for number in range(3)]
        assert b"".join(parts) == await stream.ref.ask(ReadSegment(2))
        assert [first_picture(part) for part in parts] == [(True, 2), (False, 2), (False, 1)]

    async def test_a_reload_is_held_until_its_part_is_there(self, shown, time):
        stream, camera, units = shown
        read = []

        async def reload(index, part):
            found = await stream.read(AwaitPlaylist(index, part))
            read.append((index, part, m3u8.loads(found).preload_hint.uri))

        async with trio.open_nursery() as nursery:
            for index, part in [(2, 0), (3, 0), (3, 1), (3, None), (4, 0)]:
                nursery.start_soon(reload, index, part)
            await time.settle()
            assert read == [(2, 0, "3.0.ts")]
            await stream.show(camera, units[:2])
            assert read[1:] == [(3, 0, "3.1.ts")]
            await stream.show(camera, units[2:4])
            assert read[2:] == [(3, 1, "3.2.ts")]
            await stream.show(camera, units[4:5])
            assert read[3:] == [(3, None, "4.0.ts")]
            await stream.show(camera, units[5:7])
            assert read[4:] == [(4, 0, "4.1.ts")]

    async def test_nobody_waits_for_what_is_far_ahead_or_longer_than_three_target_durations(
        self, shown, time
    ):
        stream, _, _ = shown
        for index, part in [(5, None), (5, 0), (3, 8), (10**9, None)]:
            assert await stream.ref.ask(AwaitPlaylist(index, part)) is WaitFailure.TOO_FAR_AHEAD
        read = []

        async def reload(index, part):
            read.append(await stream.read(AwaitPlaylist(index, part)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(reload, 3, 0)
            await time.passes(1)
            nursery.start_soon(reload, 4, 0)
            await time.passes(1.9)
            assert read == []
            await time.passes(0.2)
            assert read == [WaitFailure.TIMED_OUT]
            await time.passes(1)
            assert read == [WaitFailure.TIMED_OUT] * 2

    async def test_the_part_that_is_named_as_the_next_is_awaited_and_no_other(self, shown, time):
        stream, camera, units = shown
        read = []

        async def fetch(index, part):
            read.append(await stream.read(ReadPart(index, part)))

        for index, part in [(3, 1), (4, 0), (0, 0), (1, 3), (1, -1)]:
            assert await stream.ref.ask(ReadPart(index, part)) is None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fetch, 3, 0)
            await time.settle()
            assert read == []
            await stream.show(camera, units[:2])
            assert first_picture(read[0]) == (True, 2)
            nursery.start_soon(fetch, 3, 1)
            await time.passes(3.1)
            assert read[1:] == [None]

    async def test_a_publisher_that_leaves_lets_go_of_all_who_wait(self, shown, time):
        stream, camera, _ = shown
        read = []

        async def reload(question):
            read.append(await stream.read(question))

        async with trio.open_nursery() as nursery:
            for question in (AwaitPlaylist(3, 0), AwaitPlaylist(4, 0), ReadPart(3, 0)):
                nursery.start_soon(reload, question)
            await time.settle()
            await stream.ref.tell(PublisherLeft(camera))
            await time.settle()
        playlists = [m3u8.loads(text) for text in read if isinstance(text, str)]
        assert [[entry.uri for entry in each.segments] for each in playlists] == [
            ["1.ts", "2.ts", "3.ts"]
        ] * 2
        assert [first_picture(found) for found in read if isinstance(found, bytes)] == [(True, 1)]
        # And who comes later does not wait for what nobody sends.
        assert isinstance(await stream.ref.ask(AwaitPlaylist(4, 0)), str)

    async def test_captures_take_parts_and_lose_no_picture(self, shown, film):
        stream, camera, units = shown
        _, probe = await stream.take()
        await stream.show(camera, units[:10])
        taken = [fragment for told in probe.messages for fragment in told.fragments]
        assert [fragment.complete for fragment in taken] == [False, False, True] * 2
        pictures = [picture.payload for fragment in taken for picture in fragment.pictures]
        assert pictures == [unit.payload for unit in film(20)[10:20]]


async def test_streams_that_have_left_leave_nothing_behind(house, film, time, neighbours):
    def alive():
        gc.collect()
        kinds = (Stream, Segmenter, LivePlaylist, MediaFragment)
        return sum(isinstance(each, kinds) for each in gc.get_objects())

    # Tests before this one may have left some that nothing collects any more.
    before = alive()
    async with house(unrequested=True) as stream:
        units = film(6)
        for number in range(10):
            connection, _ = await neighbours.connect(stream.system, 100 + number)
            ref = stream.system.ref(STREAM, (stream.row.id, 2 + number % 3))
            assert await ref.ask(Publish(connection))
            await ref.tell(UnitsPublished(connection, units))
            assert "#EXTINF" in await ref.ask(ReadPlaylist())
            await ref.tell(PublisherLeft(connection))
            await connection.stop()
        assert alive() >= before + 9
        # Their windows are kept for those who still read, and for five minutes.
        await time.passes(800, step=20)
        assert alive() <= before
