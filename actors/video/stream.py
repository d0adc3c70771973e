"""One live stream: the pictures and sound of a device's channel become segments and a playlist.

A publisher (the media connection) hands in access units, readers ask for the playlist and segments;
reading never cuts or moves the stream (docs/decisions/0024). The first reader of an online device's playlist
may start it; what readers began ends at the device when nobody has read for a while; what `videoStart`
began is held until `videoStop`.
"""

from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from enum import Enum, auto
from math import inf
from typing import Any, assert_never

import msgspec
import trio

from motorpool.actors.messages.counters import MEDIA_UNITS_DROPPED, SEGMENTS_MADE
from motorpool.actors.messages.downlink import Close
from motorpool.actors.messages.publishing import (
    Publish,
    PublisherLeft,
    StreamEnded,
    Subscribe,
    UnitsPublished,
    Unsubscribe,
)
from motorpool.actors.messages.uplink import DEVICE, CommandSent, SendCommand
from motorpool.actors.settings import VideoSettings
from motorpool.actors.video.pending_reads import PendingReads
from motorpool.actors.video.sequence_allocator import SequenceAllocator
from motorpool.actors.video.subscribers import Subscribers
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_transcoding import AudioTranscoder
from motorpool.codecs.media.fragments import Keyframe, MediaFragment
from motorpool.codecs.media.muxer import mux
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.runtime import Actor, ActorError, DynamicSpec, Kind, Ref, Request, Restart
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = [
    "STREAM",
    "AwaitPlaylist",
    "HoldStream",
    "ReadKeyframe",
    "ReadPart",
    "ReadPlaylist",
    "ReadSegment",
    "ReleaseStream",
    "Stream",
    "StreamMessage",
    "WaitFailure",
    "channel_of",
    "stream_spec",
]

CLOSE_SECONDS = 5.0
"""For a device to close its media connection by itself after `videoStop`."""
TICK_SECONDS = 5.0
RELOAD_TARGETS = 3
"""Who waits for what comes next waits so many target durations at most (rfc8216bis, 6.2.5.2)."""


def channel_of(attributes: Mapping[str, Any]) -> int:
    """The camera channel that a video command names: `channel`, else `index`, else 1
    (docs/decisions/0023).
    """
    for key in ("channel", "index"):
        try:
            if attributes.get(key) is not None:
                return int(attributes[key])
        except (TypeError, ValueError):
            return 1
    return 1


class HoldStream(msgspec.Struct, frozen=True, gc=False):
    """`videoStart` was sent: keep the stream until `videoStop`."""


class ReleaseStream(msgspec.Struct, frozen=True, gc=False):
    """`videoStop` was sent."""


class ReadPlaylist(msgspec.Struct, Request[str], frozen=True, gc=False):
    """The live playlist; the first reader may start the stream and waits for its first segment."""

    start: bool = True


class WaitFailure(Enum):
    """Why a wait for the playlist came to nothing."""

    TOO_FAR_AHEAD = auto()
    """What was asked for is too far ahead."""
    TIMED_OUT = auto()
    """It should have come by now."""


class AwaitPlaylist(msgspec.Struct, Request[str | WaitFailure], frozen=True, gc=False):
    """The live playlist as soon as it holds this, or something behind it (a blocking reload).

    Where nobody publishes it is answered as `ReadPlaylist`.
    """

    index: int
    part: int | None = None


class ReadPart(msgspec.Struct, Request[bytes | None], frozen=True, gc=False):
    """A part's bytes; the next one is awaited. None when it has left the window, or does not come."""

    index: int
    part: int


class ReadSegment(msgspec.Struct, Request[bytes | None], frozen=True, gc=False):
    """A segment's bytes; None when it has left the window or never was."""

    index: int


class ReadKeyframe(msgspec.Struct, Request[Keyframe | None], frozen=True, gc=False):
    """The last key frame, None if there was none; the first reader may start the stream and waits for it."""


class _Tick(msgspec.Struct, frozen=True, gc=False):
    pass


class _Overdue(msgspec.Struct, frozen=True, gc=False):
    """Some reader may have waited long enough for what comes next."""


StreamMessage = (
    UnitsPublished
    | ReadSegment
    | ReadPart
    | AwaitPlaylist
    | ReadPlaylist
    | ReadKeyframe
    | Publish
    | PublisherLeft
    | HoldStream
    | ReleaseStream
    | Subscribe
    | Unsubscribe
    | _Tick
    | _Overdue
)
STREAM: Kind[tuple[int, int], StreamMessage] = Kind("stream")


