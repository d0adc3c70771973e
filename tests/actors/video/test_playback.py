"""Playback of one channel: bursts in, a playlist that grows and ends, on the virtual clock."""

import io
from datetime import UTC, datetime

import av
import m3u8
import pytest
import trio
from tests.runtime.actor_testing import Probe

from motorpool.actors.messages.downlink import Close
from motorpool.actors.messages.playback import (
    PLAYBACK,
    FindSegment,
    GetPlaybackState,
    PlaybackCommandCompleted,
    PlaybackControlSent,
    PlaybackRequested,
    ReadPlayback,
)
from motorpool.actors.messages.publishing import (
    Publish,
    PublisherLeft,
    StreamEnded,
    StreamReplaced,
    Subscribe,
    UnitsPublished,
    Unsubscribe,
)
from motorpool.actors.messages.uplink import CommandSent, SendCommand
from motorpool.actors.video.playback import playback_spec
from motorpool.actors.video.segment_store import segment_path, segment_store_spec
from motorpool.actors.video.settings import VideoSettings
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.muxer import MPEG_TS, mux
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.runtime import DynamicSpec, Kind

TAKER = Kind("taker")
PAUSE, STOP, FORWARD, SEEK = 1, 2, 3, 5


class House:
    """A running playback of channel 1, its neighbours, and the files of its segments."""

    def __init__(self, system, neighbours, row, time, data, takers):
        self.system, self.neighbours, self.row, self.time = system, neighbours, row, time
        self.data, self.subscribers = data, takers
        self.ref = system.ref(PLAYBACK, (row.id, 1))

    @property
    def commands(self):
        told = self.neighbours.devices[self.row.id].messages if self.row.id in self.neighbours.devices else []
        return [(each.type, each.attributes, each.no_queue, each.by_reader) for each in told]

    async def asked(self):
        """As the device tells it of a command."""
        await self.ref.tell(PlaybackRequested())
        await self.ref.tell(PlaybackCommandCompleted(sent=True))

    async def publish(self, number=1):
        """A media connection's ref and probe, and whether it is wanted."""
        ref, probe = await self.neighbours.connect(self.system, number)
        return ref, probe, await self.ref.ask(Publish(ref))

    async def begin(self, number=1):
        await self.asked()
        ref, probe, wanted = await self.publish(number)
        assert wanted
        return ref, probe

    async def send(self, connection, units):
        await self.ref.tell(UnitsPublished(connection, list(units)))
        await self.time.settle()

    async def playlist(self):
        return m3u8.loads(await self.ref.ask(ReadPlayback(), seconds=60))

    async def segment(self, index):
        run = await self.ref.ask(FindSegment(index))
        return None if run is None else segment_path(self.data, run, index, MPEG_TS).read_bytes()

    async def take(self, name):
        await self.ref.ask(Subscribe(self.system.ref(TAKER, name)))
        return self.subscribers.setdefault(name, Probe())

    def files(self):
        return sorted(int(path.stem) for path in (self.data / "playback").rglob("*.ts"))


@pytest.fixture
def house(database, make_device, tree, neighbours, time, tmp_path):
    """`async with house(…) as playback:` with limits, or the `row` of an earlier one."""

    class Opened:
        def __init__(self, row=None, quota_bytes=1 << 30, **limits):
            self.row, self.quota_bytes = row, quota_bytes
            self.limits = VideoSettings(segment_seconds=1.0, **limits)

        async def __aenter__(self):
            row = self.row or await make_device()
            neighbours.devices.pop(row.id, None)
            neighbours.device(row.id, {SendCommand: CommandSent()})
            takers = {}
            self.running = tree(
                neighbours.devices_spec,
                neighbours.sound_spec,
                segment_store_spec(tmp_path, self.quota_bytes),
                playback_spec(database, self.limits),
                DynamicSpec(kind=TAKER, name="takers", factory=lambda key: takers.setdefault(key, Probe())),
                neighbours.connections_spec,
            )
            system = await self.running.__aenter__()
            return House(system, neighbours, row, time, tmp_path, takers)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


