"""A media connection: real sockets and packets, streams that record."""

import contextlib
from functools import partial

import pytest
import trio
from tests.runtime.actor_testing import Probe

from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.media_connection import MediaConnection
from motorpool.actors.messages.downlink import (
    CONNECTION,
    AcknowledgeStored,
    CheckDeadlines,
    Close,
    EncodingRefused,
    StopServing,
    Transmit,
)
from motorpool.actors.messages.live_stream import (
    STREAM,
)
from motorpool.actors.messages.playback import (
    PLAYBACK,
)
from motorpool.actors.messages.publishing import Publish, PublisherLeft, UnitsPublished
from motorpool.actors.messages.uplink import (
    AttachConnection,
    CommandRefused,
    CommandSent,
    DetachConnection,
    SendCommand,
)
from motorpool.actors.video.media_requests import IdentifyPublisher, PublisherDevice
from motorpool.codecs.channel_map import CHANNEL_MAP_ATTRIBUTE, parse_channel_map
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.reports import DeviceCommand
from motorpool.runtime import Actor, DynamicSpec, Failure
from motorpool.storage.errors import StorageUnavailable

PHONE = "13912345678"
DEVICE_ID = 7
KNOWN = PublisherDevice(DEVICE_ID, PHONE)


def commands(neighbours):
    """The commands that the device was asked to send."""
    messages = neighbours.devices[DEVICE_ID].messages
    return [message for message in messages if isinstance(message, SendCommand)]


class Line:
    """A media connection under test, and the camera's end of it."""

    def __init__(self, system, ref, device_socket, socket, streams):
        self.system, self.ref, self.device_socket, self.socket, self.streams = (
            system,
            ref,
            device_socket,
            socket,
            streams,
        )
        self.sender = Jt1078Sender(PHONE)

    def send(self, units):
        self.socket.send(b"".join(map(self.sender.encode, units)))

    def units(self, channel=1):
        """What the channel's stream was told of pictures, message by message."""
        messages = self.streams[(DEVICE_ID, channel)].messages
        return [told for told in messages if isinstance(told, UnitsPublished)]


class Asked(Probe):
    """A stream that records, and wants what it wants when it is asked."""

    def __init__(self, wants):
        super().__init__({Publish: None})
        self.wants = wants

    def handle(self, message):
        super().handle(message)
        return self.wants() if isinstance(message, Publish) else None


@pytest.fixture
def line(opened):
    """`async with line(wanted=…) as camera:` at the live port."""
    return partial(opened, "live", STREAM)


@pytest.fixture
def playing(opened):
    """`async with playing(wanted=…) as camera:` at the playback port."""
    return partial(opened, "playback", PLAYBACK)


@pytest.fixture
def opened(tcp, tree, neighbours):
    """The connection at a port, with what stands around it."""

    class Opened:
        def __init__(self, kind, taken_by, wanted=True, publisher=KNOWN, stopped=None, streams=None):
            self.kind = kind
            self.found = {}
            self.wanted = wanted if callable(wanted) else lambda channel: wanted
            neighbours.media_requests = Probe({IdentifyPublisher: publisher})
            neighbours.device(DEVICE_ID, {SendCommand: stopped or CommandSent(), AttachConnection: True})
            made = self.stream if streams is None else (lambda key: streams())
            size = 1000 if streams is None else 2
            self.spec = DynamicSpec(kind=taken_by, name="streams", factory=made, mailbox_size=size)

        def stream(self, key):
            self.found[key] = Asked(lambda: self.wanted(key[1]))
            return self.found[key]

        async def __aenter__(self):
            self.running = tree(
                neighbours.media_requests_spec,
                neighbours.devices_spec,
                self.spec,
                neighbours.connections_spec,
            )
            system = await self.running.__aenter__()
            ours, theirs = tcp
            device_socket = DeviceSocket(ours, read_bytes=65536, peer="127.0.0.1")
            ref = await system.start(
                CONNECTION, 1, lambda: MediaConnection(device_socket, kind=self.kind, login_seconds=10)
            )
            return Line(system, ref, device_socket, theirs, self.found)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


