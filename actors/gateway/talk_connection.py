"""One connection of a terminal to the port of talk: sound both ways (docs/protocols/jt1078.md#talk).

It belongs to the device of its first valid packet for as long as it lives, and is closed if nobody talks.
"""

import logging
import math
from typing import assert_never

import trio

from motorpool.actors.gateway.deadlines import check_seconds
from motorpool.actors.gateway.media_peer import identify_peer
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.messages import downlink
from motorpool.actors.messages.counters import TALK_SAMPLES_DROPPED
from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.uplink import DEVICE, AttachConnection, DetachConnection
from motorpool.actors.video.media_requests import PublisherDevice
from motorpool.actors.video.talk import TALK, JoinTalk, LeaveTalk
from motorpool.actors.video.talk_line import SampleBudget, TalkLine
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_parser import RATE, AudioParser
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.telephone_sound import (
    CODINGS,
    FRAME_BYTES,
    FRAME_SAMPLES,
    TelephoneDecoder,
    TelephoneEncoder,
)
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.runtime import Actor, ActorError

IDLE_SECONDS = 30.0
"""Without a packet it is closed: lost power sends no FIN (docs/protocols/jt1078.md#who-closes)."""
FRAME_SECONDS = FRAME_SAMPLES / RATE
LATE_SECONDS = 0.2
"""What could not be sent for longer is not made up for by sending faster."""
GAP_SECONDS = 0.3
"""The user has paused if nothing comes for this long: what is no whole packet is filled with silence."""
MIN_SAMPLES = RATE // 100
NEW_DECODER_SAMPLES = RATE // 2
"""What a packet, and one in another coding than before, counts for at least: they cost as much to decode."""
BACKLOG_BYTES = 4 * 1024
"""While more waits to be sent, sound waits in the line, where the oldest is dropped."""
DEVICE_LEFT = "the terminal of the vehicle has ended the talk"


