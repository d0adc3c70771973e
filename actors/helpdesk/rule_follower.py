"""Opens the tickets of ticket rules (docs/ticket-rules.md, docs/decisions/0200).

Stored events of types that rules follow wait in the database. One transaction takes them and writes tickets
and entries; an advisory lock lets one of several servers work at a time.
"""

from collections.abc import Sequence
from typing import Never

import trio

from motorpool.actors.helpdesk.rule_selection import KnownRules, select
from motorpool.actors.helpdesk.rule_tickets import Refusal, RuleTickets
from motorpool.actors.helpdesk.ticket_writer import announce
from motorpool.actors.messages.changes import COMMITTED_CHANGES, Change, CompanyChanged, EverythingChanged
from motorpool.actors.messages.counters import RULE_EVENTS_DISCARDED
from motorpool.actors.messages.tickets import (
    TICKET_CAPTURES,
    TICKET_PICTURES,
    AttachPicture,
    TicketCapturesWaiting,
)
from motorpool.actors.messages.topics import EVENTS
from motorpool.actors.work.event_consumer import EventConsumer
from motorpool.actors.work.open_calendars import OpenCalendars
from motorpool.runtime import Actor
from motorpool.storage.database.database import Database
from motorpool.storage.events.waiting import WaitingEvents
from motorpool.storage.helpdesk import ticket_rules
from motorpool.storage.records import Event

MAX_TOLD = 1000
"""Rules whose refusals were logged, beyond which the first ones may be logged again."""
POLL_SECONDS = 30.0
"""Interval of looking for events that another server left, and for rules that it stored."""


class RuleFollower(Actor[Never]):
    """Makes tickets of events, one batch after the other."""

    def __init__(self, database: Database, tickets: RuleTickets) -> None:
        self._database = database
        self._tickets = tickets
        self._rules = KnownRules()
        self._waiting = WaitingEvents("ticket_rule_events", skips_locked=False)
        self._consumer = EventConsumer(self, undone="tickets not made", poll_seconds=POLL_SECONDS)
        self._calendars = OpenCalendars(database, self._consumer.wake)
        self._told: dict[tuple[int, str], None] = {}
        """Rules (company, id) of which it was logged that they make no ticket."""
        self._types: frozenset[str] | None = None
        """The types that rules follow, as a hint; None: not known."""

    async def run(self) -> None:
        """Take events until cancelled."""
        self.context.listen(EVENTS, self._events_stored)
        self.context.listen(COMMITTED_CHANGES, self._rows_changed)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._calendars.run)
            await self._consumer.run(self.context.log)

    def _events_stored(self, events: Sequence[Event]) -> None:
        types = self._types
        if types is None or (types and any(event.type in types for event in events)):
            self._consumer.wake()

    def _rows_changed(self, changes: Sequence[Change]) -> None:
        if any(isinstance(change, CompanyChanged | EverythingChanged) for change in changes):
            self._types = None
            self._told.clear()
            self._consumer.wake()

    async def is_waiting(self) -> bool:
        """Return whether events wait, and learn of the rules that another server stored."""
        self._types = await ticket_rules.known_types(self._database)
        return await self._waiting.any(self._database)

    async def take(self, limit: int) -> int | None:
        """Make of up to `limit` events what rules say; return how many, None if another server works."""
        if self._types is None:
            self._types = await ticket_rules.known_types(self._database)
        now = self.context.clock.now()
        async with self._database.transaction() as transaction:
            if not await ticket_rules.try_lock(transaction):
                return None
            waiting = await self._waiting.lock(transaction, limit)
            selection = await select(transaction, waiting, self._rules, self._calendars, now=now)
            changes, refused = await self._tickets.make(transaction, selection, now=now)
            await ticket_rules.remove(transaction, selection.handled_ids)
        self._waiting.note(waiting, selection.looked_at, limit)
        for refusal in refused:
            self._tell(refusal)
        await announce(self.context.system, changes)
        opened = [change.outcome.ticket for change in changes if change.facts is None]
        for ticket in opened:
            if ticket.device_id:
                self.context.system.ref(TICKET_PICTURES).offer(AttachPicture(ticket.id, ticket.device_id))
        if opened:
            self.context.system.ref(TICKET_CAPTURES).offer(TicketCapturesWaiting())
        return len(selection.handled_ids)

    def _tell(self, refusal: Refusal) -> None:
        """Log the first refusal of a rule since a company was edited; it may be asked each second."""
        key = refusal.company_id, refusal.rule_id
        if key not in self._told:
            self._told[key] = None
            if len(self._told) > MAX_TOLD:
                del self._told[next(iter(self._told))]
            self.context.log.warning(
                "no ticket is made: rule %s of company %d: %s",
                refusal.rule_id,
                refusal.company_id,
                refusal.reason,
            )

    async def discard_first(self) -> None:
        """Remove the first event without making a ticket of it."""
        async with self._database.transaction() as transaction:
            if not await ticket_rules.try_lock(transaction):
                return
            for waiting in await self._waiting.lock(transaction, 1):
                await ticket_rules.remove(transaction, [waiting.event.id])
                RULE_EVENTS_DISCARDED.inc()
                self.context.log.error("no ticket is made of event %d", waiting.event.id)
