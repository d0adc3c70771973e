"""Decides about many tickets in one transaction; those that fail are kept apart."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

import trio

from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.facts import Change, Outcome, TicketFacts
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import write
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import StorageUnavailable

TICKETS_AT_A_TIME = 100
"""Tickets that are decided about without a pause for other tasks: about 5 ms."""

Decide = Callable[[TicketFacts, datetime], Outcome]
"""A pure decision about one ticket."""


class BatchOutcome(NamedTuple):
    """What came of a batch."""

    changes: list[Change]
    """Written, in the order of the ids that were given."""
    failed: dict[int, Exception]
    """Tickets that are as they were, and why."""


class TicketBatches:
    """Locks tickets, decides about each, and writes what changes.

    Args:
        calendars: the business hours of priorities.
        mails: what assignees are mailed.
    """

    def __init__(self, calendars: BusinessCalendars, mails: TicketMails) -> None:
        self._calendars = calendars
        self._mails = mails

    async def decide(
        self, transaction: Queries, ticket_ids: Sequence[int], rule: Decide, *, now: datetime
    ) -> BatchOutcome:
        """Decide about these tickets in a transaction; announce the changes after its commit.

        A batch that fails is halved until the ticket that fails is alone.

        Raises:
            StorageUnavailable: the transaction cannot go on.
        """
        if not ticket_ids:
            return BatchOutcome([], {})
        try:
            async with transaction.transaction() as savepoint:
                return BatchOutcome(await self._decide(savepoint, ticket_ids, rule, now), {})
        except StorageUnavailable:
            raise
        except Exception as error:
            if len(ticket_ids) == 1:
                return BatchOutcome([], {ticket_ids[0]: error})
        half = len(ticket_ids) // 2
        first = await self.decide(transaction, ticket_ids[:half], rule, now=now)
        second = await self.decide(transaction, ticket_ids[half:], rule, now=now)
        return BatchOutcome(first.changes + second.changes, first.failed | second.failed)

    async def _decide(
        self, transaction: Queries, ticket_ids: Sequence[int], rule: Decide, now: datetime
    ) -> list[Change]:
        facts = await lock_facts(transaction, ticket_ids, self._calendars, now=now)
        changes = []
        for number, ticket_id in enumerate(ticket_ids, start=1):
            # A ticket that was deleted meanwhile has no facts.
            if ticket_id in facts:
                changes.append(Change(facts[ticket_id], rule(facts[ticket_id], now)))
            if number % TICKETS_AT_A_TIME == 0:
                await trio.lowlevel.checkpoint()
        return await write(transaction, changes, now, self._mails)
