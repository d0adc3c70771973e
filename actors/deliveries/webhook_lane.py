"""The lane of webhooks in the outbox: each user's messages in order, one at a time; users in parallel.

What fails holds back the user's later messages until the next attempt, so that they arrive in order. A
message that was refused several times is overtaken by the others, as long as those are taken.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import trio

from motorpool.actors.deliveries.claims import Claims
from motorpool.actors.deliveries.receivers import ReceiverFailures
from motorpool.actors.deliveries.webhook import WEBHOOK_SECRET, WEBHOOK_URL, Webhooks, WebhookSession
from motorpool.actors.deliveries.webhook_schedule import (
    CLOSED_FAILURES,
    MAX_ATTEMPTS,
    OVERTAKEN_ATTEMPTS,
    delay_seconds,
)
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, ReceiverGone, Unreachable
from motorpool.runtime import Context
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import outbox
from motorpool.storage.deliveries.outbox import QueuedMessage
from motorpool.storage.errors import StorageError

LANE: outbox.Lane = "webhook"
MAX_USERS = 64
"""Most users whose webhooks are called at the same time."""
TURN_MESSAGES = 20
"""Most messages to a user before others have their turn."""
POLL_SECONDS = 60.0
STORAGE_SECONDS = 10.0
"""Delay before the next attempt when the database is unavailable."""
CLAIM = timedelta(seconds=60)
"""For how long a message is claimed; an attempt ends before. After a crash it is sent again then."""
PAUSED = timedelta(days=30)
"""How far what waits for a receiver that is gone is postponed: until it is resumed, or expires."""


class WebhookLane:
    """Sends what is due."""

    def __init__(
        self,
        database: Database,
        webhooks: Webhooks,
        failures: ReceiverFailures,
        context: Context[Any],
        on_discarded: Callable[[int, str, int, str], None],
        claims: Claims,
    ) -> None:
        """`on_discarded` is called with id, lane, attempts and reason of a message that is given up.

        `claims` are those of the whole outbox.
        """
        self._database = database
        self._webhooks = webhooks
        self._failures = failures
        self._context = context
        self._on_discarded = on_discarded
        self._claims = claims
        self._filled = trio.Event()
        self._busy: set[int] = set()
        """Users whose turn it is."""

    def wake(self) -> None:
        """Look for messages that are due."""
        self._filled.set()

    async def run(self) -> None:
        """Send until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                self._filled = trio.Event()
                try:
                    seconds = await self._start_turns(nursery)
                except StorageError as error:
                    self._context.log.warning("cannot read the messages to webhooks: %s", error)
                    await trio.sleep(STORAGE_SECONDS)
                    continue
                with trio.move_on_after(seconds):
                    await self._filled.wait()

    async def _start_turns(self, nursery: trio.Nursery) -> float:
        """Start a turn for each user with a message that is due; return the seconds until the next look."""
        room = MAX_USERS - len(self._busy)
        if not room:
            return POLL_SECONDS
        now = self._context.clock.now()
        due = await outbox.users_due(self._database, LANE, now=now, without=self._busy, limit=room)
        for user_id in due:
            self._busy.add(user_id)
            nursery.start_soon(self._turn, user_id)
        if len(due) == room:
            return POLL_SECONDS
        following = await outbox.next_due(self._database, LANE, now=now, without=self._busy)
        if following is None:
            return POLL_SECONDS
        return min(POLL_SECONDS, max(0.0, (following - self._context.clock.now()).total_seconds()))

    async def _turn(self, user_id: int) -> None:
        try:
            async with self._webhooks.session() as session:
                await self._send_some(user_id, session)
        except StorageError as error:
            self._context.log.warning("messages to the webhook of user %d wait: %s", user_id, error)
            await trio.sleep(STORAGE_SECONDS)
        finally:
            self._busy.discard(user_id)
            self._filled.set()

    async def _send_some(self, user_id: int, session: WebhookSession) -> None:
        for _ in range(TURN_MESSAGES):
            now = self._context.clock.now()
            rows = await self._claims.take(
                partial(outbox.claim_next_of, self._database, LANE, user_id, now=now, until=now + CLAIM)
            )
            if not rows:
                break
            goes_on = await self._attempt(rows[0], session)
            self._claims.done(rows)
            if not goes_on:
                break

    async def _attempt(self, row: QueuedMessage, session: WebhookSession) -> bool:
        """Send a message; return whether the next one to the user may follow."""
        try:
            await self._send(row, session)
        except DeliveryRefused as error:
            return await self._refused(row, error)
        except OutgoingError as error:
            await self._hold_back(row, error)
            await self._failures.failed(row.message.user_id, LANE, error)
            return False
        except Exception as error:
            # Postponed, so that a message that raises does not hold up the lane.
            self._context.log.exception("message %d cannot be sent", row.id)
            return await self._refused(row, DeliveryRefused(type(error).__name__))
        await outbox.remove_sent(self._database, row.id)
        return True

    async def _send(self, row: QueuedMessage, session: WebhookSession) -> None:
        url, secret = row.account.get(WEBHOOK_URL), row.account.get(WEBHOOK_SECRET)
        if not isinstance(url, str) or not url:
            raise DeliveryRefused("the user has no webhook", permanent=True)
        await session.send(
            url,
            row.message.text.encode(),
            message_id=row.message_id,
            secrets=(secret,) if isinstance(secret, str) and secret else (),
            now=self._context.clock.now(),
        )

    async def _refused(self, row: QueuedMessage, error: DeliveryRefused) -> bool:
        user_id = row.message.user_id
        receiver = await self._failures.failed(user_id, LANE, error)
        if isinstance(error, ReceiverGone):
            await outbox.postpone_user(
                self._database, LANE, user_id, until=self._context.clock.now() + PAUSED
            )
            await outbox.release(self._database, (row.id,))
            return False
        attempts = row.attempts + 1
        if attempts >= MAX_ATTEMPTS:
            await outbox.remove(self._database, row.id)
            self._on_discarded(row.id, LANE, attempts, str(error))
            return False
        if attempts < OVERTAKEN_ATTEMPTS or error.permanent:
            await self._hold_back(row, error)
            return False
        await outbox.overtake(self._database, row.id)
        until = await self._postpone(row, error)
        if receiver is not None and receiver.failures >= CLOSED_FAILURES:
            await outbox.postpone_user(self._database, LANE, user_id, until=until)
            return False
        return True

    async def _hold_back(self, row: QueuedMessage, error: OutgoingError) -> None:
        """Postpone a message and all later ones to its receiver."""
        until = await self._postpone(row, error)
        await outbox.postpone_user(self._database, LANE, row.message.user_id, until=until)

    async def _postpone(self, row: QueuedMessage, error: OutgoingError) -> datetime:
        seconds = delay_seconds(row.attempts)
        if isinstance(error, Unreachable):
            seconds = max(seconds, error.retry_seconds)
        until = self._context.clock.now() + timedelta(seconds=seconds)
        await outbox.postpone(self._database, row.id, error=str(error), until=until)
        return until
