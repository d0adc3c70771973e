"""Sends what waits in the outbox: at least once each, until it is given up (docs/decisions/0002)."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta

import msgspec
import trio

from motorpool.actors.messages.counters import OUTBOX_GIVEN_UP
from motorpool.actors.outgoing import DeliveryRefused, OutgoingError, OutgoingServices, Unreachable
from motorpool.actors.settings import OutboxSettings
from motorpool.runtime import Actor, BackOff, ChildSpec, Kind
from motorpool.storage import outbox
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.outbox import Lane, QueuedMessage

__all__ = ["OUTBOX", "Outbox", "OutboxFilled", "outbox_spec"]

LOOK_SECONDS = 60.0
"""Nobody need tell us: so often we look by ourselves, and give up what is too old."""
STORAGE_SECONDS = 10.0
"""After the database was away."""
BATCH = 50
AT_ONCE = 4
"""In one lane."""
MESSAGE_BACK_OFF = BackOff(first_seconds=30.0, max_seconds=3600.0, jitter=0.0)
"""Before the next attempt at a message."""
LANE_BACK_OFF = BackOff(first_seconds=10.0, max_seconds=600.0, jitter=0.0)
"""Before the next attempt at anything of a lane whose server was not reached."""


class OutboxFilled(msgspec.Struct, frozen=True):
    """A message was committed to the outbox."""


OUTBOX: Kind[None, OutboxFilled] = Kind("outbox")

Send = Callable[[QueuedMessage], Awaitable[None]]


class _Lane:
    """One queue, whose trouble is no other's."""

    def __init__(self, name: Lane, send: Send) -> None:
        self.name = name
        self.send = send
        self.filled = trio.Event()
        self.failures = 0
        """In a row, of reaching anybody; users' own accounts fail each for itself."""
        self.rests_until = 0.0


class _Batch:
    """What is due now, shared by those who work on it."""

    def __init__(self, rows: Iterator[QueuedMessage]) -> None:
        self.rows = rows
        self.postponed: set[int] = set()
        """Users whose own mail accounts have just failed."""
        self.error: StorageError | None = None


class Outbox(Actor[OutboxFilled]):
    """A task for each lane: the server's mail account, users' own ones, and the SMS gateway."""

    def __init__(self, database: Database, outgoing: OutgoingServices, give_up_days: float) -> None:
        self._database = database
        self._outgoing = outgoing
        self._keep = timedelta(days=give_up_days)
        self._lanes = (
            _Lane("mail", self._send_mail),
            _Lane("own mail", self._send_mail),
            _Lane("sms", self._send_sms),
        )

    def handle(self, message: OutboxFilled) -> None:
        """Look at once."""
        del message
        for lane in self._lanes:
            lane.filled.set()

    async def run(self) -> None:
        """Serve every lane."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._clean)
            for lane in self._lanes:
                nursery.start_soon(self._serve, lane)

    async def _serve(self, lane: _Lane) -> None:
        while True:
            lane.filled = trio.Event()
            try:
                seconds = await self._round(lane)
            except StorageError as error:
                self.context.log.warning("not looked into, tried again later: %s", error)
                await trio.sleep(STORAGE_SECONDS)
                continue
            with trio.move_on_after(seconds):
                await lane.filled.wait()

    async def _round(self, lane: _Lane) -> float:
        """Send what is due; return after how many seconds to look again."""
        clock = self.context.clock
        rest = lane.rests_until - clock.monotonic()
        if rest > 0:
            return rest
        # After a failure one message finds out for all.
        limit = 1 if lane.failures else BATCH
        waiting = await outbox.due(self._database, lane.name, now=clock.now(), limit=limit)
        if not waiting:
            due = await outbox.next_due(self._database, lane.name, now=clock.now())
            if due is None:
                return LOOK_SECONDS
            return min(LOOK_SECONDS, max(0.0, (due - clock.now()).total_seconds()))
        batch = _Batch(iter(waiting))
        async with trio.open_nursery() as nursery:
            for _ in range(min(AT_ONCE, len(waiting))):
                nursery.start_soon(self._work, lane, batch)
        if batch.error is not None:
            raise batch.error
        return 0.0

    async def _work(self, lane: _Lane, batch: _Batch) -> None:
        for row in batch.rows:
            resting = lane.rests_until > self.context.clock.monotonic()
            if resting or row.message.user_id in batch.postponed or batch.error is not None:
                continue
            try:
                await self._attempt(lane, batch, row)
            except StorageError as error:
                # Raised here it would cut off the others in the middle of a mail.
                batch.error = error

    async def _attempt(self, lane: _Lane, batch: _Batch, row: QueuedMessage) -> None:
        try:
            await lane.send(row)
        except Unreachable as error:
            until = await self._postpone(row, error)
            if lane.name == "own mail":
                batch.postponed.add(row.message.user_id)
                await outbox.postpone_user(self._database, row.message.user_id, until=until)
            else:
                self._rest(lane, error)
        except DeliveryRefused as error:
            if error.permanent:
                await outbox.remove(self._database, row.id)
                self._given_up(row.id, lane.name, row.attempts + 1, str(error))
            else:
                await self._postpone(row, error)
        except Exception as error:
            # A message that breaks us must not come first again after each restart.
            self.context.log.exception("message %d cannot be sent", row.id)
            await self._postpone(row, OutgoingError(type(error).__name__))
        else:
            lane.failures = 0
            await outbox.remove(self._database, row.id)

    async def _postpone(self, row: QueuedMessage, error: OutgoingError) -> datetime:
        seconds = MESSAGE_BACK_OFF.delay(row.attempts + 1)
        until = self.context.clock.now() + timedelta(seconds=seconds)
        await outbox.postpone(self._database, row.id, error=str(error), until=until)
        return until

    def _rest(self, lane: _Lane, error: OutgoingError) -> None:
        if lane.rests_until > self.context.clock.monotonic():
            # Another message has just found out the same.
            return
        lane.failures += 1
        seconds = LANE_BACK_OFF.delay(lane.failures)
        lane.rests_until = self.context.clock.monotonic() + seconds
        self.context.log.warning("no %s goes out for %g s: %s", lane.name, seconds, error)

    async def _clean(self) -> None:
        while True:
            now = self.context.clock.now()
            try:
                for lost in await outbox.expire(self._database, now=now, oldest=now - self._keep):
                    self._given_up(*lost)
            except StorageError as error:
                self.context.log.warning("not cleaned, tried again later: %s", error)
            await trio.sleep(LOOK_SECONDS)

    def _given_up(self, row_id: int, lane: str, attempts: int, reason: str) -> None:
        OUTBOX_GIVEN_UP.labels(lane).inc()
        self.context.log.warning(
            "message %d (%s) is given up after %d attempts: %s", row_id, lane, attempts, reason
        )

    async def _send_mail(self, row: QueuedMessage) -> None:
        await self._outgoing.mail.send(
            row.message, message_id=row.message_id, date=row.created, attributes=row.account
        )

    async def _send_sms(self, row: QueuedMessage) -> None:
        await self._outgoing.sms.send(row.message, message_id=row.message_id)


def outbox_spec(
    database: Database, outgoing: OutgoingServices, give_up_days: float = OutboxSettings.give_up_days
) -> ChildSpec[OutboxFilled]:
    """Return the child spec of the outbox."""
    return ChildSpec(kind=OUTBOX, factory=lambda: Outbox(database, outgoing, give_up_days), resident=False)
