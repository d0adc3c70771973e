"""The group-commit writer: every position passes here, and nothing is acknowledged before its commit.

Rows queue while a flush is under way; a flush takes at most 250 of them in one transaction (COPY), and
at most one begins every 10 ms, counted from the start of the last (docs/performance.md#device-sockets).
While the database is away the batch is kept and tried again with back-off; the queue is
bounded, so its tellers wait, then the device actors, then the sockets: back-pressure reaches the devices
by itself.
"""

import itertools
from collections import deque
from collections.abc import Iterator, Sequence

import msgspec
import trio

from motorpool.actors.messages.counters import POSITION_FLUSHES, POSITIONS_DROPPED, POSITIONS_STORED
from motorpool.actors.messages.downlink import AcknowledgeStored, ConnectionMessage
from motorpool.actors.messages.topics import EVENTS, POSITIONS
from motorpool.actors.storage_retry import StorageRetry
from motorpool.codecs.reports import Receipt
from motorpool.runtime import Actor, ChildSpec, Deferred, Kind, NodeLocal, Ref
from motorpool.storage import positions
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event, Position

__all__ = [
    "POSITION_WRITER",
    "Append",
    "AppendEvents",
    "PositionWriter",
    "WriterMessage",
    "position_writer_spec",
]

FLUSH_ROWS = 250
FLUSH_SECONDS = 0.010
QUEUE_ROWS = 20_000
"""Rows that may wait for a flush: about 20 MB, and half a second at full speed."""
ID_BLOCK = 1_000


class Append(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """A position to be stored, and who is notified. Holds a ref and a reply: it stays on its node."""

    position: Position
    """Its id is 0; the writer gives it one before anybody else sees it."""
    events: tuple[Event, ...] = ()
    """Stored in the same transaction; `position_id` is set to the position's."""
    connection: Ref[ConnectionMessage] | None = None
    """Sent the receipt, if there is one, after the commit. Default: nobody."""
    receipt: Receipt | None = None
    reply: Deferred[Position] | None = None
    """Answered by the stored position after it is published; never if it cannot be stored. Default: none."""


class AppendEvents(msgspec.Struct, frozen=True, gc=False):
    """Events that belong to no position."""

    events: tuple[Event, ...]


WriterMessage = Append | AppendEvents
POSITION_WRITER: Kind[None, WriterMessage] = Kind("position_writer")


class PositionWriter(Actor[WriterMessage]):
    """Takes rows, commits them in batches, then acknowledges, then publishes."""

    def __init__(self, database: Database, *, queue_rows: int = QUEUE_ROWS) -> None:
        self._database = database
        self._queue_rows = queue_rows
        self._queue: deque[WriterMessage] = deque()
        self._wake = trio.Event()
        self._room = trio.Event()
        self._drained = trio.Event()
        self._ending = False
        self._ids: Iterator[int] = iter(())
        self._retry = StorageRetry(
            on_retry=self._warn,
            on_dropped=self._drop,
            # A row that cannot be packed raises whatever it likes.
            refusals=(Exception,),
        )

    async def start(self) -> None:
        """Look up the topics once, not once a flush."""
        self._positions = self.context.system.topic(POSITIONS)
        self._events = self.context.system.topic(EVENTS)

    def handle(self, message: WriterMessage) -> object:
        """Queue the row; waits (and with it every later teller) while the queue is full."""
        if len(self._queue) >= self._queue_rows:
            return self._append_when_room(message)
        if not self._queue:
            self._wake.set()
        self._queue.append(message)
        return None

    async def _append_when_room(self, message: WriterMessage) -> None:
        while len(self._queue) >= self._queue_rows:
            self._room = trio.Event()
            await self._room.wait()
        if not self._queue:
            self._wake.set()
        self._queue.append(message)

    async def run(self) -> None:
        """Flush until told to stop and nothing is left."""
        clock = self.context.clock
        while not (self._ending and not self._queue):
            if not self._queue:
                self._wake = trio.Event()
                await self._wake.wait()
                continue
            began = clock.monotonic()
            await self._flush()
            pause = began + FLUSH_SECONDS - clock.monotonic()
            if pause > 0 and not self._ending:
                await trio.sleep(pause)
        self._drained.set()

    async def stop(self) -> None:
        """Write what was accepted, then end; bounded by the spec's shutdown time."""
        self._ending = True
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
        # Only now do they leave the queue: whatever ended this flush early, the next one finds them again.
        for _ in batch:
            queue.popleft()
        self._room.set()
        POSITION_FLUSHES.inc()
        POSITIONS_STORED.inc(len(stored))
        self._announce(stored)

    def _warn(self, error: StorageError) -> None:
        self.context.log.warning("not stored yet (%s), %d rows wait", error, len(self._queue))

    def _drop(self, message: object, error: Exception) -> None:
        """Log a row that the database cannot hold; it is never acknowledged."""
        POSITIONS_DROPPED.inc()
        self.context.log.error("dropped what cannot be stored: %s: %r", error, message)

    async def _store(self, batch: Sequence[WriterMessage]) -> None:
        rows = [message for message in batch if isinstance(message, Append)]
        for row in rows:
            if row.position.id == 0:
                number(row, next(self._ids, 0) or await self._new_id())
        await positions.store(
            self._database,
            [positions.pack_row(row.position) for row in rows],
            [row.position.id for row in rows],
            events=[event for message in batch for event in message.events],
        )

    async def _new_id(self) -> int:
        """The first id of the next block."""
        self._ids = iter(await positions.allocate_ids(self._database, ID_BLOCK))
        return next(self._ids)

    def _announce(self, batch: list[WriterMessage]) -> None:
        appended = [message for message in batch if isinstance(message, Append)]
        # Keyed by the connection's number: hashing the refs themselves would cost as much as all the rest.
        receipts: dict[object, tuple[Ref[ConnectionMessage], list[Receipt]]] = {}
        replies: list[tuple[Deferred[Position], Position]] = []
        for message in appended:
            connection = message.connection
            if message.receipt is None or connection is None:
                if message.reply is not None:
                    replies.append((message.reply, message.position))
                continue
            known = receipts.get(connection.key)
            if known is None:
                receipts[connection.key] = (connection, [message.receipt])
            else:
                known[1].append(message.receipt)
        for connection, of_connection in receipts.values():
            # One that has gone will send again; the position is stored anyway.
            connection.offer(AcknowledgeStored(tuple(of_connection)))
        if appended:
            self._positions.publish(tuple(message.position for message in appended))
        happened = tuple(event for message in batch for event in message.events)
        if happened:
            self._events.publish(happened)
        for reply, position in replies:
            reply.answer(position)


def number(row: Append, position_id: int) -> None:
    """Give a position its id, and tell its events.

    Positions are values to everybody else: the writer is the one place that knows them before they are out.
    """
    msgspec.structs.force_setattr(row.position, "id", position_id)
    for event in row.events:
        msgspec.structs.force_setattr(event, "position_id", position_id)


def position_writer_spec(database: Database) -> ChildSpec[WriterMessage]:
    """The writer's place in the tree: first in, last out."""
    return ChildSpec(
        kind=POSITION_WRITER,
        factory=lambda: PositionWriter(database),
        resident=False,
        mailbox_size=1_000,
        shutdown_seconds=5.0,
    )
