"""Counts how users' receivers fail, and pauses those that do for days (docs/events.md#failing-receivers)."""

from typing import Any

from motorpool.actors.deliveries.webhook_schedule import GONE_AFTER, GONE_FAILURES
from motorpool.actors.http.errors import OutgoingError, ReceiverGone
from motorpool.actors.messages.topics import RECEIVERS_PAUSED, ReceiverPaused
from motorpool.runtime import Context
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import receivers
from motorpool.storage.deliveries.outbox import ERROR_LENGTH, Lane
from motorpool.storage.deliveries.receivers import FailingReceiver


class ReceiverFailures:
    """Records failed attempts; successes are recorded by `storage/deliveries/outbox.py: remove_sent`."""

    def __init__(self, database: Database, context: Context[Any]) -> None:
        self._database = database
        self._context = context

    async def failed(self, user_id: int, lane: Lane, error: OutgoingError) -> FailingReceiver | None:
        """Count a failed attempt; None if it concerns no user."""
        if not user_id:
            return None
        now = self._context.clock.now()
        receiver = await receivers.record_failure(
            self._database, user_id, lane, error=str(error)[:ERROR_LENGTH], now=now
        )
        if receiver is None or receiver.paused is not None:
            return receiver
        is_hopeless = receiver.failures >= GONE_FAILURES and now - receiver.since >= GONE_AFTER
        if (is_hopeless or isinstance(error, ReceiverGone)) and await receivers.pause(
            self._database, user_id, lane, now=now
        ):
            self._context.log.warning("no messages by %s to user %d any more: %s", lane, user_id, error)
            self._context.system.topic(RECEIVERS_PAUSED).publish(ReceiverPaused(user_id, lane, str(error)))
        return receiver
