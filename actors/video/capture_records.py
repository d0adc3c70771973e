"""The rows of the captures that this server makes (storage/video/captures.py): begun at once, then written
behind.

Each capture is an actor of its own (actors/video/capture.py) that reports here. How much all of them have
grown is one statement every few seconds, and ends are written at once. While the database is away captures go
on, and are written afterwards. Lists and polls read the rows, at any server.
"""

import secrets
from collections.abc import Collection
from datetime import datetime
from typing import assert_never

import msgspec
import trio

from motorpool.actors.messages.captures import CAPTURE
from motorpool.actors.video.capture_files import new_file_name
from motorpool.actors.work.storage_retry import BACK_OFF
from motorpool.runtime import Actor, ActorError, Deferred, Failure, Kind, Request, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureChange, CaptureRecord, CaptureStatus

WRITE_SECONDS = 2.0
"""Interval of writing how much captures have grown."""
BEGIN_SECONDS = 30.0
"""A capture whose actor has not started by then has failed: who opened it is gone."""
SERVER_ENDED = "the server ended while it was recording"
"""Why a capture ended whose server is gone."""
STOP_SECONDS = 2.0
"""For what is not written yet when the server stops."""


class OpenCapture(msgspec.Struct, Request[CaptureRecord | None], frozen=True):
    """Store a capture that begins; None where its device is gone or has as many open ones as are allowed.

    The ask raises StorageError.
    """

    device_id: int
    channel: int
    live: bool = False
    """Whether the live stream is captured, rather than a playback."""
    unique_id: str = ""
    """The device's unique id, which names the folder of the file."""
    max_seconds: float | None = None
    """A capture lasts this long; None: until it is ended."""


class OpenedCapture(msgspec.Struct, frozen=True):
    """What the actor of a capture begins with."""

    record: CaptureRecord
    wanted: OpenCapture
    is_adopted: bool = False
    """Another server has begun it, and offers it."""


class AdoptCaptures(msgspec.Struct, frozen=True):
    """Go on with captures of a stream that has moved to this server: another one offers them."""

    ids: tuple[str, ...]


class BeginCapture(msgspec.Struct, Request[OpenedCapture | None], frozen=True):
    """A capture's actor starts: return its record; None where one had started before, and so has crashed."""

    id: str


class CaptureEnded(msgspec.Struct, Request[None], frozen=True):
    """A capture has ended; the first end counts. Answered when its row says so, or cannot be written now."""

    id: str
    status: CaptureStatus
    reason: str
    size: int | None = None
    """Bytes of the file; None: as last reported."""
    span: tuple[datetime, datetime] | None = None
    """When its pictures were recorded; None: as last reported."""
    interrupted: bool = False
    """It has ended because the server does."""


class _ForgetUnbegun(msgspec.Struct, frozen=True, gc=False):
    id: str


CaptureRecordsMessage = (
    CaptureChange | BeginCapture | OpenCapture | AdoptCaptures | CaptureEnded | _ForgetUnbegun
)
CAPTURE_RECORDS: Kind[None, CaptureRecordsMessage] = Kind("capture_records")


