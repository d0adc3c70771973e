"""Talk: sound both ways between a user and the driver of one vehicle (docs/video.md#talk).

The user's socket brings a line (`TalkLine`), for which the terminal is told to connect to the port of talk.
Sound passes through the line and not through this actor, which decides who talks, and ends it by time.
Afterwards the live stream of the camera begins again if the terminal has ended it.
"""

from typing import assert_never

import msgspec

from motorpool.actors.messages.counters import TALKS
from motorpool.actors.messages.downlink import Close, ConnectionMessage
from motorpool.actors.messages.live_stream import STREAM, ResumeStream
from motorpool.actors.messages.uplink import (
    DEVICE,
    SOUND_FORMAT_SECONDS,
    CommandRefused,
    GetSoundFormat,
    SendCommand,
)
from motorpool.actors.video.talk_line import TalkLine
from motorpool.codecs.media.audio_parser import g726_bits
from motorpool.codecs.media.jt1078.packet_header import AUDIO_CODINGS, payload_type_name
from motorpool.codecs.media.telephone_sound import CODINGS
from motorpool.codecs.media.units import AudioCoding
from motorpool.codecs.reports import SoundFormat
from motorpool.runtime import (
    Actor,
    ActorError,
    AskTimedOut,
    DynamicSpec,
    Kind,
    NodeLocal,
    Ref,
    Request,
    Timer,
)
from motorpool.storage.errors import StorageError

SILENCE_SECONDS = 60.0
"""A talk in which the user says nothing for this time ends."""
MAX_SECONDS = 600.0
"""The longest talk."""
CLOSE_SECONDS = 5.0
"""For a terminal to close its connection by itself after it was told to."""
CHECK_SECONDS = 1.0
NO_ANSWER = "the terminal of the vehicle does not answer now"


class TalkRefused(msgspec.Struct, frozen=True, gc=False):
    """Why nobody can talk to the driver now."""

    reason: str
    talker: str | None = None
    """The name of who talks to the driver already; None: nobody does."""
    is_passing: bool = False
    """Whether it may work a moment later."""


class BeginTalk(msgspec.Struct, Request[TalkRefused | None], NodeLocal, frozen=True, gc=False):
    """Have the terminal connect; the line is joined when it has, and ended when the talk has."""

    line: TalkLine


