"""A terminal's connection for talk: real sockets and packets, and a talk that is played."""

import array
from functools import partial

import pytest
import trio
from tests.runtime.actor_testing import Probe

from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.talk_connection import DEVICE_LEFT, IDLE_SECONDS, TalkConnection
from motorpool.actors.messages.downlink import (
    CONNECTION,
    CheckDeadlines,
    EncodingRefused,
    StopServing,
    Transmit,
)
from motorpool.actors.messages.uplink import AttachConnection, DetachConnection
from motorpool.actors.video.media_requests import IdentifyPublisher, PublisherDevice
from motorpool.actors.video.talk import TALK, JoinTalk, LeaveTalk
from motorpool.actors.video.talk_line import MAX_BYTES, TalkLine
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.telephone_sound import TelephoneDecoder
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.codecs.reports import DeviceCommand
from motorpool.runtime import DynamicSpec

PHONE, DEVICE_ID = "13912345678", 7
KNOWN = PublisherDevice(DEVICE_ID, PHONE)
FRAME = array.array("h", range(0, 3200, 10)).tobytes()


class Terminal:
    """A connection under test, and the terminal's end of it."""

    def __init__(self, system, ref, device_socket, socket, line, talks):
        self.system, self.ref, self.device_socket, self.socket = system, ref, device_socket, socket
        self.line, self.talks = line, talks
        self.sender = Jt1078Sender(PHONE)
        self.parser = Jt1078Parser()

    def send(self, *payloads, coding=AudioCoding.G711A, channel=3):
        units = [AccessUnit(channel, coding, False, 0, payload) for payload in payloads]
        self.socket.send(b"".join(map(self.sender.encode, units)))

    def received(self):
        """The units that were sent to the terminal."""
        self.socket.setblocking(False)
        units = []
        try:
            while data := self.socket.recv(65536):
                units += self.parser.receive(data)
        except BlockingIOError:
            pass
        return units


@pytest.fixture
def joined(tcp, tree, neighbours, time):
    """`async with joined(…) as terminal:` one whose user has a line, unless `talks` is False."""

    class Opened:
        def __init__(self, talks=True, publisher=KNOWN):
            self.talks, self.publisher = talks, publisher

        async def __aenter__(self):
            neighbours.media_requests = Probe({IdentifyPublisher: self.publisher})
            neighbours.device(DEVICE_ID, {AttachConnection: True})
            line = TalkLine(1, "Ann", trio.current_time)
            probe = Probe({JoinTalk: line if self.talks else None})
            self.running = tree(
                neighbours.media_requests_spec,
                neighbours.devices_spec,
                DynamicSpec(kind=TALK, name="talks", factory=lambda _: probe),
                neighbours.connections_spec,
            )
            system = await self.running.__aenter__()
            ours, theirs = tcp
            device_socket = DeviceSocket(ours, read_bytes=65536, peer="127.0.0.1")
            make = partial(TalkConnection, device_socket, login_seconds=10)
            ref = await system.start(CONNECTION, 1, make)
            return Terminal(system, ref, device_socket, theirs, line, probe)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


async def test_sound_passes_both_ways_under_the_number_and_channel_of_the_terminal(joined, time, neighbours):
    async with joined() as terminal:
        terminal.send(*[bytes([0xD5]) * 320] * 3)
        await time.settle()
        assert neighbours.media_requests.messages == [IdentifyPublisher("013912345678", "127.0.0.1", "talk")]
        assert terminal.talks.messages == [JoinTalk(terminal.ref)]
        assert len(terminal.line.heard.take(10_000)) == 3 * 640
        for _ in range(3):
            terminal.line.speak(FRAME, is_silent=False)
            await time.passes(0.05)
        units = terminal.received()
        assert [(unit.channel, unit.coding, unit.timestamp, len(unit.payload)) for unit in units] == [
            (3, AudioCoding.G711A, stamp, 320) for stamp in (0, 40, 80)
        ]
        terminal.socket.close()
        await time.settle()
        assert terminal.talks.messages[-1] == LeaveTalk(terminal.ref, DEVICE_LEFT)
        assert not terminal.line.ended.is_set()
        assert DetachConnection(terminal.ref) in neighbours.devices[DEVICE_ID].messages


async def test_what_is_said_at_once_is_sent_as_it_is_heard_and_rests_are_filled_up(joined, time):
    async with joined() as terminal:
        terminal.send(bytes(320), bytes(320))
        await time.settle()
        terminal.line.speak(FRAME * 10 + FRAME[:100], is_silent=False)
        await time.settle()
        first = len(terminal.received())
        assert first <= 7
        for _ in range(20):
            await time.passes(0.05)
        assert first + len(terminal.received()) == 11
        assert len(terminal.line.spoken) == 0
        await time.passes(5)
        assert terminal.received() == []


