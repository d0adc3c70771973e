"""One live stream: the pictures and sound of a device's channel become segments and a playlist.

A publisher (the media connection) hands in access units, readers ask for the playlist and segments;
reading never cuts or moves the stream (decisions 24). The first reader of an online device's playlist
may start it; what readers began ends at the device when nobody has read for a while; what `videoStart`
began is held until `videoStop`.
"""

from collections.abc import Coroutine, Mapping
from datetime import timedelta
from typing import Any, assert_never

import msgspec
import trio

from motorpool.actors.counters import SEGMENTS_MADE
from motorpool.actors.downlink import Close
from motorpool.actors.numbers import Numbers
from motorpool.actors.publishing import (
    LeaveUnits,
    Publish,
    PublisherLeft,
    TakeUnits,
    UnitsPublished,
)
from motorpool.actors.takers import Takers
from motorpool.actors.uplink import DEVICE, CommandSent, SendCommand
from motorpool.codecs.media.cuts import Cut
from motorpool.codecs.media.muxer import Muxer, Segment
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.runtime import Actor, ActorError, Deferred, DynamicSpec, Kind, Ref, Request, Restart
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = [
    "STREAM",
    "Held",
    "ReadPlaylist",
    "ReadSegment",
    "Released",
    "Stream",
    "StreamLimits",
    "StreamMessage",
    "channel_of",
    "stream_spec",
]

CLOSE_SECONDS = 5.0
"""For a device to close its media connection by itself after `videoStop`."""
TICK_SECONDS = 5.0


def channel_of(attributes: Mapping[str, Any]) -> int:
    """The camera channel that a video command names: `channel`, else `index`, else 1 (decisions 23)."""
    for key in ("channel", "index"):
        try:
            if attributes.get(key) is not None:
                return int(attributes[key])
        except (TypeError, ValueError):
            return 1
    return 1


class StreamLimits(msgspec.Struct, frozen=True):
    """How streams are cut, kept, started and ended."""

    segment_seconds: float = 2.0
    window_segments: int = 6
    autostart: bool = True
    start_seconds: float = 10.0
    linger_seconds: float = 60.0
    unrequested: bool = False
    """Take media that nobody asked for."""


class Held(msgspec.Struct, frozen=True, gc=False):
    """`videoStart` was sent: keep the stream until `videoStop`."""


class Released(msgspec.Struct, frozen=True, gc=False):
    """`videoStop` was sent."""


class ReadPlaylist(msgspec.Struct, Request[str], frozen=True, gc=False):
    """The live playlist; the first reader may start the stream and waits for its first segment."""

    start: bool = True


class ReadSegment(msgspec.Struct, Request[bytes | None], frozen=True, gc=False):
    """A segment's bytes; None when it has left the window or never was."""

    index: int


class _Tick(msgspec.Struct, frozen=True, gc=False):
    pass


StreamMessage = (
    UnitsPublished
    | ReadSegment
    | ReadPlaylist
    | Publish
    | PublisherLeft
    | Held
    | Released
    | TakeUnits
    | LeaveUnits
    | _Tick
)
STREAM: Kind[tuple[int, int], StreamMessage] = Kind("stream")


