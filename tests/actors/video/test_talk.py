"""Who talks to a driver: one at a time, and not without end."""

import pytest
from tests.runtime.actor_testing import Probe

from motorpool.actors.messages.downlink import Close
from motorpool.actors.messages.live_stream import STREAM, HoldStream, ResumeStream
from motorpool.actors.messages.uplink import CommandRefused, CommandSent, GetSoundFormat, SendCommand
from motorpool.actors.video.talk import (
    MAX_SECONDS,
    SILENCE_SECONDS,
    TALK,
    BeginTalk,
    EndTalk,
    JoinTalk,
    LeaveTalk,
    TalkRefused,
    talk_spec,
)
from motorpool.actors.video.talk_line import TalkLine
from motorpool.codecs.media.units import AudioCoding
from motorpool.codecs.reports import SoundFormat
from motorpool.runtime import DynamicSpec

DEVICE_ID = 7


class Room:
    """The talk of a device, and what stands around it."""

    def __init__(self, system, neighbours, streams):
        self.system, self.neighbours, self.streams = system, neighbours, streams
        self.ref = system.ref(TALK, DEVICE_ID)
        self.connections = 0

    def line(self, channel=2, talker="Ann"):
        return TalkLine(channel, talker, self.system.clock.monotonic)

    async def begun(self):
        """A line that the terminal has joined, its connection and what that was told."""
        line = self.line()
        assert await self.ref.ask(BeginTalk(line)) is None
        self.connections += 1
        connection, probe = await self.neighbours.connect(self.system, self.connections)
        assert await self.ref.ask(JoinTalk(connection)) is line
        assert line.joined.is_set()
        return line, connection, probe

    @property
    def commands(self):
        return [
            (told.type, dict(told.attributes))
            for told in self.neighbours.devices[DEVICE_ID].messages
            if isinstance(told, SendCommand)
        ]


@pytest.fixture
def room(tree, neighbours):
    """`async with room(sound=…, answer=…) as talk:`"""

    class Opened:
        def __init__(self, sound=None, answer=None):
            self.answers = {GetSoundFormat: sound, SendCommand: answer or CommandSent()}

        async def __aenter__(self):
            neighbours.devices.pop(DEVICE_ID, None)
            neighbours.device(DEVICE_ID, self.answers)
            streams = {}
            spec = DynamicSpec(
                kind=STREAM, name="streams", factory=lambda key: streams.setdefault(key, Probe())
            )
            self.running = tree(neighbours.devices_spec, spec, talk_spec(), neighbours.connections_spec)
            return Room(await self.running.__aenter__(), neighbours, streams)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


START, STOP = (
    ("videoStart", {"channel": 2, "dataType": 2}),
    ("videoStop", {"channel": 2, "dataType": 2}),
)


async def test_one_user_talks_at_a_time_and_the_next_once_they_have_ended(room, time):
    async with room() as talk:
        line, _, _ = await talk.begun()
        refused = await talk.ref.ask(BeginTalk(talk.line(talker="Bob")))
        assert refused == TalkRefused("somebody talks to the driver already", "Ann")
        await talk.ref.tell(EndTalk(line))
        await time.settle()
        assert talk.commands == [START, STOP]
        assert await talk.ref.ask(BeginTalk(talk.line())) is None


async def test_a_terminal_that_was_told_to_stop_is_closed_after_a_while(room, time):
    async with room() as talk:
        line, _, probe = await talk.begun()
        await talk.ref.tell(EndTalk(line))
        await time.passes(4)
        assert not probe.messages
        await time.passes(2)
        assert probe.messages == [Close("the talk has ended")]


async def test_live_of_the_camera_is_asked_to_go_on(room, time):
    async with room() as talk:
        await talk.system.ref(STREAM, (DEVICE_ID, 2)).tell(HoldStream())
        line, _, _ = await talk.begun()
        await talk.ref.tell(EndTalk(line))
        await time.settle()
        assert talk.streams[DEVICE_ID, 2].messages == [HoldStream(), ResumeStream()]
        assert (DEVICE_ID, 1) not in talk.streams