class EndTalk(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The user's socket has ended."""

    line: TalkLine


class JoinTalk(msgspec.Struct, Request[TalkLine | None], NodeLocal, frozen=True, gc=False):
    """A terminal has connected for talk; the newest connection wins. None: nobody talks to it."""

    connection: Ref[ConnectionMessage]


class LeaveTalk(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The connection has ended."""

    connection: Ref[ConnectionMessage]
    reason: str


class CheckTalk(msgspec.Struct, frozen=True, gc=False):
    """Timer: check what ends by time."""


TalkMessage = BeginTalk | EndTalk | JoinTalk | LeaveTalk | CheckTalk
TALK: Kind[int, TalkMessage] = Kind("talk")
"""By device id."""
BEGIN_SECONDS = SOUND_FORMAT_SECONDS + 12.0
"""Limit for an answer to `BeginTalk`."""


class Talk(Actor[TalkMessage]):
    """Who talks to one device."""

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id
        self._line: TalkLine | None = None
        self._connection: Ref[ConnectionMessage] | None = None
        self._timer: Timer | None = None

    def release(self) -> None:
        """End the talk with the actor."""
        if self._line is not None:
            self._line.end("the server has ended the talk")
        self._forget()

    def may_leave(self) -> bool:
        """Not during a talk."""
        return self._line is None

    def handle(self, message: TalkMessage) -> object:
        """Handle a message."""
        match message:
            case BeginTalk():
                return self._begin(message.line)
            case EndTalk():
                return self._end(message.line)
            case JoinTalk():
                return self._join(message.connection)
            case LeaveTalk():
                return self._leave(message)
            case CheckTalk():
                return self._check()
            case _:
                assert_never(message)

    async def _begin(self, line: TalkLine) -> TalkRefused | None:
        if self._line is not None:
            return TalkRefused("somebody talks to the driver already", self._line.talker)
        if line.ended.is_set():
            return TalkRefused(line.reason, is_passing=True)  # its user has left before their turn
        device = self.context.system.ref(DEVICE, self._device_id)
        try:
            told = await device.ask(GetSoundFormat(), seconds=SOUND_FORMAT_SECONDS + 5)
            if isinstance(told, CommandRefused):
                return TalkRefused(told.reason)
            if (refusal := _choose_coding(line, told)) is not None:
                return refusal
            # Before the command, which the terminal may answer at once.
            self._line = line
            outcome = await device.ask(self._command("videoStart", line))
        except (ActorError, StorageError) as error:
            self._forget()
            self.context.log.warning("talk cannot begin: %s", error)
            return TalkRefused(NO_ANSWER, is_passing=isinstance(error, AskTimedOut))
        if isinstance(outcome, CommandRefused):
            self._forget()
            return TalkRefused(outcome.reason)
        self._timer = self.context.every(CHECK_SECONDS, CheckTalk())
        TALKS.inc()
        return None

    @staticmethod
    def _command(kind: str, line: TalkLine) -> SendCommand:
        attributes = {"channel": line.channel, "dataType": 2}
        return SendCommand(type=kind, attributes=attributes, no_queue=True, by_reader=True)

    def _join(self, connection: Ref[ConnectionMessage]) -> TalkLine | None:
        line = self._line
        if line is None or line.ended.is_set():
            return None
        older, self._connection = self._connection, connection
        if older is not None and older != connection:
            older.offer(Close("replaced by a newer connection of the same talk"))
        line.join()
        self.context.log.info("%s joins the talk", connection.path)
        return line

    def _leave(self, message: LeaveTalk) -> None:
        if message.connection == self._connection:
            self._connection = None
            if self._line is not None:
                self._line.end(message.reason)

    def _check(self) -> object:
        line = self._line
        if line is None:
            return None
        if line.ended.is_set():
            # Its socket was to say so, and may have found the mailbox full.
            return self._end(line)
        now = self.context.clock.monotonic()
        if now - line.spoke_at >= SILENCE_SECONDS:
            line.end(f"nothing was said for {SILENCE_SECONDS:g} seconds")
        if now - line.joined_at >= MAX_SECONDS:
            line.end(f"a talk may last {MAX_SECONDS / 60:g} minutes")
        return None

    async def _end(self, line: TalkLine) -> None:
        """Tell the terminal to end it, and to go on with what it may have ended for it."""
        if line is not self._line:
            return
        connection = self._connection
        self._forget()
        line.end("the user has ended the talk")
        system = self.context.system
        try:
            await system.ref(DEVICE, self._device_id).ask(self._command("videoStop", line))
        except (ActorError, StorageError) as error:
            self.context.log.warning("talk: the terminal could not be told to stop: %s", error)
        if connection is not None:
            self.context.timers.after(CLOSE_SECONDS, lambda: connection.offer(Close("the talk has ended")))
        stream = (self._device_id, line.channel)
        if stream in system.keys(STREAM):
            system.ref(STREAM, stream).offer(ResumeStream())

    def _forget(self) -> None:
        self._line = self._connection = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _choose_coding(line: TalkLine, told: SoundFormat | None) -> TalkRefused | None:
    """Set the coding of what the terminal hears: its own, or G.711 A-law where it does not say."""
    if told is None:
        return None
    coding = AUDIO_CODINGS.get(told.payload_type)
    if coding not in CODINGS:
        name = payload_type_name(told.payload_type)
        return TalkRefused(f"the terminal speaks {name}: talk needs G.711, G.726 or ADPCM")
    line.coding = coding
    line.g726_bits = g726_bits(told.frame_bytes) if coding is AudioCoding.G726 else 0
    return None


def talk_spec() -> DynamicSpec[int, TalkMessage]:
    """Return the spec of talks: an actor for each device, started by the first message to it."""
    return DynamicSpec(kind=TALK, name="talks", factory=Talk, idle_seconds=60.0)
