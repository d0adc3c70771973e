"""One media connection: JT/T 1078 packets up to the stream, or the playback, of the channel they name.

It belongs to the device of its first valid packet and to no other ever after; a connection without a request
behind it is told to stop and closed (docs/protocols/jt1078.md#media-connections).
"""

import contextlib
from collections.abc import Sequence
from typing import assert_never

import trio

from motorpool.actors.gateway.peer import Peer
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.gateway.wire import Wire
from motorpool.actors.messages.counters import MEDIA_UNITS_DROPPED
from motorpool.actors.messages.downlink import (
    AcknowledgeStored,
    CheckDeadlines,
    Close,
    ConfigureDecoder,
    ConnectionMessage,
    DeliverInResponse,
    EncodingRefused,
    Reannounce,
    Transmit,
)
from motorpool.actors.messages.publishing import Publish, PublisherLeft, PublisherMessage, UnitsPublished
from motorpool.actors.messages.uplink import DEVICE, SendCommand
from motorpool.actors.video.media_requests import MEDIA_REQUESTS, IdentifyPublisher, PublisherDevice
from motorpool.actors.video.playback import PLAYBACK, PlaybackMessage
from motorpool.actors.video.stream import STREAM, StreamMessage
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.reports import FrameRejected
from motorpool.runtime import ActorError, ActorStopped, MailboxFull, Ref
from motorpool.storage.errors import StorageError

__all__ = ["MediaConnection"]

IDLE_SECONDS = 30.0
"""Without a packet: lost power sends no FIN (docs/protocols/jt1078.md#who-closes)."""
PLAYBACK_IDLE_SECONDS = 3_700.0
"""The playback itself knows what silence means; this is longer than any pause it allows."""
MAX_CHANNELS = 32
REFUSED_SECONDS = 5.0
"""For a device to close by itself when it was told to stop."""
ASK_AGAIN_SECONDS = 2.0
"""For a channel that is refused, or that another number of the device stands for, to be asked about again."""
JOIN_SECONDS = 30.0
"""For a stream or playback to take us: it may have to finish the one before."""


