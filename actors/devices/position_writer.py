"""The group-commit writer: stores all positions, and has each acknowledged after its commit.

Rows queue during a flush. A flush stores at most FLUSH_ROWS of them in one transaction (COPY). It starts at
once if FLUSH_ROWS wait, else no sooner than FLUSH_SECONDS after the start of the previous one
(docs/performance.md#device-sockets). While the
database is unavailable, the batch is retried with back-off. The queue is bounded: once it is full, senders
wait, then the device actors, then the sockets, so that back-pressure reaches the devices.
"""

import itertools
import math
from collections import deque
from collections.abc import Iterator, Sequence

import msgspec
import trio

from motorpool.actors.messages.conditions import DATABASE, POSITIONS_WAIT
from motorpool.actors.messages.counters import POSITION_FLUSHES, POSITIONS_DROPPED, POSITIONS_STORED
from motorpool.actors.messages.downlink import AcknowledgeStored, ConnectionMessage, Settled
from motorpool.actors.messages.topics import POSITIONS, UNMATCHED_EVENTS, publish_events
from motorpool.actors.rules.trip_detection import TrackPoint
from motorpool.actors.work.storage_retry import StorageRetry
from motorpool.codecs.reports import Receipt
from motorpool.runtime import Actor, Deferred, Kind, NodeLocal, Ref, Signal
from motorpool.storage.database.cleaning import json_bytes
from motorpool.storage.database.database import Database
from motorpool.storage.devices import position_rows, positions
from motorpool.storage.devices.report_days import LATE
from motorpool.storage.errors import StorageError
from motorpool.storage.events import events as event_rows
from motorpool.storage.records import Event, Position

FLUSH_ROWS = 250
"""Limit of the rows of one transaction."""
FLUSH_SECONDS = 0.006
"""Least time between the starts of two flushes, unless the next one is full."""
QUEUE_ROWS = 20_000
"""Limit of the queue: about 20 MB, or half a second at full speed."""
QUEUE_BYTES = 64 << 20
"""Limit of the attributes in the queue, as JSON."""
DELAYED_SECONDS = 5.0
"""Time without a success after which rows count as delayed: a deadlock, or a broken connection, is none."""
ID_BLOCK = 10_000
"""Position ids that are allocated at once."""
EVENT_ID_BLOCK = 500
"""Most event ids that are allocated before they are needed."""
EVENT_IDS_SECONDS = 1.0
"""Age at which the rest of them is dropped: what waits of a device is handled by id, and other actors store
events of it too."""


