"""Sends the messages to the webhook of one company while this server holds the company's lease."""

import math
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import trio

from motorpool.actors.deliveries.webhook import Webhooks, WebhookSession
from motorpool.actors.deliveries.webhook_schedule import (
    CLOSED_FAILURES,
    DELAYS_SECONDS,
    GONE_AFTER,
    GONE_FAILURES,
    MAX_ATTEMPTS,
    OVERTAKEN_ATTEMPTS,
    delay_seconds,
)
from motorpool.actors.helpdesk.webhook_attempt import send_once
from motorpool.actors.helpdesk.webhook_disabling import disable_webhook
from motorpool.actors.helpdesk.webhook_settings import WebhookSettings, read_settings
from motorpool.actors.http.errors import OutgoingError, ReceiverGone, Unreachable
from motorpool.runtime import Context
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import ticket_deliveries, ticket_messages, webhook_leases
from motorpool.storage.deliveries.ticket_deliveries import Attempt
from motorpool.storage.deliveries.ticket_messages import QueuedTicketMessage
from motorpool.storage.deliveries.webhook_leases import LeasedWebhook
from motorpool.storage.errors import StorageError

MAX_PER_COMPANY = 4
"""Most messages to one company that are sent at the same time, of different tickets."""
BATCH = 32
"""Most messages that are fetched at once."""
TURN_MESSAGES = 256
"""After so many messages the turn ends, so that companies without one get theirs."""
LEASE = timedelta(seconds=60)
REFRESH_SECONDS = 5.0
"""Age at which the lease is prolonged, and the company's settings read again, before the next attempt."""
NOTE_SECONDS = 1.0
"""Age at which deliveries are noted after the next attempt, at the latest."""
LINGER_SECONDS = 1.0
"""How long a turn waits for more messages before it ends."""


