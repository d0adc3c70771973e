"""One media connection: JT/T 1078 packets to the stream, or the playback, of the channel they name.

It belongs to the device of its first valid packet for as long as it lives. A connection that was not
requested is stopped and closed (docs/protocols/jt1078.md#media-connections).

Packets carry the device's own channel numbers. Each number has a state, changed by what is on the left:

    event                                              from         to
    -------------------------------------------------  -----------  ----------
    units come, and its channel is free                NEW          REQUESTED
    units come, RETRY_SECONDS after the refusal        REFUSED      REQUESTED
    the stream accepts                                 REQUESTED    PUBLISHING
    the stream refuses                                 REQUESTED    REFUSED
    `Close` names its channel                          REQUESTED    REFUSED
    `Close` names its channel                          PUBLISHING   REFUSED
    another number takes over its channel, as no       PUBLISHING   NEW
    units came for RETRY_SECONDS

A channel is free unless another number is PUBLISHING it and still sends: the device may switch from its main
stream to its sub-stream. Units of numbers that are not PUBLISHING are dropped.
"""

import contextlib
import enum
import logging
import math
from dataclasses import dataclass
from typing import assert_never

import trio

from motorpool.actors.gateway.deadlines import check_seconds
from motorpool.actors.gateway.media_peer import identify_peer
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.messages import downlink
from motorpool.actors.messages.counters import MEDIA_UNITS_DROPPED
from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.live_stream import STREAM, StreamMessage
from motorpool.actors.messages.playback import PLAYBACK, PlaybackMessage
from motorpool.actors.messages.publishing import Publish, PublisherLeft, PublisherMessage, UnitsPublished
from motorpool.actors.messages.uplink import DEVICE, AttachConnection, DetachConnection, SendCommand
from motorpool.actors.video.media_requests import PublisherDevice
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.units import AccessUnit
from motorpool.runtime import Actor, ActorError, ActorStopped, Clock, MailboxFull, Ref
from motorpool.storage.errors import StorageError

IDLE_SECONDS = 30.0
"""Without a packet it is closed: lost power sends no FIN (docs/protocols/jt1078.md#who-closes)."""
PLAYBACK_IDLE_SECONDS = 3_700.0
"""Longer than any pause that the playback, which has its own limits, allows."""
MAX_CHANNELS = 32
"""Channel numbers of one connection that may publish at once."""
REFUSED_SECONDS = 5.0
"""How long a device has to close the connection itself after a stop command."""
RETRY_SECONDS = 2.0
"""Until a refused number is requested again, or another number may take over a silent one's channel."""
PUBLISH_SECONDS = 30.0
"""For a stream or playback to accept: it may have to finish the publisher before."""


class _State(enum.Enum):
    """State of a channel number; the module's docstring lists the transitions."""

    NEW = enum.auto()
    REQUESTED = enum.auto()
    """The stream is asked whether it accepts."""
    PUBLISHING = enum.auto()
    """The stream takes its units."""
    REFUSED = enum.auto()
    """The stream does not take its units for now."""


# Members as globals: in Python 3.11 access through the class costs a descriptor lookup for each read.
_NEW, _REQUESTED, _PUBLISHING, _REFUSED = _State


@dataclass(slots=True)
class _Number:
    """One channel number of the packets."""

    state: _State = _NEW
    stream: Ref[PublisherMessage] | None = None
    """Set while PUBLISHING."""
    sent_at: float = 0.0
    """When units were last sent on, in monotonic seconds."""
    refused_at: float | None = None
    """When it became REFUSED, in monotonic seconds; None unless it was since it last published."""
    is_lossy: bool = False
    """The last units were dropped, as the stream's mailbox was full."""