class Stream(Actor[StreamMessage]):
    """One channel of one device."""

    def __init__(self, key: tuple[int, int], database: Database, settings: VideoSettings) -> None:
        self._device_id, self._channel = key
        self._database = database
        self._settings = settings
        self._segmenter = Segmenter(settings.segment_seconds)
        self._transcoder = AudioTranscoder()
        self._playlist = LivePlaylist(settings.window_segments, target_seconds=settings.segment_seconds)
        self._numbers: SequenceAllocator
        self._subscribers = Subscribers()
        self._has_gap = False
        """A segment before the next was left out."""
        self._publisher: Ref[Any] | None = None
        self._has_published = False
        """Some connection has, in this life: the next one is a discontinuity."""
        self._left_at = 0.0
        self._held = False
        self._asked_at: float | None = None
        """When the device was last told to start, by whomever; None once it was told to stop."""
        self._read_at = 0.0
        self._readers = PendingReads()
        """For the first segment, for what comes next, for a key frame."""
        self._looks_at = inf
        """When to look whose wait is over."""
        self._close_at: float | None = None

    async def start(self) -> None:
        """Go on above the numbers of any earlier life."""
        log = self.context.log
        self._numbers = SequenceAllocator(self._database, self._device_id, self._channel, "live", log)
        first_index, first_discontinuity = await self._numbers.load()
        self._playlist = LivePlaylist(
            self._settings.window_segments,
            target_seconds=self._settings.segment_seconds,
            first_index=first_index,
            first_discontinuity=first_discontinuity,
            part_seconds=self._settings.part_seconds,
        )
        self._segmenter = Segmenter(
            self._settings.segment_seconds,
            part_seconds=self._settings.part_seconds,
            discontinuity=first_index > 0,
        )
        self.context.every(TICK_SECONDS, _Tick())

    async def stop(self) -> None:
        """Let go of readers and write down where the numbers stand."""
        self._readers.dismiss()
        self._end_subscriptions("the server stops")
        await self._numbers.save(self._playlist.next_index, self._playlist.next_discontinuity)

    def may_leave(self) -> bool:
        """Not while anybody publishes, holds, takes or waits."""
        return self._publisher is None and not (self._held or self._subscribers or self._readers)

    def handle(self, message: StreamMessage) -> object:
        """One message; pictures first."""
        match message:
            case UnitsPublished():
                return self._units_published(message)
            case ReadSegment():
                self._read_at = self.context.clock.monotonic()
                return self._playlist.get(message.index)
            case ReadPart():
                return self._read_part(message)
            case AwaitPlaylist():
                return self._await_playlist(message)
            case ReadPlaylist():
                return self._read_playlist(message)
            case ReadKeyframe():
                return self._read_keyframe()
            case Publish():
                return self._publish(message)
            case PublisherLeft():
                return self._publisher_left(message)
            case HoldStream():
                self._held = True
                self._started()
                return None
            case ReleaseStream():
                return self._released()
            case Subscribe():
                return self._subscribe(message)
            case Unsubscribe():
                return self._subscribers.remove(
                    message.subscriber, StreamEnded(message.reason, self._segmenter.peek())
                )
            case _Tick():
                return self._tick()
            case _Overdue():
                return self._overdue()
            case _:
                assert_never(message)

    # The publisher

    def _publish(self, message: Publish) -> object:
        wanted = self._asked_at is not None or (self._settings.unrequested and not message.again)
        if not wanted or (message.again and self._publisher not in (None, message.connection)):
            return False
        if self._publisher is not None and self._publisher != message.connection:
            self._close_publisher("replaced by a newer media connection of the same channel")
        self._publisher = message.connection
        self.context.log.info("published by %s", message.connection.path)
        if not self._has_published:
            self._has_published = True
            return True
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
        waits = self._take(self._segmenter.flush())
        self._readers.settle(self._left_at)
        return waits

    def _units_published(self, message: UnitsPublished) -> object:
        if message.connection != self._publisher:
            return None  # an older connection's last words
        segmenter = self._segmenter
        fragments = [segmenter.discontinuity()] if message.lossy else []
        now = self.context.clock.monotonic()
        fragments += [segmenter.push(unit, now) for unit in message.units]
        if self._readers:
            self._readers.settle(now)
        return self._take(*fragments)

    # Segments

    def _take(self, *fragments: MediaFragment | None) -> Coroutine[Any, Any, None] | None:
        """Make segments of the cuts: at once, or in a thread where sound must be transcoded."""
        made = [fragment for fragment in fragments if fragment is not None]
        if not made:
            return None
        if not self._numbers.has_room(self._playlist.next_index, len(made) + 1) or any(
            fragment.needs_transcoding for fragment in made
        ):
            return self._append_slowly(made)
        for fragment in made:
            self._append(fragment)
        return None

    async def _append_slowly(self, fragments: list[MediaFragment]) -> None:
        """The loop is not held up; units wait in the mailbox meanwhile."""
        for fragment in fragments:
            if not self._numbers.has_room(self._playlist.next_index):
                await self._numbers.reserve(self._playlist.next_index, self._playlist.next_discontinuity)
            if not fragment.needs_transcoding:
                self._append(fragment)
                continue
            try:
                transcoded = await trio.to_thread.run_sync(self._transcoder.transcode, fragment)
            except CodecError as error:
                self._leave_out(error)
            else:
                self._append(transcoded, is_transcoded=True)

    def _append(self, fragment: MediaFragment, *, is_transcoded: bool = False) -> None:
        if self._has_gap:
            fragment = msgspec.structs.replace(fragment, discontinuity=True)
        try:
            if not is_transcoded:  # a second time it would end the encoder of the sound that comes next
                fragment = self._transcoder.transcode(fragment)
            if self._subscribers:
                self._pass_on(fragment)
            segment = mux(fragment)
        except CodecError as error:
            self._leave_out(error)
            return
        self._has_gap = False
        clock = self.context.clock
        age = timedelta(seconds=clock.monotonic() - segment.arrived_at)
        self._playlist.append(segment, clock.now() - age)
        SEGMENTS_MADE.inc(segment.complete)
        if self._readers:
            self._readers.settle(clock.monotonic())

    def _pass_on(self, fragment: MediaFragment) -> None:
        missed = self._subscribers.pass_on((fragment,))
        if missed:
            MEDIA_UNITS_DROPPED.inc(len(missed) * (len(fragment.pictures) + len(fragment.audio_frames)))
            self.context.log.warning(
                "%d captures are too slow and miss %d pictures", len(missed), len(fragment.pictures)
            )

    def _leave_out(self, error: CodecError) -> None:
        self._has_gap = True
        self.context.log.warning("a segment is left out: %s", error)

    def _end_subscriptions(self, reason: str) -> None:
        if self._subscribers:
            self._subscribers.end(StreamEnded(reason, self._segmenter.peek()))

    # Readers

    def _read_playlist(self, message: ReadPlaylist) -> object:
        self._read_at = self.context.clock.monotonic()
        if message.start and self._may_start():
            return self._start_then(self._playlist_or_wait)
        return self._playlist_or_wait()

    def _may_start(self) -> bool:
        """Whether a reader may tell the device to start: not again while it may still be about to."""
        if self._publisher is not None or not self._settings.autostart:
            return False
        asked = self._asked_at
        return asked is None or self.context.clock.monotonic() - asked >= self._settings.start_seconds

    def _await_playlist(self, message: AwaitPlaylist) -> object:
        playlist, index, part = self._playlist, message.index, message.part
        if self._publisher is None or not len(playlist):
            return self._read_playlist(ReadPlaylist())
        self._read_at = self.context.clock.monotonic()
        if playlist.holds(index, part):
            return playlist.render()
        if playlist.is_ahead(index, part):
            return WaitFailure.TOO_FAR_AHEAD
        return self._await_next(
            lambda: playlist.holds(index, part), playlist.render, overdue=lambda: WaitFailure.TIMED_OUT
        )

    def _read_part(self, message: ReadPart) -> object:
        playlist, index, part = self._playlist, message.index, message.part
        self._read_at = self.context.clock.monotonic()
        if self._publisher is None or not playlist.is_next(index, part):
            return playlist.get_part(index, part)
        return self._await_next(
            lambda: not playlist.is_next(index, part), lambda: playlist.get_part(index, part)
        )

    def _await_next(
        self,
        is_ready: Callable[[], bool],
        answer: Callable[[], Any],
        *,
        overdue: Callable[[], Any] | None = None,
    ) -> object:
        patience = RELOAD_TARGETS * self._playlist.target_duration
        return self._wait(patience, lambda: self._publisher is None or is_ready(), answer, overdue=overdue)

    def _wait(
        self,
        patience: float,
        is_ready: Callable[[], bool],
        answer: Callable[[], Any],
        *,
        overdue: Callable[[], Any] | None = None,
    ) -> object:
        until = self.context.clock.monotonic() + patience
        if until < self._looks_at:
            self._looks_at = until
            self.context.after(patience, _Overdue())
        return self._readers.add(until, is_ready, answer, overdue=overdue)

    def _overdue(self) -> None:
        now = self.context.clock.monotonic()
        self._readers.settle(now)
        end = self._readers.next_end()
        self._looks_at = inf if end is None else end
        if end is not None:
            self.context.after(end - now, _Overdue())

    def _playlist_or_wait(self) -> object:
        starting = self._publisher is not None or self._asked_at is not None
        if len(self._playlist) or not starting:
            return self._playlist.render()
        playlist = self._playlist
        return self._wait(self._settings.start_seconds, lambda: len(playlist) > 0, playlist.render)

    async def _start_then(self, read: Callable[[], object]) -> object:
        await self._start_device()
        return read()

    def _read_keyframe(self) -> object:
        self._read_at = self.context.clock.monotonic()
        return self._start_then(self._keyframe_or_wait) if self._may_start() else self._keyframe_or_wait()

    def _keyframe_or_wait(self) -> object:
        segmenter = self._segmenter
        last = segmenter.last_keyframe
        if self._asked_at is None and self._publisher is None:
            return last
        if self._publisher is not None and last is not None:
            return last
        return self._wait(
            self._settings.start_seconds,
            lambda: segmenter.last_keyframe is not last,
            lambda: segmenter.last_keyframe,
        )

    async def _subscribe(self, message: Subscribe) -> None:
        """Held as by `videoStart`, and started if nobody has."""
        self._subscribers.add(message.subscriber, self.context.clock.monotonic())
        if self._publisher is None and self._asked_at is None:
            await self._start_device()

    async def _start_device(self) -> None:
        if await self._command("videoStart"):
            self._started()

    def _started(self) -> None:
        self._asked_at = self.context.clock.monotonic()
        self._close_at = None

    # Time

    def _tick(self) -> object:
        now = self.context.clock.monotonic()
        if self._close_at is not None and now >= self._close_at:
            self._close_at = None
            self._close_publisher("the stream was stopped")
        self._subscribers.tell_ends()
        gone = now - max(self._left_at, self._asked_at or 0.0, self._subscribers.joined_at)
        is_held = self._held or bool(self._subscribers)
        if is_held and self._publisher is None and gone >= self._settings.linger_seconds:
            self.context.log.info("the device has left: no longer held")
            is_held = self._held = False
            self._end_subscriptions("the device has left")
            self._asked_at = None
        unread = now - max(self._read_at, self._asked_at or 0.0)
        if self._asked_at is not None and not is_held and unread >= self._settings.linger_seconds:
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
        self._end_subscriptions("the stream was stopped")
        self._close_soon()

    def _close_soon(self) -> None:
        if self._publisher is not None:
            self._close_at = self.context.clock.monotonic() + CLOSE_SECONDS
            self.context.after(CLOSE_SECONDS, _Tick())

    def _close_publisher(self, reason: str) -> None:
        if self._publisher is not None:
            publisher, self._publisher = self._publisher, None
            publisher.offer(Close(reason, self._channel))

    async def _command(self, kind: str) -> bool:
        device = self.context.system.ref(DEVICE, self._device_id)
        order = SendCommand(type=kind, attributes={"channel": self._channel}, no_queue=True, by_reader=True)
        try:
            outcome = await device.ask(order)
        except (ActorError, StorageError) as error:
            self.context.log.warning("%s: the device does not answer: %s", kind, error)
            return False
        return isinstance(outcome, CommandSent)


def stream_spec(database: Database, settings: VideoSettings) -> DynamicSpec[tuple[int, int], StreamMessage]:
    """The streams of the tree, one actor a channel, made by the first reader or publisher."""
    return DynamicSpec(
        kind=STREAM,
        name="streams",
        factory=lambda key: Stream(key, database, settings),
        restart=Restart.TRANSIENT,
        mailbox_size=1_000,
        idle_seconds=300.0,
    )
