"""One capture: what a channel sends from now on becomes a file, until the stream ends or somebody ends it.

It takes the cuts of the stream or playback of its channel, from before any command is sent, and writes them
in a thread as they come: kept for longer, pictures fall out of the processor's cache and cost more than the
way to a thread. Its crash costs it what was not written yet; the next life says so, and leaves.
"""

import itertools
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, assert_never

import msgspec
import trio

from motorpool.actors.messages.live_stream import (
    STREAM,
)
from motorpool.actors.messages.playback import (
    PLAYBACK,
)
from motorpool.actors.messages.publishing import FragmentsReady, StreamEnded, Subscribe, Unsubscribe
from motorpool.actors.settings import CaptureSettings
from motorpool.actors.video.capture_files import CaptureWriter, device_folder
from motorpool.actors.video.capture_list import (
    CAPTURE_LIST,
    CaptureEnded,
    CaptureGrew,
    CaptureRecord,
    OpenCapture,
    Status,
)
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.runtime import Actor, ActorError, Deferred, DynamicSpec, Kind, Ref, Request, Restart, System
from motorpool.storage import devices
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = [
    "CAPTURE",
    "Capture",
    "CaptureMessage",
    "EndCapture",
    "capture_spec",
    "start_capture",
]

TICK_SECONDS = 1.0
RETAKE_SECONDS = 10.0
"""Without a cut: the stream may have crashed and have forgotten us."""
WAITING_MESSAGES = 32
"""Cuts that wait for the disk, a segment each."""
LEAVE_SECONDS = 5.0
"""For the stream to hand over what is open, when we end by ourselves."""
TAKE_SECONDS = 15.0
"""For a stream to put us on its list; a live one may first tell its camera to start."""


class EndCapture(msgspec.Struct, Request[CaptureRecord | None], frozen=True, gc=False):
    """End here and keep what came; the answer is the final record."""

    reason: str


class _Tick(msgspec.Struct, frozen=True, gc=False):
    pass


CaptureMessage = FragmentsReady | StreamEnded | EndCapture | _Tick
CAPTURE: Kind[str, CaptureMessage] = Kind("capture")