async def test_silence_and_ten_minutes_end_it(room, time):
    async with room() as talk:
        line, _, _ = await talk.begun()
        await time.passes(SILENCE_SECONDS - 2)
        line.speak(b"\1\1", is_silent=False)
        await time.passes(SILENCE_SECONDS - 2)
        line.speak(bytes(2), is_silent=True)
        assert not line.ended.is_set()
        await time.passes(4)
        assert line.reason == "nothing was said for 60 seconds"
        await talk.ref.tell(EndTalk(line))
        line, _, _ = await talk.begun()
        for _ in range(round(MAX_SECONDS / 30) - 1):
            await time.passes(30)
            line.speak(b"\1\1", is_silent=False)
        assert not line.ended.is_set()
        await time.passes(32)
        assert line.reason == "a talk may last 10 minutes"


async def test_a_talk_whose_end_was_not_told_ends_all_the_same(room, time):
    async with room() as talk:
        line, _, _ = await talk.begun()
        line.end("the socket has ended")
        await time.passes(2)
        assert talk.commands == [START, STOP]
        assert await talk.ref.ask(BeginTalk(talk.line())) is None


async def test_the_newest_connection_wins_and_the_end_of_an_older_one_ends_nothing(room, time):
    async with room() as talk:
        line, older, probe = await talk.begun()
        newer, _ = await talk.neighbours.connect(talk.system, 2)
        assert await talk.ref.ask(JoinTalk(newer)) is line
        assert probe.messages == [Close("replaced by a newer connection of the same talk")]
        await talk.ref.tell(LeaveTalk(older, "gone"))
        await time.settle()
        assert not line.ended.is_set()
        await talk.ref.tell(LeaveTalk(newer, "gone"))
        await time.settle()
        assert line.reason == "gone"
        assert await talk.ref.ask(JoinTalk(newer)) is None


async def test_a_terminal_that_nobody_talks_to_gets_no_line(room):
    async with room() as talk:
        connection, _ = await talk.neighbours.connect(talk.system, 1)
        assert await talk.ref.ask(JoinTalk(connection)) is None


@pytest.mark.parametrize(
    ("told", "coding", "bits"),
    [
        (None, AudioCoding.G711A, 0),
        (SoundFormat(7, 320), AudioCoding.G711U, 0),
        (SoundFormat(26, 168), AudioCoding.ADPCM, 0),
        (SoundFormat(8, 80), AudioCoding.G726, 2),
        (SoundFormat(8, 200), AudioCoding.G726, 5),
    ],
)
async def test_sound_is_sent_in_the_coding_that_the_terminal_names(room, told, coding, bits):
    async with room(sound=told) as talk:
        line, _, _ = await talk.begun()
        assert (line.coding, line.g726_bits) == (coding, bits)


@pytest.mark.parametrize(
    ("number", "name"), [(19, "AAC"), (2, "G.722"), (28, "AMR"), (99, "a coding of sound with the number 99")]
)
async def test_a_coding_that_is_missing_is_named(room, number, name):
    async with room(sound=SoundFormat(number, 0)) as talk:
        assert await talk.ref.ask(BeginTalk(talk.line())) == TalkRefused(
            f"the terminal speaks {name}: talk needs G.711, G.726 or ADPCM"
        )
        assert talk.commands == []


async def test_a_device_that_takes_no_command_is_not_talked_to(room):
    async with room(answer=CommandRefused("the device is offline", offline=True)) as talk:
        for _ in range(2):
            assert await talk.ref.ask(BeginTalk(talk.line())) == TalkRefused("the device is offline")
    async with room(sound=CommandRefused("osmand devices have no sound")) as talk:
        assert await talk.ref.ask(BeginTalk(talk.line())) == TalkRefused("osmand devices have no sound")


async def test_a_crash_ends_the_talk(room, time):
    async with room() as talk:
        line, _, _ = await talk.begun()
        await talk.ref.stop()
        assert line.reason == "the server has ended the talk"


async def test_the_terminal_is_not_asked_for_users_who_have_left_before_their_turn(room, time):
    async with room() as talk:
        line = talk.line()
        line.end("the user has left")
        assert await talk.ref.ask(BeginTalk(line)) == TalkRefused("the user has left", is_passing=True)
        assert not talk.neighbours.devices[DEVICE_ID].messages