async def test_pictures_reach_the_stream_of_their_channel_which_is_asked_once(line, film, time, neighbours):
    one, two = film(1), film(1, channel=2)
    async with line() as camera:
        for unit in one:
            camera.send([unit])
            await time.settle()
        camera.send([*two[:3]])
        camera.send([one[0], two[3]])
        await time.settle()
        assert neighbours.media_requests.messages == [IdentifyPublisher("013912345678", "127.0.0.1", "live")]
        for channel, sent in ((1, [*one, one[0]]), (2, two[:4])):
            told = camera.streams[(DEVICE_ID, channel)].messages
            assert told[0] == Publish(camera.ref)
            assert {type(each) for each in told[1:]} == {UnitsPublished}
            got = [unit for each in told[1:] for unit in each.units]
            assert [(unit.channel, unit.payload, unit.timestamp) for unit in got] == [
                (unit.channel, unit.payload, unit.timestamp) for unit in sent
            ]
            assert {each.connection for each in told[1:]} == {camera.ref}
            assert not any(each.lossy for each in told[1:])
        await camera.ref.stop()
        for probe in camera.streams.values():
            assert probe.messages[-1] == PublisherLeft(camera.ref)


async def test_media_that_nobody_asked_for_is_told_to_stop_and_closed_after_a_while(
    line, film, time, neighbours
):
    async with line(wanted=False) as camera:
        camera.send(film(1))
        await time.settle()
        (told,) = commands(neighbours)
        assert (told.type, told.attributes) == ("videoStop", {"channel": 1})
        assert (told.no_queue, told.by_reader) == (True, True)
        for _ in range(4):
            camera.send(film(1))
            await time.passes(1)
        assert camera.ref.alive
        await time.passes(1.1)
        assert camera.device_socket.reason == "media that nobody asked for"
        assert [type(each) for each in camera.streams[(DEVICE_ID, 1)].messages] == [Publish]


async def test_a_refused_channel_does_not_cost_the_others(line, film, time, neighbours):
    async with line(wanted=lambda channel: channel == 1) as camera:
        camera.send(film(1)[:2])
        await time.settle()
        camera.send(film(1, channel=2))
        await time.settle()
        (told,) = commands(neighbours)
        assert (told.type, told.attributes) == ("videoStop", {"channel": 2})
        camera.send([*film(1)[2:], *film(1, channel=2)])
        await time.passes(6)
        assert sum(len(told.units) for told in camera.units()) == 5
        assert camera.units(2) == []
        assert len(commands(neighbours)) == 1
        assert camera.ref.alive


async def test_a_device_that_cannot_be_told_to_stop_is_closed_all_the_same(line, film, time):
    async with line(wanted=False, stopped=CommandRefused("the device is offline")) as camera:
        camera.send(film(1))
        await time.passes(5.1)
        assert camera.device_socket.reason == "media that nobody asked for"


async def test_a_full_stream_loses_pictures_and_is_told_so(line, film, time):
    free, handled = trio.Event(), []

    class Busy(Actor):
        def handle(self, message):
            if isinstance(message, Publish):
                return True
            handled.append(message)
            return None if free.is_set() else self.wait()

        async def wait(self):
            await free.wait()

    units = film(3)
    async with line(streams=Busy) as camera:
        for few in (units[:2], *([unit] for unit in units[2:8])):
            camera.send(few)
            await time.settle()
        free.set()
        await time.settle()
        for unit in units[8:11]:
            camera.send([unit])
            await time.settle()
        assert [[unit.timestamp for unit in told.units] for told in handled] == [
            [units[index].timestamp for index in indices]
            for indices in ((0, 1), (2,), (3,), (8,), (9,), (10,))
        ]
        assert [told.lossy for told in handled] == [False, False, False, True, False, False]


async def test_media_of_a_sim_that_nobody_has_is_closed(line, film, time):
    async with line(publisher=None) as camera:
        camera.send(film(1))
        await time.settle()
        assert camera.device_socket.reason == "media of an unknown SIM 013912345678"
        assert camera.streams == {}


async def test_an_outage_closes_and_the_camera_comes_again(line, film, time):
    async with line(publisher=Failure(StorageUnavailable("away"))) as camera:
        camera.send(film(1))
        await time.settle()
        assert camera.device_socket.reason == "cannot be served now: away"


async def test_another_sim_on_the_same_connection_is_closed(line, film, time):
    async with line() as camera:
        camera.send(film(1)[:2])
        await time.settle()
        stranger = Jt1078Sender("13900000000")
        camera.socket.send(b"".join(map(stranger.encode, film(1)[2:])))
        await time.settle()
        assert camera.device_socket.reason.startswith("cannot be decoded: media of SIM")
        assert camera.streams[(DEVICE_ID, 1)].messages[-1] == PublisherLeft(camera.ref)


