"""Signed messages to the webhooks of users (docs/events.md#webhooks)."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from motorpool.actors.deliveries.lane import Lane, WebhookLane
from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.deliveries.notificator import NO_ENVELOPE, Envelope, Network, Notificator
from motorpool.actors.deliveries.webhook import WEBHOOK_SECRET, WEBHOOK_URL, refusal
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, ReceiverGone, Unreachable
from motorpool.actors.words.record_json import encode
from motorpool.storage.deliveries.attempts import NEVER, Failure
from motorpool.storage.deliveries.outbox import WEBHOOK, OutgoingMessage
from motorpool.storage.deliveries.queue import QueuedMessage
from motorpool.storage.records import User

GONE_HELD = timedelta(days=30)
"""Hold of a receiver that is gone; by then its messages have expired unless it was resumed."""


class Webhook(Notificator):
    """Posts to the webhooks of users."""

    name = WEBHOOK
    attribute = WEBHOOK_URL

    def __init__(self, settings: None, network: Network) -> None:
        super().__init__(settings, network)
        self._webhooks = network.webhooks

    @property
    def enabled(self) -> bool:
        """False: only users with a webhook are reached."""
        return False

    def enabled_for(self, attributes: Mapping[str, object]) -> bool:
        """Whether a user with these attributes has a webhook."""
        return bool(attributes.get(WEBHOOK_URL))

    def lanes(self) -> tuple[Lane, ...]:
        """Return its lane, in which each user gets their messages in order."""
        return (UserWebhookLane(self.name, self._webhooks),)

    def compose(
        self, user: User, to: str, rendered: RenderedMessage, facts: EventFacts, *, urgent: bool
    ) -> OutgoingMessage:
        """Return the JSON of an event; the URL is read at each attempt."""
        del to, urgent
        event, device = facts.event, facts.device
        data: dict[str, object] = {"event": event, "message": rendered.digest}
        if device is not None:
            data["device"] = {"id": device.id, "name": device.name, "uniqueId": device.unique_id}
        if facts.position is not None:
            data["position"] = facts.position
        if facts.cameras:
            data["cameras"] = [
                {"channel": number, "name": facts.camera_names.get(str(number))} for number in facts.cameras
            ]
        body = {"type": f"event.{event.type}", "timestamp": event.event_time, "data": data}
        return OutgoingMessage(channel=self.name, to="", text=encode(body).decode(), user_id=user.id)

    async def send(self, message: OutgoingMessage, envelope: Envelope = NO_ENVELOPE) -> None:
        """Post the JSON; the date of the envelope is signed."""
        url, secrets = _target(envelope.attributes)
        answer = await self._webhooks.post(
            url,
            message.text.encode(),
            message_id=envelope.message_id,
            secrets=secrets,
            now=envelope.date,
        )
        if (error := refusal(answer, envelope.date)) is not None:
            raise error


class UserWebhookLane(WebhookLane):
    """Messages to the webhooks of users, one at a time to each."""

    max_per_receiver = 1

    def target(self, attributes: Mapping[str, Any], now: datetime) -> tuple[str, Sequence[str]]:
        """Return URL and secret of the user."""
        del now
        return _target(attributes)

    def consequence(self, message: QueuedMessage, error: OutgoingError, now: datetime) -> Failure:
        """Return the consequence of a failed attempt; only refusals count against the message.

        Messages to a receiver that is gone wait until it is resumed.
        """
        found = super().consequence(message, error, now)
        if isinstance(error, Unreachable):
            return msgspec.structs.replace(found, max_attempts=NEVER, overtaken_attempts=NEVER)
        if isinstance(error, ReceiverGone):
            found = msgspec.structs.replace(found, held_until=now + GONE_HELD)
        if isinstance(error, DeliveryRefused) and error.permanent:
            return msgspec.structs.replace(found, overtaken_attempts=NEVER)
        return found


def _target(attributes: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    url, secret = attributes.get(WEBHOOK_URL), attributes.get(WEBHOOK_SECRET)
    if not isinstance(url, str) or not url:
        raise DeliveryRefused("the user has no webhook", permanent=True)
    return url, (secret,) if isinstance(secret, str) and secret else ()