class Append(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Store a position, then acknowledge and publish it."""

    position: Position
    """With id 0; the writer sets the id before it publishes the position."""
    events: tuple[Event, ...] = ()
    """Stored in the same transaction; `position_id` is set to the position's."""
    connection: Ref[ConnectionMessage] | None = None
    """Gets `AcknowledgeStored` with the receipt after the commit."""
    receipt: Receipt | None = None
    """Default: nothing is acknowledged."""
    point: TrackPoint | None = None
    """What the device's actor keeps of the position; the writer sets its id too."""
    dated_back: tuple[tuple[Event, TrackPoint], ...] = ()
    """Events among `events` that refer to a track point, possibly an earlier one of the device, by its id."""
    reply: Deferred[Position] | None = None
    """Answered with the stored position after it is published; never if it cannot be stored."""


class AppendEvents(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Store events that belong to no position, if any; then acknowledge the report that they came from."""

    events: tuple[Event, ...]
    connection: Ref[ConnectionMessage] | None = None
    """As of `Append`; so a report without a position is acknowledged after those before it."""
    receipt: Receipt | None = None
    settled: Settled | None = None
    """Sent to the connection after the acknowledgements of what was queued before."""


WriterMessage = Append | AppendEvents
POSITION_WRITER: Kind[None, WriterMessage] = Kind("position_writer")


class PositionWriter(Actor[WriterMessage]):
    """Commits rows in batches, then acknowledges them, then publishes them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._encoded: dict[int, bytes] = {}
        """Attributes of rows that the next flush does not take, as JSON, by the identity of the message."""
        self._encoded_bytes = 0
        self._queue: deque[WriterMessage] = deque()
        self._wake = Signal()
        self._room = Signal()
        self._drained = trio.Event()
        self._is_stopping = False
        self._flush_began = -math.inf
        """When the present flush was started, or the latest."""
        self._is_delayed = False
        """Whether the condition POSITIONS_WAIT was entered."""
        self._ids: Iterator[int] = iter(())
        self._event_ids: Iterator[int] = iter(())
        self._event_ids_end = -math.inf
        """When the rest of the event ids is dropped."""
        self._event_id_count = 0
        """Event ids that were allocated last."""
        self._with_days: set[int] = set()
        """Devices of which reports keep results of days, as far as it was found out."""
        self._retry = StorageRetry(
            on_retry=self._warn,
            on_dropped=self._drop,
            # Packing an invalid row may raise any exception.
            refusals=(Exception,),
        )

    async def start(self) -> None:
        """Look up the topics once; a writer that crashed has left nothing to wait for."""
        self.context.system.conditions.leave(POSITIONS_WAIT)
        self._positions = self.context.system.topic(POSITIONS)
        self._unmatched_events = self.context.system.topic(UNMATCHED_EVENTS)

    def handle(self, message: WriterMessage) -> object:
        """Queue the row; while the queue is full this waits, and so do later senders."""
        queued = len(self._queue)
        if queued >= QUEUE_ROWS or self._encoded_bytes >= QUEUE_BYTES:
            return self._append_when_room(message)
        if not queued:
            self._wake.set()
        self._queue.append(message)
        if queued >= FLUSH_ROWS:
            # What the next flush takes does not queue.
            self._encode(message)
        return None

    async def _append_when_room(self, message: WriterMessage) -> None:
        while len(self._queue) >= QUEUE_ROWS or self._encoded_bytes >= QUEUE_BYTES:
            await self._room.wait()
        if not self._queue:
            self._wake.set()
        self._queue.append(message)
        self._encode(message)

    def _encode(self, message: WriterMessage) -> None:
        """Encode the attributes now, not in the flush, which shows how large they are."""
        if message.__class__ is not Append:
            return
        try:
            encoded = json_bytes(message.position.attributes)
        except Exception:
            return  # the flush will find the row invalid
        self._encoded[id(message)] = encoded
        self._encoded_bytes += len(encoded)

    async def run(self) -> None:
        """Flush until `stop` was called and the queue is empty."""
        clock = self.context.clock
        while not (self._is_stopping and not self._queue):
            if not self._queue:
                self._wake.clear()
                await self._wake.wait()
                continue
            pause = self._flush_began + FLUSH_SECONDS - clock.monotonic()
            if pause > 0 and len(self._queue) < FLUSH_ROWS and not self._is_stopping:
                await trio.sleep(pause)
            self._flush_began = clock.monotonic()
            await self._flush()
        self._drained.set()

    async def stop(self) -> None:
        """Flush the queue; the shutdown time of the spec limits this."""
        self._is_stopping = True
        self._wake.set()
        await self._drained.wait()

    async def _flush(self) -> None:
        queue = self._queue
        batch = list(itertools.islice(queue, FLUSH_ROWS))
        stored = batch
        try:
            await self._store(batch)
        except Exception as error:
            stored = await self._retry.resume(batch, self._store, error)
        # Removed only now, so that after a cancelled flush the next one finds them again.
        for _ in batch:
            queue.popleft()
        if self._encoded:
            for message in batch:
                self._encoded_bytes -= len(self._encoded.pop(id(message), b""))
        self._room.set()
        if self._is_delayed:
            self._is_delayed = False
            self.context.system.conditions.leave(POSITIONS_WAIT)
        POSITION_FLUSHES.inc()
        self._announce(stored)

    def _warn(self, error: StorageError) -> None:
        self.context.log.debug("not stored yet, %d rows wait: %s", len(self._queue), error)
        conditions = self.context.system.conditions
        is_delayed = self.context.clock.monotonic() - self._flush_began >= DELAYED_SECONDS
        if is_delayed and conditions.find(DATABASE) is None:
            self._is_delayed = True
            conditions.enter(POSITIONS_WAIT, f"positions wait ({len(self._queue)} rows): {error}")

    def _drop(self, message: object, error: Exception) -> None:
        """Log a row that the database cannot hold; it is never acknowledged."""
        POSITIONS_DROPPED.inc()
        self.context.log.error("dropped what cannot be stored: %s: %r", error, message)

    async def _store(self, batch: Sequence[WriterMessage]) -> None:
        rows = [message for message in batch if isinstance(message, Append)]
        for row in rows:
            if row.position.id == 0:
                assign_id(row, next(self._ids, 0) or await self._new_id())
        events = [event for message in batch if message.events for event in message.events]
        if events:
            await self._assign_event_ids(events)
        now = self.context.clock.now()
        horizon = now - LATE
        late = [
            (row.position.device_id, row.position.fix_time) for row in rows if row.position.fix_time < horizon
        ]
        encoded = self._encoded
        unmatched = await positions.store(
            self._database,
            [position_rows.pack_row(row.position, encoded.get(id(row))) for row in rows],
            [row.position.id for row in rows],
            events=events,
            now=now,
            late=late,
            with_days=self._with_days,
        )
        if unmatched:
            self._unmatched_events.publish(unmatched)

    async def _new_id(self) -> int:
        """Allocate a block of ids and return the first."""
        self._ids = iter(await positions.allocate_ids(self._database, ID_BLOCK))
        return next(self._ids)

    async def _assign_event_ids(self, events: Sequence[Event]) -> None:
        if self.context.clock.monotonic() >= self._event_ids_end:
            self._event_ids, self._event_id_count = iter(()), 0
        unnumbered = [event for event in events if not event.id]
        for place, event in enumerate(unnumbered):
            event_id = next(self._event_ids, 0) or await self._new_event_id(len(unnumbered) - place)
            msgspec.structs.force_setattr(event, "id", event_id)

    async def _new_event_id(self, needed: int) -> int:
        """Allocate what is needed, or more where many have been of late, and return the first."""
        count = self._event_id_count = max(needed, min(2 * self._event_id_count, EVENT_ID_BLOCK))
        self._event_ids = iter(await event_rows.allocate_ids(self._database, count))
        self._event_ids_end = self.context.clock.monotonic() + EVENT_IDS_SECONDS
        return next(self._event_ids)

    def _announce(self, batch: list[WriterMessage]) -> None:
        appended = [message for message in batch if isinstance(message, Append)]
        # Keyed by the connection's number, because hashing refs would cost as much as all the rest.
        receipts: dict[object, tuple[Ref[ConnectionMessage], list[Receipt]]] = {}
        for message in batch:
            connection = message.connection
            if message.receipt is None or connection is None:
                continue
            known = receipts.get(connection.key)
            if known is None:
                receipts[connection.key] = (connection, [message.receipt])
            else:
                known[1].append(message.receipt)
        for connection, connection_receipts in receipts.values():
            # A device whose connection has ended sends the position again, although it is stored.
            connection.offer(AcknowledgeStored(tuple(connection_receipts)))
        if len(appended) < len(batch):
            for message in batch:
                if message.__class__ is AppendEvents and message.settled and message.connection is not None:
                    message.connection.offer(message.settled)
        if appended:
            POSITIONS_STORED.inc(len(appended))
            self._positions.publish(tuple(message.position for message in appended))
        events = [event for message in batch if message.events for event in message.events]
        if events:
            publish_events(self.context.system, tuple(events))
        for each in appended:
            if each.reply is not None:
                each.reply.answer(each.position)


def assign_id(row: Append, position_id: int) -> None:
    """Set the id of a position, also in its events.

    Positions are immutable, but the writer may set this one, which was not published yet.
    """
    msgspec.structs.force_setattr(row.position, "id", position_id)
    if row.point is not None:
        msgspec.structs.force_setattr(row.point, "position_id", position_id)
    if row.events:
        for event in row.events:
            msgspec.structs.force_setattr(event, "position_id", position_id)
        for event, point in row.dated_back:
            # Rows are stored in the order of their positions: the point has its id by now.
            msgspec.structs.force_setattr(event, "position_id", point.position_id)
