"""Creates a ticket in a transaction: for requests, and for rules that open tickets."""

from datetime import datetime

import msgspec

from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.tickets.business_calendars import BusinessCalendars
from motorpool.actors.tickets.create import create, starting_status, with_category
from motorpool.actors.tickets.facts import Author, Change, TicketRefused
from motorpool.actors.tickets.ticket_reader import business_times_of, number_ticket
from motorpool.actors.tickets.ticket_writer import write
from motorpool.storage.helpdesk_records import Ticket, TicketCategory
from motorpool.storage.queries import Queries

__all__ = ["create_ticket"]


async def create_ticket(
    transaction: Queries,
    ticket: Ticket,
    author: Author,
    calendars: BusinessCalendars,
    *,
    now: datetime,
    category: TicketCategory | None = None,
    created_at: datetime | None = None,
    mails: TicketMails | None = None,
) -> Change | None:
    """Number and store a ticket of `ticket.company_id`; None if there is no such company.

    Plain references have been checked. The category gives team and priority where the ticket has none.
    Call `announce` after the commit.

    Raises:
        TicketRefused: The company has no starting status, or a reference cannot be set.
        Conflict: Another ticket of the company has the same `unique_id`.
    """
    people = [user_id for user_id in (ticket.assignee_id, author.user_id) if user_id]
    found = await number_ticket(transaction, ticket.company_id, people, ticket.status_id)
    if found is None:
        return None
    setup, number = found
    ticket = with_category(ticket, category, setup)
    hours = await business_times_of(transaction, [setup], [ticket.priority_id], calendars, now=now)
    status = starting_status(setup, ticket.status_id)
    if (number.status_id, number.status_kind) != (status.id, status.kind):
        raise TicketRefused(f"status {status.id} was changed just now")
    ticket = msgspec.structs.replace(ticket, id=number.ticket_id, number=number.number, status_id=status.id)
    outcome = create(ticket, setup, hours, author, now, created_at=created_at)
    return (await write(transaction, [Change(None, outcome)], now, mails))[0]
