"""Sends the messages of the outbox, each at least once unless it expires first (docs/decisions/0002).

A message is claimed before it is sent, so that of several servers one sends it (docs/decisions/0210).
"""

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

import msgspec
import trio

from motorpool.actors.deliveries import DeliveryRefused, OutgoingError, OutgoingServices, Unreachable
from motorpool.actors.deliveries.claims import Claims
from motorpool.actors.deliveries.push import PUSHOVER_DEVICES
from motorpool.actors.deliveries.receivers import ReceiverFailures
from motorpool.actors.deliveries.settings import OutboxSettings
from motorpool.actors.deliveries.webhook_lane import WebhookLane
from motorpool.actors.messages.counters import OUTBOX_GIVEN_UP
from motorpool.runtime import Actor, BackOff, ChildSpec, Kind
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import outbox
from motorpool.storage.deliveries.outbox import Lane, QueuedMessage
from motorpool.storage.errors import StorageError

POLL_SECONDS = 60.0
"""Interval of checking for due messages without a notification, and for expired ones."""
STORAGE_SECONDS = 10.0
"""Delay before the next attempt when the database is unavailable."""
BATCH = 50
"""Most messages that are fetched at once."""
MAX_CONCURRENT = 4
"""Most messages of one lane that are sent concurrently."""
MESSAGE_BACK_OFF = BackOff(first_seconds=30.0, max_seconds=3600.0, jitter=0.0)
"""Delay before the next attempt at a message."""
CLAIM = timedelta(seconds=180)
"""For how long a message is claimed. After a crash it is sent again when that has passed."""
ATTEMPT = timedelta(seconds=60)
"""What is left of the claim when an attempt begins; all kinds of attempts end by themselves before."""
LANE_BACK_OFF = BackOff(first_seconds=10.0, max_seconds=600.0, jitter=0.0)
"""Delay before the next attempt in a lane whose server is unreachable."""


class OutboxFilled(msgspec.Struct, frozen=True):
    """A message was committed to the outbox."""


OUTBOX: Kind[None, OutboxFilled] = Kind("outbox")

Send = Callable[[QueuedMessage], Awaitable[None]]


class _Lane:
    """A queue of messages; failures do not affect other lanes."""

    def __init__(self, name: Lane, send: Send) -> None:
        self.name = name
        self.send = send
        self.filled = trio.Event()
        self.failures = 0
        """Consecutive failures to reach the server; those of users' own mail accounts are not counted."""
        self.paused_until = 0.0
        """Monotonic time, in seconds."""


class _Batch:
    """The messages that are due, shared by the sending tasks."""

    def __init__(self, rows: Iterator[QueuedMessage], begin_until: datetime) -> None:
        self.rows = rows
        self.begin_until = begin_until
        """No attempt begins later: the claim might end before it does."""
        self.untried: list[int] = []
        self.postponed: set[int] = set()
        """Users whose own mail account has failed in this batch."""
        self.error: StorageError | None = None


