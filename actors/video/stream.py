"""One live stream: the access units of a device's channel become segments and a playlist.

A publisher (the media connection) sends access units, readers ask for the playlist and segments; reading
never ends segments or moves the window (docs/decisions/0024). The first reader of an online device's playlist
may start the camera, which stops when nobody has read for a while; `videoStart` holds it until `videoStop`.

In a cluster the device may have streamed at another server meanwhile: a stream that begins anew there begins
above the numbers of the other one, since playlists only grow. If the other one lives, the stream moves from
there (actors/video/moving.py).
"""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, assert_never

from motorpool.actors.messages.counters import SEGMENTS_MADE
from motorpool.actors.messages.downlink import Close, ConnectionMessage
from motorpool.actors.messages.live_stream import (
    STREAM,
    AwaitPlaylist,
    CheckStream,
    ExpireReads,
    FormerLost,
    HandedOver,
    HandOver,
    HoldStream,
    IsLive,
    LetMove,
    MoveStream,
    ReadForOther,
    ReadKeyframe,
    ReadPart,
    ReadPlaylist,
    ReadSegment,
    ReleaseStream,
    ResumeStream,
    StreamedBy,
    StreamKeyframe,
    StreamMessage,
    StreamState,
)
from motorpool.actors.messages.publishing import (
    MOVED,
    SERVER_STOPPED,
    Publish,
    PublisherLeft,
    StreamEnded,
    Subscribe,
    UnitsPublished,
    Unsubscribe,
)
from motorpool.actors.video.camera_control import CameraControl
from motorpool.actors.video.capture_records import CAPTURE_RECORDS, AdoptCaptures
from motorpool.actors.video.live_reads import LiveReads
from motorpool.actors.video.moving import Moving, OtherServers
from motorpool.actors.video.segment_builder import SegmentBuilder
from motorpool.actors.video.sequence_allocator import FIRST_INDEX_OF_PARTS, SequenceAllocator
from motorpool.actors.video.settings import VideoSettings
from motorpool.actors.video.sound import SoundTranscoder
from motorpool.actors.video.subscribers import Subscribers
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.muxer import Segment
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.playlist_window import PlaylistWindow
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.runtime import Actor, Clock, DynamicSpec, Failure, Ref
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError

CLOSE_SECONDS = 5.0
"""For a device to close its media connection by itself after `videoStop`."""
CHECK_SECONDS = 5.0
"""Between two checks of what ends by time."""
MayBegin = (
    Publish
    | HoldStream
    | Subscribe
    | ReadPlaylist
    | AwaitPlaylist
    | ReadPart
    | ReadSegment
    | ReadKeyframe
    | MoveStream
)
"""What may begin the stream, or needs what another server has of it."""