class MediaConnection(Peer[AccessUnit | FrameRejected]):
    """Reads one media peer; may carry several channels."""

    def __init__(self, wire: Wire, *, kind: str, login_seconds: float, tap: Tap | None = None) -> None:
        """`kind`: "live" or "playback", which the packets do not tell."""
        self._is_playback = kind == "playback"
        idle_seconds = PLAYBACK_IDLE_SECONDS if self._is_playback else IDLE_SECONDS
        super().__init__(wire, idle_seconds=idle_seconds, tap=tap)
        self._kind = kind
        self._login_seconds = login_seconds
        self._codec = Jt1078Parser()
        self._publisher: PublisherDevice | None = None
        # All by the number that the packets carry, which need not be ours.
        self._streams: dict[int, Ref[PublisherMessage]] = {}
        self._carried_at: dict[int, float] = {}
        self._refused_at: dict[int, float] = {}
        self._lossy: set[int] = set()
        self._dropped = 0
        self._joining: int | None = None
        """A channel of ours whose stream is being asked."""

    async def run(self) -> None:
        """Read until either side ends it."""
        await self._read(f"{self._kind} media", self._codec, self._login_seconds)

    def _left(self) -> None:
        for stream in list(self._streams.values()):
            stream.offer(PublisherLeft(self._ref))

    async def _pass_on(self, found: Sequence[AccessUnit | FrameRejected]) -> None:
        units = [unit for unit in found if isinstance(unit, AccessUnit)]
        if units:
            self._heard = True
        now = self.context.clock.monotonic()
        if len(self._streams) == 1:
            (only, its_stream) = next(iter(self._streams.items()))
            if all(unit.channel == only for unit in units):
                await self._tell(only, its_stream, units, now)
                return
        by_number: dict[int, list[AccessUnit]] = {}
        for unit in units:
            by_number.setdefault(unit.channel, []).append(unit)
        for number, of_number in by_number.items():
            stream = self._streams.get(number) or await self._join(number, now)
            if stream is not None:
                await self._tell(number, stream, of_number, now)

    async def _tell(
        self, number: int, stream: Ref[PublisherMessage], units: list[AccessUnit], now: float
    ) -> None:
        """Live pictures never wait: what a full mailbox does not take is dropped up to the next key frame.

        A recording does: the terminal is not read meanwhile, and sends no faster than we take it.
        """
        self._carried_at[number] = now
        if self._is_playback:
            with contextlib.suppress(ActorStopped):  # the server stops
                await stream.tell(UnitsPublished(self._ref, units))
            return
        try:
            stream.tell_nowait(UnitsPublished(self._ref, units, number in self._lossy))
        except MailboxFull:
            self._lossy.add(number)
            self._dropped += len(units)
            MEDIA_UNITS_DROPPED.inc(len(units))
        else:
            self._lossy.discard(number)

    async def _join(self, number: int, now: float) -> Ref[PublisherMessage] | None:
        """The stream of the channel with this number, if it wants us; refused, it is asked again later."""
        refused_at = self._refused_at.get(number)
        if refused_at is not None and now - refused_at < ASK_AGAIN_SECONDS:
            return None
        if len(self._streams) >= MAX_CHANNELS:
            return None
        try:
            publisher = self._publisher or await self._identify()
            if publisher is None:
                return None
            channel = publisher.channels.channel_of(number)
            if not self._is_free(channel, now):
                return None
            stream: Ref[PublisherMessage] = self._taker_of((publisher.device_id, channel))
            self._joining = channel
            wanted = await stream.ask(Publish(self._ref, refused_at is not None), seconds=JOIN_SECONDS)
        except (ActorError, StorageError) as error:
            self._wire.close(f"cannot be served now: {error}")
            return None
        is_over, self._joining = self._joining is None, None
        if wanted and not is_over:
            self._refused_at.pop(number, None)
            self._streams[number] = stream
            return stream
        self._refused_at[number] = now
        if refused_at is None and not wanted:
            self.context.log.info(
                "nobody asked for channel %d of %s, which calls it %d", channel, publisher.unique_id, number
            )
            await self._tell_to_stop(publisher, channel)
        return None

    def _is_free(self, channel: int, now: float) -> bool:
        """Whether no other number stands for this channel: the main stream, say, beside its sub-stream.

        The one that carried it is let go when it has fallen silent: the device was told to switch.
        """
        for number in self._numbers_of(channel):
            if now - self._carried_at[number] < ASK_AGAIN_SECONDS:
                return False
            del self._streams[number]
        return True

    def _numbers_of(self, channel: int) -> list[int]:
        if self._publisher is None:
            return []
        channel_of = self._publisher.channels.channel_of
        return [number for number in self._streams if channel_of(number) == channel]

    def _taker_of(self, key: tuple[int, int]) -> Ref[PlaybackMessage] | Ref[StreamMessage]:
        system = self.context.system
        return system.ref(PLAYBACK, key) if self._is_playback else system.ref(STREAM, key)

    async def _identify(self) -> PublisherDevice | None:
        finder = self.context.system.ref(MEDIA_REQUESTS)
        sim = self._codec.sim or ""
        publisher = await finder.ask(IdentifyPublisher(sim, self._wire.peer, self._kind))
        if publisher is None:
            self._wire.close(f"media of an unknown SIM {sim}")
            return None
        self._publisher = publisher
        self.context.log.info("%s media of %s from %s", self._kind, publisher.unique_id, self._wire.peer)
        return publisher

    async def _tell_to_stop(self, publisher: PublisherDevice, channel: int) -> None:
        """A terminal whose connection is just closed comes back at once; told to stop, it does not."""
        device = self.context.system.ref(DEVICE, publisher.device_id)
        order = SendCommand("videoStop", {"channel": channel}, no_queue=True, by_reader=True)
        if self._is_playback:
            stop = {"channel": channel, "control": "stop"}
            order = SendCommand("videoPlaybackControl", stop, no_queue=True, by_reader=True)
        try:
            await device.ask(order)
        except (ActorError, StorageError) as error:
            self.context.log.info("could not tell it to stop: %s", error)
        if not self._streams:
            with trio.move_on_after(REFUSED_SECONDS):
                while await self._wire.receive():
                    pass
            self._wire.close("media that nobody asked for")

    def handle(self, message: ConnectionMessage) -> object:
        """Runs to completion in the task of whoever tells it."""
        match message:
            case CheckDeadlines():
                return self._check_time()
            case Close():
                return self._close(message)
            case Transmit():
                return EncodingRefused("a media connection takes no commands")
            case AcknowledgeStored() | DeliverInResponse() | Reannounce() | ConfigureDecoder():
                return None
            case _:
                assert_never(message)

    def _close(self, message: Close) -> None:
        """All of it; or one channel, and with the last one all."""
        if message.channel is not None:
            if self._joining == message.channel:
                self._joining = None  # what it is just being promised is over already
            now = self.context.clock.monotonic()
            for number in self._numbers_of(message.channel):
                del self._streams[number]
                self._refused_at[number] = now
            if self._streams or self._joining is not None:
                self.context.log.info("channel %d is let go: %s", message.channel, message.reason)
                return
        self._wire.close(message.reason)

    def _check_time(self) -> None:
        now = self.context.clock.monotonic()
        if self._dropped:
            self.context.log.warning("dropped %d units: the stream is too busy", self._dropped)
            self._dropped = 0
        if self._publisher is None and now - self._opened_at >= self._login_seconds:
            self._wire.close("no valid media packet")
        elif self._is_silent(now):
            self._wire.close("no media for too long")