def told_stop(playback):
    stop = {"channel": 1, "control": "stop"}
    return playback.commands == [("videoPlaybackControl", stop, True, True)]


def indices(playlist):
    return list(range(playlist.media_sequence, playlist.media_sequence + len(playlist.segments)))


def pictures(data):
    with av.open(io.BytesIO(data), format="mpegts") as container:  # too short to be recognized
        return len([packet for packet in container.demux(video=0) if packet.size])


class TestPlaylist:
    async def test_a_burst_becomes_segments_on_disk_and_an_event_playlist(self, house, film, time):
        async with house() as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(10))
            playlist = await playback.playlist()
            assert indices(playlist) == list(range(9))
            assert (playlist.playlist_type, playlist.is_endlist) == ("event", False)
            assert playlist.segments[3].uri == "playback/3.ts"
            assert [entry.duration for entry in playlist.segments] == [1.0] * 9
            assert pictures(await playback.segment(8)) == 5
            assert await playback.segment(9) is None
            # Reading changes nothing.
            assert (await playback.playlist()).dumps() == playlist.dumps()
            assert playback.commands == []

    async def test_reading_starts_nothing_and_nothing_is_an_empty_playlist(self, house, time):
        async with house() as playback:
            playlist = await playback.playlist()
            assert (playlist.segments, playlist.is_endlist) == ([], False)
            assert await playback.segment(0) is None
            await time.passes(60, step=5)
            assert playback.commands == []
            await time.passes(400, step=25)
            assert not playback.ref.alive

    async def test_readers_of_what_was_asked_for_wait_for_its_first_segment_but_not_long(
        self, house, film, time
    ):
        read = []
        async with house(start_seconds=10) as playback, trio.open_nursery() as nursery:

            async def reader():
                read.append(await playback.playlist())

            await playback.asked()
            nursery.start_soon(reader)
            await time.passes(9, step=1)
            assert read == []
            camera, _, _ = await playback.publish()
            await playback.send(camera, film(2))
            assert [indices(each) for each in read] == [[0]]
            await playback.asked()
            nursery.start_soon(reader)
            await time.passes(10.5, step=1)
            assert [len(each.segments) for each in read] == [1, 0]

    async def test_a_new_playback_goes_on_above_the_last_and_removes_its_files(self, house, film, time):
        async with house() as playback:
            camera, _ = await playback.begin(1)
            await playback.send(camera, film(4))
            newer, _ = await playback.begin(2)
            assert await playback.segment(0) is None
            await playback.send(camera, film(4))  # what was on its way of the old
            await playback.send(newer, film(3, start=500_000))
            playlist = await playback.playlist()
            assert indices(playlist) == [4, 5]
            assert playlist.segments[0].discontinuity
            assert await playback.segment(3) is None
            assert playback.files() == [4, 5]

    async def test_a_command_that_was_refused_leaves_the_playlist_as_it_was(self, house, film, time):
        async with house() as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(3))
            await playback.ref.tell(PlaybackRequested())
            await playback.ref.tell(PlaybackCommandCompleted(sent=False))
            await playback.send(camera, film(5)[15:])
            assert indices(await playback.playlist()) == [0, 1, 2, 3]

    async def test_a_terminal_faster_than_the_word_of_its_command_is_taken(self, house, film, time):
        async with house() as playback:
            await playback.ref.tell(PlaybackRequested())
            camera, _, wanted = await playback.publish()
            assert wanted
            await playback.send(camera, film(3))
            await playback.ref.tell(PlaybackCommandCompleted(sent=True))
            assert indices(await playback.playlist()) == [0, 1]

    async def test_past_the_quota_the_beginning_goes_and_the_event_with_it(self, house, film, time):
        async with house(quota_bytes=10_000) as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(40))
            playlist = await playback.playlist()
            first = playlist.media_sequence
            assert indices(playlist) == list(range(first, 39)) == playback.files()
            assert 20 < first < 39
            assert playlist.playlist_type is None
            assert await playback.segment(first - 1) is None
            sizes = [path.stat().st_size for path in (playback.data / "playback").rglob("*.ts")]
            assert sum(sizes) <= 10_000

    async def test_an_ended_playback_makes_room_for_that_of_another_channel(self, house, film, time):
        async with house(quota_bytes=20_000) as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(5))
            await playback.ref.tell(PlaybackControlSent(STOP))
            assert (await playback.playlist()).is_endlist
            other = playback.system.ref(PLAYBACK, (playback.row.id, 2))
            await other.tell(PlaybackRequested())
            ref, _ = await playback.neighbours.connect(playback.system, 2)
            assert await other.ask(Publish(ref))
            await other.tell(UnitsPublished(ref, film(12)))
            await time.settle()
            assert len((await playback.playlist()).segments) == 0
            theirs = m3u8.loads(await other.ask(ReadPlayback()))
            assert (indices(theirs), theirs.playlist_type) == (list(range(11)), "event")

    async def test_a_full_disk_ends_this_playback_alone(self, house, film, time, caplog):
        async with house() as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(2))
            taker = await playback.take("one")
            run = await playback.ref.ask(FindSegment(0))
            segment_path(playback.data, run, 1, MPEG_TS).symlink_to("/dev/full")
            await playback.send(camera, film(8)[10:])
            playlist = await playback.playlist()
            assert (indices(playlist), playlist.is_endlist) == ([0], True)
            assert told_stop(playback)
            assert isinstance(taker.messages[-1], StreamEnded)
            assert "No space left" in taker.messages[-1].reason
            assert "No space left" in caplog.text
            again, _ = await playback.begin(2)
            await playback.send(again, film(3))
            assert len((await playback.playlist()).segments) == 2

    async def test_a_segment_that_cannot_be_made_is_left_out_and_told(
        self, house, film, time, monkeypatch, caplog
    ):
        made = []

        def fails_once(fragment):
            made.append(fragment)
            if len(made) == 2:
                raise CodecError("cannot be muxed: no such bytes")
            return mux(fragment)

        monkeypatch.setattr("motorpool.actors.video.segment_builder.mux", fails_once)
        async with house() as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(5))
            playlist = await playback.playlist()
            assert indices(playlist) == [0, 1, 2]
            assert [entry.discontinuity for entry in playlist.segments] == [False, True, False]
        assert "a segment is left out: cannot be muxed" in caplog.text

    async def test_sound_that_is_transcoded_comes_with_its_pictures(self, house, film, time):
        sound = [
            AccessUnit(1, AudioCoding.G711A, False, 1000 + 40 * number, bytes(320)) for number in range(75)
        ]
        units = sorted([*film(3), *sound], key=lambda unit: (unit.timestamp, not unit.is_video))
        async with house() as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, units)
            while len((await playback.playlist()).segments) < 2:
                await time.settle()
            with av.open(io.BytesIO(await playback.segment(1))) as container:
                assert {each.type for each in container.streams} == {"video", "audio"}


