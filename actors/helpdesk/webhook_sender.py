"""Sends the messages to the webhooks of companies, at least once (docs/ticket-webhooks.md)."""

from datetime import timedelta

import trio

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.lane_sender import LaneSender
from motorpool.actors.helpdesk.webhook_lane import TicketWebhookLane
from motorpool.actors.messages.tickets import TicketMessagesWaiting
from motorpool.runtime import Actor
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import ticket_log
from motorpool.storage.deliveries.outbox import TICKETS
from motorpool.storage.errors import StorageError

CLEAN_SECONDS = 300.0
KEPT = timedelta(days=7)
"""How long a message may wait, because its webhook is disabled or fails."""
MAX_WAITING = 100_000
"""Most messages of a company that wait; the oldest are dropped."""
MAX_LOGGED = 200_000
"""Most messages of a company in the log, those that wait included."""


class WebhookSender(Actor[TicketMessagesWaiting]):
    """The lane of tickets, and its log."""

    def __init__(self, database: Database, outgoing: OutgoingServices, holder: str, log_days: int) -> None:
        """`holder` tells this server from others; `log_days` is how long attempts are kept."""
        self._database = database
        self._lane = TicketWebhookLane(TICKETS, outgoing.ticket_webhooks)
        self._log_kept = timedelta(days=log_days)
        self._holder = holder
        self._sender: LaneSender

    async def start(self) -> None:
        """Make the sender."""
        self._sender = LaneSender(self._lane, self._holder, self._database, self.context)

    def handle(self, message: TicketMessagesWaiting) -> None:
        """Send to these companies."""
        self._sender.wake(message.company_ids)

    async def run(self) -> None:
        """Send messages, and delete messages that are too old, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._clean)
            await self._sender.run()

    async def _clean(self) -> None:
        while True:
            now = self.context.clock.now()
            try:
                for company_id, messages in [
                    *await ticket_log.discard_older(
                        self._database, now - KEPT, reason=f"it waited for {KEPT.days} days"
                    ),
                    *await ticket_log.discard_surplus(
                        self._database, most=MAX_WAITING, reason=f"more than {MAX_WAITING} messages waited"
                    ),
                ]:
                    self.context.log.warning(
                        "%d messages to the webhook of company %d are dropped", messages, company_id
                    )
                while await ticket_log.delete_before(self._database, now - self._log_kept):
                    pass
                while await ticket_log.delete_surplus(self._database, most=MAX_LOGGED):
                    pass
            except StorageError as error:
                self.context.log.warning("cannot delete old messages to webhooks, retrying later: %s", error)
            await trio.sleep(CLEAN_SECONDS)
