"""What is known of a ticket before a change, and what the change makes of it.

These values pass between the rules of tickets, which are pure, and the statements that read and write them:

    facts = await lock_facts(transaction, [ticket_id], calendars)        # ticket_reader.py
    outcome = comment(facts[ticket_id], author, now, text=...)           # comment.py; settle.py, …
    await write(transaction, [Change(facts[ticket_id], outcome)], now)   # ticket_writer.py

Instants are aware UTC datetimes of whole milliseconds.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from motorpool.actors.helpdesk.business_time import BusinessTime
from motorpool.actors.helpdesk.service_levels import Level
from motorpool.storage.helpdesk.helpdesk_records import (
    Company,
    Team,
    Ticket,
    TicketEvent,
    TicketPause,
    TicketPriority,
    TicketStatus,
)

C = TypeVar("C", TicketStatus, TicketPriority, Team)

LIVE_KINDS = frozenset({"new", "open", "pending"})
"""Kinds of statuses of tickets that are worked on (docs/tickets.md#statuses)."""


class TicketRefused(Exception):
    """A change that a rule forbids; the message is one line for the client."""


class Author(msgspec.Struct, frozen=True):
    """Who makes a change."""

    kind: Literal["user", "contact", "device", "system"] = "system"
    user_id: int = 0
    is_agent: bool = False
    """Whether they handle tickets of the company (docs/helpdesk.md)."""
    attributes: Mapping[str, Any] = {}
    """What each history entry of the change holds besides: `byUserId`, `requestId`."""


SYSTEM = Author()


class Person(msgspec.Struct, frozen=True):
    """A present or future assignee of a ticket."""

    id: int
    name: str
    disabled: bool
    linked: bool
    """Whether they are linked to the company."""
    teams: frozenset[int]
    """The teams of the company that they are a member of."""


class CompanySetup(msgspec.Struct, frozen=True):
    """What a company configures, as far as the changes of its tickets depend on it."""

    company: Company
    statuses: Mapping[int, TicketStatus]
    priorities: Mapping[int, TicketPriority]
    teams: Mapping[int, Team]
    people: Mapping[int, Person]
    """Assignees of the tickets that were read, and the users that the change names."""

    def first_status(self, *kinds: str, after: TicketStatus | None = None) -> TicketStatus | None:
        """Return the first enabled status of the first of these kinds that has one, by sort order, then id.

        With `after` only statuses that it allows to follow.
        """
        for kind in kinds:
            found = [
                status
                for status in self.statuses.values()
                if status.kind == kind
                and not status.disabled
                and (after is None or may_follow(after, status.id))
            ]
            if found:
                return min(found, key=lambda status: (status.sort_order, status.id))
        return None

    def days(self, name: str, default: float) -> float:
        """Return a number of days from the company's attributes; the default if it is no number from 0."""
        value = self.company.attributes.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_DAYS:
            return default
        return value


MAX_DAYS = 36_500


def may_follow(status: TicketStatus, next_id: int) -> bool:
    """Return whether the workflow allows to move from a status to another (docs/tickets.md#workflow)."""
    following = status.attributes.get("next")
    return not isinstance(following, list) or next_id in following


def fault_of(what: str, number: int, record: TicketStatus | TicketPriority | Team | None) -> str:
    """Return why no ticket can be given a status, priority or team; empty if it can."""
    if record is None:
        return f"the company has no {what} {number}"
    return f"{what} {record.name} is disabled" if record.disabled else ""


def usable(what: str, number: int, known: Mapping[int, C]) -> C:
    """Return a status, priority or team that a ticket can be given. Raises TicketRefused."""
    record = known.get(number)
    fault = fault_of(what, number, record)
    if record is None or fault:
        raise TicketRefused(f"{what}Id: {fault}")
    return record


class TicketFacts(msgspec.Struct, frozen=True):
    """A ticket whose row is locked, and what decides about its changes."""

    ticket: Ticket
    first_response: Level
    resolution: Level
    pauses: tuple[TicketPause, ...]
    """By `begins`."""
    next_clock_at: datetime | None
    """When the ticket clock looks at it next; None: never."""
    message_sequence: int
    """The number of its latest webhook message."""
    setup: CompanySetup
    business_times: Mapping[int, BusinessTime]
    """By priority: the present one, those that the change may set, and the one it escalates to."""


class FieldChange(msgspec.Struct, frozen=True):
    """A field of a ticket that was changed, named as in JSON."""

    field: str
    before: Any = msgspec.field(name="from")
    after: Any = msgspec.field(name="to")


class TicketMessage(msgspec.Struct, frozen=True):
    """What a webhook says of a change (docs/ticket-webhooks.md)."""

    type: str
    """Such as `ticket.created`."""
    event: TicketEvent | None
    """The entry of the history; its id is set when it has been written."""
    changes: tuple[FieldChange, ...]
    ticket: Ticket
    """As it was right after the change."""


class Breach(msgspec.Struct, frozen=True):
    """A row that lets something happen once in the life of a ticket."""

    target: str
    """`firstResponse`, `resolution`, `firstResponse warning`, `resolution warning` or `escalation`."""
    due: datetime


class Notice(msgspec.Struct, frozen=True):
    """Something that an assignee is to be mailed, if they want such mails (docs/tickets.md#mails)."""

    kind: Literal["ticketAssigned", "ticketBreached"]
    user_id: int


class Outcome(msgspec.Struct, frozen=True):
    """What a change makes of a ticket."""

    setup: CompanySetup
    ticket: Ticket
    first_response: Level
    resolution: Level
    pauses: tuple[TicketPause, ...]
    """Pauses without an id are new; the last one may have been ended."""
    next_clock_at: datetime | None
    entries: tuple[TicketEvent, ...] = ()
    """New entries of the history, in order; empty if nothing was changed."""
    messages: tuple[TicketMessage, ...] = ()
    """Messages to the webhook, in order."""
    breaches: tuple[Breach, ...] = ()
    notices: tuple[Notice, ...] = ()


class Change(NamedTuple):
    """The ticket before and after a change; a new ticket has no facts."""

    facts: TicketFacts | None
    outcome: Outcome