async def test_a_peer_without_a_valid_packet_is_closed_in_time(line, time):
    async with line() as camera:
        camera.socket.send(b"01cd\x81\xe2")
        await time.passes(9, step=1)
        assert camera.ref.alive
        camera.socket.send(b"\0")
        await time.passes(6, step=1)
        assert camera.device_socket.reason == "no valid media packet"


async def test_a_camera_that_falls_silent_is_closed(line, film, time):
    async with line() as camera:
        for few in (film(1)[:2], film(1)[2:3], film(1)[3:4]):
            camera.send(few)
            await time.passes(25, step=5)
        assert camera.ref.alive
        camera.socket.send(b"30 ")  # no packet
        await time.passes(15, step=5)
        assert camera.device_socket.reason == "no media for too long"


async def test_it_takes_no_commands_and_closes_when_told(line, film, time):
    async with line() as camera:
        camera.send(film(1)[:2])
        await time.settle()
        outcome = await camera.ref.ask(Transmit(DeviceCommand("positionSingle")))
        assert outcome == EncodingRefused("a media connection takes no commands")
        await camera.ref.tell(AcknowledgeStored((1,)))
        await camera.ref.tell(Close("replaced"))
        await time.settle()
        assert camera.device_socket.reason == "replaced"
        assert camera.streams[(DEVICE_ID, 1)].messages[-1] == PublisherLeft(camera.ref)


class TestChannels:
    """Of one connection that carries several."""

    async def test_one_that_is_let_go_costs_the_others_nothing_and_the_last_ends_it(
        self, line, film, time, neighbours
    ):
        one, two = film(4), film(4, channel=2)
        async with line() as camera:
            camera.send([*one[:2], *two[:2]])
            await time.settle()
            await camera.ref.tell(Close("the stream was stopped", 2))
            camera.send([*one[2:4], *two[2:4]])
            await time.passes(0.5)
            assert camera.ref.alive
            assert [len(told.units) for told in camera.units(2)] == [2]
            assert sum(len(told.units) for told in camera.units(1)) == 4
            assert neighbours.devices == {DEVICE_ID: neighbours.devices[DEVICE_ID]}
            assert commands(neighbours) == []  # the stream has told it already
            await camera.ref.tell(Close("the stream was stopped", 1))
            await time.settle()
            assert camera.device_socket.reason == "the stream was stopped"
            # Only what it still carried is left by its end.
            assert PublisherLeft(camera.ref) not in camera.streams[(DEVICE_ID, 2)].messages

    async def test_one_that_was_let_go_may_come_back_when_it_is_asked_for_again(self, line, film, time):
        asked = {1: True, 2: True}
        async with line(wanted=asked.get) as camera:
            camera.send([film(1)[0], film(1, channel=2)[0]])
            await time.settle()
            await camera.ref.tell(Close("the stream was stopped", 2))
            stream = camera.streams[(DEVICE_ID, 2)]
            asked[2] = False
            for number in range(6):
                camera.send([film(4)[number], film(4, channel=2)[number]])
                await time.passes(1)
            # It is not asked at each packet, and not told to stop for it again.
            assert stream.messages.count(Publish(camera.ref, is_retry=True)) == 2
            asked[2] = True
            for number in range(6, 9):
                camera.send([film(4)[number], film(4, channel=2)[number]])
                await time.passes(1)
            assert len(camera.units(2)) > 1

    async def test_a_channel_that_nobody_asked_for_may_be_asked_for_later(self, line, film, time, neighbours):
        asked = {1: True, 2: False}
        async with line(wanted=asked.get) as camera:
            camera.send([film(1)[0], film(1, channel=2)[0]])
            await time.passes(3)
            asked[2] = True
            camera.send([film(1)[1], film(1, channel=2)[1]])
            await time.settle()
            assert [told.units[0].timestamp for told in camera.units(2)] == [1200]
            assert len(commands(neighbours)) == 1

    async def test_a_stream_that_takes_it_and_lets_go_at_once_is_heard(self, line, film, time):
        class Fickle(Actor):
            def handle(self, message):
                if isinstance(message, Publish):
                    message.connection.offer(Close("replaced", 1))
                    return True
                raise AssertionError("it was let go")

        async with line(streams=Fickle) as camera:
            camera.send(film(1))
            await time.settle()
            assert camera.device_socket.reason == "replaced"