class WebhookTurn:
    """One turn of a company: from the acquisition of the lease to its release.

    Messages of a ticket are sent one at a time in their order. After `CLOSED_FAILURES` failures in a row only
    one message is sent at a time, and the next one when the schedule says so.
    """

    def __init__(
        self,
        company_id: int,
        holder: str,
        database: Database,
        webhooks: Webhooks,
        slots: trio.CapacityLimiter,
        context: Context[Any],
    ) -> None:
        """`holder` names this server; `slots` limits the attempts of all turns at the same time."""
        self._company_id = company_id
        self._holder = holder
        self._database = database
        self._webhooks = webhooks
        self._slots = slots
        self._context = context
        self._session: WebhookSession
        self._filled = trio.Event()
        self._lease: LeasedWebhook | None = None
        self._settings: WebhookSettings | None = None
        self._refresh_at = 0.0
        self._refreshing = trio.Lock()
        self._interrupted = False
        """Whether what is left of the batch is to be read again."""
        self._delivered: list[tuple[int, Attempt]] = []
        """Messages, by their rows, that were delivered and are to be noted."""
        self._note_at = 0.0
        """Monotonic time by which that happens after the next attempt."""
        self._error: StorageError | None = None

    def wake(self) -> None:
        """Look for messages before the turn ends."""
        self._filled.set()

    @property
    def woken(self) -> bool:
        """Whether there may be messages that were not looked for."""
        return self._filled.is_set()

    async def run(self) -> datetime | None:
        """Send what is due; return when this server should look again, None if nothing waits.

        Raises StorageError.
        """
        try:
            async with self._webhooks.session() as self._session:
                sent = 0
                while sent < TURN_MESSAGES:
                    self._filled = trio.Event()
                    lease = await self._refresh()
                    if lease is None:
                        # Another server sends, and will do so until its lease ends, or the company is gone.
                        return self._context.clock.now() + LEASE / 6
                    if not await self._may_send(lease):
                        break
                    limit = 1 if lease.failures >= CLOSED_FAILURES else BATCH
                    messages, is_all = await ticket_messages.take(
                        self._database, self._company_id, now=self._context.clock.now(), limit=limit
                    )
                    if messages:
                        await self._send(messages)
                        sent += len(messages)
                        if not is_all or self._interrupted:
                            continue
                    with trio.move_on_after(LINGER_SECONDS):
                        await self._filled.wait()
                    if not self._filled.is_set():
                        break
        finally:
            if trio.current_effective_deadline() == -math.inf:
                # An orderly stop: neither others nor this server after its start wait for the lease to end.
                with (
                    trio.CancelScope(deadline=trio.current_time() + NOTE_SECONDS, shield=True),
                    suppress(StorageError),
                ):
                    await self._release()
        return await self._release()

    async def _release(self) -> datetime | None:
        return await webhook_leases.release(self._database, self._company_id, self._holder)

    async def _refresh(self) -> LeasedWebhook | None:
        """Return the lease, prolonged if it is not fresh; None if this server does not have it."""
        async with self._refreshing:
            clock = self._context.clock
            if self._lease is None or clock.monotonic() >= self._refresh_at:
                now = clock.now()
                self._lease = await webhook_leases.acquire(
                    self._database, self._company_id, self._holder, now=now, until=now + LEASE
                )
                self._settings = None if self._lease is None else read_settings(self._lease.attributes)
                self._refresh_at = clock.monotonic() + REFRESH_SECONDS
            return self._lease

    async def _may_send(self, lease: LeasedWebhook) -> bool:
        settings, now = self._settings, self._context.clock.now()
        if settings is None:
            for _, messages in await ticket_messages.discard_all(
                self._database, self._company_id, reason="the webhook was removed"
            ):
                self._context.log.info(
                    "%d messages to company %d are dropped: its webhook was removed",
                    messages,
                    self._company_id,
                )
            return False
        if settings.disabled:
            return False
        if lease.stopped_at is not None:
            async with self._database.transaction() as transaction:
                await webhook_leases.resume(transaction, self._company_id, now=now)
            self._lease = await self._reread()
            return self._lease is not None
        return lease.held_until is None or lease.held_until <= now

    async def _reread(self) -> LeasedWebhook | None:
        self._refresh_at = 0.0
        self._lease = None
        return await self._refresh()

    async def _send(self, messages: list[QueuedTicketMessage]) -> None:
        self._interrupted = False
        waiting = iter(messages)
        try:
            async with trio.open_nursery() as nursery:
                for _ in range(min(MAX_PER_COMPANY, len(messages)) - 1):
                    nursery.start_soon(self._send_in_turn, waiting)
                await self._send_in_turn(waiting)
        finally:
            if self._delivered:
                # The turn was cancelled: what is not noted would be sent again.
                with trio.CancelScope(deadline=trio.current_time() + NOTE_SECONDS, shield=True):
                    await self._note_delivered()
        if self._error is not None:
            raise self._error

    async def _send_in_turn(self, waiting: Iterator[QueuedTicketMessage]) -> None:
        try:
            for message in waiting:
                async with self._slots:
                    lease = None if self._interrupted else await self._refresh()
                    if lease is None or self._settings is None or self._settings.disabled:
                        self._interrupted = True
                        break
                    await self._attempt(message, self._settings)
            await self._note_delivered()
        except StorageError as error:
            # Raised here it would cancel the other tasks while they are sending.
            self._error, self._interrupted = error, True

    async def _attempt(self, message: QueuedTicketMessage, settings: WebhookSettings) -> None:
        attempt, error = await send_once(
            self._session,
            settings,
            message.body,
            message_id=message.message_id,
            clock=self._context.clock,
        )
        if error is not None:
            await self._note_delivered()
            await self._failed(message, settings, attempt, error)
            return
        now = self._context.clock.monotonic()
        if not self._delivered:
            self._note_at = now + NOTE_SECONDS
        self._delivered.append((message.id, attempt))
        # A receiver that failed is known to work only when that has been noted.
        if now >= self._note_at or self._lease is None or self._lease.failures:
            await self._note_delivered()

    async def _note_delivered(self) -> None:
        """Note what was delivered, many messages at once; what is not noted is sent again after a crash."""
        delivered, self._delivered = self._delivered, []
        if not delivered:
            return
        await ticket_deliveries.record_delivered(self._database, delivered, closed_failures=CLOSED_FAILURES)
        if self._lease is not None and self._lease.failures:
            self._lease = None

    async def _failed(
        self, message: QueuedTicketMessage, settings: WebhookSettings, attempt: Attempt, error: OutgoingError
    ) -> None:
        now = self._context.clock.now()
        asked = error.retry_seconds if isinstance(error, Unreachable) else 0.0
        seconds = max(delay_seconds(message.attempts), asked)
        failing = await ticket_deliveries.record_failed(
            self._database,
            message.id,
            attempt,
            until=now + timedelta(seconds=seconds),
            held_until=now + timedelta(seconds=asked) if asked else None,
            overtaken_attempts=OVERTAKEN_ATTEMPTS,
            max_attempts=MAX_ATTEMPTS,
            closed_failures=CLOSED_FAILURES,
            closed_seconds=[delay_seconds(failed) for failed in range(len(DELAYS_SECONDS))],
        )
        # The lease says how its receiver fails.
        self._lease = None
        if failing is None:
            return
        if failing.attempts >= MAX_ATTEMPTS:
            self._context.log.warning(
                "message %s is given up after %d attempts: %s", message.message_id, failing.attempts, error
            )
        is_hopeless = failing.failures >= GONE_FAILURES and now - failing.since >= GONE_AFTER
        if is_hopeless or isinstance(error, ReceiverGone):
            await disable_webhook(self._database, self._context, self._company_id, settings.url, str(error))
            self._interrupted = True
        elif asked or failing.failures >= CLOSED_FAILURES:
            self._interrupted = True
