"""Sends the messages to the webhooks of companies, at least once (docs/ticket-webhooks.md).

The messages are rows that are committed with their cause, so nothing is lost by a crash of this actor, which
only remembers when to look. Companies have turns, many at the same time (actors/helpdesk/webhook_turn.py).
"""

import heapq
import secrets
from datetime import datetime, timedelta

import trio

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.helpdesk.webhook_turn import WebhookTurn
from motorpool.actors.messages.tickets import WEBHOOK_SENDER, TicketMessagesWaiting
from motorpool.runtime import Actor, ChildSpec
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import ticket_deliveries, ticket_messages, webhook_leases
from motorpool.storage.errors import StorageError

MAX_SENDING = 64
"""Most messages that are sent at the same time."""
MAX_TURNS = 256
"""Most companies that have a turn at the same time."""
POLL_SECONDS = 30.0
"""Interval of looking for messages of all companies."""
STORAGE_SECONDS = 10.0
"""Delay before the next attempt when the database is unavailable."""
CLEAN_SECONDS = 300.0
KEPT = timedelta(days=7)
"""How long a message may wait, because its webhook is disabled or fails."""
MAX_WAITING = 100_000
"""Most messages of a company that wait; the oldest are dropped."""
MAX_LOGGED = 200_000
"""Most messages of a company in the log, those that wait included."""


class WebhookSender(Actor[TicketMessagesWaiting]):
    """Gives companies with messages that are due their turns."""

    def __init__(self, database: Database, outgoing: OutgoingServices, holder: str, log_days: int) -> None:
        """`holder` tells this server from others."""
        self._database = database
        self._webhooks = outgoing.ticket_webhooks
        self._log_kept = timedelta(days=log_days)
        self._holder = holder
        self._slots = trio.CapacityLimiter(MAX_SENDING)
        self._turns: dict[int, WebhookTurn] = {}
        """By company."""
        self._wanted: dict[int, None] = {}
        """Companies that are to get a turn, in order."""
        self._later: list[tuple[datetime, int]] = []
        """A heap: when a company is to get a turn."""
        self._look_at = 0.0
        """Monotonic time of the next look for messages of all companies."""
        self._filled = trio.Event()

    def handle(self, message: TicketMessagesWaiting) -> None:
        """Send to these companies."""
        for company_id in message.company_ids:
            self._want(company_id)
        if not message.company_ids:
            self._look_at = 0.0
        self._filled.set()

    def _want(self, company_id: int) -> None:
        turn = self._turns.get(company_id)
        if turn is not None:
            turn.wake()
        else:
            self._wanted[company_id] = None

    async def run(self) -> None:
        """Send, and delete what is too old, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._clean)
            while True:
                self._filled = trio.Event()
                try:
                    await self._find_due()
                except StorageError as error:
                    self.context.log.warning("cannot read the messages to webhooks: %s", error)
                    await trio.sleep(STORAGE_SECONDS)
                    continue
                while self._wanted and len(self._turns) < MAX_TURNS:
                    company_id = next(iter(self._wanted))
                    del self._wanted[company_id]
                    self._turns[company_id] = WebhookTurn(
                        company_id, self._holder, self._database, self._webhooks, self._slots, self.context
                    )
                    nursery.start_soon(self._turn, company_id, self._turns[company_id])
                with trio.move_on_after(self._idle_seconds()):
                    await self._filled.wait()

    async def _find_due(self) -> None:
        clock = self.context.clock
        if clock.monotonic() >= self._look_at:
            self._look_at = clock.monotonic() + POLL_SECONDS
            # Turns that end meanwhile add theirs.
            self._later = []
            due = await webhook_leases.due_companies(
                self._database, self._holder, now=clock.now(), without=list(self._turns), limit=MAX_TURNS
            )
            self._later += [(at, company_id) for company_id, at in due]
            heapq.heapify(self._later)
        while self._later and self._later[0][0] <= clock.now():
            self._want(heapq.heappop(self._later)[1])

    def _idle_seconds(self) -> float:
        clock = self.context.clock
        seconds = self._look_at - clock.monotonic()
        if self._later:
            seconds = min(seconds, (self._later[0][0] - clock.now()).total_seconds())
        return max(seconds, 0.0)

    async def _turn(self, company_id: int, turn: WebhookTurn) -> None:
        due: datetime | None = None
        try:
            due = await turn.run()
        except StorageError as error:
            self.context.log.warning("messages to the webhook of company %d wait: %s", company_id, error)
            due = self.context.clock.now() + timedelta(seconds=STORAGE_SECONDS)
        finally:
            del self._turns[company_id]
            if turn.woken:
                self._wanted[company_id] = None
            if due is not None:
                heapq.heappush(self._later, (due, company_id))
            self._filled.set()

    async def _clean(self) -> None:
        while True:
            now = self.context.clock.now()
            try:
                for company_id, messages in [
                    *await ticket_messages.discard_older(
                        self._database, now - KEPT, reason=f"it waited for {KEPT.days} days"
                    ),
                    *await ticket_messages.discard_surplus(
                        self._database, most=MAX_WAITING, reason=f"more than {MAX_WAITING} messages waited"
                    ),
                ]:
                    self.context.log.warning(
                        "%d messages to the webhook of company %d are dropped", messages, company_id
                    )
                while await ticket_deliveries.delete_before(self._database, now - self._log_kept):
                    pass
                while await ticket_deliveries.delete_surplus(self._database, most=MAX_LOGGED):
                    pass
            except StorageError as error:
                self.context.log.warning("cannot delete old messages to webhooks, retrying later: %s", error)
            await trio.sleep(CLEAN_SECONDS)


def webhook_sender_spec(
    database: Database, outgoing: OutgoingServices, log_days: int = 30
) -> ChildSpec[TicketMessagesWaiting]:
    """Return the child spec of the sender; `log_days` is how long attempts are kept."""
    # The same after a restart of the actor, which so keeps its leases.
    holder = secrets.token_hex(8)
    return ChildSpec(
        kind=WEBHOOK_SENDER,
        factory=lambda: WebhookSender(database, outgoing, holder, log_days),
        resident=False,
    )
