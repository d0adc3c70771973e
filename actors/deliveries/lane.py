"""A lane of the queue: how its messages are sent, and what follows from failures (docs/decisions/0210).

Messages to a service that all users share (a mail server, a gateway) wait together while it is not reached.
The trouble of a receiver that is a user's or a company's own is nobody else's.
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
from motorpool.actors.messages.topics import RECEIVERS_PAUSED, ReceiverPaused
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
"""Delay before the next attempt at a message that is not one to a webhook."""


class Lane(ABC):
    """A lane; one object of a server."""

    lease = timedelta(seconds=180)
    """For how long a receiver is leased. After a crash another server follows when that has passed."""
    is_logged = False
    """Whether messages and attempts stay as entries of a log when they are done with."""
    reopens = False
    """Whether all that waits is due when a receiver that was stopped is active again."""
    with_account = False
    """Whether messages to the service are sent as attributes of their user say."""
    max_sending = 4
    """Most messages that are sent at the same time."""
    max_per_receiver = 4
    """Of these, to one receiver."""
    note_seconds = 0.1
    """For how long deliveries are collected before they are recorded together."""
    closed_failures = NEVER
    """After so many failures of a receiver in a row only one message to it is sent at a time."""

    def __init__(self, name: str) -> None:
        self.name = name

    def session(self) -> AbstractAsyncContextManager[Any]:
        """Return what `send` is given for the messages of a turn."""
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
        """Send a message, by the attributes of its user or company; return the answer of a webhook.

        Raises OutgoingError.
        """

    def consequence(self, message: QueuedMessage, error: OutgoingError, now: datetime) -> Failure:
        """Return what follows from a failed attempt."""
        return Failure(
            error=str(error)[:ERROR_LENGTH],
            until=next_attempt(error, now, BACK_OFF.delay(message.attempts + 1)),
            counts=isinstance(error, DeliveryRefused),
            max_attempts=1 if isinstance(error, DeliveryRefused) and error.permanent else NEVER,
        )

    async def may_send(self, database: Database, receiver: int, lease: LeasedReceiver, now: datetime) -> bool:
        """Return whether messages are sent to a receiver; called before each batch."""
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
        """Make no more messages for a receiver that is gone or fails for days, and have it said."""
        del attributes
        if await receivers.pause(database, self.name, receiver, now=context.clock.now()):
            context.log.warning("no messages by %s to user %d any more: %s", self.name, receiver, error)
            context.system.topic(RECEIVERS_PAUSED).publish(ReceiverPaused(receiver, self.name, str(error)))


def next_attempt(error: OutgoingError, now: datetime, seconds: float) -> datetime:
    """Return when to try again: in `seconds`, or when the receiver asks for it, if that is later."""
    asked = error.retry_seconds if isinstance(error, Unreachable) else 0.0
    return now + timedelta(seconds=max(seconds, asked))


class WebhookLane(Lane):
    """Messages to webhooks: those with one key in their order, a receiver by a server at a time.

    What fails holds back the later messages of its key until the next attempt. A message that was refused
    several times is overtaken by them. After some failures in a row one message is tried at a time, and the
    next one when the schedule says so.
    """

    lease = timedelta(seconds=60)
    max_sending = 64
    note_seconds = 1.0
    closed_failures = CLOSED_FAILURES

    def __init__(self, name: str, webhooks: Webhooks) -> None:
        super().__init__(name)
        self._webhooks = webhooks

    def session(self) -> WebhookSession:
        """Return connections that are kept open between messages."""
        return self._webhooks.session()

    @abstractmethod
    def target(self, attributes: Mapping[str, Any], now: datetime) -> tuple[str, Sequence[str]]:
        """Return URL and secrets of a user or company. Raises DeliveryRefused where there is no webhook."""

    async def send(
        self,
        session: WebhookSession,
        message: QueuedMessage,
        attributes: Mapping[str, Any],
        attachments: Sequence[Attachment],
        now: datetime,
    ) -> HttpResponse | None:
        """Post a message, signed, to the URL of the moment."""
        del attachments
        url, secrets = self.target(attributes, now)
        body = message.message.text.encode()
        return await session.post(url, body, message_id=message.message_id, secrets=secrets, now=now)

    def consequence(self, message: QueuedMessage, error: OutgoingError, now: datetime) -> Failure:
        """Return what follows from a failed attempt, by the schedule of webhooks."""
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