class TestOddNumbers:
    """A device that calls its channels otherwise than we (`jt1078.channels`)."""

    @pytest.fixture
    def odd(self, line):
        numbers = parse_channel_map({CHANNEL_MAP_ATTRIBUTE: "0:1,1:2,33:1"})
        return partial(line, publisher=PublisherDevice(DEVICE_ID, PHONE, numbers))

    async def test_pictures_go_to_the_channel_that_their_number_stands_for(self, odd, film, time):
        async with odd() as camera:
            camera.send([*film(1, channel=0), *film(1, channel=1), *film(1, channel=5)])
            await time.settle()
            assert camera.streams.keys() == {(DEVICE_ID, channel) for channel in (1, 2, 5)}
            assert [len(camera.units(channel)[0].units) for channel in (1, 2, 5)] == [5, 5, 5]

    async def test_what_nobody_asked_for_is_told_to_stop_by_our_channel(self, odd, film, time, neighbours):
        async with odd(wanted=False) as camera:
            camera.send(film(1, channel=33))
            await time.settle()
            (told,) = commands(neighbours)
            assert told.attributes == {"channel": 1}  # the device's own number is put in its place later

    async def test_our_channel_is_let_go_by_whatever_number_carried_it(self, odd, film, time):
        async with odd() as camera:
            camera.send(film(1, channel=33))
            await time.settle()
            await camera.ref.tell(Close("the stream was stopped", 1))
            assert camera.device_socket.reason == "the stream was stopped"

    async def test_a_sub_stream_beside_its_main_stream_is_left_out_until_that_falls_silent(
        self, odd, film, time
    ):
        main, sub = film(20, channel=0), film(20, channel=33, start=500_000)
        async with odd() as camera:
            for number in range(5):
                camera.send([main[number], sub[number]])
                await time.passes(0.5)
            assert {unit.channel for told in camera.units() for unit in told.units} == {0}
            for number in range(5, 12):
                camera.send([sub[number]])
                await time.passes(0.5)
            messages = camera.streams[(DEVICE_ID, 1)].messages
            assert messages.count(Publish(camera.ref)) == 2  # a beginning, as another connection is one
            later = [unit for told in camera.units() for unit in told.units if unit.channel == 33]
            assert 3 <= len(later) < 7
            assert messages[-1].units[-1].timestamp == sub[11].timestamp


class TestRoad:
    """Links that break without a word, and terminals that come again and again."""

    async def test_a_half_open_connection_is_closed_and_its_stream_told(self, line, film, time):
        async with line() as camera:
            camera.send(film(1))
            await time.settle()
            # Power is lost: neither a packet nor a FIN will ever come.
            await time.passes(29, step=1)
            assert camera.ref.alive
            await time.passes(12, step=1)
            assert camera.device_socket.reason == "no media for too long"
            assert camera.streams[(DEVICE_ID, 1)].messages[-1] == PublisherLeft(camera.ref)

    async def test_a_terminal_that_is_refused_and_never_closes_is_closed(self, line, film, time):
        async with line(wanted=False) as camera:
            camera.send(film(1))
            await time.passes(4.9, step=0.7)
            assert camera.ref.alive
            await time.passes(0.2)
            assert camera.device_socket.reason == "media that nobody asked for"

    async def test_junk_that_drips_in_does_not_keep_a_connection(self, line, film, time):
        async with line() as camera:
            camera.send(film(1))
            for _ in range(45):
                with contextlib.suppress(OSError):
                    camera.socket.send(b"\0" * 100)
                await time.passes(1)
            assert camera.device_socket.reason == "no media for too long"