class TestEnd:
    async def test_it_ends_when_the_terminal_has_hung_up_and_does_not_come_back(self, house, film, time):
        async with house(playback_return_seconds=8) as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(2)[:8])
            await playback.ref.tell(PublisherLeft(camera))
            await time.passes(7, step=1)
            playlist = await playback.playlist()
            assert ([entry.duration for entry in playlist.segments], playlist.is_endlist) == (
                pytest.approx([1.0, 0.6]),
                False,
            )
            await time.passes(2, step=1)
            assert (await playback.playlist()).is_endlist
            # Whoever comes now was not asked.
            _, _, wanted = await playback.publish(2)
            assert not wanted

    async def test_a_connection_that_comes_back_goes_on_with_a_discontinuity(self, house, film, time):
        async with house(playback_return_seconds=8) as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(2)[:8])
            await playback.ref.tell(PublisherLeft(camera))
            await time.passes(7, step=1)
            again, _, wanted = await playback.publish(2)
            assert wanted
            await playback.send(again, film(5)[10:])
            await time.passes(9, step=1)
            playlist = await playback.playlist()
            assert [entry.discontinuity for entry in playlist.segments] == [False, False, True, False]
            assert not playlist.is_endlist

    async def test_one_that_was_let_go_before_takes_the_place_of_nobody(self, house, film, time):
        async with house(unrequested=True) as playback:
            older, _ = await playback.neighbours.connect(playback.system, 1)
            newer, probe = await playback.neighbours.connect(playback.system, 2)
            assert await playback.ref.ask(Publish(older, is_retry=True)) is False  # it begins nothing
            assert await playback.ref.ask(Publish(newer)) is True
            assert await playback.ref.ask(Publish(older, is_retry=True)) is False
            assert probe.messages == []
            await playback.ref.tell(PublisherLeft(newer))
            assert await playback.ref.ask(Publish(older, is_retry=True)) is True

    async def test_the_newest_connection_wins_and_the_older_is_closed(self, house, film, time):
        async with house() as playback:
            older, probe = await playback.begin()
            await playback.send(older, film(2))
            newer, _, wanted = await playback.publish(2)
            assert wanted
            assert probe.messages[0] == Close("replaced by a newer media connection of the same channel", 1)
            await playback.send(older, film(2))
            await playback.ref.tell(PublisherLeft(older))
            await playback.send(newer, film(4)[10:])
            assert indices(await playback.playlist()) == [0, 1, 2]

    async def test_silence_ends_it_the_device_is_told_and_then_closed(self, house, film, time):
        async with house(playback_silence_seconds=12) as playback:
            camera, probe = await playback.begin()
            await playback.send(camera, film(2))
            await time.passes(11, step=1)
            assert playback.commands == []
            await time.passes(2, step=1)
            assert told_stop(playback)
            playlist = await playback.playlist()
            assert (len(playlist.segments), playlist.is_endlist) == (2, True)
            await playback.send(camera, film(2))
            assert probe.messages == []
            await time.passes(6, step=1)
            assert probe.messages == [Close("the playback has ended", 1)]

    async def test_a_pause_is_no_silence_until_it_lasts_too_long(self, house, film, time):
        async with house(
            playback_silence_seconds=12, playback_linger_seconds=120, playback_return_seconds=8
        ) as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(2))
            await playback.ref.tell(PlaybackControlSent(PAUSE))
            await time.passes(60, step=5)
            await playback.playlist()
            await playback.ref.tell(PublisherLeft(camera))  # it may well hang up meanwhile
            await time.passes(60, step=5)
            assert not (await playback.playlist()).is_endlist
            camera, _, _ = await playback.publish(2)
            await playback.ref.tell(PlaybackControlSent(0))
            await playback.send(camera, film(4)[10:])
            await time.passes(11, step=1)
            assert not (await playback.playlist()).is_endlist
            await playback.ref.tell(PlaybackControlSent(PAUSE))
            await time.passes(119, step=7)
            assert not (await playback.playlist()).is_endlist
            await time.passes(2, step=1)
            assert (await playback.playlist()).is_endlist

    async def test_the_viewers_stop_ends_it_at_once_and_closes_what_stays(self, house, film, time):
        async with house() as playback:
            camera, probe = await playback.begin()
            await playback.send(camera, film(2))
            await playback.ref.tell(PlaybackControlSent(STOP))
            playlist = await playback.playlist()
            assert (len(playlist.segments), playlist.is_endlist) == (2, True)
            assert playback.commands == []  # it is being told
            await time.passes(6, step=1)
            assert probe.messages == [Close("the playback has ended", 1)]

    async def test_one_that_closes_by_itself_after_the_end_is_not_closed_again(self, house, film, time):
        async with house() as playback:
            camera, probe = await playback.begin()
            await playback.ref.tell(PlaybackControlSent(STOP))
            await playback.ref.tell(PublisherLeft(camera))
            await time.passes(6, step=1)
            assert probe.messages == []

    async def test_a_device_that_never_connects_leaves_an_ended_empty_playlist(self, house, time):
        async with house() as playback:
            await playback.asked()
            await time.passes(119, step=7)
            assert not (await playback.playlist()).is_endlist
            await time.passes(2, step=1)
            playlist = await playback.playlist()
            assert (playlist.segments, playlist.is_endlist) == ([], True)

    async def test_steering_what_does_not_run_does_nothing(self, house, time):
        async with house() as playback:
            for control in (STOP, PAUSE, SEEK):
                await playback.ref.tell(PlaybackControlSent(control))
            assert (await playback.playlist()).segments == []

    async def test_a_seek_is_a_discontinuity_of_the_same_playlist(self, house, film, time):
        async with house() as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(2)[:8])
            await playback.ref.tell(PlaybackControlSent(SEEK))
            # The rest of the second was on its way; the new begins inside a group of pictures.
            await playback.send(camera, [*film(2)[8:], *film(4, start=900_000)[3:]])
            await playback.ref.tell(PlaybackControlSent(STOP))
            playlist = await playback.playlist()
            assert [entry.discontinuity for entry in playlist.segments] == [False, False, True, False, False]
            assert [pictures(await playback.segment(index)) for index in range(5)] == [5] * 5

    async def test_segments_have_the_times_of_the_recording_also_after_a_seek(self, house, film, time):
        noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
        async with house() as playback:
            await playback.ref.tell(PlaybackRequested(noon, noon.replace(hour=13), 7))
            await playback.ref.tell(PlaybackCommandCompleted(sent=True))
            waiting = await playback.ref.ask(GetPlaybackState())
            assert (waiting.status, waiting.arrived_to, waiting.requested.user_id) == ("WAITING", None, 7)
            camera, _, _ = await playback.publish()
            await playback.send(camera, film(3))
            assert (await playback.ref.ask(GetPlaybackState())).arrived_to == noon.replace(second=2)
            await playback.ref.tell(PlaybackControlSent(PAUSE))
            assert (await playback.ref.ask(GetPlaybackState())).status == "PAUSED"
            await playback.ref.tell(PlaybackControlSent(SEEK, time=noon.replace(minute=30)))
            await playback.send(camera, film(3, start=900_000))
            await playback.ref.tell(PlaybackControlSent(STOP))
            playlist = await playback.playlist()
            half = noon.replace(minute=30)
            assert [entry.program_date_time for entry in playlist.segments] == [
                *(noon.replace(second=second) for second in range(3)),
                *(half.replace(second=second) for second in range(3)),
            ]
            ended = await playback.ref.ask(GetPlaybackState())
            assert (ended.status, ended.reason, ended.seconds) == ("ENDED", "stopped", 6.0)
            assert ended.arrived_to == half.replace(second=3)

    async def test_a_change_of_speed_is_one_as_well(self, house, film, time):
        async with house() as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(2)[:8])
            await playback.ref.tell(PlaybackControlSent(FORWARD, 2))
            await playback.send(camera, film(5)[8:])
            playlist = await playback.playlist()
            assert [entry.discontinuity for entry in playlist.segments] == [False, False, True, False]