class MediaConnection(Actor[ConnectionMessage]):
    """Reads one media peer; may carry several channels. Started by the listener, gone with its socket."""

    def __init__(
        self, device_socket: PeerSocket, tap: Tap | None = None, *, kind: str, login_seconds: float
    ) -> None:
        """`kind`: "live" or "playback", which the packets do not tell."""
        self._socket = device_socket
        self._kind = kind
        self._is_playback = kind == "playback"
        self._idle_seconds = PLAYBACK_IDLE_SECONDS if self._is_playback else IDLE_SECONDS
        self._login_seconds = login_seconds
        self._tap = tap
        self._codec = Jt1078Parser()
        self._publisher: PublisherDevice | None = None
        self._ref: Ref[ConnectionMessage]
        self._clock: Clock
        self._opened_at = self._received_at = math.inf
        """When it began, and when units last came, in monotonic seconds; infinite before `run`."""
        self._numbers: dict[int, _Number] = {}
        self._dropped = 0
        """Units, since the last check of deadlines."""

    async def run(self) -> None:
        """Read until either side ends it."""
        socket = self._socket
        self._ref, self._clock = self.context.ref, self.context.clock
        self._opened_at = self._received_at = self._clock.monotonic()
        self.context.every(check_seconds(self._login_seconds), downlink.CheckDeadlines())
        while data := await socket.receive():
            if self._tap is not None:
                self._tap.received(data)
            try:
                units = [unit for unit in self._codec.receive(data) if isinstance(unit, AccessUnit)]
            except CodecError as error:
                socket.close(f"cannot be decoded: {error}")
                return
            socket.hold(self._codec.buffered)
            # By the first packet: an unknown peer must not collect frames of video.
            if self._publisher is None and self._codec.sim is not None and not socket.closed:
                self._publisher = await identify_peer(self.context, self._socket, self._codec.sim, self._kind)
            if units and self._publisher is not None:
                await self._process(units)

    def release(self) -> None:
        """Close the socket if it is still open, and report the end."""
        socket, publisher = self._socket, self._publisher
        socket.close("the server stops")
        if self._tap is not None:
            self._tap.closed()
        socket.hold(0)
        peer = socket.peer or "an unknown address"
        line = ("%s media connection from %s ended: %s", self._kind, peer, socket.reason)
        if publisher is None:
            socket.log(self.context, logging.INFO, *line)
            return
        self.context.system.ref(DEVICE, publisher.device_id).offer(DetachConnection(self._ref))
        for number in self._numbers.values():
            if number.stream is not None:
                number.stream.offer(PublisherLeft(self._ref))
        self.context.log.info(*line)

    async def _process(self, units: list[AccessUnit]) -> None:
        now = self._received_at = self._clock.monotonic()
        first = units[0].channel
        if all(unit.channel == first for unit in units):
            await self._send_units(first, units, now)
            return
        by_number: dict[int, list[AccessUnit]] = {}
        for unit in units:
            by_number.setdefault(unit.channel, []).append(unit)
        for channel_number, units_of_number in by_number.items():
            await self._send_units(channel_number, units_of_number, now)

    async def _send_units(self, channel_number: int, units: list[AccessUnit], now: float) -> None:
        """Send units of one number to its stream.

        A live stream is never waited for: units that a full mailbox rejects are dropped up to the next key
        frame. A playback is: the terminal is not read meanwhile, and sends no faster than units are taken.
        """
        number = self._numbers.get(channel_number)
        if number is None or number.state is not _PUBLISHING:
            number = await self._request(channel_number, now)
            if number is None:
                return
        stream = number.stream
        assert stream is not None
        number.sent_at = now
        if self._is_playback:
            with contextlib.suppress(ActorStopped):  # the server stops
                await stream.tell(UnitsPublished(self._ref, units))
            return
        try:
            stream.tell_nowait(UnitsPublished(self._ref, units, number.is_lossy))
        except MailboxFull:
            number.is_lossy = True
            self._dropped += len(units)
            MEDIA_UNITS_DROPPED.inc(len(units))
        else:
            number.is_lossy = False

    async def _request(self, channel_number: int, now: float) -> _Number | None:
        """Ask the stream of a number's channel to accept it; None unless it publishes now."""
        number = self._numbers.setdefault(channel_number, _Number())
        refused_at = number.refused_at
        if refused_at is not None and now - refused_at < RETRY_SECONDS:
            return None
        if sum([other.state is _PUBLISHING for other in self._numbers.values()]) >= MAX_CHANNELS:
            return None
        publisher = self._publisher
        assert publisher is not None
        channel = publisher.channels.channel_of(channel_number)
        if not self._take_over(channel, now):
            return None
        stream: Ref[PublisherMessage] = self._stream_of((publisher.device_id, channel))
        number.state = _REQUESTED
        try:
            accepted = await stream.ask(Publish(self._ref, refused_at is not None), seconds=PUBLISH_SECONDS)
        except (ActorError, StorageError) as error:
            self._socket.close(f"cannot be served now: {error}")
            return None
        if accepted and self._is_requested(number):
            number.state, number.stream, number.refused_at = _PUBLISHING, stream, None
            return number
        number.state, number.refused_at = _REFUSED, now
        if refused_at is None and not accepted:
            self.context.log.info(
                "nobody requested channel %d of %s, which calls it %d",
                channel,
                publisher.unique_id,
                channel_number,
            )
            await self._order_stop(publisher, channel)
        return None

    @staticmethod
    def _is_requested(number: _Number) -> bool:
        """Whether no `Close` came while the stream was asked."""
        return number.state is _REQUESTED

    def _take_over(self, channel: int, now: float) -> bool:
        """Release the silent numbers that publish a channel; False where one still sends."""
        for number in self._numbers_of(channel, _PUBLISHING):
            if now - number.sent_at < RETRY_SECONDS:
                return False
            number.state, number.stream = _NEW, None
        return True

    def _numbers_of(self, channel: int, *states: _State) -> list[_Number]:
        if self._publisher is None:
            return []
        channel_of = self._publisher.channels.channel_of
        return [
            number
            for channel_number, number in self._numbers.items()
            if number.state in states and channel_of(channel_number) == channel
        ]

    def _stream_of(self, key: tuple[int, int]) -> Ref[PlaybackMessage] | Ref[StreamMessage]:
        system = self.context.system
        return system.ref(PLAYBACK, key) if self._is_playback else system.ref(STREAM, key)

    async def _order_stop(self, publisher: PublisherDevice, channel: int) -> None:
        """Send the stop command and close: a terminal that is merely disconnected comes back at once."""
        device = self.context.system.ref(DEVICE, publisher.device_id)
        command = SendCommand("videoStop", {"channel": channel}, no_queue=True, by_reader=True)
        if self._is_playback:
            stop = {"channel": channel, "control": "stop"}
            command = SendCommand("videoPlaybackControl", stop, no_queue=True, by_reader=True)
        try:
            await device.ask(command)
        except (ActorError, StorageError) as error:
            self.context.log.info("could not tell it to stop: %s", error)
        if not any(number.state is _PUBLISHING for number in self._numbers.values()):
            with trio.move_on_after(REFUSED_SECONDS):
                while await self._socket.receive():
                    pass
            self._socket.close("media that nobody asked for")

    def handle(self, message: ConnectionMessage) -> object:
        """Handle a message; runs to completion in the sender's task."""
        match message:
            case downlink.CheckDeadlines():
                return self._check_deadlines()
            case downlink.Close():
                return self._close(message)
            case downlink.StopServing():
                return self._socket.close(message.reason)
            case downlink.Depart():
                return False
            case downlink.Transmit():
                return downlink.EncodingRefused("a media connection takes no commands")
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

    def _close(self, message: downlink.Close) -> None:
        """Close the connection; or release one channel, and close with the last one."""
        if message.channel is not None:
            now = self._clock.monotonic()
            for number in self._numbers_of(message.channel, _REQUESTED, _PUBLISHING):
                number.state, number.stream, number.refused_at = _REFUSED, None, now
            if any(number.state in (_REQUESTED, _PUBLISHING) for number in self._numbers.values()):
                self.context.log.info("channel %d is released: %s", message.channel, message.reason)
                return
        self._socket.close(message.reason)

    def _check_deadlines(self) -> None:
        now = self.context.clock.monotonic()
        if self._publisher is not None:
            # Again, since a crash of the device's actor forgets it.
            device = self.context.system.ref(DEVICE, self._publisher.device_id)
            device.offer(AttachConnection(self._ref, (self._publisher.unique_id,)))
        if self._dropped:
            self.context.log.warning("dropped %d units: the stream is too busy", self._dropped)
            self._dropped = 0
        if self._publisher is None and now - self._opened_at >= self._login_seconds:
            self._socket.close("no valid media packet")
        elif now - self._received_at >= self._idle_seconds:
            self._socket.close("no media for too long")
