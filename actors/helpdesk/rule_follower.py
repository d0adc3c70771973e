"""Opens the tickets of ticket rules (docs/ticket-rules.md, docs/decisions/0200).

Stored events of types that rules follow wait in the database. One transaction writes tickets and entries and
ends the waiting, so each event is looked at once, over crashes; an advisory lock lets one of several servers
work at a time. Nothing here is awaited by those who store events.
"""

from collections.abc import Sequence
from contextlib import suppress

import trio

from motorpool.actors.helpdesk.rule_selection import select
from motorpool.actors.helpdesk.rule_tickets import RuleTickets
from motorpool.actors.helpdesk.ticket_writer import announce
from motorpool.actors.messages.changes import COMMITTED_CHANGES, Change, CompanyChanged, EverythingChanged
from motorpool.actors.messages.counters import RULE_EVENTS_DISCARDED
from motorpool.actors.messages.tickets import (
    TICKET_CAPTURES,
    TICKET_PICTURES,
    TICKET_RULES,
    AttachPicture,
    TicketCapturesWaiting,
)
from motorpool.actors.messages.topics import EVENTS
from motorpool.actors.work.storage_retry import BACK_OFF
from motorpool.actors.work.stored_calendars import StoredCalendars
from motorpool.runtime import Actor, ChildSpec
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StatementRejected, StorageError
from motorpool.storage.helpdesk import ticket_rules
from motorpool.storage.records import Event

BATCH = 100
"""Most events that are taken at once."""
POLL_SECONDS = 30.0
"""Interval of looking for events that another server left, and for rules that it stored."""
LOCKED_SECONDS = 1.0
"""Sleep while another server works."""
MAX_ATTEMPTS = 3
"""An event that fails alone is discarded after so many attempts."""


class RuleFollower(Actor[None]):
    """Takes events, one batch after the other."""

    def __init__(self, database: Database, tickets: RuleTickets) -> None:
        self._database = database
        self._tickets = tickets
        self._calendars = StoredCalendars()
        self._woken = trio.Event()
        self._types: frozenset[str] | None = None
        """The types that rules follow, as a hint; None: not known."""

    async def start(self) -> None:
        """Begin to follow what is stored."""
        system = self.context.system
        self._listeners = (
            system.topic(EVENTS).listen(self._events_stored),
            system.topic(COMMITTED_CHANGES).listen(self._rows_changed),
        )

    def release(self) -> None:
        """Stop following."""
        for listener in getattr(self, "_listeners", ()):
            listener.cancel()

    def handle(self, message: None) -> None:
        """Do nothing: no messages are sent to this actor."""

    def _events_stored(self, events: Sequence[Event]) -> None:
        types = self._types
        if types is None or (types and any(event.type in types for event in events)):
            self._woken.set()

    def _rows_changed(self, changes: Sequence[Change]) -> None:
        if any(isinstance(change, CompanyChanged | EverythingChanged) for change in changes):
            self._types = None
            self._woken.set()

    async def run(self) -> None:
        """Take events while any wait, then sleep until others are stored."""
        failures = outages = 0
        while True:
            self._woken = trio.Event()
            try:
                if self._types is None:
                    self._types = await ticket_rules.known_types(self._database)
                # After a failure one at a time, so that an event that fails does not hold back others.
                taken = await self._take(1 if failures else BATCH)
                outages = 0
                if taken:
                    failures = 0
                    continue
            except StatementRejected as error:
                # Such as a device that was deleted meanwhile.
                failures += 1
                self.context.log.warning("tickets not made, another attempt follows: %s", error)
            except StorageError as error:
                outages += 1
                self.context.log.warning("tickets not made yet: %s", error)
                await trio.sleep(BACK_OFF.delay(outages))
                continue
            except Exception:
                failures += 1
                self.context.log.exception("tickets cannot be made")
            else:
                await self._sleep(LOCKED_SECONDS if taken is None else POLL_SECONDS)
                continue
            if failures > MAX_ATTEMPTS:
                failures = 0
                await self._discard_first()

    async def _sleep(self, seconds: float) -> None:
        with trio.move_on_after(seconds) as limit:
            await self._woken.wait()
        if limit.cancelled_caught and seconds == POLL_SECONDS:
            self._types = None

    async def _take(self, limit: int) -> int | None:
        """Make of up to `limit` events what rules say; return how many, None if another server works."""
        if not await ticket_rules.is_waiting(self._database):
            return 0
        now = self.context.clock.now()
        async with self._database.transaction() as transaction:
            if not await ticket_rules.try_lock(transaction):
                return None
            events = await ticket_rules.take(transaction, limit)
            selection = await select(transaction, events, self._calendars, now=now)
            changes, refused = await self._tickets.make(transaction, selection, now=now)
            await ticket_rules.remove(transaction, [event.id for event in events])
        for reason in refused:
            self.context.log.warning("no ticket is made: %s", reason)
        await announce(self.context.system, changes)
        opened = [change.outcome.ticket for change in changes if change.facts is None]
        for ticket in opened:
            if ticket.device_id:
                self.context.system.ref(TICKET_PICTURES).offer(AttachPicture(ticket.id, ticket.device_id))
        if opened:
            self.context.system.ref(TICKET_CAPTURES).offer(TicketCapturesWaiting())
        return len(events)

    async def _discard_first(self) -> None:
        with suppress(StorageError):
            async with self._database.transaction() as transaction:
                if not await ticket_rules.try_lock(transaction):
                    return
                for event in await ticket_rules.take(transaction, 1):
                    await ticket_rules.remove(transaction, [event.id])
                    RULE_EVENTS_DISCARDED.inc()
                    self.context.log.error("no ticket is made of event %d", event.id)


def ticket_rules_spec(database: Database, tickets: RuleTickets) -> ChildSpec[None]:
    """Return the child spec."""
    return ChildSpec(kind=TICKET_RULES, factory=lambda: RuleFollower(database, tickets), resident=False)
