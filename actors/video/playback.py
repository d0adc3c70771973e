"""Playback of one channel: what a terminal sends of its memory after `videoPlayback`, as a growing playlist.

Beside the live stream of the channel and buffered apart from it. A terminal sends as fast as it can, so
nothing is dropped: who hands in units waits. Reading starts nothing. One run a command: a new one puts its
playlist in the place of the last, with higher numbers.
"""

from typing import Any, assert_never

import msgspec

from motorpool.actors.messages.counters import SEGMENTS_MADE
from motorpool.actors.messages.downlink import Close
from motorpool.actors.messages.publishing import (
    Publish,
    PublisherLeft,
    StreamEnded,
    Subscribe,
    UnitsPublished,
    Unsubscribe,
)
from motorpool.actors.messages.uplink import DEVICE, SendCommand
from motorpool.actors.settings import VideoSettings
from motorpool.actors.video.pending_reads import PendingReads
from motorpool.actors.video.playback_control import END
from motorpool.actors.video.playback_session import PREFIX, PlaybackSession
from motorpool.actors.video.segment_store import (
    SEGMENT_STORE,
    DeleteRuns,
    EndRun,
    SegmentsEvicted,
    StoreSegment,
)
from motorpool.actors.video.sequence_allocator import SequenceAllocator
from motorpool.actors.video.subscribers import Subscribers
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.event_playlist import EventPlaylist
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.muxer import mux
from motorpool.runtime import Actor, ActorError, DynamicSpec, Kind, Ref, Request, Restart
from motorpool.storage.database import Database

__all__ = [
    "PLAYBACK",
    "FindSegment",
    "Playback",
    "PlaybackCommandCompleted",
    "PlaybackControlSent",
    "PlaybackMessage",
    "PlaybackRequested",
    "ReadPlayback",
    "playback_spec",
]

TICK_SECONDS = 1.0
CLOSE_SECONDS = 5.0
"""For a device to close its media connection by itself after the end."""
SETTLE_SECONDS = 15.0
"""Longer than a command takes to be handed on or refused."""
FRESH_SECONDS = 30.0
"""Who began to take units so shortly before a new playback wants that one, not what still ran."""
STORE_SECONDS = 60.0
"""A disk that takes longer for a segment is no disk."""
WAITING_MESSAGES = 64
"""Reads of a media connection that wait, 64 KiB each; then it reads no more."""


class PlaybackRequested(msgspec.Struct, frozen=True, gc=False):
    """`videoPlayback` is about to be sent: what publishes now begins a new run."""


class PlaybackCommandCompleted(msgspec.Struct, frozen=True, gc=False):
    """What was `PlaybackRequested` was sent, or was not."""

    sent: bool


class PlaybackControlSent(msgspec.Struct, frozen=True, gc=False):
    """`videoPlaybackControl` is about to be sent."""

    control: int
    """0 to 6, as in the standard."""
    speed: int = 1


class ReadPlayback(msgspec.Struct, Request[str], frozen=True, gc=False):
    """The playlist; empty where nothing was asked for. Waits a little for the first segment of what was."""


class FindSegment(msgspec.Struct, Request[str | None], frozen=True, gc=False):
    """A segment's run, for `segment_path`; None when it is no longer there."""

    index: int


class _Tick(msgspec.Struct, frozen=True, gc=False):
    pass


PlaybackMessage = (
    UnitsPublished
    | FindSegment
    | ReadPlayback
    | Publish
    | PublisherLeft
    | PlaybackRequested
    | PlaybackCommandCompleted
    | PlaybackControlSent
    | Subscribe
    | Unsubscribe
    | SegmentsEvicted
    | _Tick
)
PLAYBACK: Kind[tuple[int, int], PlaybackMessage] = Kind("playback")


