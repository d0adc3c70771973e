"""A ticket while rules change it: collects the history, messages and other traces of one change."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from motorpool.actors.helpdesk import service_levels
from motorpool.actors.helpdesk.business_time import ALWAYS, BusinessTime
from motorpool.actors.helpdesk.facts import (
    Author,
    Breach,
    CompanySetup,
    FieldChange,
    Notice,
    Outcome,
    TicketFacts,
    TicketMessage,
)
from motorpool.actors.helpdesk.service_levels import Level, TargetClock, clocks_of
from motorpool.storage.helpdesk.helpdesk_records import (
    Ticket,
    TicketEvent,
    TicketPause,
    TicketPriority,
    TicketStatus,
)

AUTO_CLOSE_DAYS = "autoCloseDays"
"""The attribute of a company: days after which resolved tickets are closed; 0: never."""


def to_milliseconds(instant: datetime) -> datetime:
    """Cut an instant to whole milliseconds."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


class Draft:
    """What a change has made of a ticket so far.

    All entries of a change share one version of the ticket.
    """

    def __init__(self, facts: TicketFacts, author: Author, now: datetime) -> None:
        self.setup: CompanySetup = facts.setup
        self.author = author
        self.now = to_milliseconds(now)
        self.version = facts.ticket.version + 1
        self.ticket: Ticket = facts.ticket
        self.first_response: Level = facts.first_response
        self.resolution: Level = facts.resolution
        self.pauses: list[TicketPause] = list(facts.pauses)
        self.breaches: list[Breach] = []
        self.notices: list[Notice] = []
        self._business_times = facts.business_times
        self._entries: list[TicketEvent] = []
        self._messages: list[TicketMessage] = []

    @property
    def status(self) -> TicketStatus:
        """The present status."""
        return self.setup.statuses[self.ticket.status_id]

    @property
    def priority(self) -> TicketPriority | None:
        """The present priority; None without one."""
        return self.setup.priorities.get(self.ticket.priority_id)

    @property
    def business(self) -> BusinessTime:
        """The business hours of the present priority; every minute without one."""
        return self._business_times.get(self.ticket.priority_id, ALWAYS)

    @property
    def clocks(self) -> tuple[TargetClock, TargetClock]:
        """What the due times of first response and resolution are computed from, as of now."""
        return clocks_of(self.ticket.created_at, self.priority, self.pauses, self.business)

    def latest(self, kind: str) -> TicketEvent | None:
        """Return the latest entry of a kind."""
        return next((entry for entry in reversed(self._entries) if entry.type == kind), None)

    def set(self, **fields: Any) -> None:  # noqa: ANN401 - fields of a ticket
        """Set fields of the ticket."""
        self.ticket = msgspec.structs.replace(self.ticket, **fields)

    def enter(
        self,
        kind: str,
        *,
        change: FieldChange | None = None,
        text: str = "",
        internal: bool = False,
        event_time: datetime | None = None,
        author: Author | None = None,
        contact_id: int = 0,
        attributes: Mapping[str, Any] | None = None,
    ) -> TicketEvent:
        """Append an entry to the history; by default it holds now, and is the author's."""
        who = author or self.author
        entry = TicketEvent(
            ticket_id=self.ticket.id,
            event_time=event_time or self.now,
            created_at=self.now,
            type=kind,
            actor=who.kind,
            user_id=who.user_id,
            contact_id=contact_id,
            field=change.field if change else "",
            from_=change.before if change else None,
            to=change.after if change else None,
            text=text,
            internal=internal,
            version=self.version,
            attributes={**who.attributes, **(attributes or {})},
        )
        self._entries.append(entry)
        return entry

    def add_message(self, kind: str, event: TicketEvent | None, *changes: FieldChange) -> None:
        """Add a message to the company's webhook, with the ticket as it is now."""
        self._messages.append(TicketMessage(kind, event, changes, self.picture()))

    def picture(self) -> Ticket:
        """Return the ticket as it is stored if nothing else is changed."""
        return msgspec.structs.replace(
            self.ticket,
            first_response_due=self.first_response.due,
            first_response_breached=self.first_response.breached,
            resolution_due=self.resolution.due,
            resolution_breached=self.resolution.breached,
            sla_paused=self.ticket.status_kind == "pending",
            updated_at=self.now,
            version=self.version,
        )

    def finish(self) -> Outcome:
        """Return what came of the change."""
        ticket = self.picture()
        if not self._entries:
            ticket = msgspec.structs.replace(
                ticket, updated_at=self.ticket.updated_at, version=self.version - 1
            )
        return Outcome(
            setup=self.setup,
            ticket=ticket,
            first_response=self.first_response,
            resolution=self.resolution,
            pauses=tuple(self.pauses),
            next_clock_at=self._next_clock_at(ticket),
            entries=tuple(self._entries),
            messages=tuple(self._messages),
            breaches=tuple(self.breaches),
            notices=tuple(self.notices),
        )

    def _next_clock_at(self, ticket: Ticket) -> datetime | None:
        levels = self.first_response, self.resolution
        instants = [
            service_levels.next_look(level, clock, self.now)
            for level, clock in zip(levels, self.clocks, strict=True)
        ]
        instants.append(auto_close_at(ticket, self.setup))
        return min((instant for instant in instants if instant is not None), default=None)


def auto_close_at(ticket: Ticket, setup: CompanySetup) -> datetime | None:
    """Return when a resolved ticket is closed by itself; None if it never is."""
    if ticket.status_kind != "resolved" or ticket.resolved_at is None:
        return None
    days = setup.days(AUTO_CLOSE_DAYS, 0)
    if not days or setup.first_status("closed", after=setup.statuses[ticket.status_id]) is None:
        return None
    return to_milliseconds(ticket.resolved_at + timedelta(days=days))
