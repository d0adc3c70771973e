"""One media connection: JT/T 1078 packets up to the stream, or the playback, of the channel they name.

It belongs to the device of its first valid packet and to no other ever after; a connection without a request
behind it is told to stop and closed (jt808-jt1078.md 7.13 and 9).
"""

import contextlib
from collections.abc import Sequence
from typing import assert_never

import trio

from motorpool.actors.counters import MEDIA_UNITS_DROPPED
from motorpool.actors.downlink import (
    CheckTime,
    Close,
    Configure,
    ConnectionMessage,
    Deliver,
    Introduce,
    Refused,
    Stored,
    Transmit,
)
from motorpool.actors.media_requests import MEDIA_REQUESTS, FindPublisher, Publisher
from motorpool.actors.peer import Peer
from motorpool.actors.playback import PLAYBACK, PlaybackMessage
from motorpool.actors.publishing import Publish, PublisherLeft, PublisherMessage, UnitsPublished
from motorpool.actors.recorder import Tap
from motorpool.actors.stream import STREAM, StreamMessage
from motorpool.actors.uplink import DEVICE, SendCommand
from motorpool.actors.wire import Wire
from motorpool.codecs.media.jt1078 import Jt1078
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.reports import Rejected
from motorpool.runtime import ActorError, ActorStopped, MailboxFull, Ref
from motorpool.storage.errors import StorageError

__all__ = ["MediaConnection"]

IDLE_SECONDS = 30.0
"""Without a packet: lost power sends no FIN (jt808-jt1078.md 7.12)."""
PLAYBACK_IDLE_SECONDS = 3_700.0
"""The playback itself knows what silence means; this is longer than any pause it allows."""
MAX_CHANNELS = 32
REFUSED_SECONDS = 5.0
"""For a device to close by itself when it was told to stop."""
JOIN_SECONDS = 30.0
"""For a stream or playback to take us: it may have to finish the one before."""


class MediaConnection(Peer[AccessUnit | Rejected]):
    """Reads one media peer; may carry several channels."""

    def __init__(self, wire: Wire, *, kind: str, login_seconds: float, tap: Tap | None = None) -> None:
        """`kind`: "live" or "playback", which the packets do not tell."""
        self._is_playback = kind == "playback"
        idle_seconds = PLAYBACK_IDLE_SECONDS if self._is_playback else IDLE_SECONDS
        super().__init__(wire, idle_seconds=idle_seconds, tap=tap)
        self._kind = kind
        self._login_seconds = login_seconds
        self._codec = Jt1078()
        self._publisher: Publisher | None = None
        self._streams: dict[int, Ref[PublisherMessage]] = {}
        self._lossy: set[int] = set()
        self._unwanted: set[int] = set()
        self._dropped = 0

    async def run(self) -> None:
        """Read until either side ends it."""
        await self._read(f"{self._kind} media", self._codec, self._login_seconds)

    def _left(self) -> None:
        for stream in self._streams.values():
            stream.offer(PublisherLeft(self._ref))

    async def _pass_on(self, found: Sequence[AccessUnit | Rejected]) -> None:
        units = [unit for unit in found if isinstance(unit, AccessUnit)]
        if units:
            self._heard = True
        if len(self._streams) == 1:
            (only, its_stream) = next(iter(self._streams.items()))
            if all(unit.channel == only for unit in units):
                await self._tell(only, its_stream, units)
                return
        by_channel: dict[int, list[AccessUnit]] = {}
        for unit in units:
            by_channel.setdefault(unit.channel, []).append(unit)
        for channel, of_channel in by_channel.items():
            stream = self._streams.get(channel) or await self._join(channel)
            if stream is not None:
                await self._tell(channel, stream, of_channel)

    async def _tell(self, channel: int, stream: Ref[PublisherMessage], units: list[AccessUnit]) -> None:
        """Live pictures never wait: what a full mailbox does not take is dropped up to the next key frame.

        A recording does: the terminal is not read meanwhile, and sends no faster than we take it.
        """
        if self._is_playback:
            with contextlib.suppress(ActorStopped):  # the server stops
                await stream.tell(UnitsPublished(self._ref, units))
            return
        try:
            stream.tell_nowait(UnitsPublished(self._ref, units, channel in self._lossy))
        except MailboxFull:
            self._lossy.add(channel)
            self._dropped += len(units)
            MEDIA_UNITS_DROPPED.inc(len(units))
        else:
            self._lossy.discard(channel)

    async def _join(self, channel: int) -> Ref[PublisherMessage] | None:
        """The stream of this channel, if it wants us; asked once for each channel."""
        if channel in self._unwanted or len(self._streams) >= MAX_CHANNELS:
            return None
        try:
            publisher = self._publisher or await self._identify()
            if publisher is None:
                return None
            key = (publisher.device_id, channel)
            stream: Ref[PublisherMessage] = self._taker_of(key)
            if await stream.ask(Publish(self.context.ref), seconds=JOIN_SECONDS):
                self._streams[channel] = stream
                return stream
        except (ActorError, StorageError) as error:
            self._wire.close(f"cannot be served now: {error}")
            return None
        self._unwanted.add(channel)
        self.context.log.info("nobody asked for channel %d of %s", channel, publisher.unique_id)
        await self._tell_to_stop(publisher, channel)
        return None

    def _taker_of(self, key: tuple[int, int]) -> Ref[PlaybackMessage] | Ref[StreamMessage]:
        system = self.context.system
        return system.ref(PLAYBACK, key) if self._is_playback else system.ref(STREAM, key)

    async def _identify(self) -> Publisher | None:
        finder = self.context.system.ref(MEDIA_REQUESTS)
        sim = self._codec.sim or ""
        publisher = await finder.ask(FindPublisher(sim, self._wire.peer, self._kind))
        if publisher is None:
            self._wire.close(f"media of an unknown SIM {sim}")
            return None
        self._publisher = publisher
        self.context.log.info("%s media of %s from %s", self._kind, publisher.unique_id, self._wire.peer)
        return publisher

    async def _tell_to_stop(self, publisher: Publisher, channel: int) -> None:
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
            case CheckTime():
                return self._check_time()
            case Close():
                return self._wire.close(message.reason)
            case Transmit():
                return Refused("a media connection takes no commands")
            case Stored() | Deliver() | Introduce() | Configure():
                return None
            case _:
                assert_never(message)

    def _check_time(self) -> None:
        now = self.context.clock.monotonic()
        if self._dropped:
            self.context.log.warning("dropped %d units: the stream is too busy", self._dropped)
            self._dropped = 0
        if self._publisher is None and now - self._opened_at >= self._login_seconds:
            self._wire.close("no valid media packet")
        elif self._is_silent(now):
            self._wire.close("no media for too long")