class TestPlayback:
    """What comes at the playback port."""

    async def test_a_recording_goes_to_the_playback_of_its_channel(self, playing, film, time, neighbours):
        async with playing() as camera:
            camera.send(film(1))
            await time.settle()
            assert neighbours.media_requests.messages == [
                IdentifyPublisher("013912345678", "127.0.0.1", "playback")
            ]
            told = camera.streams[(DEVICE_ID, 1)].messages
            assert [type(each) for each in told] == [Publish, UnitsPublished]
            # A pause may last: the playback itself knows what silence means.
            await time.passes(3_600, step=10)
            assert camera.ref.alive
            await camera.ref.stop()
            assert told[-1] == PublisherLeft(camera.ref)

    async def test_a_burst_waits_and_loses_nothing(self, playing, time):
        free, handled = trio.Event(), []

        class Busy(Actor):
            def handle(self, message):
                if isinstance(message, Publish):
                    return True
                if isinstance(message, UnitsPublished):
                    handled.extend(message.units)
                return None if free.is_set() else self.wait()

            async def wait(self):
                await free.wait()

        units = [AccessUnit(1, H264, False, 40 * number, bytes(100_000)) for number in range(200)]
        async with playing(streams=Busy) as camera:
            left = b"".join(map(camera.sender.encode, units))

            async def send(turns):
                nonlocal left
                for _ in range(turns):
                    with contextlib.suppress(BlockingIOError):
                        left = left[camera.socket.send(left) :]
                    await time.passes(0.5)

            # Nobody takes it, so the terminal is not read, so it can send no more.
            await send(60)
            stuck = len(left)
            await send(5)
            assert len(left) == stuck > 0
            assert len(handled) <= 4
            free.set()
            while left:
                await send(1)
            await time.passes(1)
            assert [unit.timestamp for unit in handled] == [unit.timestamp for unit in units]

    async def test_what_nobody_asked_for_is_told_to_stop_as_a_playback(self, playing, film, time, neighbours):
        async with playing(wanted=False) as camera:
            camera.send(film(1))
            await time.settle()
            (told,) = commands(neighbours)
            assert (told.type, told.attributes) == (
                "videoPlaybackControl",
                {"channel": 1, "control": "stop"},
            )
            assert (told.no_queue, told.by_reader) == (True, True)
            await time.passes(5.1)
            assert camera.device_socket.reason == "media that nobody asked for"


async def test_media_of_a_device_that_may_not_report_any_more_are_closed(line, film, time, neighbours):
    async with line() as camera:
        camera.send(film(1))
        await time.settle()
        attached = neighbours.devices[DEVICE_ID].messages
        assert attached == [AttachConnection(camera.ref, (PHONE,))]
        await time.passes(11)
        # Again now and then: the device's actor may have crashed and forgotten it.
        assert len(attached) > 1
        await camera.ref.tell(StopServing("disabled"))
        await time.settle()
        assert camera.device_socket.reason == "disabled"
        assert camera.streams[(DEVICE_ID, 1)].messages[-1] == PublisherLeft(camera.ref)
        assert attached[-1] == DetachConnection(camera.ref)


async def test_media_of_a_device_that_may_not_report_never_reach_a_stream(line, film, time, neighbours):
    async with line() as camera:
        neighbours.devices[DEVICE_ID] = Probe({AttachConnection: False})
        camera.send(film(1))
        await time.settle()
        assert camera.streams == {}


async def test_an_unknown_peer_is_closed_by_its_first_packet_and_collects_no_video(line, film, time):
    """Packets of a frame that never ends: they would gather up to 4 MiB before the peer is identified."""
    async with line(publisher=None) as camera:
        packet = Jt1078Sender(PHONE, body_bytes=100).encode(film(1)[0])
        camera.socket.send(packet[: len(packet) // 2])
        await time.settle()
        assert camera.device_socket.reason == "media of an unknown SIM 013912345678"
        assert camera.device_socket.guard.memory.held == 0


async def test_what_unfinished_frames_hold_is_counted_and_bounded(line, film, time):
    async with line() as camera:
        budget = camera.device_socket.guard.memory
        packet = Jt1078Sender(PHONE, body_bytes=100).encode(film(1)[0])
        camera.socket.send(packet[: len(packet) // 2])
        await time.passes(1)
        held = budget.held
        assert held >= len(packet) // 2 - 200
        camera.socket.send(packet[len(packet) // 2 :])
        await time.passes(1)
        assert budget.held == 0
        # The rest of what all may hold is taken by others.
        assert budget.take("203.0.113.7", (1 << 40) - held // 2)
        camera.socket.send(packet[: len(packet) // 2])
        await time.passes(1)
        assert camera.device_socket.reason == "incomplete messages hold too much memory"
        await time.settle()
        assert budget.held == (1 << 40) - held // 2


async def test_a_check_before_it_reads_closes_nothing(line, time):
    async with line() as camera:
        await camera.ref.tell(CheckDeadlines())
        assert not camera.device_socket.closed
