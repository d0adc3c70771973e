"""Computes the due times of open tickets again when what they were computed with has changed
(docs/service-levels.md#changes, docs/decisions/0192-recalculation-by-comparison.md).

What has changed is found by comparison (storage/helpdesk/ticket_recalculations.py): when a fact of the change
feed concerns it, when the server starts, and every few minutes. Resolved tickets that may have to be closed
are examined when their company changes that, at the start and once a day.
"""

from functools import partial

from motorpool.actors.helpdesk.batches import TicketBatches
from motorpool.actors.helpdesk.settle import settle
from motorpool.actors.helpdesk.ticket_writer import announce
from motorpool.actors.messages.changes import ApplyChanges, CompanyChanged
from motorpool.actors.messages.counters import TICKETS_FAILED, TICKETS_RECALCULATED
from motorpool.actors.messages.tickets import TICKET_CLOCK, WakeTicketClock
from motorpool.actors.work.polling import PollingActor
from motorpool.codecs.calendars.time_zones import tz_database_version
from motorpool.storage.database.database import Database
from motorpool.storage.helpdesk import ticket_clock, ticket_recalculations

BATCH = 100
"""Tickets of one transaction: requests for them wait until it ends."""
CLOSE_BATCH = 1000
"""Resolved tickets of one statement."""
COMPARE_SECONDS = 300.0
"""Interval of comparisons, for changes that another server made."""
LOCKED_SECONDS = 1.0
"""Sleep while another server does the remaining work."""
DAY_SECONDS = 86_400.0
AUTO_CLOSE = "attributes.autoCloseDays"


class TicketRecalculations(PollingActor[ApplyChanges]):
    """The handler notes that something changed; a task of its own compares and computes."""

    FAILURE = "tickets cannot be computed, another attempt follows"

    def __init__(self, database: Database, batches: TicketBatches) -> None:
        super().__init__()
        self._database = database
        self._batches = batches
        self._daily_at = 0.0
        """When resolved tickets are examined, in monotonic seconds."""
        self._closing: set[int] = set()
        """Companies whose resolved tickets are closed after another time."""

    def handle(self, message: ApplyChanges) -> None:
        """Have the changes looked for; the writer does not wait until the tickets are computed."""
        for change in message.changes:
            if isinstance(change, CompanyChanged) and AUTO_CLOSE in change.fields:
                self._closing.add(change.id)
        self.wake()

    async def look(self) -> float:
        """Compare and compute."""
        now = self.context.clock.now()
        await ticket_recalculations.note_changes(self._database, tz_version=tz_database_version(), now=now)
        while await self._compute_batch():
            pass
        while self._closing:
            company_id = next(iter(self._closing))
            await self._look_at_resolved([company_id])
            self._closing.discard(company_id)
        monotonic = self.context.clock.monotonic
        if monotonic() >= self._daily_at:
            await self._look_at_resolved(None)
            self._daily_at = monotonic() + DAY_SECONDS
        return await self._pause()

    async def _compute_batch(self) -> bool:
        """Compute the next tickets of a priority; return whether there may be others."""
        now = self.context.clock.now()
        async with self._database.transaction() as transaction:
            job = await ticket_recalculations.take(transaction, now=now)
            if job is None:
                return False
            ids = await ticket_recalculations.open_tickets(transaction, job, BATCH)
            rule = partial(settle, reason=job.reason)
            outcome = await self._batches.decide(transaction, ids, rule, now=now)
            await ticket_recalculations.advance(transaction, job, ids, more=len(ids) == BATCH)
        TICKETS_RECALCULATED.inc(len(outcome.changes))
        TICKETS_FAILED.inc(len(outcome.failed))
        for ticket_id, error in outcome.failed.items():
            self.context.log.error("the due times of ticket %d cannot be computed", ticket_id, exc_info=error)
        await announce(self.context.system, outcome.changes)
        return True

    async def _look_at_resolved(self, company_ids: list[int] | None) -> None:
        after_id: int | None = 0
        now = self.context.clock.now()
        while after_id is not None:
            after_id = await ticket_clock.look_at_resolved(
                self._database, now=now, after_id=after_id, limit=CLOSE_BATCH, company_ids=company_ids
            )
        self.context.system.ref(TICKET_CLOCK).offer(WakeTicketClock(now))

    async def _pause(self) -> float:
        """Return the seconds until there is work again, if nothing is announced."""
        following = await ticket_recalculations.next_pass(self._database)
        if following is None:
            return COMPARE_SECONDS
        seconds = (following - self.context.clock.now()).total_seconds()
        return min(COMPARE_SECONDS, max(LOCKED_SECONDS, seconds))