class Stream(Actor[StreamMessage]):
    """One channel of one device."""

    def __init__(self, key: tuple[int, int], database: Database, limits: StreamLimits) -> None:
        self._device_id, self._channel = key
        self._database = database
        self._limits = limits
        self._segmenter = Segmenter(limits.segment_seconds)
        self._muxer = Muxer()
        self._playlist = LivePlaylist(limits.window_segments, target_seconds=limits.segment_seconds)
        self._numbers: Numbers
        self._takers = Takers()
        self._publisher: Ref[Any] | None = None
        self._has_published = False
        """Some connection has, in this life: the next one is a discontinuity."""
        self._left_at = 0.0
        self._held = False
        self._asked_at: float | None = None
        """When the device was last told to start, by whomever; None once it was told to stop."""
        self._read_at = 0.0
        self._waiting: list[tuple[float, Deferred[str]]] = []
        self._close_at: float | None = None

    async def start(self) -> None:
        """Go on above the numbers of any earlier life."""
        log = self.context.log
        self._numbers = Numbers(self._database, self._device_id, self._channel, "live", log)
        first_index, first_discontinuity = await self._numbers.load()
        self._playlist = LivePlaylist(
            self._limits.window_segments,
            target_seconds=self._limits.segment_seconds,
            first_index=first_index,
            first_discontinuity=first_discontinuity,
        )
        self._segmenter = Segmenter(self._limits.segment_seconds, discontinuity=first_index > 0)
        self.context.every(TICK_SECONDS, _Tick())

    async def stop(self) -> None:
        """Let go of readers and write down where the numbers stand."""
        for _, reader in self._waiting:
            reader.answer(self._playlist.render())
        self._waiting.clear()
        self._takers.end("the server stops")
        await self._numbers.save(self._playlist.next_index, self._playlist.next_discontinuity)

    def may_leave(self) -> bool:
        """Not while anybody publishes, holds, takes or waits."""
        return self._publisher is None and not (self._held or self._takers or self._waiting)

    def handle(self, message: StreamMessage) -> object:
        """One message; pictures first."""
        match message:
            case UnitsPublished():
                return self._units_published(message)
            case ReadSegment():
                self._read_at = self.context.clock.monotonic()
                return self._playlist.get(message.index)
            case ReadPlaylist():
                return self._read_playlist(message)
            case Publish():
                return self._publish(message)
            case PublisherLeft():
                return self._publisher_left(message)
            case Held():
                self._held = True
                self._started()
                return None
            case Released():
                return self._released()
            case TakeUnits():
                return self._take_units(message)
            case LeaveUnits():
                return self._takers.remove(message.taker)
            case _Tick():
                return self._tick()
            case _:
                assert_never(message)

    # The publisher

    def _publish(self, message: Publish) -> object:
        wanted = self._asked_at is not None or self._limits.unrequested
        if not wanted:
            return False
        if self._publisher is not None and self._publisher != message.connection:
            self._close_publisher("replaced by a newer media connection of the same channel")
        self._publisher = message.connection
        self.context.log.info("published by %s", message.connection.path)
        if not self._has_published:
            self._has_published = True
            return True
        self._takers.discontinuity()
        waits = self._take(self._segmenter.discontinuity())
        return True if waits is None else self._then_true(waits)

    async def _then_true(self, waits: Coroutine[Any, Any, None]) -> bool:
        await waits
        return True

    def _publisher_left(self, message: PublisherLeft) -> object:
        if self._publisher != message.connection:
            return None
        self._publisher = None
        self._close_at = None
        self._left_at = self.context.clock.monotonic()
        self.context.log.info("the publisher has left")
        return self._take(self._segmenter.flush())

    def _units_published(self, message: UnitsPublished) -> object:
        if message.connection != self._publisher:
            return None  # an older connection's last words
        segmenter = self._segmenter
        cuts = [segmenter.discontinuity()] if message.lossy else []
        if self._takers:
            if message.lossy:
                self._takers.discontinuity()
            self._takers.missed(self._takers.pass_on(message.units))
        now = self.context.clock.monotonic()
        cuts += [segmenter.push(unit, now) for unit in message.units]
        return self._take(*cuts)

    # Segments

    def _take(self, *cuts: Cut | None) -> Coroutine[Any, Any, None] | None:
        """Make segments of the cuts: at once, or in a thread where sound must be transcoded."""
        made = [cut for cut in cuts if cut is not None]
        if not made:
            return None
        if not self._numbers.suffice(self._playlist.next_index, len(made) + 1) or any(
            cut.needs_transcoding for cut in made
        ):
            return self._append_slowly(made)
        for cut in made:
            self._append(self._muxer.mux(cut))
        return None

    async def _append_slowly(self, cuts: list[Cut]) -> None:
        """The loop is not held up; units wait in the mailbox meanwhile."""
        for cut in cuts:
            if not self._numbers.suffice(self._playlist.next_index):
                await self._numbers.reserve(self._playlist.next_index, self._playlist.next_discontinuity)
            if cut.needs_transcoding:
                self._append(await trio.to_thread.run_sync(self._muxer.mux, cut))
            else:
                self._append(self._muxer.mux(cut))

    def _append(self, segment: Segment) -> None:
        clock = self.context.clock
        age = timedelta(seconds=clock.monotonic() - segment.arrived)
        self._playlist.append(segment, clock.now() - age)
        SEGMENTS_MADE.inc()
        self._answer_waiting()

    # Readers

    def _read_playlist(self, message: ReadPlaylist) -> object:
        self._read_at = now = self.context.clock.monotonic()
        if self._publisher is None and message.start and self._limits.autostart:
            asked = self._asked_at
            if asked is None or now - asked >= self._limits.start_seconds:
                return self._start_then_read()
        return self._playlist_or_wait()

    def _playlist_or_wait(self) -> object:
        starting = self._publisher is not None or self._asked_at is not None
        if len(self._playlist) or not starting:
            return self._playlist.render()
        reader: Deferred[str] = Deferred()
        self._waiting.append((self.context.clock.monotonic() + self._limits.start_seconds, reader))
        if len(self._waiting) == 1:
            self.context.after(self._limits.start_seconds, _Tick())
        return reader

    async def _start_then_read(self) -> object:
        if await self._command("videoStart"):
            self._started()
        return self._playlist_or_wait()

    async def _take_units(self, message: TakeUnits) -> None:
        """Held as by `videoStart`, and started if nobody has."""
        self._takers.add(message.taker, self.context.clock.monotonic())
        if self._publisher is None and self._asked_at is None and await self._command("videoStart"):
            self._started()

    def _started(self) -> None:
        self._asked_at = self.context.clock.monotonic()
        self._close_at = None

    def _answer_waiting(self) -> None:
        if self._waiting:
            text = self._playlist.render()
            for _, reader in self._waiting:
                reader.answer(text)
            self._waiting.clear()

    # Time

    def _tick(self) -> object:
        now = self.context.clock.monotonic()
        while self._waiting and self._waiting[0][0] <= now:
            _, reader = self._waiting.pop(0)
            reader.answer(self._playlist.render())
        if self._close_at is not None and now >= self._close_at:
            self._close_at = None
            self._close_publisher("the stream was stopped")
        self._takers.tell_ends()
        gone = now - max(self._left_at, self._asked_at or 0.0, self._takers.joined_at)
        is_held = self._held or bool(self._takers)
        if is_held and self._publisher is None and gone >= self._limits.linger_seconds:
            self.context.log.info("the device has left: no longer held")
            is_held = self._held = False
            self._takers.end("the device has left")
            self._asked_at = None
        unread = now - max(self._read_at, self._asked_at or 0.0)
        if self._asked_at is not None and not is_held and unread >= self._limits.linger_seconds:
            return self._stop_for_readers()
        return None

    async def _stop_for_readers(self) -> None:
        self.context.log.info("nobody reads: stopped")
        self._asked_at = None
        await self._command("videoStop")
        self._close_soon()

    def _released(self) -> None:
        self._held = False
        self._asked_at = None
        self._takers.end("the stream was stopped")
        self._close_soon()

    def _close_soon(self) -> None:
        if self._publisher is not None:
            self._close_at = self.context.clock.monotonic() + CLOSE_SECONDS
            self.context.after(CLOSE_SECONDS, _Tick())

    def _close_publisher(self, reason: str) -> None:
        if self._publisher is not None:
            publisher, self._publisher = self._publisher, None
            publisher.offer(Close(reason))

    async def _command(self, kind: str) -> bool:
        device = self.context.system.ref(DEVICE, self._device_id)
        order = SendCommand(type=kind, attributes={"channel": self._channel}, no_queue=True, by_reader=True)
        try:
            outcome = await device.ask(order)
        except (ActorError, StorageError) as error:
            self.context.log.warning("%s: the device does not answer: %s", kind, error)
            return False
        return isinstance(outcome, CommandSent)


def stream_spec(database: Database, limits: StreamLimits) -> DynamicSpec[tuple[int, int], StreamMessage]:
    """The streams of the tree, one actor a channel, made by the first reader or publisher."""
    return DynamicSpec(
        kind=STREAM,
        name="streams",
        factory=lambda key: Stream(key, database, limits),
        restart=Restart.TRANSIENT,
        mailbox_size=1_000,
        idle_seconds=300.0,
    )