class Outbox(Actor[OutboxFilled]):
    """Runs a task per lane: mail accounts of the server and of users, SMS gateway, services, webhooks."""

    def __init__(self, database: Database, outgoing: OutgoingServices, give_up_days: float) -> None:
        self._database = database
        self._outgoing = outgoing
        self._keep = timedelta(days=give_up_days)
        self._claims = Claims(database)
        self._lanes = (
            _Lane("mail", self._send_mail),
            _Lane("own mail", self._send_mail),
            _Lane("sms", self._send_sms),
            _Lane("telegram", self._send_telegram),
            _Lane("pushover", self._send_pushover),
        )

    def handle(self, message: OutboxFilled) -> None:
        """Check all lanes for due messages immediately."""
        del message
        for lane in self._lanes:
            lane.filled.set()
        self._webhooks.wake()

    async def start(self) -> None:
        """Create the lane of webhooks."""
        self._receivers = ReceiverFailures(self._database, self.context)
        self._webhooks = WebhookLane(
            self._database,
            self._outgoing.webhooks,
            self._receivers,
            self.context,
            self._report_discarded,
            self._claims,
        )

    async def run(self) -> None:
        """Send the messages of all lanes, and delete expired ones, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._clean)
            nursery.start_soon(self._webhooks.run)
            for lane in self._lanes:
                nursery.start_soon(self._serve, lane)

    async def stop(self) -> None:
        """Let others send at once what this server has claimed."""
        try:
            await self._claims.close()
        except StorageError as error:
            self.context.log.warning("claimed messages wait until their claims end: %s", error)

    async def _serve(self, lane: _Lane) -> None:
        while True:
            lane.filled = trio.Event()
            try:
                seconds = await self._send_due(lane)
            except StorageError as error:
                self.context.log.warning("cannot read the outbox, retrying later: %s", error)
                await trio.sleep(STORAGE_SECONDS)
                continue
            with trio.move_on_after(seconds):
                await lane.filled.wait()

    async def _send_due(self, lane: _Lane) -> float:
        """Send the due messages of a lane; return the seconds until the next check."""
        clock = self.context.clock
        remaining = lane.paused_until - clock.monotonic()
        if remaining > 0:
            return remaining
        # After a failure a single message tests whether the server is reachable again.
        limit = 1 if lane.failures else BATCH
        now = clock.now()
        waiting = await self._claims.take(
            partial(outbox.claim, self._database, lane.name, now=now, until=now + CLAIM, limit=limit)
        )
        if not waiting:
            due = await outbox.next_due(self._database, lane.name, now=now)
            if due is None:
                return POLL_SECONDS
            return min(POLL_SECONDS, max(0.0, (due - clock.now()).total_seconds()))
        batch = _Batch(iter(waiting), now + CLAIM - ATTEMPT)
        async with trio.open_nursery() as nursery:
            for _ in range(min(MAX_CONCURRENT, len(waiting))):
                nursery.start_soon(self._send_batch, lane, batch)
        self._claims.done(waiting)
        if batch.untried:
            await outbox.release(self._database, batch.untried)
        if batch.error is not None:
            raise batch.error
        return 0.0

    async def _send_batch(self, lane: _Lane, batch: _Batch) -> None:
        for row in batch.rows:
            clock = self.context.clock
            paused = lane.paused_until > clock.monotonic() or clock.now() > batch.begin_until
            if paused or row.message.user_id in batch.postponed or batch.error is not None:
                batch.untried.append(row.id)
                continue
            try:
                await self._attempt(lane, batch, row)
            except StorageError as error:
                # Raised here it would cancel the other tasks while they are sending.
                batch.error = error

    async def _attempt(self, lane: _Lane, batch: _Batch, row: QueuedMessage) -> None:
        try:
            await lane.send(row)
        except Unreachable as error:
            until = await self._postpone(row, error)
            if lane.name == "own mail":
                batch.postponed.add(row.message.user_id)
                await outbox.postpone_user(self._database, lane.name, row.message.user_id, until=until)
                await self._receivers.failed(row.message.user_id, lane.name, error)
            else:
                self._pause(lane, error)
        except DeliveryRefused as error:
            await self._receivers.failed(row.message.user_id, lane.name, error)
            if error.permanent:
                await outbox.remove(self._database, row.id)
                self._report_discarded(row.id, lane.name, row.attempts + 1, str(error))
            else:
                await self._postpone(row, error)
        except Exception as error:
            # Postponed, so that a message that raises does not block the lane after each restart.
            self.context.log.exception("message %d cannot be sent", row.id)
            await self._postpone(row, OutgoingError(type(error).__name__))
        else:
            lane.failures = 0
            await outbox.remove_sent(self._database, row.id)

    async def _postpone(self, row: QueuedMessage, error: OutgoingError) -> datetime:
        seconds = MESSAGE_BACK_OFF.delay(row.attempts + 1)
        if isinstance(error, Unreachable):
            seconds = max(seconds, error.retry_seconds)
        until = self.context.clock.now() + timedelta(seconds=seconds)
        await outbox.postpone(self._database, row.id, error=str(error), until=until)
        return until

    def _pause(self, lane: _Lane, error: Unreachable) -> None:
        if lane.paused_until > self.context.clock.monotonic():
            # Another message of the batch has already failed for the same reason.
            return
        lane.failures += 1
        seconds = max(LANE_BACK_OFF.delay(lane.failures), error.retry_seconds)
        lane.paused_until = self.context.clock.monotonic() + seconds
        self.context.log.warning("not sending %s for %g s: %s", lane.name, seconds, error)

    async def _clean(self) -> None:
        while True:
            now = self.context.clock.now()
            try:
                for discarded in await outbox.expire(self._database, now=now, oldest=now - self._keep):
                    self._report_discarded(*discarded)
            except StorageError as error:
                self.context.log.warning("cannot delete expired messages, retrying later: %s", error)
            await trio.sleep(POLL_SECONDS)

    def _report_discarded(self, row_id: int, lane: str, attempts: int, reason: str) -> None:
        OUTBOX_GIVEN_UP.labels(lane).inc()
        self.context.log.warning(
            "message %d (%s) discarded after %d attempts: %s", row_id, lane, attempts, reason
        )

    async def _send_mail(self, row: QueuedMessage) -> None:
        attachments = await outbox.attachments_of(self._database, row.id) if row.message.attached else ()
        await self._outgoing.mail.send(
            row.message,
            message_id=row.message_id,
            date=row.created,
            attributes=row.account,
            attachments=attachments,
        )

    async def _send_sms(self, row: QueuedMessage) -> None:
        await self._outgoing.sms.send(row.message, message_id=row.message_id)

    async def _send_telegram(self, row: QueuedMessage) -> None:
        await self._outgoing.telegram.send(row.message)

    async def _send_pushover(self, row: QueuedMessage) -> None:
        devices = row.account.get(PUSHOVER_DEVICES)
        await self._outgoing.pushover.send(row.message, devices=devices if isinstance(devices, str) else "")


def outbox_spec(
    database: Database, outgoing: OutgoingServices, give_up_days: float = OutboxSettings.give_up_days
) -> ChildSpec[OutboxFilled]:
    """Return the child spec of the outbox."""
    return ChildSpec(kind=OUTBOX, factory=lambda: Outbox(database, outgoing, give_up_days), resident=False)
