"""A lane of the queue: how its messages are sent, and the consequences of failures (docs/decisions/0210).

Messages to a service that all users share (a mail server, a gateway) wait together while it is not reached.
A failing receiver of one user or company delays nobody else.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime, timedelta
from typing import Any

from motorpool.actors.deliveries.webhook import Webhooks, WebhookSession
from motorpool.actors.deliveries.webhook_schedule import (
    CLOSED_FAILURES,
    DELAYS_SECONDS,
    MAX_ATTEMPTS,
    OVERTAKEN_ATTEMPTS,
    delay_seconds,
)
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.http.response import HttpResponse
from motorpool.actors.messages.topics import DELIVERIES_STOPPED, DeliveryStopped
from motorpool.runtime import BackOff, Context
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import receivers
from motorpool.storage.deliveries.attempts import NEVER, Failure
from motorpool.storage.deliveries.outbox import Attachment
from motorpool.storage.deliveries.queue import QueuedMessage
from motorpool.storage.deliveries.receivers import LeasedReceiver

ERROR_LENGTH = 500
"""The last error is truncated to this many characters."""
BACK_OFF = BackOff(first_seconds=30.0, max_seconds=3600.0, jitter=0.0)
"""Delays between attempts, except at webhooks."""


class Lane(ABC):
    """A lane of the queue; a server has one object of each."""

    lease = timedelta(seconds=180)
    """Length of a lease. After a crash another server takes over when it has ended."""
    is_logged = False
    """Whether messages and attempts are kept as a log afterwards."""
    reopens = False
    """Whether all waiting messages become due when a stopped receiver is active again."""
    with_account = False
    """Whether messages to the service are sent with the attributes of their user."""
    max_sending = 4
    """Maximum messages sent at the same time."""
    max_per_receiver = 4
    """Maximum to one receiver."""
    note_seconds = 0.1
    """How long deliveries are collected before they are recorded together."""
    closed_failures = NEVER
    """Consecutive failures of a receiver after which it gets one message at a time."""

    def __init__(self, name: str) -> None:
        self.name = name

    def session(self) -> AbstractAsyncContextManager[Any]:
        """Return the context in which a turn sends; `send` gets its value."""
        return nullcontext()

    @abstractmethod
    async def send(
        self,
        session: Any,  # noqa: ANN401 - of the lane
        message: QueuedMessage,
        attributes: Mapping[str, Any],
        attachments: Sequence[Attachment],
        now: datetime,
    ) -> HttpResponse | None:
        """Send a message with the attributes of its user or company; return the answer of a webhook.

        Raises OutgoingError.
        """

    def consequence(self, message: QueuedMessage, error: OutgoingError, now: datetime) -> Failure:
        """Return the consequence of a failed attempt."""
        return Failure(
            error=str(error)[:ERROR_LENGTH],
            until=next_attempt(error, now, BACK_OFF.delay(message.attempts + 1)),
            counts=isinstance(error, DeliveryRefused),
            max_attempts=1 if isinstance(error, DeliveryRefused) and error.permanent else NEVER,
        )

    async def may_send(self, database: Database, receiver: int, lease: LeasedReceiver, now: datetime) -> bool:
        """Return whether to send to a receiver; called before each batch."""
        del database, receiver
        return self.is_active(lease) and (lease.held_until is None or lease.held_until <= now)

    def is_active(self, lease: LeasedReceiver) -> bool:
        """Return whether the receiver wants messages."""
        del lease
        return True

    async def stop_receiver(
        self,
        database: Database,
        context: Context[Any],
        receiver: int,
        attributes: Mapping[str, Any],
        error: OutgoingError,
    ) -> None:
        """Pause a receiver that is gone or has failed for days, and publish that."""
        del attributes
        if await receivers.pause(database, self.name, receiver, now=context.clock.now()):
            context.log.warning("no messages by %s to user %d any more: %s", self.name, receiver, error)
            attributes = {"notificator": self.name, "reason": str(error)}
            stopped = DeliveryStopped("notificatorPaused", frozenset({receiver}), attributes, self.name)
            context.system.topic(DELIVERIES_STOPPED).publish(stopped)


def next_attempt(error: OutgoingError, now: datetime, seconds: float) -> datetime:
    """Return the next attempt: in `seconds`, or later if the receiver asks for it."""
    asked = error.retry_seconds if isinstance(error, Unreachable) else 0.0
    return now + timedelta(seconds=max(seconds, asked))


class WebhookLane(Lane):
    """Messages to webhooks: in order within a key, and by one server at a time to each receiver.

    A failed message holds back the later ones of its key until its next attempt; after several refusals they
    overtake it. After several consecutive failures one message is tried at a time, by the schedule.
    """

    lease = timedelta(seconds=60)
    max_sending = 64
    note_seconds = 1.0
    closed_failures = CLOSED_FAILURES

    def __init__(self, name: str, webhooks: Webhooks) -> None:
        super().__init__(name)
        self._webhooks = webhooks

    def session(self) -> WebhookSession:
        """Return a session that keeps connections open."""
        return self._webhooks.session()

    @abstractmethod
    def target(self, attributes: Mapping[str, Any], now: datetime) -> tuple[str, Sequence[str]]:
        """Return URL and secrets of a user or company. Raises DeliveryRefused without a webhook."""

    async def send(
        self,
        session: WebhookSession,
        message: QueuedMessage,
        attributes: Mapping[str, Any],
        attachments: Sequence[Attachment],
        now: datetime,
    ) -> HttpResponse | None:
        """Post a signed message to the present URL."""
        del attachments
        url, secrets = self.target(attributes, now)
        body = message.message.text.encode()
        return await session.post(url, body, message_id=message.message_id, secrets=secrets, now=now)

    def consequence(self, message: QueuedMessage, error: OutgoingError, now: datetime) -> Failure:
        """Return the consequence of a failed attempt by the schedule of webhooks."""
        asked = error.retry_seconds if isinstance(error, Unreachable) else 0.0
        return Failure(
            error=str(error)[:ERROR_LENGTH],
            until=next_attempt(error, now, delay_seconds(message.attempts)),
            held_until=now + timedelta(seconds=asked) if asked else None,
            max_attempts=MAX_ATTEMPTS,
            overtaken_attempts=OVERTAKEN_ATTEMPTS,
            closed_failures=CLOSED_FAILURES,
            closed_seconds=[delay_seconds(failed) for failed in range(len(DELAYS_SECONDS))],
        )