class TalkConnection(Actor[ConnectionMessage]):
    """Started by the listener, gone with its socket."""

    def __init__(self, device_socket: PeerSocket, tap: Tap | None = None, *, login_seconds: float) -> None:
        self._socket = device_socket
        self._tap = tap
        self._login_seconds = login_seconds
        self._codec = Jt1078Parser()
        self._sound = AudioParser()
        self._decoder: TelephoneDecoder | None = None
        self._publisher: PublisherDevice | None = None
        self._line: TalkLine | None = None
        self._channel = 0
        """The terminal's number of it."""
        # Before `run`, which a tick may precede.
        self._opened_at = self._received_at = math.inf
        self._budget = SampleBudget()
        """What is sent beyond it is dropped undecoded."""

    async def run(self) -> None:
        """Read until either side ends it."""
        clock = self.context.clock
        self._opened_at = self._received_at = clock.monotonic()
        self.context.every(check_seconds(self._login_seconds), downlink.CheckDeadlines())
        async with trio.open_nursery() as nursery:
            while data := await self._socket.receive():
                if self._tap is not None:
                    self._tap.received(data)
                try:
                    units = [unit for unit in self._codec.receive(data) if isinstance(unit, AccessUnit)]
                except CodecError as error:
                    self._socket.close(f"cannot be decoded: {error}")
                    break
                self._socket.hold(self._codec.buffered)
                if self._publisher is None and self._codec.sim is not None and not self._socket.closed:
                    await self._join(self._codec.sim, nursery)
                if units and self._line is not None:
                    self._hear(units, self._line)
            nursery.cancel_scope.cancel()

    def release(self) -> None:
        """Close the socket if it is still open, and report the end."""
        socket, publisher = self._socket, self._publisher
        socket.close("the server stops")
        if self._tap is not None:
            self._tap.closed()
        socket.hold(0)
        line = ("talk connection from %s ended: %s", socket.peer or "an unknown address", socket.reason)
        if publisher is None:
            socket.log(self.context, logging.INFO, *line)
            return
        system, ref = self.context.system, self.context.ref
        system.ref(DEVICE, publisher.device_id).offer(DetachConnection(ref))
        if self._line is not None:
            # The talk goes on if a newer connection has taken it over.
            system.ref(TALK, publisher.device_id).offer(LeaveTalk(ref, DEVICE_LEFT))
        self.context.log.info(*line)

    async def _join(self, sim: str, nursery: trio.Nursery) -> None:
        publisher = await identify_peer(self.context, self._socket, sim, "talk")
        if publisher is None:
            return
        self._publisher = publisher
        try:
            line = await self.context.system.ref(TALK, publisher.device_id).ask(JoinTalk(self.context.ref))
        except ActorError as error:
            self._socket.close(f"cannot be served now: {error}")
            return
        if line is None:
            self._socket.close("nobody talks to it")
            return
        self._line = line
        nursery.start_soon(self._say, line, Jt1078Sender(sim, len(sim) // 2))

    def _hear(self, units: list[AccessUnit], line: TalkLine) -> None:
        now = self._received_at = self.context.clock.monotonic()
        for unit in units:
            coding = unit.coding
            if not isinstance(coding, AudioCoding):
                continue
            if coding not in CODINGS:
                line.end(f"the terminal sends {coding.value} sound, which talk does not know")
                return
            self._channel = unit.channel
            sound = self._sound.push(coding, unit)
            if sound is None:
                continue
            layout = (coding, sound.g726_bits)
            is_new = self._decoder is None or self._decoder.layout != layout
            if not self._budget.take(max(sound.samples, NEW_DECODER_SAMPLES if is_new else MIN_SAMPLES), now):
                TALK_SAMPLES_DROPPED.inc(sound.samples)
                continue
            if self._decoder is None or is_new:
                self._decoder = TelephoneDecoder(*layout)
            if dropped := line.heard.put(self._decoder.decode(sound.payload)):
                TALK_SAMPLES_DROPPED.inc(dropped)

    async def _say(self, line: TalkLine, sender: Jt1078Sender) -> None:
        """Send what the user says, as fast as it is heard."""
        encoder = TelephoneEncoder(line.coding, line.g726_bits)
        timestamp, due, silence = 0, -math.inf, 0
        while True:
            if self._socket.backlog > BACKLOG_BYTES:
                await trio.sleep(FRAME_SECONDS)
                continue
            pcm = b""
            if len(line.spoken) >= FRAME_BYTES:
                pcm = line.spoken.take(FRAME_BYTES)
                silence = encoder.delay_frames
            elif not await line.spoken.arrived.wait(GAP_SECONDS if line.spoken or silence else math.inf):
                rest = line.spoken.take(FRAME_BYTES)
                silence = encoder.delay_frames if rest else silence - 1
                pcm = rest.ljust(FRAME_BYTES, b"\0")
            if not pcm:
                continue
            for payload in encoder.encode(pcm):
                unit = AccessUnit(self._channel or line.channel, line.coding, False, timestamp, payload)
                self._socket.send(sender.encode(unit))
                timestamp += round(FRAME_SECONDS * 1000)
            due = max(due + FRAME_SECONDS, trio.current_time() - LATE_SECONDS)
            await trio.sleep_until(due)

    def handle(self, message: ConnectionMessage) -> object:
        """Handle a message; runs to completion in the sender's task."""
        match message:
            case downlink.CheckDeadlines():
                return self._check_deadlines()
            case downlink.Close() | downlink.StopServing():
                return self._socket.close(message.reason)
            case downlink.Depart():
                return False
            case downlink.Transmit():
                return downlink.EncodingRefused("a talk connection takes no commands")
            case (
                downlink.AcknowledgeStored()
                | downlink.DeliverInResponse()
                | downlink.Reannounce()
                | downlink.ConfigureDecoder()
                | downlink.Settle()
                | downlink.Settled()
            ):
                return None
            case _:
                assert_never(message)

    def _check_deadlines(self) -> None:
        now = self.context.clock.monotonic()
        if self._publisher is not None:
            # Again, since a crash of the device's actor forgets it.
            device = self.context.system.ref(DEVICE, self._publisher.device_id)
            device.offer(AttachConnection(self.context.ref, (self._publisher.unique_id,)))
        if self._publisher is None and now - self._opened_at >= self._login_seconds:
            self._socket.close("no valid media packet")
        elif now - self._received_at >= IDLE_SECONDS:
            self._socket.close("no sound for too long")