class Stream(Actor[StreamMessage]):
    """One channel of one device."""

    def __init__(
        self,
        key: tuple[int, int],
        database: Database,
        settings: VideoSettings,
        *,
        clustered: bool,
        node: int = 0,
        others: OtherServers | None = None,
    ) -> None:
        self._device_id, self._channel = key
        self._database = database
        self._settings = settings
        self._clustered = clustered
        self._node = node
        self._others = others
        # Made by `start`; the numbers continue those in the database.
        self._clock: Clock
        self._camera: CameraControl
        self._segmenter: Segmenter
        self._builder: SegmentBuilder
        self._playlist: LivePlaylist
        self._numbers: SequenceAllocator
        self._first_index = 0
        """First segment index of this actor; no other actor of the channel has the same."""
        self._subscribers = Subscribers()
        self._publisher: Ref[ConnectionMessage] | None = None
        self._has_published = False
        """Since the playlist began: the next publisher follows a discontinuity."""
        self._publisher_left_at = 0.0
        self._read_at = 0.0
        self._reads: LiveReads
        self._moving: Moving | None = None
        """With other servers that can be asked."""

    async def start(self) -> None:
        """Continue above the numbers of any earlier actor of this channel."""
        context, settings = self.context, self._settings
        self._clock = context.clock
        self._camera = CameraControl(context, self._device_id, self._channel, settings.start_seconds)
        self._builder = SegmentBuilder(self._subscribers, SoundTranscoder(context.system), context.log)
        self._numbers = SequenceAllocator(self._database, self._device_id, self._channel, "live", context.log)
        self._reads = LiveReads(context, lambda: self._is_live)
        if self._others is not None:
            key = self._device_id, self._channel
            self._moving = Moving(key, self._node, self._others, context.system, context.clock)
        await self._begin_playlist()
        context.every(CHECK_SECONDS, CheckStream())

    async def _begin_playlist(self) -> None:
        """Begin an empty playlist with numbers that no stream of the channel has had.

        While another server has the stream there is nothing to number.
        """
        if self._moving is not None and await self._moving.find_former(self._numbers):
            self._numbers.disown()
            self._make_playlist(0, 0)
        else:
            self._make_playlist(*await self._numbers.load())

    def _make_playlist(
        self, next_index: int, first_discontinuity: int, window: PlaylistWindow | None = None
    ) -> None:
        """Make the playlist, with what it goes on with."""
        settings = self._settings
        self._first_index = max(next_index, FIRST_INDEX_OF_PARTS if settings.part_seconds else 0)
        self._playlist = LivePlaylist(
            settings.window_segments,
            target_seconds=settings.segment_seconds,
            first_index=self._first_index,
            first_discontinuity=first_discontinuity,
            part_seconds=settings.part_seconds,
        )
        if window is not None:
            self._playlist.go_on_with(window)
        self._reads.begin(self._playlist)
        self._segmenter = Segmenter(
            settings.segment_seconds,
            part_seconds=settings.part_seconds,
            discontinuity=next_index > 0,
        )
        self._has_published = False

    async def stop(self) -> None:
        """Answer readers, end subscriptions and save the numbers."""
        self._publisher = None  # readers wait for nothing more of it
        self._reads.pending.answer_all()
        self._end_subscriptions(SERVER_STOPPED, interrupted=True)
        await self._give_back_numbers()

    async def _give_back_numbers(self) -> None:
        await self._numbers.save(self._playlist.next_index, self._playlist.next_discontinuity)
        if self._moving is not None:
            await self._numbers.forget_server(self._node)

    def may_leave(self) -> bool:
        """Not while anybody publishes, holds, subscribes or waits."""
        is_wanted = self._camera.is_held or self._subscribers or self._reads.pending
        return self._publisher is None and not is_wanted

    def handle(self, message: StreamMessage) -> object:
        """Handle a message; in a cluster the numbers are checked before one that may begin the stream."""
        if self._clustered and self._publisher is None and isinstance(message, MayBegin):
            return self._handle_above_others(message)
        return self._handle(message)

    async def _handle_above_others(self, message: StreamMessage) -> object:
        moving = self._moving
        # A device that connects here may have been at a third server since it was here last.
        is_current = (
            moving is not None
            and moving.former is not None
            and not moving.is_overdue
            and not isinstance(message, MoveStream)
        )
        if not is_current and not await self._numbers.are_latest():
            if self._has_published:
                self._reads.pending.answer_all()
            await self._begin_playlist()
        outcome = self._handle(message)
        if isinstance(outcome, Coroutine):
            outcome = await outcome
        if moving is not None and isinstance(message, Publish) and self._publisher is not None:
            await self._numbers.note_server(self._node)
        return outcome

    def _handle(self, message: StreamMessage) -> object:
        """Handle a message; media first, as most are."""
        match message:
            case UnitsPublished():
                return self._units_published(message)
            case ReadSegment():
                return self._read_segment(message)
            case ReadPart():
                return self._read_part(message)
            case AwaitPlaylist():
                return self._await_playlist(message)
            case ReadPlaylist():
                return self._read_playlist(message)
            case ReadKeyframe():
                return self._read_keyframe(message)
            case Publish():
                return self._publish(message)
            case PublisherLeft():
                return self._publisher_left(message)
            case HoldStream():
                return self._hold()
            case ReleaseStream():
                return self._release()
            case ResumeStream():
                return self._resume()
            case ReadForOther():
                return self._read_for_other(message)
            case MoveStream():
                return self._move()
            case LetMove():
                return self._let_move()
            case IsLive():
                return self._is_live
            case HandOver():
                return self._hand_over()
            case FormerLost():
                return self._lose_former(message.node)
            case Subscribe():
                return self._subscribe(message)
            case Unsubscribe():
                ended = StreamEnded(message.reason, self._segmenter.peek())
                return self._subscribers.remove(message.subscriber, ended)
            case CheckStream():
                return self._check()
            case ExpireReads():
                return self._reads.expire()
            case _:
                assert_never(message)

    def _publish(self, message: Publish) -> object:
        is_accepted = self._camera.started_at is not None or (
            self._settings.unrequested and not message.is_retry
        )
        if not is_accepted or (message.is_retry and self._publisher not in (None, message.connection)):
            return False
        if self._moving is not None:
            self._moving.stay()
            if self._moving.former is not None:
                return self._take_over_then_publish(self._moving, message)
        if self._publisher is not None and self._publisher != message.connection:
            self._close_publisher("replaced by a newer media connection of the same channel")
        self._publisher = message.connection
        self.context.log.info("published by %s", message.connection.path)
        if not self._has_published:
            self._has_published = True
            return True
        appending = self._append(self._segmenter.discontinuity())
        return True if appending is None else self._then_true(appending)

    async def _then_true(self, appending: Coroutine[Any, Any, None]) -> bool:
        await appending
        return True

    async def _take_over_then_publish(self, moving: Moving, message: Publish) -> object:
        """Go on with the playlist of the server where the stream was, if it has given back its numbers."""
        handed = await moving.take()
        if handed is not None and handed.captures:
            self.context.system.ref(CAPTURE_RECORDS).offer(AdoptCaptures(handed.captures))
        try:
            numbers = await self._numbers.load()
        except StorageError as error:
            # The former server still has the window for the next publisher.
            return Failure(error)
        moving.taken()
        window = None if handed is None else handed.window
        if window is not None and window.next_index != numbers[0]:
            self.context.log.warning("the stream begins anew: another server has begun it meanwhile")
            window = None
        self._make_playlist(*numbers, window)
        self._reads.pending.settle(self._clock.monotonic())
        outcome = self._publish(message)
        return await outcome if isinstance(outcome, Coroutine) else outcome

    def _publisher_left(self, message: PublisherLeft) -> object:
        if self._publisher != message.connection:
            return None
        self._publisher = None
        self._camera.close_at = None
        self._publisher_left_at = self._clock.monotonic()
        self.context.log.info("the publisher has left")
        appending = self._append(self._segmenter.flush())
        self._reads.pending.settle(self._publisher_left_at)
        return appending

    def _units_published(self, message: UnitsPublished) -> object:
        if message.connection != self._publisher:
            return None  # of a connection that was replaced
        segmenter = self._segmenter
        fragments = [segmenter.discontinuity()] if message.lossy else []
        now = self._clock.monotonic()
        fragments += [segmenter.push(unit, now) for unit in message.units]
        if self._reads.pending:
            self._reads.pending.settle(now)
        return self._append(*fragments)

    # Segments

    def _append(self, *fragments: MediaFragment | None) -> Coroutine[Any, Any, None] | None:
        """List the segments of fragments: at once, or after waiting for sound or the database."""
        emitted = [fragment for fragment in fragments if fragment is not None]
        if not emitted:
            return None
        if not self._numbers.has_room(self._playlist.next_index, len(emitted) + 1) or any(
            self._builder.is_slow(fragment) for fragment in emitted
        ):
            return self._append_slowly(emitted)
        for fragment in emitted:
            self._list(self._builder.build(fragment))
        return None

    async def _append_slowly(self, fragments: list[MediaFragment]) -> None:
        """Append without blocking the event loop; units wait in the mailbox meanwhile."""
        for fragment in fragments:
            if not self._numbers.has_room(self._playlist.next_index):
                await self._numbers.reserve(self._playlist.next_index, self._playlist.next_discontinuity)
            self._list(await self._builder.build_slowly(fragment))

    def _list(self, segment: Segment | None) -> None:
        if segment is None:
            return
        clock = self._clock
        age = timedelta(seconds=clock.monotonic() - segment.arrived_at)
        self._reads.list_segment(segment, clock.now() - age)
        SEGMENTS_MADE.inc(segment.complete)

    # Readers

    @property
    def _is_live(self) -> bool:
        """Whether something more is expected to be listed soon, here or by the server that takes it over."""
        return self._publisher is not None or (self._moving is not None and self._moving.leaves)

    def _streamed_by(self) -> StreamedBy | None:
        """Return the other server that answers reads."""
        former = None if self._moving is None else self._moving.former
        return None if former is None else StreamedBy(former)

    def _read_segment(self, message: ReadSegment) -> object:
        self._read_at = self._clock.monotonic()
        return self._streamed_by() or self._playlist.get(message.index)

    def _read_for_other(self, message: ReadForOther) -> object:
        self._read_at = self._clock.monotonic()
        read = message.read
        match read:
            case ReadPlaylist():
                return self._playlist_or_wait(read.wait_seconds)
            case AwaitPlaylist():
                return self._await_playlist(read, start=False)
            case _:
                return self._handle(read)

    def _read_playlist(self, message: ReadPlaylist) -> object:
        self._read_at = self._clock.monotonic()
        if message.start and self._may_start():
            return self._start_then(lambda: self._playlist_or_wait(message.wait_seconds))
        return self._playlist_or_wait(message.wait_seconds)

    def _may_start(self) -> bool:
        """Whether a reader may start the camera: not again while its media may yet come."""
        return not self._is_live and self._settings.autostart and not self._camera.is_starting

    async def _start_then(self, read: Callable[[], object]) -> object:
        await self._camera.start()
        return read()

    def _playlist_or_wait(self, seconds: float | None) -> object:
        if (streamed := self._streamed_by()) is not None:
            return streamed
        if seconds == 0 or not self._expects_media():
            return self._playlist.render()
        return self._reads.read_playlist(self._settings.start_seconds if seconds is None else seconds)

    def _expects_media(self) -> bool:
        return self._publisher is not None or self._camera.started_at is not None

    def _await_playlist(self, message: AwaitPlaylist, *, start: bool = True) -> object:
        if not self._is_live or not len(self._playlist):
            return self._read_playlist(ReadPlaylist(start))
        self._read_at = self._clock.monotonic()
        return self._reads.await_playlist(message)

    def _read_part(self, message: ReadPart) -> object:
        self._read_at = self._clock.monotonic()
        return self._streamed_by() or self._reads.read_part(message)

    def _read_keyframe(self, message: ReadKeyframe) -> object:
        if not message.start:
            return self._keyframe_or_wait()
        self._read_at = self._clock.monotonic()
        return self._start_then(self._keyframe_or_wait) if self._may_start() else self._keyframe_or_wait()

    def _keyframe_or_wait(self) -> object:
        last = self._segmenter.last_keyframe
        if not self._expects_media() or (self._publisher is not None and last is not None):
            return self._last_keyframe()
        return self._reads.wait(
            self._settings.start_seconds,
            # The segmenter is made anew when the stream moves here.
            lambda: (self._segmenter.last_keyframe or last) is not last,
            self._last_keyframe,
        )

    def _last_keyframe(self) -> StreamKeyframe | None:
        last = self._segmenter.last_keyframe
        if last is None:
            return None
        clock = self._clock
        taken_at = clock.now() - timedelta(seconds=clock.monotonic() - last.arrived_at)
        return StreamKeyframe(f"{self._first_index}-{last.pts}", last.coding, last.payload, taken_at)

    # Start and end

    async def _subscribe(self, message: Subscribe) -> None:
        """Add a subscriber, which holds the stream as `videoStart` does, and starts it if nobody has."""
        self._subscribers.add(message.subscriber, self._clock.monotonic())
        if not self._expects_media():
            await self._camera.start()

    def _hold(self) -> None:
        self._camera.is_held = True
        self._camera.note_started()

    def _release(self) -> None:
        self._camera.is_held = False
        self._camera.note_stopped()
        self._end_subscriptions("the stream was stopped")
        self._close_soon()

    def _resume(self) -> object:
        """Start the camera again if it is wanted and its media have ended."""
        now, linger_seconds = self._clock.monotonic(), self._settings.linger_seconds
        is_read = self._has_published and now - self._read_at < linger_seconds
        is_wanted = self._camera.is_held or bool(self._subscribers) or is_read
        return self._camera.start() if is_wanted and self._publisher is None else None

    # Moves

    async def _move(self) -> None:
        """Have the camera send its media here, if it is wanted at the server where the stream is."""
        moving = self._moving
        if moving is None or moving.former is None:
            return
        former = moving.former
        state = await moving.let_move()
        if state is None:
            await self._lose_former(former.node)
        elif state.is_wanted:
            self.context.log.info("it moves here from server %d", former.node)
            self._camera.is_held = self._camera.is_held or state.is_held
            if not self._camera.is_starting:
                await self._camera.start()

    async def _lose_former(self, node: int) -> None:
        if self._moving is not None and self._moving.lose(node):
            self.context.log.warning("server %d does not answer: the stream begins anew here", node)
            await self._begin_playlist()

    def _let_move(self) -> StreamState:
        if self._moving is not None:
            self._moving.let_go()
        return StreamState(self._camera.started_at is not None, self._camera.is_held)

    async def _hand_over(self) -> HandedOver:
        appending = self._append(self._segmenter.flush())
        if appending is not None:
            await appending
        self._close_publisher(MOVED)
        self._camera.is_held, self._camera.close_at = False, None
        self._camera.note_stopped()
        captures = tuple(str(each.key) for each in self._subscribers.members)
        self._subscribers.end(StreamEnded(MOVED, moved=True))
        window = self._playlist.window()
        await self._give_back_numbers()
        if self._moving is not None:
            self._moving.stay()
        self._reads.pending.answer_all()
        self.context.log.info("another server goes on with it")
        return HandedOver(window, captures)

    def _end_subscriptions(self, reason: str, *, interrupted: bool = False) -> None:
        if self._subscribers:
            self._subscribers.end(StreamEnded(reason, self._segmenter.peek(), interrupted))

    def _check(self) -> object:
        now = self._clock.monotonic()
        camera, linger_seconds = self._camera, self._settings.linger_seconds
        if camera.close_at is not None and now >= camera.close_at:
            camera.close_at = None
            self._close_publisher("the stream was stopped")
        self._subscribers.send_ends()
        started_at = camera.started_at or 0.0
        absent = now - max(self._publisher_left_at, started_at, self._subscribers.joined_at)
        is_held = camera.is_held or bool(self._subscribers)
        if is_held and self._publisher is None and absent >= linger_seconds:
            self.context.log.info("the device has left: no longer held")
            is_held = camera.is_held = False
            self._end_subscriptions("the device has left")
            camera.note_stopped()
        unread = now - max(self._read_at, started_at)
        if camera.started_at is not None and not is_held and unread >= linger_seconds:
            return self._stop_unread()
        return None

    async def _stop_unread(self) -> None:
        self.context.log.info("nobody reads: stopped")
        await self._camera.stop()
        self._close_soon()

    def _close_soon(self) -> None:
        if self._publisher is not None:
            self._camera.close_at = self._clock.monotonic() + CLOSE_SECONDS
            self.context.after(CLOSE_SECONDS, CheckStream())

    def _close_publisher(self, reason: str) -> None:
        if self._publisher is not None:
            publisher, self._publisher = self._publisher, None
            publisher.offer(Close(reason, self._channel))


def stream_spec(
    database: Database,
    settings: VideoSettings,
    *,
    clustered: bool = False,
    node: int = 0,
    others: OtherServers | None = None,
) -> DynamicSpec[tuple[int, int], StreamMessage]:
    """Return the spec of the live streams: an actor for each channel, started by the first message to it.

    `clustered` says whether devices may have streamed at other servers than this one, `node`; with `others`
    streams move from there.
    """
    return DynamicSpec(
        kind=STREAM,
        name="streams",
        factory=lambda key: Stream(key, database, settings, clustered=clustered, node=node, others=others),
        idle_seconds=300.0,
    )
