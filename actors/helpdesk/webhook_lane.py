"""The lane of messages to the webhooks of companies (docs/ticket-webhooks.md)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.deliveries.lane import WebhookLane
from motorpool.actors.helpdesk.webhook_settings import disabling, read_settings
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError
from motorpool.actors.messages.changes import CompanyChanged
from motorpool.actors.messages.topics import DELIVERIES_STOPPED, DeliveryStopped
from motorpool.runtime import Context
from motorpool.storage.accounts import audit
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import receivers, ticket_log
from motorpool.storage.deliveries.attempts import Failure
from motorpool.storage.deliveries.queue import QueuedMessage
from motorpool.storage.deliveries.receivers import LeasedReceiver
from motorpool.storage.records import AuditAction


class TicketWebhookLane(WebhookLane):
    """Messages of one ticket in their order, of several tickets at the same time."""

    is_logged = True
    reopens = True
    max_per_receiver = 4
    """To one company, about different tickets."""

    def target(self, attributes: Mapping[str, Any], now: datetime) -> tuple[str, Sequence[str]]:
        """Return URL and secrets of the company."""
        settings = read_settings(attributes)
        if settings is None:
            raise DeliveryRefused("the company has no webhook")
        return settings.url, settings.secrets_at(now)

    def consequence(self, message: QueuedMessage, error: OutgoingError, now: datetime) -> Failure:
        """Return what follows from a failed attempt; the log tells where it failed."""
        return msgspec.structs.replace(
            super().consequence(message, error, now), error=error.cause or "blocked"
        )

    def is_active(self, lease: LeasedReceiver) -> bool:
        """Return whether the webhook is not disabled."""
        settings = read_settings(lease.attributes)
        return settings is not None and not settings.disabled

    async def may_send(self, database: Database, receiver: int, lease: LeasedReceiver, now: datetime) -> bool:
        """Return whether messages are sent to a company; what waits for a removed webhook is dropped."""
        if read_settings(lease.attributes) is None:
            await ticket_log.discard_all(database, receiver, reason="the webhook was removed")
            return False
        return await super().may_send(database, receiver, lease, now)

    async def stop_receiver(
        self,
        database: Database,
        context: Context[Any],
        receiver: int,
        attributes: Mapping[str, Any],
        error: OutgoingError,
    ) -> None:
        """Disable the webhook of a company, unless it has another URL by now, and notify the managers."""
        settings, reason, now = read_settings(attributes), str(error), context.clock.now()
        if settings is None:
            return
        async with database.transaction() as transaction:
            name = await receivers.disable_webhook(
                transaction, receiver, settings.url, disabling(reason, now), now=now
            )
            if name is None:
                return
            managers = await receivers.managers_of(transaction, receiver)
            await audit.record(
                transaction,
                AuditAction(
                    action_time=now,
                    action_type="edit",
                    object_type="company",
                    object_id=receiver,
                    attributes={"webhookDisabled": reason},
                ),
            )
        context.log.warning("the webhook of company %d is disabled: %s", receiver, reason)
        await publish_changes(
            context.system, CompanyChanged(receiver, "updated", ("attributes.ticketWebhook",))
        )
        told = {"company": name, "reason": reason}
        stopped = DeliveryStopped("ticketWebhookDisabled", frozenset(managers), told)
        context.system.topic(DELIVERIES_STOPPED).publish(stopped)