class CaptureRecords(Actor[CaptureRecordsMessage]):
    """Writes the rows of one server."""

    def __init__(self, database: Database, per_device: int, *, node: int) -> None:
        """`per_device` captures of one device may be open at once; `node` is the number of this server."""
        self._database = database
        self._per_device = per_device
        self._node = node
        self._opened: dict[str, OpenedCapture] = {}
        """Captures whose actor has not started yet."""
        self._unwritten: dict[str, CaptureChange] = {}
        self._replies: list[Deferred[None]] = []
        """To those who wait for their end to be written."""
        self._adopted: list[str] = []
        """Captures that are to be gone on with."""
        self._adopting = Signal()
        self._changed = Signal()
        self._ended = Signal()
        self._writing = trio.Lock()

    async def start(self) -> None:
        """Have the captures settled that a former life of this actor was making."""
        await captures.abandon(self._database, self._node)

    def handle(self, message: CaptureRecordsMessage) -> object:
        """Handle a message; only `OpenCapture` waits for the database."""
        match message:
            case CaptureChange():
                return self._note(message)
            case BeginCapture():
                return self._opened.pop(message.id, None)
            case OpenCapture():
                return self._open(message)
            case AdoptCaptures():
                self._adopted += message.ids
                return self._adopting.set()
            case CaptureEnded():
                return self._note_end(message)
            case _ForgetUnbegun():
                return self._forget_unbegun(message.id)
            case _:
                assert_never(message)

    async def run(self) -> None:
        """Write what has changed, and begin with what other servers offer."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write_changes)
            while True:
                await self._adopting.wait()
                ids, self._adopted = self._adopted, []
                nursery.start_soon(self._adopt, ids)

    async def _adopt(self, ids: Collection[str]) -> None:
        """Start actors that subscribe at once, and take over what is offered."""
        try:
            found = await captures.by_ids(self._database, ids)
        except StorageError as error:
            self.context.log.warning("captures of another server are not gone on with: %s", error)
            return
        for record in found.values():
            wanted = OpenCapture(record.device_id, record.channel, record.live)
            self._opened[record.id] = OpenedCapture(record, wanted, is_adopted=True)
            try:
                await self.context.system.start(CAPTURE, record.id)
            except ActorError as error:
                self.context.log.warning("capture %s is not gone on with: %s", record.id, error)
            self._opened.pop(record.id, None)

    async def _write_changes(self) -> None:
        """Write what has changed: ends at once."""
        outages = 0
        while True:
            await self._changed.wait()
            await self._ended.wait(BACK_OFF.delay(outages) if outages else WRITE_SECONDS)
            outages = 0 if await self._write() else outages + 1

    async def stop(self) -> None:
        """Write remaining changes, if the database answers soon; else another server settles them."""
        with trio.move_on_after(STOP_SECONDS):
            await self._write()

    async def _open(self, wanted: OpenCapture) -> CaptureRecord | Failure | None:
        now = self.context.clock.now()
        record = CaptureRecord(
            id=secrets.token_hex(8),
            device_id=wanted.device_id,
            channel=wanted.channel,
            live=wanted.live,
            file_name=new_file_name(now),
            started_at=now,
            node=self._node,
        )
        # It may be stored although the answer is lost, or nobody waits for it any more.
        self._opened[record.id] = OpenedCapture(record, wanted)
        self.context.after(BEGIN_SECONDS, _ForgetUnbegun(record.id))
        try:
            async with self._database.transaction() as transaction:
                stored = await captures.add(transaction, record, per_device=self._per_device)
        except StorageError as error:
            return Failure(error)
        if not stored:
            del self._opened[record.id]
        return record if stored else None

    def _forget_unbegun(self, capture_id: str) -> None:
        if self._opened.pop(capture_id, None) is not None:
            self._note_end(CaptureEnded(capture_id, "FAILED", "it was not begun in time"))

    def _note_end(self, message: CaptureEnded) -> Deferred[None]:
        self._opened.pop(message.id, None)
        self._note(
            CaptureChange(
                id=message.id,
                size=message.size,
                span=message.span,
                status=message.status,
                completed_at=self.context.clock.now(),
                # No column holds a zero byte.
                reason=message.reason.replace("\0", ""),
                interrupted=message.interrupted,
            )
        )
        reply: Deferred[None] = Deferred()
        self._replies.append(reply)
        self._ended.set()
        return reply

    def _note(self, change: CaptureChange) -> None:
        earlier = self._unwritten.get(change.id)
        self._unwritten[change.id] = change if earlier is None else _merge(earlier, change)
        self._changed.set()

    async def _write(self) -> bool:
        """Write pending changes; return whether none are left."""
        async with self._writing:
            changes, self._unwritten = self._unwritten, {}
            replies, self._replies = self._replies, []
            self._changed.clear()
            self._ended.clear()
            left: Collection[str] = changes.keys()
            try:
                if changes:
                    left = await captures.save(self._database, list(changes.values()))
            except StorageError as error:
                self.context.log.warning("%d captures cannot be written now: %s", len(changes), error)
            for capture_id in left:
                later = self._unwritten.get(capture_id)
                change = changes[capture_id]
                self._unwritten[capture_id] = change if later is None else _merge(change, later)
                self._changed.set()
            for reply in replies:
                reply.answer(None)
            return not left


def _merge(earlier: CaptureChange, later: CaptureChange) -> CaptureChange:
    """Return what both say together; nothing changes after an end."""
    if earlier.status != "RECORDING":
        return earlier
    return msgspec.structs.replace(
        later,
        size=earlier.size if later.size is None else later.size,
        span=later.span or earlier.span,
    )
