"""Disables the webhook of a company that is gone or fails for days (docs/ticket-webhooks.md#failures)."""

from typing import Any

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.helpdesk.webhook_settings import disabling
from motorpool.actors.messages.changes import CompanyChanged
from motorpool.actors.messages.topics import WEBHOOKS_DISABLED, WebhookDisabled
from motorpool.runtime import Context
from motorpool.storage.accounts import audit
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import webhook_leases
from motorpool.storage.records import AuditAction


async def disable_webhook(
    database: Database, context: Context[Any], company_id: int, url: str, reason: str
) -> None:
    """Disable the webhook of a company, unless it has another URL by now, and notify the managers."""
    now = context.clock.now()
    async with database.transaction() as transaction:
        name = await webhook_leases.disable(transaction, company_id, url, disabling(reason, now), now=now)
        if name is None:
            return
        managers = await webhook_leases.managers_of(transaction, company_id)
        await audit.record(
            transaction,
            AuditAction(
                action_time=now,
                action_type="edit",
                object_type="company",
                object_id=company_id,
                attributes={"webhookDisabled": reason},
            ),
        )
    context.log.warning("the webhook of company %d is disabled: %s", company_id, reason)
    await publish_changes(
        context.system, CompanyChanged(company_id, "updated", ("attributes.ticketWebhook",))
    )
    context.system.topic(WEBHOOKS_DISABLED).publish(WebhookDisabled(frozenset(managers), name, reason))