async def test_a_flood_is_dropped_and_costs_no_memory(joined, time):
    async with joined() as terminal:
        for _ in range(60):
            terminal.send(*[bytes(320)] * 10)
            await time.settle()
        assert len(terminal.line.heard) <= MAX_BYTES
        assert not terminal.device_socket.closed


@pytest.mark.parametrize(
    ("payloads", "codings", "most"),
    [
        # One sample each.
        ([bytes(1)], [AudioCoding.G711A], 200),
        # Eight samples each, of two and of three bits, by their size.
        ([bytes(2), bytes(3)], [AudioCoding.G726], 10),
        ([bytes(5), bytes(1)], [AudioCoding.ADPCM, AudioCoding.G711U], 10),
    ],
)
async def test_tiny_packets_and_changes_of_the_coding_cost_no_more_than_sound(
    joined, time, monkeypatch, payloads, codings, most
):
    decoded = []
    decode = TelephoneDecoder.decode
    monkeypatch.setattr(
        TelephoneDecoder, "decode", lambda self, payload: decoded.append(payload) or decode(self, payload)
    )
    async with joined() as terminal:
        for number in range(1000):
            coding = codings[number % len(codings)]
            unit = AccessUnit(3, coding, False, number, payloads[number % len(payloads)])
            terminal.socket.send(terminal.sender.encode(unit))
            if number % 20 == 0:
                await time.settle()
        await time.settle()
        assert 0 < len(decoded) <= most


async def test_a_terminal_that_reads_nothing_loses_the_oldest_sound(joined, time):
    async with joined() as terminal:
        terminal.send(bytes(320), bytes(320))
        await time.settle()
        terminal.device_socket._backlog = bytes(100_000)
        for _ in range(100):
            terminal.line.speak(FRAME, is_silent=False)
            await time.settle()
        assert len(terminal.line.spoken) <= MAX_BYTES


async def test_a_terminal_that_sends_aac_ends_the_talk_with_the_reason(joined, time):
    async with joined() as terminal:
        terminal.send(bytes(100), bytes(100), coding=AudioCoding.AAC)
        await time.settle()
        assert terminal.line.reason == "the terminal sends aac sound, which talk does not know"


@pytest.mark.parametrize(
    ("talks", "publisher", "reason"),
    [
        (False, KNOWN, "nobody talks to it"),
        (True, None, "media of an unknown SIM 013912345678"),
    ],
)
async def test_strangers_and_terminals_that_nobody_talks_to_are_closed(
    joined, time, talks, publisher, reason
):
    async with joined(talks=talks, publisher=publisher) as terminal:
        terminal.send(bytes(320), bytes(320))
        await time.settle()
        assert terminal.device_socket.reason == reason
        assert not terminal.line.joined.is_set()


async def test_what_is_no_packet_and_what_brings_none_is_closed(joined, time):
    async with joined() as terminal:
        terminal.socket.send(bytes(40_000))
        await time.settle()
        assert "without a media packet" in terminal.device_socket.reason


async def test_a_silent_connection_is_closed_after_a_while(joined, time):
    async with joined() as terminal:
        terminal.send(bytes(320), bytes(320))
        await time.settle()
        await time.passes(IDLE_SECONDS + 11)
        assert terminal.device_socket.reason == "no sound for too long"
        assert terminal.talks.messages[-1] == LeaveTalk(terminal.ref, DEVICE_LEFT)


async def test_one_that_never_says_who_it_is_is_closed(joined, time):
    async with joined() as terminal:
        await time.passes(16)
        assert terminal.device_socket.reason == "no valid media packet"


async def test_a_device_that_may_not_report_any_more_is_closed_and_takes_no_commands(joined, time):
    async with joined() as terminal:
        terminal.send(bytes(320), bytes(320))
        await time.settle()
        assert isinstance(await terminal.ref.ask(Transmit(DeviceCommand("videoStart"))), EncodingRefused)
        await terminal.ref.tell(StopServing("disabled"))
        await time.settle()
        assert terminal.talks.messages[-1] == LeaveTalk(terminal.ref, DEVICE_LEFT)


async def test_a_check_before_it_reads_closes_nothing(joined, time):
    async with joined() as terminal:
        await terminal.ref.tell(CheckDeadlines())
        assert not terminal.device_socket.closed
