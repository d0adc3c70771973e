"""Playback of one channel: the recording that a terminal sends after `videoPlayback`, as a growing playlist.

Independent of the channel's live stream. A terminal sends as fast as it can, and nothing is dropped: the
publisher waits. Reading starts nothing. Each command begins a session with a new playlist and higher numbers.
"""

from typing import assert_never

import msgspec

from motorpool.actors.messages.counters import SEGMENTS_MADE
from motorpool.actors.messages.downlink import Close, ConnectionMessage
from motorpool.actors.messages.playback import (
    PLAYBACK,
    CheckPlayback,
    FindSegment,
    GetPlaybackState,
    PlaybackCommandCompleted,
    PlaybackControlSent,
    PlaybackMessage,
    PlaybackRequested,
    ReadPlayback,
    SegmentsEvicted,
)
from motorpool.actors.messages.publishing import (
    SERVER_STOPPED,
    Publish,
    PublisherLeft,
    StreamEnded,
    Subscribe,
    UnitsPublished,
    Unsubscribe,
)
from motorpool.actors.messages.uplink import DEVICE, SendCommand
from motorpool.actors.video.pending_reads import PendingReads
from motorpool.actors.video.playback_control import END
from motorpool.actors.video.playback_session import PlaybackSession, empty_playlist
from motorpool.actors.video.segment_builder import SegmentBuilder
from motorpool.actors.video.segment_store import SEGMENT_STORE, DeleteSessions, EndSession, StoreSegment
from motorpool.actors.video.sequence_allocator import SequenceAllocator
from motorpool.actors.video.settings import VideoSettings
from motorpool.actors.video.sound import SoundTranscoder
from motorpool.actors.video.subscribers import Subscribers
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.runtime import Actor, ActorError, DynamicSpec, Ref
from motorpool.storage.database.database import Database

CHECK_SECONDS = 1.0
"""Between two checks of what ends by time."""
CLOSE_SECONDS = 5.0
"""For a device to close its media connection by itself after the end."""
COMMAND_SECONDS = 15.0
"""Longer than a command takes to be sent or refused."""
EARLY_SUBSCRIBER_SECONDS = 30.0
"""A capture that subscribed while a session ran, and this shortly before the next one, is of that one."""
STORE_SECONDS = 60.0
"""For the disk to take a segment; longer is a failure."""
WAITING_MESSAGES = 64
"""Reads of a media connection that wait, 64 KiB each; then it reads no more."""


