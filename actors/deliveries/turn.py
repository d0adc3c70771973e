"""A receiver's turn: sends the messages that are due."""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import trio

from motorpool.actors.deliveries.lane import Lane
from motorpool.actors.deliveries.leased_source import LeasedSource
from motorpool.actors.deliveries.webhook import refusal
from motorpool.actors.deliveries.webhook_schedule import GONE_AFTER, GONE_FAILURES
from motorpool.actors.http.errors import OutgoingError, ReceiverGone
from motorpool.actors.http.response import HttpResponse
from motorpool.actors.messages.counters import OUTBOX_GIVEN_UP
from motorpool.runtime import Clock, Context, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import attempts, outbox, queue
from motorpool.storage.deliveries.attempts import Attempt, Failing
from motorpool.storage.deliveries.queue import QueuedMessage
from motorpool.storage.errors import StorageError

TURN_MESSAGES = 256
"""Messages after which a turn ends, to let waiting receivers have theirs."""
STOP_SECONDS = 1.0
"""Time limit for recording deliveries and ending leases when the server stops."""
LINGER_SECONDS = 1.0
"""How long a turn waits for further messages before it ends."""
ANSWER_LENGTH = 1024
"""Characters of an answer that are kept in the log."""


async def attempt_once(
    send: Callable[[], Awaitable[HttpResponse | None]], clock: Clock
) -> tuple[Attempt, OutgoingError | None]:
    """Send a message; return the entry for the log, and the error, None if it was delivered."""
    now, begun = clock.now(), clock.monotonic()
    answer: HttpResponse | None = None
    error: OutgoingError | None = None
    try:
        answer = await send()
        if answer is not None:
            error = refusal(answer, now)
    except OutgoingError as raised:
        error = raised
    milliseconds = round((clock.monotonic() - begun) * 1000)
    cause = "" if error is None else error.cause or "blocked"
    if answer is None:
        address = "" if error is None else error.address
        return Attempt(time=now, milliseconds=milliseconds, address=address, error=cause), error
    text = answer.content[: ANSWER_LENGTH * 4].decode(errors="replace").replace("\0", "\ufffd")
    return Attempt(
        time=now,
        milliseconds=milliseconds,
        address=answer.address,
        status=answer.status,
        error=cause,
        answer=text[:ANSWER_LENGTH],
    ), error


