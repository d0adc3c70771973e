"""The ticket clock: breaches, warnings, escalations and automatic closes at their instants
(docs/tickets.md#the-ticket-clock, docs/decisions/0191-one-instant-for-all-tickets.md).

It remembers one instant, the earliest at which any ticket is due, and sleeps until then, at most
`POLL_SECONDS`. What is due is read from the rows each time, so a wake that was lost, a wall clock that was
moved and another server on the database cost at most that.
"""

from datetime import datetime, timedelta

import trio

from motorpool.actors.helpdesk.batches import TicketBatches
from motorpool.actors.helpdesk.facts import Outcome, TicketFacts
from motorpool.actors.helpdesk.settle import settle
from motorpool.actors.helpdesk.ticket_writer import announce
from motorpool.actors.messages.counters import TICKETS_FAILED, TICKETS_OVERDUE, TICKETS_SETTLED
from motorpool.actors.messages.tickets import WakeTicketClock
from motorpool.actors.work.polling import PollingActor
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import ticket_clock

BATCH = 200
"""Most tickets that are settled in one transaction."""
WORKERS = 3
"""Batches at the same time while there is a backlog: most of a batch's time is waiting for its turn and for
the database."""
POLL_SECONDS = 30.0
"""Longest sleep."""
LOCKED_SECONDS = 1.0
"""Sleep while the tickets that are due are locked by others."""
MIN_SECONDS = 0.001
"""The resolution of due times."""


class TicketClock(PollingActor[WakeTicketClock]):
    """Settles tickets that are due, in batches, the longest due first; then sleeps."""

    FAILURE = "tickets cannot be settled, another attempt follows"

    def __init__(self, database: Database, batches: TicketBatches) -> None:
        super().__init__()
        self._database = database
        self._batches = batches
        self._sleeps_until: datetime | None = None
        """None while it works."""

    def handle(self, message: WakeTicketClock) -> None:
        """Stop sleeping if a ticket is due earlier."""
        if self._sleeps_until is None or message.at < self._sleeps_until:
            self.wake()

    async def look(self) -> float:
        """Settle the tickets that are due."""
        self._sleeps_until = None
        if await self._settle_batch():
            await self._settle_backlog()
        following = await ticket_clock.next_instant(self._database)
        now = self.context.clock.now()
        seconds = POLL_SECONDS
        if following is not None and following <= now:
            seconds = LOCKED_SECONDS
        elif following is not None:
            seconds = min(POLL_SECONDS, max(MIN_SECONDS, (following - now).total_seconds()))
        TICKETS_OVERDUE.set(max(0.0, (now - following).total_seconds()) if following else 0.0)
        self._sleeps_until = now + timedelta(seconds=seconds)
        return seconds

    async def _settle_backlog(self) -> None:
        """Settle all that is due, by several workers."""
        errors: list[StorageError] = []

        async def work() -> None:
            try:
                while await self._settle_batch():
                    pass
            except StorageError as error:
                errors.append(error)

        async with trio.open_nursery() as workers:
            for _ in range(WORKERS):
                workers.start_soon(work)
        if errors:
            raise errors[0]

    async def _settle_batch(self) -> bool:
        """Settle the tickets that are due longest; return whether others may be due."""
        now = self.context.clock.now()
        async with self._database.transaction() as transaction:
            due = await ticket_clock.take_due(transaction, now=now, limit=BATCH)
            ids = [ticket.id for ticket in due]
            outcome = await self._batches.decide(transaction, ids, settle_in_full, now=now)
            delayed: list[int] = []
            if outcome.failed:
                delayed = await ticket_clock.postpone(transaction, list(outcome.failed), now=now)
            recovered = [ticket.id for ticket in due if ticket.failures and ticket.id not in outcome.failed]
            if recovered:
                await ticket_clock.reset_failures(transaction, recovered)
        TICKETS_SETTLED.inc(len(outcome.changes))
        TICKETS_FAILED.inc(len(outcome.failed))
        for ticket_id, error in outcome.failed.items():
            delay = ticket_clock.LONG_RETRY if ticket_id in delayed else ticket_clock.RETRY
            self.context.log.error(
                "ticket %d cannot be settled, another attempt follows in %s", ticket_id, delay, exc_info=error
            )
        await announce(self.context.system, outcome.changes)
        return len(due) == BATCH


def settle_in_full(facts: TicketFacts, now: datetime) -> Outcome:
    """Settle a ticket.

    Raises:
        ValueError: it is due still; taken again at once, it would occupy the clock without end.
    """
    outcome = settle(facts, now)
    if outcome.next_clock_at is not None and outcome.next_clock_at <= now:
        raise ValueError(f"settled at {now}, it is due at {outcome.next_clock_at}")
    return outcome