class Playback(Actor[PlaybackMessage]):
    """One channel of one device."""

    def __init__(self, key: tuple[int, int], database: Database, settings: VideoSettings) -> None:
        self._device_id, self._channel = key
        self._database = database
        self._settings = settings
        self._numbers: SequenceAllocator
        self._builder: SegmentBuilder
        self._next = (0, 0)
        """Index and discontinuity sequence of the next session."""
        self._session: PlaybackSession | None = None
        self._requested: PlaybackRequested | None = None
        """The command that is on its way to the device."""
        self._requested_at = 0.0
        """When it was sent, in monotonic seconds."""
        self._subscribers = Subscribers()
        self._reads = PendingReads()
        """Reads that wait for the first segment of a session."""
        self._closing: dict[Ref[ConnectionMessage], float] = {}
        """Connections of ended sessions, and when they are closed, in monotonic seconds."""

    async def start(self) -> None:
        """Continue above the numbers of any earlier actor of this channel, whose files are deleted."""
        log = self.context.log
        self._numbers = SequenceAllocator(self._database, self._device_id, self._channel, "playback", log)
        self._next = await self._numbers.load()
        self._store = self.context.system.ref(SEGMENT_STORE)
        await self._store.tell(DeleteSessions(self.context.ref))
        self.context.every(CHECK_SECONDS, CheckPlayback())

    async def stop(self) -> None:
        """Answer readers, end subscriptions, close connections and save the numbers."""
        self._reads.answer_all()
        self._subscribers.end(self._ended(SERVER_STOPPED, interrupted=True))
        for connection in self._closing:
            connection.offer(Close("the server stops"))
        self._store.offer(DeleteSessions(self.context.ref))
        await self._numbers.save(*self._next_numbers())

    def may_leave(self) -> bool:
        """Not while there is a session, a subscriber, a reader or a connection to close."""
        return self._session is None and not self._subscribers and not self._reads and not self._closing

    def handle(self, message: PlaybackMessage) -> object:
        """Handle a message; media first, as most are."""
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
                self._requested, self._requested_at = message, self.context.clock.monotonic()
                return None
            case GetPlaybackState():
                return self._session and self._session.state(self.context.clock.monotonic())
            case PlaybackCommandCompleted():
                return self._command_completed(message)
            case PlaybackControlSent():
                return self._control_sent(message)
            case Subscribe():
                return self._subscribers.add(message.subscriber, self.context.clock.monotonic())
            case Unsubscribe():
                return self._subscribers.remove(message.subscriber, self._ended(message.reason))
            case SegmentsEvicted():
                return self._segments_evicted(message)
            case CheckPlayback():
                return self._check()
            case _:
                assert_never(message)

    def _ended(self, reason: str, *, interrupted: bool = False) -> StreamEnded:
        return StreamEnded(reason, self._session.peek() if self._session else None, interrupted)

    def _command_completed(self, message: PlaybackCommandCompleted) -> object:
        requested, self._requested = self._requested, None
        return self._start_session(requested) if requested is not None and message.sent else None

    async def _start_session(self, requested: PlaybackRequested) -> PlaybackSession:
        """Replace the session by a new one."""
        self._requested = None
        if self._session is not None and self._session.is_running:
            await self._end(self._session, "replaced by a new playback", superseded=True)
        await self._store.tell(DeleteSessions(self.context.ref))
        first_index, first_discontinuity = self._next_numbers()
        self._builder = SegmentBuilder(
            self._subscribers, SoundTranscoder(self.context.system), self.context.log, waits=True
        )
        self._session = PlaybackSession(
            f"{self._device_id}-{self._channel}-{first_index}",
            self._settings,
            self.context.clock.monotonic(),
            first_index=first_index,
            first_discontinuity=first_discontinuity,
            requested=requested,
        )
        return self._session

    def _control_sent(self, message: PlaybackControlSent) -> object:
        session = self._session
        if session is None or not session.is_running:
            return None
        if message.control == END:
            return self._end(session, "stopped")
        session.control_sent(message, self.context.clock.monotonic())
        return None

    async def _publish(self, message: Publish) -> bool:
        session = self._session
        if self._requested is not None:
            session = await self._start_session(self._requested)
        elif session is None or not session.is_running:
            if not self._settings.unrequested or message.is_retry:
                return False
            session = await self._start_session(PlaybackRequested())
        if session.publisher is not None and session.publisher != message.connection:
            if message.is_retry:
                return False
            reason = "replaced by a newer media connection of the same channel"
            session.publisher.offer(Close(reason, self._channel))
        self._closing.pop(message.connection, None)
        self.context.log.info("published by %s", message.connection.path)
        if session.publish(message.connection, self.context.clock.monotonic()):
            await self._append(session, session.flush())
        return session.is_running

    async def _publisher_left(self, message: PublisherLeft) -> None:
        self._closing.pop(message.connection, None)
        session = self._session
        if session is not None and session.publisher == message.connection:
            session.publisher_left(self.context.clock.monotonic())
            self.context.log.info("the publisher has left")
            await self._append(session, session.flush())

    def _units_published(self, message: UnitsPublished) -> object:
        session = self._session
        if session is None or message.connection != session.publisher:
            if message.connection not in self._closing:
                message.connection.offer(Close("this playback is over", self._channel))
            return None
        fragments = session.push(message.units, self.context.clock.monotonic())
        return self._append(session, fragments) if fragments else None

    async def _append(self, session: PlaybackSession, fragments: list[MediaFragment]) -> bool:
        """Store and list the segments of fragments. False: the disk is full, and the session has ended."""
        for fragment in fragments:
            playlist, recorded_at = session.playlist, session.recorded_at(fragment)
            if not self._numbers.has_room(playlist.next_index):
                await self._numbers.reserve(playlist.next_index, playlist.next_discontinuity)
            dated = msgspec.structs.replace(fragment, recorded_at=recorded_at)
            segment = await self._builder.build_slowly(dated)
            if segment is None:
                continue
            store = StoreSegment(
                session.name, self.context.ref, playlist.next_index, segment.data, segment.container
            )
            try:
                first_kept = await self._store.ask(store, seconds=STORE_SECONDS)
            except (OSError, ActorError) as error:
                self.context.log.error("a segment was not kept: %s", error)
                await self._end(session, f"the disk does not take it: {error}", by_server=True, flush=False)
                return False
            session.list_segment(segment, recorded_at)
            playlist.drop_before(first_kept)
            SEGMENTS_MADE.inc()
            if self._reads:
                self._reads.settle(self.context.clock.monotonic())
        return True

    async def _end(
        self,
        session: PlaybackSession,
        reason: str,
        *,
        by_server: bool = False,
        superseded: bool = False,
        flush: bool = True,
    ) -> None:
        """End a session and its playlist; `by_server`: a stop is sent to the device as well."""
        if flush and not await self._append(session, session.flush()):
            return
        now = self.context.clock.monotonic()
        publisher = session.publisher
        ended = StreamEnded(reason, session.peek())
        session.end(reason, now)
        self.context.log.info("ended after %.0f s of film: %s", session.playlist.seconds, reason)
        await self._store.tell(EndSession(session.name))
        if superseded:
            await self._subscribers.replace(ended, max(session.started_at, now - EARLY_SUBSCRIBER_SECONDS))
        else:
            self._subscribers.end(ended)
        self._reads.settle(now)
        if by_server:
            # Not `ask`: the device's actor may be waiting for room in this mailbox.
            stop = {"channel": self._channel, "control": "stop"}
            command = SendCommand("videoPlaybackControl", stop, no_queue=True, by_reader=True)
            self.context.system.ref(DEVICE, self._device_id).offer(command)
        if publisher is not None:
            self._closing[publisher] = now + CLOSE_SECONDS

    def _next_numbers(self) -> tuple[int, int]:
        if self._session is not None:
            self._next = (self._session.playlist.next_index, self._session.playlist.next_discontinuity)
        return self._next

    def _segments_evicted(self, message: SegmentsEvicted) -> None:
        session = self._session
        if session is None or session.name != message.session:
            return
        if message.first_kept is None:
            self._forget_session()
        else:
            session.playlist.drop_before(message.first_kept)

    def _forget_session(self) -> None:
        self._next_numbers()
        self._session = None

    def _read(self) -> object:
        session = self._session
        if session is None:
            return empty_playlist(self._settings, self._next).render()
        now = session.read_at = self.context.clock.monotonic()
        until = session.started_at + self._settings.start_seconds
        if len(session.playlist) or not session.is_running or now >= until:
            return session.playlist.render()
        if not self._reads:
            self.context.after(until - now, CheckPlayback())
        return self._reads.add(
            until, lambda: len(session.playlist) > 0 or not session.is_running, session.playlist.render
        )

    def _find_segment(self, message: FindSegment) -> str | None:
        session = self._session
        if session is None or message.index not in session.playlist:
            return None
        session.read_at = self.context.clock.monotonic()
        return session.name

    def _check(self) -> object:
        now = self.context.clock.monotonic()
        self._subscribers.send_ends()
        self._reads.settle(now)
        for connection, at in list(self._closing.items()):
            if now >= at:
                del self._closing[connection]
                connection.offer(Close("the playback has ended", self._channel))
        if self._requested is not None and now - self._requested_at >= COMMAND_SECONDS:
            self._requested = None
        session = self._session
        if session is None:
            return None
        unread = session.unread_seconds(now) >= self._settings.playback_linger_seconds
        if session.is_running:
            reason = session.end_reason(now)
            if reason:
                return self._end(session, reason, by_server=True)
            return self._end_unread(session) if unread and not self._subscribers else None
        return self._drop(session) if unread else None

    async def _end_unread(self, session: PlaybackSession) -> None:
        await self._end(session, "nobody reads", by_server=True)
        await self._drop(session)

    async def _drop(self, session: PlaybackSession) -> None:
        self.context.log.info("playback %s is no longer kept", session.name)
        self._forget_session()
        await self._store.tell(DeleteSessions(self.context.ref))


def playback_spec(
    database: Database, settings: VideoSettings
) -> DynamicSpec[tuple[int, int], PlaybackMessage]:
    """Return the spec of the playbacks: an actor for each channel, started by the first message to it."""
    return DynamicSpec(
        kind=PLAYBACK,
        name="playbacks",
        factory=lambda key: Playback(key, database, settings),
        mailbox_size=WAITING_MESSAGES,
        idle_seconds=300.0,
    )