class Capture(Actor[CaptureMessage]):
    """Writes one file."""

    def __init__(
        self,
        record: CaptureRecord,
        settings: CaptureSettings,
        database: Database,
        media: Path,
        *,
        unique_id: str,
        seconds: float | None = None,
        crashed: bool = False,
        reserve_bytes: int = 0,
    ) -> None:
        """`seconds` is how long a live capture lasts, `crashed` that an earlier life has ended so."""
        self._record = record
        self._settings = settings
        self._reserve_bytes = reserve_bytes
        self._database = database
        self._media = media
        self._unique_id = unique_id
        self._seconds = seconds
        self._crashed = crashed
        self._source: Ref[Any]
        self._writing: CaptureWriter | None = None
        self._begun_at = 0.0
        self._heard_at: float | None = None
        self._taken_at = 0.0
        self._leaving: tuple[str, float] | None = None
        """Why we end, and since when the stream is asked for what is open."""
        self._enders: list[Deferred[CaptureRecord | None]] = []
        self._has_ended = False

    async def start(self) -> None:
        """Take the cuts of the channel; or, after a crash, say so and leave."""
        record = self._record
        if self._crashed:
            await self._close("FAILED", "the server failed in writing it; what was written before is kept")
            self.context.leave()
            return
        self._begun_at = self._taken_at = self.context.clock.monotonic()
        kind: Kind[tuple[int, int], Any] = STREAM if record.live else PLAYBACK
        self._source = self.context.system.ref(kind, (record.device_id, record.channel))
        await self._source.ask(Subscribe(self.context.ref), seconds=TAKE_SECONDS)
        self.context.every(TICK_SECONDS, _Tick())

    async def stop(self) -> None:
        """The server stops: finish the file."""
        if not self._has_ended:
            await self._finish("the server was stopped")

    def may_leave(self) -> bool:
        """Not before its end."""
        return False

    def handle(self, message: CaptureMessage) -> object:
        """One message; pictures first."""
        match message:
            case FragmentsReady():
                return self._fragments_ready(message)
            case _Tick():
                return self._tick()
            case StreamEnded():
                return self._stream_ended(message)
            case EndCapture():
                return self._end_for(message)
            case _:
                assert_never(message)

    def _fragments_ready(self, message: FragmentsReady) -> object:
        if self._has_ended:
            return None
        self._heard_at = self.context.clock.monotonic()
        return self._write(message.fragments)

    def _tick(self) -> object:
        if self._has_ended:
            return None
        now = self.context.clock.monotonic()
        if self._leaving is not None:
            return self._still_leaving(now)
        if self._seconds is not None and now - self._begun_at >= self._seconds:
            return self._leave("the time it was to last is over")
        if self._heard_at is None:
            if now - self._begun_at >= self._settings.start_seconds:
                return self._leave("the stream never started")
        elif now - self._heard_at >= self._settings.idle_seconds:
            return self._leave("the device sent nothing for too long")
        if now - max(self._heard_at or 0.0, self._taken_at) >= RETAKE_SECONDS:
            self._taken_at = now
            self._source.offer(Subscribe(self.context.ref))
        return None

    # The end

    def _end_for(self, message: EndCapture) -> object:
        if self._has_ended:
            return None
        ended: Deferred[CaptureRecord | None] = Deferred()
        self._enders.append(ended)
        self._leave(message.reason)
        return ended

    def _leave(self, reason: str) -> None:
        """Ask the stream for what is open; its answer, behind all that is on its way, is the end."""
        if self._leaving is None:
            self._leaving = reason, self.context.clock.monotonic()
            self._source.offer(Unsubscribe(self.context.ref, reason))

    def _still_leaving(self, now: float) -> object:
        assert self._leaving is not None
        reason, since = self._leaving
        if now - since >= LEAVE_SECONDS:
            return self._end(reason)
        self._source.offer(Unsubscribe(self.context.ref, reason))  # it may not have had room for the first
        return None

    async def _stream_ended(self, message: StreamEnded) -> None:
        await self._end(self._leaving[0] if self._leaving else message.reason, message.rest)

    async def _end(self, reason: str, rest: MediaFragment | None = None) -> None:
        if not self._has_ended:
            await self._finish(reason, rest)
            self.context.leave()

    async def _finish(self, reason: str, rest: MediaFragment | None = None) -> None:
        self._has_ended = True
        writing = self._writing if rest is None else await self._open()
        try:
            if writing is not None:
                await self._in_thread(writing, () if rest is None else (rest,), last=True)
        except OSError as error:
            await self._close("FAILED", _disk_reason(error))
            return
        if writing is not None and writing.size:
            self.context.log.info("%d bytes, %.1f s", writing.size, writing.duration)
            await self._close("COMPLETE", reason)
        else:
            await self._close("FAILED", f"nothing came that can be kept: {reason}")

    async def _close(self, status: Status, reason: str) -> None:
        """Say how it ended."""
        self._has_ended = True
        size = self._writing.size if self._writing is not None else None
        log = self.context.log.info if status == "COMPLETE" else self.context.log.warning
        log("%s: %s", status.lower(), reason)
        record = None
        with suppress(ActorError):  # nobody keeps the list any more
            told = CaptureEnded(self._record.id, status, reason, size)
            record = await self.context.system.ref(CAPTURE_LIST).ask(told)
        for ended in self._enders:
            ended.answer(record)

    # The file

    async def _write(self, fragments: Sequence[MediaFragment]) -> None:
        """Further ones wait in the mailbox meanwhile."""
        writing = await self._open()
        if writing is None:
            self._source.offer(Unsubscribe(self.context.ref, "the device is gone"))
            await self._end("the device is gone")
            return
        try:
            await self._in_thread(writing, fragments)
        except OSError as error:
            reason = _disk_reason(error)
            self._source.offer(Unsubscribe(self.context.ref, reason))
            await self._close("FAILED", reason)
            self.context.leave()
            return
        self.context.system.ref(CAPTURE_LIST).offer(CaptureGrew(self._record.id, writing.size))

    async def _open(self) -> CaptureWriter | None:
        """The file, in the folder of the name that its device has now; None where the device is gone."""
        if self._writing is None:
            unique_id = self._unique_id
            try:
                device = await devices.TABLE.fetch(self._database, self._record.device_id)
            except StorageError as error:
                self.context.log.warning("the device's name is taken as it was: %s", error)
            else:
                if device is None:
                    return None
                unique_id = device.unique_id
            home = device_folder(self._media, unique_id)
            self._writing = CaptureWriter(home, self._record.file_name, reserve_bytes=self._reserve_bytes)
        return self._writing

    async def _in_thread(
        self, writing: CaptureWriter, fragments: Sequence[MediaFragment], *, last: bool = False
    ) -> None:
        encoded = writing.encode(fragments)

        def work() -> None:
            try:
                try:
                    if encoded is None:
                        writing.write(fragments)
                    else:
                        writing.write_encoded(encoded)
                except CodecError as error:  # the sound of what was still open
                    self.context.log.warning("the end is left out: %s", error)
                if last:
                    writing.finish()
            except BaseException:
                writing.close()
                raise

        await trio.to_thread.run_sync(work)


def _disk_reason(error: OSError) -> str:
    return f"the disk did not take it: {error.strerror or error}"


async def start_capture(
    system: System,
    database: Database,
    media: Path,
    settings: CaptureSettings,
    wanted: OpenCapture,
    *,
    unique_id: str,
    seconds: float | None = None,
    reserve_bytes: int = 0,
) -> CaptureRecord | None:
    """Open a capture that takes all that its channel sends from now on; None where there are too many.

    `media` is the folder of the devices' files, `seconds` how long a live one lasts. Raises ActorError where
    the actors are not there.
    """
    captures = system.ref(CAPTURE_LIST)
    record = await captures.ask(wanted)
    if record is None:
        return None
    lives = itertools.count()

    def make() -> Capture:
        return Capture(
            record,
            settings,
            database,
            media,
            unique_id=unique_id,
            seconds=seconds,
            crashed=next(lives) > 0,
            reserve_bytes=reserve_bytes,
        )

    try:
        await system.start(CAPTURE, record.id, make)
    except BaseException as error:
        reason = f"the stream could not be asked: {error.__cause__ or error}"
        with trio.CancelScope(shield=True):
            await captures.ask(CaptureEnded(record.id, "FAILED", reason))
        raise
    return record


def capture_spec() -> DynamicSpec[str, CaptureMessage]:
    """The captures of the tree, one actor each, made by `start_capture`."""
    return DynamicSpec(
        kind=CAPTURE,
        name="captures",
        factory=None,
        restart=Restart.TRANSIENT,
        mailbox_size=WAITING_MESSAGES,
        idle_seconds=None,
        start_on_message=False,
    )