class TestKeeping:
    async def test_files_stay_for_a_while_after_the_last_read(self, house, film, time):
        async with house(playback_linger_seconds=100) as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(3))
            await playback.ref.tell(PlaybackControlSent(STOP))
            for _ in range(3):
                await time.passes(90, step=9)
                assert await playback.segment(1) is not None
            await time.passes(99, step=9)
            assert playback.files() == [0, 1, 2]
            await time.passes(2, step=1)
            assert playback.files() == []
            playlist = await playback.playlist()
            assert (playlist.segments, playlist.is_endlist, playlist.media_sequence) == ([], False, 3)

    async def test_what_nobody_reads_or_takes_is_stopped(self, house, film, time):
        async with house(playback_linger_seconds=100, playback_silence_seconds=12) as playback:
            camera, _ = await playback.begin()
            taker = await playback.take("one")
            for second in range(30):
                await playback.send(camera, film(30)[5 * second : 5 * second + 5])
                await time.passes(5, step=1)
            assert playback.commands == []
            await playback.ref.tell(Unsubscribe(playback.system.ref(TAKER, "one"), "enough"))
            await time.passes(2, step=1)
            assert told_stop(playback)
            assert playback.files() == []
            *taken, ended = taker.messages
            assert len(taken) == 29
            assert (ended.reason, len(ended.rest.pictures)) == ("enough", 5)

    async def test_after_an_orderly_end_numbers_go_on_and_after_a_crash_they_skip(self, house, film, time):
        async with house() as playback:
            camera, _ = await playback.begin()
            await playback.send(camera, film(4))
            await playback.ref.tell(PlaybackControlSent(STOP))
        async with house(row=playback.row) as again:
            assert (await again.playlist()).segments == []
            camera, _ = await again.begin()
            await again.send(camera, film(3))
            playlist = await again.playlist()
            assert indices(playlist) == [4, 5]
            assert playlist.segments[0].discontinuity
            await again.ref.tell("nonsense")
            await time.passes(1)
            assert again.files() == []
            # The connection of the life before is not left hanging.
            await again.send(camera, film(1))
            assert again.neighbours.connections[1].messages == [Close("this playback is over", 1)]
            camera, _ = await again.begin(2)
            await again.send(camera, film(3))
            assert indices(await again.playlist()) == [1004, 1005]

    async def test_media_that_nobody_asked_for_is_refused_unless_the_setting_takes_it(
        self, house, film, time
    ):
        async with house() as playback:
            _, _, wanted = await playback.publish()
            assert not wanted
            # A word of a command that never settles is not waited for.
            await playback.ref.tell(PlaybackRequested())
            await time.passes(16, step=1)
            _, _, wanted = await playback.publish(2)
            assert not wanted
        async with house(row=playback.row, unrequested=True) as playback:
            camera, _, wanted = await playback.publish()
            assert wanted
            await playback.send(camera, film(3))
            assert len((await playback.playlist()).segments) == 2