class Turn:
    """A turn, from the acquisition of the receiver's lease to its release."""

    def __init__(
        self,
        lane: Lane,
        source: LeasedSource,
        database: Database,
        slots: trio.CapacityLimiter,
        context: Context[Any],
    ) -> None:
        """`slots` limits the concurrent attempts of all turns of the lane."""
        self._lane = lane
        self._source = source
        self._database = database
        self._slots = slots
        self._context = context
        self._session: Any = None
        self._filled = Signal()
        self.woken = False
        """Whether messages may have come since the last look."""
        self._interrupted = False
        """Whether the rest of the batch is to be read again."""
        self._delivered: list[tuple[int, Attempt]] = []
        """Deliveries to record: the row of the message, and the attempt."""
        self._note_at = 0.0
        """Monotonic time; the first attempt that ends after it records them."""
        self._error: StorageError | None = None

    def wake(self) -> None:
        """Have the turn look for messages before it ends."""
        self.woken = True
        self._filled.set()

    async def run(self) -> datetime | None:
        """Send all that is due; return when this server should look again, None if nothing waits.

        Raises StorageError.
        """
        try:
            async with self._lane.session() as self._session:
                await self._send_all()
        finally:
            if trio.current_effective_deadline() == -math.inf:
                # The server stops: nobody should have to wait for the end of its leases.
                with (
                    trio.CancelScope(deadline=trio.current_time() + STOP_SECONDS, shield=True),
                    suppress(StorageError),
                ):
                    await self._source.release()
        return await self._source.release()

    async def _send_all(self) -> None:
        sent = 0
        while sent < TURN_MESSAGES:
            self._filled.clear()
            self.woken = False
            due = await self._source.take()
            if due is None:
                return
            if due.messages:
                await self._send(due.messages)
                sent += len(due.messages)
                if not due.is_all or self._interrupted:
                    continue
            if not self._source.is_service:
                await self._filled.wait(LINGER_SECONDS)
            if not self.woken:
                return

    async def _send(self, messages: list[QueuedMessage]) -> None:
        self._interrupted = False
        waiting = iter(messages)
        try:
            async with trio.open_nursery() as nursery:
                for _ in range(min(self._lane.max_per_receiver, len(messages)) - 1):
                    nursery.start_soon(self._send_in_turn, waiting)
                await self._send_in_turn(waiting)
        finally:
            if self._delivered:
                # The turn was cancelled: deliveries that are not recorded would be repeated.
                with trio.CancelScope(deadline=trio.current_time() + STOP_SECONDS, shield=True):
                    await self._note_delivered()
        if self._error is not None:
            raise self._error

    async def _send_in_turn(self, waiting: Iterator[QueuedMessage]) -> None:
        try:
            for message in waiting:
                async with self._slots:
                    attributes = None if self._interrupted else await self._source.admit(message)
                    if attributes is None:
                        self._interrupted = True
                        break
                    await self._attempt(message, attributes)
            await self._note_delivered()
        except StorageError as error:
            # Raising here would cancel the other tasks in the middle of sending.
            self._error, self._interrupted = error, True

    async def _attempt(self, message: QueuedMessage, attributes: Mapping[str, Any]) -> None:
        clock = self._context.clock
        attached: list[outbox.Attachment] = []
        if message.message.attached:
            attached = await outbox.attachments_of(self._database, message.id)

        async def send() -> HttpResponse | None:
            try:
                return await self._lane.send(self._session, message, attributes, attached, clock.now())
            except OutgoingError:
                raise
            except Exception as error:
                # Counts as a failed attempt: such a message must not block the lane after each restart.
                self._context.log.exception("message %d cannot be sent", message.id)
                raise OutgoingError(type(error).__name__) from None

        attempt, error = await attempt_once(send, clock)
        if error is not None:
            await self._note_delivered()
            await self._failed(message, attributes, attempt, error)
            return
        now = clock.monotonic()
        if not self._delivered:
            self._note_at = now + self._lane.note_seconds
        self._delivered.append((message.id, attempt))
        if now >= self._note_at:
            await self._note_delivered()

    async def _note_delivered(self) -> None:
        """Record deliveries, many at once; after a crash those not recorded are repeated."""
        delivered, self._delivered = self._delivered, []
        if not delivered:
            return
        if self._lane.is_logged:
            closed = self._lane.closed_failures
            await attempts.record_delivered(self._database, delivered, closed_failures=closed)
        else:
            await attempts.remove_delivered(self._database, [row_id for row_id, _ in delivered])
        self._source.delivered()

    async def _failed(
        self, message: QueuedMessage, attributes: Mapping[str, Any], attempt: Attempt, error: OutgoingError
    ) -> None:
        now = self._context.clock.now()
        failure = self._lane.consequence(message, error, now)
        failing = await attempts.record_failed(self._database, message.id, attempt, failure)
        if failing is not None and failing.attempts >= failure.max_attempts:
            if not self._lane.is_logged:
                await queue.remove(self._database, message.id)
            report_given_up(self._context, message.id, self._lane.name, failing.attempts, str(error))
        if failing is not None and _is_hopeless(failing, error, now):
            await self._lane.stop_receiver(self._database, self._context, failing.receiver, attributes, error)
            self._interrupted = True
        if not self._source.failed(error, failure, failing):
            self._interrupted = True


def _is_hopeless(failing: Failing, error: OutgoingError, now: datetime) -> bool:
    """Return whether to make no more messages for a receiver."""
    if not failing.failures or failing.since is None or failing.paused is not None:
        return False
    is_failing_long = failing.failures >= GONE_FAILURES and now - failing.since >= GONE_AFTER
    return is_failing_long or isinstance(error, ReceiverGone)


def report_given_up(context: Context[Any], row_id: int, lane: str, failed: int, reason: str) -> None:
    """Count and log a message that was given up."""
    if lane != outbox.TICKETS:
        OUTBOX_GIVEN_UP.labels(lane).inc()
    context.log.warning("message %d (%s) discarded after %d attempts: %s", row_id, lane, failed, reason)