class Playback(Actor[PlaybackMessage]):
    """One channel of one device."""

    def __init__(self, key: tuple[int, int], database: Database, settings: VideoSettings) -> None:
        self._device_id, self._channel = key
        self._database = database
        self._settings = settings
        self._numbers: SequenceAllocator
        self._next = (0, 0)
        """Index and discontinuity sequence of the next run."""
        self._run: PlaybackSession | None = None
        self._asked_at: float | None = None
        """A command is on its way to the device's connection."""
        self._subscribers = Subscribers()
        self._readers = PendingReads()
        """For the first segment of what was asked for."""
        self._closing: dict[Ref[Any], float] = {}
        """Connections that have nothing more to send, and when they are closed."""

    async def start(self) -> None:
        """Go on above the numbers of any earlier life; its files are of no use."""
        log = self.context.log
        self._numbers = SequenceAllocator(self._database, self._device_id, self._channel, "playback", log)
        self._next = await self._numbers.load()
        self._files = self.context.system.ref(SEGMENT_STORE)
        await self._files.tell(DeleteRuns(self.context.ref))
        self.context.every(TICK_SECONDS, _Tick())

    async def stop(self) -> None:
        """Let go of all and write down where the numbers stand."""
        self._readers.dismiss()
        self._subscribers.end(StreamEnded("the server stops", self._run.rest() if self._run else None))
        for connection in self._closing:
            connection.offer(Close("the server stops"))
        self._files.offer(DeleteRuns(self.context.ref))
        await self._numbers.save(*self._next_numbers())

    def may_leave(self) -> bool:
        """Not while there is anything to see, or anybody who waits for it."""
        return self._run is None and not self._subscribers and not self._readers and not self._closing

    def handle(self, message: PlaybackMessage) -> object:
        """One message; pictures first."""
        match message:
            case UnitsPublished():
                return self._units_published(message)
            case FindSegment():
                return self._find_segment(message)
            case ReadPlayback():
                return self._read()
            case Publish():
                return self._publish(message)
            case PublisherLeft():
                return self._publisher_left(message)
            case PlaybackRequested():
                self._asked_at = self.context.clock.monotonic()
                return None
            case PlaybackCommandCompleted():
                return self._settled(message)
            case PlaybackControlSent():
                return self._steered(message)
            case Subscribe():
                return self._subscribers.add(message.subscriber, self.context.clock.monotonic())
            case Unsubscribe():
                rest = self._run.rest() if self._run else None
                return self._subscribers.remove(message.subscriber, StreamEnded(message.reason, rest))
            case SegmentsEvicted():
                return self._segments_dropped(message)
            case _Tick():
                return self._tick()
            case _:
                assert_never(message)

    # The command

    def _settled(self, message: PlaybackCommandCompleted) -> object:
        asked, self._asked_at = self._asked_at, None
        return self._begin() if asked is not None and message.sent else None

    async def _begin(self) -> PlaybackSession:
        """A new run, in the place of the last."""
        self._asked_at = None
        if self._run is not None and self._run.is_running:
            await self._end(self._run, "replaced by a new playback", superseded=True)
        await self._files.tell(DeleteRuns(self.context.ref))
        first_index, first_discontinuity = self._next_numbers()
        self._run = PlaybackSession(
            f"{self._device_id}-{self._channel}-{first_index}",
            self._settings,
            self.context.clock.monotonic(),
            first_index=first_index,
            first_discontinuity=first_discontinuity,
        )
        return self._run

    def _steered(self, message: PlaybackControlSent) -> object:
        run = self._run
        if run is None or not run.is_running:
            return None
        if message.control == END:
            return self._end(run, "stopped")
        run.steer(message.control, message.speed, self.context.clock.monotonic())
        return None

    # The publisher

    async def _publish(self, message: Publish) -> bool:
        run = self._run
        if self._asked_at is not None:
            run = await self._begin()
        elif run is None or not run.is_running:
            if not self._settings.unrequested or message.again:
                return False
            run = await self._begin()
        if run.publisher is not None and run.publisher != message.connection:
            if message.again:
                return False
            reason = "replaced by a newer media connection of the same channel"
            run.publisher.offer(Close(reason, self._channel))
        self._closing.pop(message.connection, None)
        self.context.log.info("published by %s", message.connection.path)
        if run.publish(message.connection, self.context.clock.monotonic()):
            await self._store(run, run.flush())
        return run.is_running

    async def _publisher_left(self, message: PublisherLeft) -> None:
        self._closing.pop(message.connection, None)
        run = self._run
        if run is not None and run.publisher == message.connection:
            run.leave(self.context.clock.monotonic())
            self.context.log.info("the publisher has left")
            await self._store(run, run.flush())

    def _units_published(self, message: UnitsPublished) -> object:
        run = self._run
        if run is None or message.connection != run.publisher:
            if message.connection not in self._closing:
                message.connection.offer(Close("this playback is over", self._channel))
            return None
        fragments = run.push(message.units, self.context.clock.monotonic())
        return self._store(run, fragments) if fragments else None

    # Segments

    async def _store(self, run: PlaybackSession, fragments: list[MediaFragment]) -> bool:
        """Hand on the cuts and write their segments. False: the disk refused, and this run has ended."""
        for fragment in fragments:
            playlist = run.playlist
            if not self._numbers.has_room(playlist.next_index):
                await self._numbers.reserve(playlist.next_index, playlist.next_discontinuity)
            try:
                transcoded = await run.transcode(fragment)
                await self._pass_on(transcoded)
                segment = mux(transcoded)
                store = StoreSegment(
                    run.name, self.context.ref, playlist.next_index, segment.data, segment.container
                )
                first_kept = await self._files.ask(store, seconds=STORE_SECONDS)
            except CodecError as error:
                self.context.log.warning("a segment is left out: %s", error)
                run.has_gap = True
                continue
            except (OSError, ActorError) as error:
                self.context.log.error("a segment was not kept: %s", error)
                await self._end(run, f"the disk does not take it: {error}", by_us=True, flush=False)
                return False
            playlist.append(
                segment.duration,
                discontinuity=segment.discontinuity or run.has_gap,
                container=segment.container,
            )
            run.has_gap = False
            playlist.drop_before(first_kept)
            SEGMENTS_MADE.inc()
            if self._readers:
                self._readers.settle(self.context.clock.monotonic())
        return True

    async def _pass_on(self, fragment: MediaFragment) -> None:
        full = self._subscribers.pass_on((fragment,))
        missed = await self._subscribers.wait(full, (fragment,)) if full else ()
        if missed:
            self.context.log.warning(
                "%d captures are too slow and miss %d pictures", len(missed), len(fragment.pictures)
            )

    async def _end(
        self,
        run: PlaybackSession,
        reason: str,
        *,
        by_us: bool = False,
        superseded: bool = False,
        flush: bool = True,
    ) -> None:
        """Close the playlist; `by_us` the device is told as well."""
        if flush and not await self._store(run, run.flush()):
            return
        now = self.context.clock.monotonic()
        publisher = run.publisher
        ended = StreamEnded(reason, run.rest())
        run.end(now)
        self.context.log.info("ended after %.0f s of film: %s", run.playlist.seconds, reason)
        await self._files.tell(EndRun(run.name))
        if superseded:
            self._subscribers.end(ended, lambda joined: now - joined >= FRESH_SECONDS)
        else:
            self._subscribers.end(ended)
        self._readers.settle(now)
        if by_us:
            # Not asked: it may be telling us something and wait for room here.
            stop = {"channel": self._channel, "control": "stop"}
            order = SendCommand("videoPlaybackControl", stop, no_queue=True, by_reader=True)
            self.context.system.ref(DEVICE, self._device_id).offer(order)
        if publisher is not None:
            self._closing[publisher] = now + CLOSE_SECONDS

    def _next_numbers(self) -> tuple[int, int]:
        if self._run is not None:
            self._next = (self._run.playlist.next_index, self._run.playlist.next_discontinuity)
        return self._next

    def _segments_dropped(self, message: SegmentsEvicted) -> None:
        run = self._run
        if run is None or run.name != message.run:
            return
        if message.first_kept is None:
            self._forget()
        else:
            run.playlist.drop_before(message.first_kept)

    def _forget(self) -> None:
        self._next_numbers()
        self._run = None

    # Readers

    def _read(self) -> object:
        run = self._run
        if run is None:
            index, discontinuity = self._next
            return EventPlaylist(
                target_seconds=self._settings.segment_seconds,
                prefix=PREFIX,
                first_index=index,
                first_discontinuity=discontinuity,
            ).render()
        now = run.read_at = self.context.clock.monotonic()
        until = run.begun_at + self._settings.start_seconds
        if len(run.playlist) or not run.is_running or now >= until:
            return run.playlist.render()
        if not self._readers:
            self.context.after(until - now, _Tick())
        return self._readers.add(
            until, lambda: len(run.playlist) > 0 or not run.is_running, run.playlist.render
        )

    def _find_segment(self, message: FindSegment) -> str | None:
        run = self._run
        if run is None or message.index not in run.playlist:
            return None
        run.read_at = self.context.clock.monotonic()
        return run.name

    # Time

    def _tick(self) -> object:
        now = self.context.clock.monotonic()
        self._subscribers.tell_ends()
        self._readers.settle(now)
        for connection, at in list(self._closing.items()):
            if now >= at:
                del self._closing[connection]
                connection.offer(Close("the playback has ended", self._channel))
        if self._asked_at is not None and now - self._asked_at >= SETTLE_SECONDS:
            self._asked_at = None
        run = self._run
        if run is None:
            return None
        unread = run.unread_seconds(now) >= self._settings.playback_linger_seconds
        if run.is_running:
            over = run.why_over(now)
            if over:
                return self._end(run, over, by_us=True)
            return self._end_unread(run) if unread and not self._subscribers else None
        return self._drop(run) if unread else None

    async def _end_unread(self, run: PlaybackSession) -> None:
        await self._end(run, "nobody reads", by_us=True)
        await self._drop(run)

    async def _drop(self, run: PlaybackSession) -> None:
        self.context.log.info("playback %s is no longer kept", run.name)
        self._forget()
        await self._files.tell(DeleteRuns(self.context.ref))


def playback_spec(
    database: Database, settings: VideoSettings
) -> DynamicSpec[tuple[int, int], PlaybackMessage]:
    """The playbacks of the tree, one actor a channel, made by the first message."""
    return DynamicSpec(
        kind=PLAYBACK,
        name="playbacks",
        factory=lambda key: Playback(key, database, settings),
        restart=Restart.TRANSIENT,
        mailbox_size=WAITING_MESSAGES,
        idle_seconds=300.0,
    )