class TestTakers:
    async def test_takers_get_every_cut_in_order_and_the_end(self, house, film, time):
        async with house(playback_return_seconds=8) as playback:
            early = await playback.take("early")
            camera, _ = await playback.begin()
            await playback.send(camera, film(2))
            late = await playback.take("late")
            await playback.ref.tell(PlaybackControlSent(SEEK))
            await playback.send(camera, [*film(3)[10:13], *film(1, start=900_000)])
            await playback.ref.tell(PublisherLeft(camera))
            again, _, _ = await playback.publish(2)
            await playback.send(again, film(2, start=901_000))
            await playback.ref.tell(PublisherLeft(again))
            await time.passes(9, step=1)
            *taken, ended = late.messages
            assert [
                (len(fragment.pictures), fragment.discontinuity)
                for message in taken
                for fragment in message.fragments
            ] == [
                (5, False),
                (3, False),
                (5, True),
                (5, True),
                (5, False),
            ]
            assert ended == StreamEnded("the device has hung up")
            assert early.messages[1:] == late.messages
            assert len(early.messages[0].fragments[0].pictures) == 5

    async def test_a_taker_of_before_the_command_is_not_ended_by_what_ran_before_it(self, house, film, time):
        async with house() as playback:
            camera, _ = await playback.begin(1)
            old = await playback.take("old")
            await playback.send(camera, film(1))
            await time.passes(35, step=5)
            camera, _ = await playback.begin(2)
            await time.passes(1)
            fresh = await playback.take("fresh")
            await playback.send(camera, film(2))
            camera, _ = await playback.begin(3)
            await playback.send(camera, film(2, start=5_000))
            before, rest, told, after = fresh.messages
            assert [len(each.fragments[0].pictures) for each in (before, rest, after)] == [5, 5, 5]
            assert told == StreamReplaced()
            assert after.fragments[0].discontinuity
            assert isinstance(old.messages[-1], StreamEnded)

    async def test_a_taker_of_a_playback_that_began_after_it_is_ended_with_that(self, house, film):
        async with house() as playback:
            own = await playback.take("own")
            camera, _ = await playback.begin(1)
            await playback.send(camera, film(2))
            camera, _ = await playback.begin(2)
            await playback.send(camera, film(2, start=5_000))
            *taken, ended = own.messages
            assert [len(each.fragments[0].pictures) for each in taken] == [5, 5]
            assert ended == StreamEnded("replaced by a new playback")
