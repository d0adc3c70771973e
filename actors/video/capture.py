"""One capture: what a channel sends from now on becomes a file, until the stream or a user ends it.

It subscribes to the stream or playback of its channel before any command is sent, and writes fragments in a
thread as they come: kept for longer, pictures leave the processor's cache and cost more than the switch to a
thread. After a crash what was not written is lost; the restarted actor closes the record and leaves.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, assert_never

import msgspec
import trio

from motorpool.actors.files.media_store import MediaKey, MediaStore, media_key
from motorpool.actors.messages.captures import CAPTURE, CaptureMessage, CheckDeadlines, EndCapture, TakeOver
from motorpool.actors.messages.live_stream import STREAM
from motorpool.actors.messages.playback import PLAYBACK
from motorpool.actors.messages.publishing import (
    MOVED,
    SERVER_STOPPED,
    FragmentsReady,
    StreamEnded,
    StreamReplaced,
    Subscribe,
    Unsubscribe,
)
from motorpool.actors.video.capture_files import CaptureWriter
from motorpool.actors.video.capture_records import (
    CAPTURE_RECORDS,
    BeginCapture,
    CaptureEnded,
    OpenedCapture,
)
from motorpool.actors.video.decoders import DECODERS, ProbeFormat
from motorpool.actors.video.decoders import REQUEST_SECONDS as DECODERS_PATIENCE_SECONDS
from motorpool.actors.video.renditions import RENDITION, MakeRendition, RenditionName
from motorpool.actors.video.settings import CaptureSettings
from motorpool.actors.video.sound import SoundTranscoder
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.mp4.capture_file import CaptureState
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec
from motorpool.runtime import Actor, ActorError, Deferred, DynamicSpec, Kind, Ref
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureChange, CaptureStatus

CHECK_SECONDS = 1.0
RESUBSCRIBE_SECONDS = 10.0
"""Without a fragment: the stream may have crashed and have lost its subscribers."""
WAITING_MESSAGES = 32
"""Fragments that wait for the disk, a segment each."""
UNSUBSCRIBE_SECONDS = 5.0
"""For the stream to send what is open after an `Unsubscribe`."""
RECORD_SECONDS = 2.0
"""For the row to say how it has ended, which is written later if the database is away."""
OFFER_SECONDS = 15.0
"""For another server to go on with it, and for this one to be offered it."""
HAND_OVER_SECONDS = 2.0
"""As much, when the server stops."""
LOOK_SECONDS = 0.1
"""Between two looks whether that has happened."""
SUBSCRIBE_SECONDS = 15.0
"""For a stream to add the subscriber; a live one may first tell its camera to start."""


class Continuation(msgspec.Struct, frozen=True):
    """What another server goes on with."""

    file: CaptureState | None
    """None: nothing has come yet."""
    seconds_left: float | None
    """None: until it is ended."""
    span: tuple[datetime, datetime] | None


class Capture(Actor[CaptureMessage]):
    """Writes one file."""

    def __init__(
        self,
        capture_id: str,
        settings: CaptureSettings,
        database: Database,
        store: MediaStore,
        *,
        node: int,
    ) -> None:
        self._id = capture_id
        self._settings = settings
        self._database = database
        self._store = store
        self._node = node
        self._opened: OpenedCapture
        self._source: Ref[Subscribe | Unsubscribe]
        self._writer: CaptureWriter | None = None
        self._formats: dict[VideoCodec, PictureFormat] = {}
        """Format of the first pictures of each coding in the file; zeros where it is not known."""
        self._span: tuple[datetime, datetime] | None = None
        """When what it holds was recorded."""
        self._sound: SoundTranscoder
        self._started_at = 0.0
        self._received_at: float | None = None
        self._subscribed_at = 0.0
        self._unsubscribing: tuple[str, float] | None = None
        """Why it ends, and since when it waits for what is open, in monotonic seconds."""
        self._end_replies: list[Deferred[None]] = []
        self._has_ended = False
        self._is_adopted = False
        """Another server has begun it, and still writes it or has just let go of it."""
        self._offered_at: float | None = None
        """Since when another server may go on with it, in monotonic seconds."""

    async def start(self) -> None:
        """Subscribe to the channel; or, after a crash, close the record and leave."""
        opened = await self.context.system.ref(CAPTURE_RECORDS).ask(BeginCapture(self._id))
        if opened is None:
            await self._close("FAILED", "the server failed in writing it; what was written before is kept")
            self.context.leave()
            return
        self._opened, record = opened, opened.record
        self._sound = SoundTranscoder(self.context.system)
        self._started_at = self._subscribed_at = self.context.clock.monotonic()
        if opened.is_adopted:
            self._is_adopted = True
            self._received_at = self._started_at
            self.context.ref.offer(TakeOver())
        kind: Kind[tuple[int, int], Any] = STREAM if record.live else PLAYBACK
        self._source = self.context.system.ref(kind, (record.device_id, record.channel))
        await self._source.ask(Subscribe(self.context.ref), seconds=SUBSCRIBE_SECONDS)
        self.context.every(CHECK_SECONDS, CheckDeadlines())

    async def stop(self) -> None:
        """Finish the file, as the server stops."""
        if not self._has_ended:
            await self._finish(SERVER_STOPPED, interrupted=True)

    def may_leave(self) -> bool:
        """Not before the capture has ended."""
        return False

    def handle(self, message: CaptureMessage) -> object:
        """Handle a message; media first, as most are."""
        match message:
            case FragmentsReady():
                return self._fragments_ready(message)
            case CheckDeadlines():
                return self._check_deadlines()
            case StreamEnded():
                return self._stream_ended(message)
            case StreamReplaced():
                return self._begin_anew()
            case TakeOver():
                return self._take_over()
            case EndCapture():
                return self._end_for(message)
            case _:
                assert_never(message)

    def _fragments_ready(self, message: FragmentsReady) -> object:
        if self._has_ended:
            return None
        self._received_at = self.context.clock.monotonic()
        return self._write(message.fragments)

    def _check_deadlines(self) -> object:
        if self._has_ended:
            return None
        now = self.context.clock.monotonic()
        if self._offered_at is not None:
            return self._follow_offer(now)
        if self._unsubscribing is not None:
            return self._await_end(now)
        max_seconds = self._opened.wanted.max_seconds
        if max_seconds is not None and now - self._started_at >= max_seconds:
            return self._unsubscribe("the time it was to last is over")
        if self._received_at is None:
            if now - self._started_at >= self._settings.start_seconds:
                return self._unsubscribe("the stream never started")
        elif now - self._received_at >= self._settings.idle_seconds:
            return self._unsubscribe("the device sent nothing for too long")
        if now - max(self._received_at or 0.0, self._subscribed_at) >= RESUBSCRIBE_SECONDS:
            self._subscribed_at = now
            self._source.offer(Subscribe(self.context.ref))
        return None

    # The end

    def _end_for(self, message: EndCapture) -> object:
        if self._has_ended:
            return None
        ended: Deferred[None] = Deferred()
        self._end_replies.append(ended)
        self._unsubscribe(message.reason)
        return ended

    def _unsubscribe(self, reason: str) -> None:
        """Unsubscribe; `StreamEnded`, which comes after all fragments on their way, ends the capture."""
        if self._unsubscribing is None:
            self._unsubscribing = reason, self.context.clock.monotonic()
            self._source.offer(Unsubscribe(self.context.ref, reason))

    def _await_end(self, now: float) -> object:
        assert self._unsubscribing is not None
        reason, since = self._unsubscribing
        if now - since >= UNSUBSCRIBE_SECONDS:
            return self._end(reason)
        self._source.offer(Unsubscribe(self.context.ref, reason))  # it may not have had room for the first
        return None

    async def _stream_ended(self, message: StreamEnded) -> None:
        if message.moved and self._unsubscribing is None:
            if not self._has_ended:
                await self._offer()
            return
        reason = self._unsubscribing[0] if self._unsubscribing else message.reason
        interrupted = message.interrupted and not self._unsubscribing
        await self._end(reason, message.rest, interrupted=interrupted)

    async def _end(
        self, reason: str, rest: MediaFragment | None = None, *, interrupted: bool = False
    ) -> None:
        if not self._has_ended:
            await self._finish(reason, rest, interrupted=interrupted)
            self.context.leave()

    async def _finish(
        self, reason: str, rest: MediaFragment | None = None, *, interrupted: bool = False
    ) -> None:
        self._has_ended = True
        if not await self._is_own():
            self._answer_ends()
            return
        writer = self._writer
        try:
            if rest is not None:
                writer = await self._open(rest.size)
            if writer is not None:
                await self._in_thread(writer, () if rest is None else (rest,), last=True)
        except OSError as error:
            await self._close("FAILED", _disk_reason(error))
            return
        if writer is not None and writer.size:
            self.context.log.info("%d bytes, %.1f s", writer.size, writer.duration)
            await self._close("COMPLETE", reason, interrupted=interrupted)
            # If there is no room for it now, it is made when somebody asks.
            name: RenditionName = (*writer.key, "picture")
            self.context.system.ref(RENDITION, name).offer(MakeRendition())
        else:
            await self._close("FAILED", f"nothing came that can be kept: {reason}", interrupted=interrupted)

    async def _close(
        self, status: CaptureStatus, reason: str, *, interrupted: bool = False, size: int | None = None
    ) -> None:
        """Close the record."""
        self._has_ended = True
        if self._writer is not None:
            size = self._writer.size
        log = self.context.log.info if status == "COMPLETE" else self.context.log.warning
        log("%s: %s", status.lower(), reason)
        with suppress(ActorError):  # the records have stopped, or the database does not answer
            await self.context.system.ref(CAPTURE_RECORDS).ask(
                CaptureEnded(self._id, status, reason, size, self._span, interrupted), seconds=RECORD_SECONDS
            )
        self._answer_ends()

    def _answer_ends(self) -> None:
        for ended in self._end_replies:
            ended.answer(None)

    # Another server

    async def _offer(self) -> None:
        """Let go of the file, and let the server to which the stream has moved go on with it."""
        writer, now = self._writer, self.context.clock.monotonic()
        max_seconds = self._opened.wanted.max_seconds
        left = None if max_seconds is None else max(0.0, max_seconds - (now - self._started_at))
        if writer is not None:
            await trio.to_thread.run_sync(writer.close)
        told = Continuation(None if writer is None else writer.state(), left, self._span)
        self._offered_at = now
        try:
            await captures.offer(self._database, self._id, self._node, msgspec.msgpack.encode(told))
        except StorageError as error:
            self.context.log.warning("no other server goes on with it: %s", error)
            await self._end(MOVED)

    async def _follow_offer(self, now: float) -> None:
        assert self._offered_at is not None
        if now - self._offered_at >= OFFER_SECONDS:
            await self._end(MOVED)
        elif not await self._is_offered():
            self._has_ended = True
            self._answer_ends()
            self.context.leave()

    async def _is_offered(self) -> bool:
        """Whether no other server has gone on with it yet."""
        try:
            record = await captures.fetch(self._database, self._id)
        except StorageError:
            return True
        return record is not None and record.node == self._node and record.status == "RECORDING"

    async def _is_own(self) -> bool:
        """Take the offer back, or over, before the end; False where it is another server's."""
        if self._is_adopted:
            return await self._take_over()
        if self._offered_at is None:
            return True
        with trio.move_on_after(HAND_OVER_SECONDS):
            while await self._is_offered():  # noqa: ASYNC110 - the other server writes a row
                await trio.sleep(LOOK_SECONDS)
            return False
        try:
            if not await captures.take_back(self._database, self._id, self._node):
                return False
        except StorageError:
            return False
        self._offered_at = None
        if self._writer is not None:
            self._writer = await self._go_on_with(self._writer.key, self._writer.state())
        return True

    async def _take_over(self) -> bool:
        """Go on with what another server has begun, once it has let go of it; leave where it has not."""
        if not self._is_adopted:
            return True
        told = None
        with trio.move_on_after(OFFER_SECONDS):
            while told is None:
                try:
                    told = await captures.take_over(self._database, self._id, self._node)
                except StorageError as error:
                    self.context.log.warning("it cannot be taken over now: %s", error)
                if told is None:
                    await trio.sleep(LOOK_SECONDS)
        if told is None:
            await self._give_up()
            return False
        self._is_adopted = False
        begun = msgspec.msgpack.decode(told, type=Continuation)
        self._span, self._started_at = begun.span, self.context.clock.monotonic()
        wanted = msgspec.structs.replace(self._opened.wanted, max_seconds=begun.seconds_left)
        self._opened = msgspec.structs.replace(self._opened, wanted=wanted)
        if begun.file is not None:
            key = await self._key()
            try:
                self._writer = None if key is None else await self._go_on_with(key, begun.file)
            except OSError as error:
                # It is where only the other server reads it.
                self.context.log.warning("the file is not gone on with: %s", error)
                await self._close("COMPLETE", MOVED, size=begun.file.size)
                await self._give_up()
                return False
        self.context.log.info("goes on here")
        return True

    async def _give_up(self) -> None:
        self._has_ended = True
        self._source.offer(Unsubscribe(self.context.ref, MOVED))
        self.context.leave()

    async def _go_on_with(self, key: MediaKey, state: CaptureState) -> CaptureWriter:
        """Open the file again. Raises OSError."""
        return await trio.to_thread.run_sync(CaptureWriter, self._store, key, self._formats, 0, state)

    # The file

    async def _begin_anew(self) -> None:
        """Drop what came of a playback that was replaced by the one that is to be captured."""
        writer = self._writer
        if writer is None or self._has_ended:
            return
        self._writer = self._span = self._received_at = None
        self._formats = {}
        self._started_at = self.context.clock.monotonic()
        self._sound = SoundTranscoder(self.context.system)
        await trio.to_thread.run_sync(writer.discard)
        self.context.system.ref(CAPTURE_RECORDS).offer(CaptureChange(id=self._id, size=0))

    async def _write(self, fragments: Sequence[MediaFragment]) -> None:
        """Write fragments; further ones wait in the mailbox meanwhile."""
        try:
            writer = await self._open(fragments[0].size)
            if writer is None:
                self._source.offer(Unsubscribe(self.context.ref, "the device is gone"))
                await self._end("the device is gone")
                return
            await self._in_thread(writer, fragments)
        except OSError as error:
            reason = _disk_reason(error)
            self._source.offer(Unsubscribe(self.context.ref, reason))
            await self._close("FAILED", reason)
            self.context.leave()
            return
        self._note_span(fragments)
        self.context.system.ref(CAPTURE_RECORDS).offer(
            CaptureChange(id=self._id, size=writer.size, span=self._span)
        )

    def _note_span(self, fragments: Sequence[MediaFragment]) -> None:
        for fragment in fragments:
            if fragment.recorded_at is not None:
                ends = fragment.recorded_at + timedelta(
                    seconds=(fragment.end - fragment.start) / TICKS_PER_SECOND
                )
                first, last = self._span or (fragment.recorded_at, ends)
                self._span = min(first, fragment.recorded_at), max(last, ends)

    async def _open(self, size: int) -> CaptureWriter | None:
        """Return the file, in the folder of its device's present name; None where the device is gone."""
        if self._writer is None:
            key = await self._key()
            if key is None:
                return None
            self._writer = await trio.to_thread.run_sync(CaptureWriter, self._store, key, self._formats, size)
        return self._writer

    async def _key(self) -> MediaKey | None:
        record, unique_id = self._opened.record, self._opened.wanted.unique_id
        try:
            device = await devices.TABLE.fetch(self._database, record.device_id)
        except StorageError as error:
            self.context.log.warning("the device's former name is used: %s", error)
        else:
            if device is None:
                return None
            unique_id = device.unique_id
        return media_key(unique_id, record.file_name)

    async def _transcode(self, fragments: Sequence[MediaFragment]) -> list[MediaFragment]:
        """Return the fragments with AAC alone, which a stream made of all but what it had open at its end."""
        transcoded = []
        for fragment in fragments:
            try:
                transcoded.append(await self._sound.transcode(msgspec.structs.replace(fragment, last=True)))
            except CodecError as error:
                self.context.log.warning("sound is left out: %s", error)
                transcoded.append(msgspec.structs.replace(fragment, audio_frames=()))
        return transcoded

    async def _probe(self, fragments: Sequence[MediaFragment]) -> None:
        """Learn the format of pictures whose coding is new to the file."""
        for fragment in fragments:
            coding = fragment.coding
            if coding is None or coding in self._formats or not fragment.pictures[0].keyframe:
                continue
            self._formats[coding] = PictureFormat()
            request = ProbeFormat(coding, fragment.pictures[0].payload)
            try:
                self._formats[coding] = await self.context.system.ref(DECODERS).ask(
                    request, seconds=DECODERS_PATIENCE_SECONDS
                )
            except (CodecError, ActorError) as error:
                self.context.log.warning("the format of the pictures is not known: %s", error)

    async def _in_thread(
        self, writer: CaptureWriter, fragments: Sequence[MediaFragment], *, last: bool = False
    ) -> None:
        if any(self._sound.is_needed(fragment) for fragment in fragments):
            fragments = await self._transcode(fragments)
        await self._probe(fragments)
        encoded = writer.encode(fragments)

        def work() -> None:
            try:
                writer.write(encoded)
                if last:
                    writer.finish()
            except BaseException:
                writer.close()
                raise

        await trio.to_thread.run_sync(work)


def _disk_reason(error: OSError) -> str:
    return f"the disk did not take it: {error.strerror or error}"


def capture_spec(
    database: Database, store: MediaStore, settings: CaptureSettings, *, node: int = 0
) -> DynamicSpec[str, CaptureMessage]:
    """Return the spec of the captures: an actor for each (actors/video/capture_start.py).

    `node` is the number of this server.
    """
    return DynamicSpec(
        kind=CAPTURE,
        name="captures",
        factory=lambda capture_id: Capture(capture_id, settings, database, store, node=node),
        mailbox_size=WAITING_MESSAGES,
        start_on_message=False,
    )
