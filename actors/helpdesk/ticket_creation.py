"""Creates tickets in a transaction: for requests, and for rules that open tickets."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.business_time import BusinessTime
from motorpool.actors.helpdesk.create import create, with_category
from motorpool.actors.helpdesk.facts import Author, Change, Outcome, TicketRefused
from motorpool.actors.helpdesk.ticket_reader import NumberedCompany, business_times_of, lock_companies
from motorpool.actors.helpdesk.ticket_writer import write
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.runtime import NodeLocal, Request
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import ticket_setups
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketCategory
from motorpool.storage.helpdesk.ticket_setups import TicketCounter

HOUR = timedelta(hours=1)


class TooManyTickets(TicketRefused):
    """The company has had as many tickets within an hour as it may have."""

    def __init__(self, text: str, seconds: float) -> None:
        super().__init__(text)
        self.seconds = seconds
        """How long until it may have another one."""


class CreateTicket(msgspec.Struct, Request[Change | None], NodeLocal, frozen=True, gc=False):
    """Create a ticket of `ticket.company_id`, whose plain references have been checked.

    Answered with the change, after its commit and announcement; None if there is no such company. The ask
    raises TicketRefused, and the errors of storage that concern the ticket.
    """

    ticket: Ticket
    author: Author
    category: TicketCategory | None = None
    """Gives team and priority where the ticket has none."""
    created_at: datetime | None = None
    """When an imported ticket was created; None: now."""
    also: Callable[[Queries, Ticket], Awaitable[None]] | None = None
    """What else is done in the transaction that stores the ticket."""


async def create_tickets(
    transaction: Queries,
    requests: Sequence[CreateTicket],
    calendars: BusinessCalendars,
    *,
    now: datetime,
    mails: TicketMails | None = None,
    without_waiting: bool = False,
    most_per_hour: int = 0,
) -> list[Change | TicketRefused | None]:
    """Number and store tickets; return for each the change, why it is refused, or None.

    None stands for a company that does not exist. With `without_waiting` it stands as well for what would
    hold up the others: a company whose row another transaction has locked, a calendar that is new. With
    `most_per_hour` these tickets count, and a company gets no more within an hour. Call `announce` after the
    commit.

    Raises:
        Conflict: A ticket of the company has the same `unique_id`.
        StatementRejected: A reference is gone.
    """
    found = await lock_companies(
        transaction,
        [request.ticket.company_id for request in requests],
        {
            (request.ticket.company_id, user_id)
            for request in requests
            for user_id in (request.ticket.assignee_id, request.author.user_id)
        },
        skip_locked=without_waiting,
    )
    tickets = {
        index: with_category(request.ticket, request.category, found[request.ticket.company_id].setup)
        for index, request in enumerate(requests)
        if request.ticket.company_id in found
    }
    priorities = {ticket.priority_id for ticket in tickets.values()}
    setups = [company.setup for company in found.values()]
    hours = await business_times_of(
        transaction, setups, priorities, calendars, now=now, only_kept=without_waiting
    )
    results: list[Change | TicketRefused | None] = [None] * len(requests)
    decided: dict[int, Outcome] = {}
    counters: dict[int, TicketCounter] = {}
    for index, ticket in tickets.items():
        company = found[ticket.company_id]
        if ticket.priority_id in company.setup.priorities and ticket.priority_id not in hours:
            continue
        try:
            counter = _next(counters.get(ticket.company_id, company.counter), now, most_per_hour)
            decided[index] = _decide(requests[index], ticket, company, counter.last_number, hours, now)
        except TicketRefused as refused:
            results[index] = refused
        else:
            counters[ticket.company_id] = counter
    written = await write(transaction, [Change(None, outcome) for outcome in decided.values()], now, mails)
    if counters:
        await ticket_setups.store_counters(transaction, counters)
    for index, change in zip(decided, written, strict=True):
        results[index] = change
        also = requests[index].also
        if also is not None:
            await also(transaction, change.outcome.ticket)
    return results


def _next(counter: TicketCounter, now: datetime, most_per_hour: int) -> TicketCounter:
    """Return the counter after another ticket."""
    counter = counter._replace(last_number=counter.last_number + 1)
    if not most_per_hour:
        return counter
    begun = counter.counted_from
    if begun is None or not begun <= now < begun + HOUR:
        return counter._replace(counted_from=now, counted=1)
    if counter.counted >= most_per_hour:
        raise TooManyTickets(
            f"at most {most_per_hour} tickets an hour are created in a company",
            (begun + HOUR - now).total_seconds(),
        )
    return counter._replace(counted=counter.counted + 1)


def _decide(
    request: CreateTicket,
    ticket: Ticket,
    company: NumberedCompany,
    number: int,
    hours: Mapping[int, BusinessTime],
    now: datetime,
) -> Outcome:
    """Return what is made of a request whose ticket is to have this number."""
    ticket_id = company.ticket_ids[number - company.counter.last_number - 1]
    numbered = msgspec.structs.replace(ticket, id=ticket_id, number=number)
    return create(numbered, company.setup, hours, request.author, now, created_at=request.created_at)


async def create_ticket(
    transaction: Queries,
    request: CreateTicket,
    calendars: BusinessCalendars,
    *,
    now: datetime,
    mails: TicketMails | None = None,
) -> Change | None:
    """Number and store one ticket; None if there is no such company.

    Raises:
        TicketRefused: The company has no starting status, or a reference cannot be set.
        Conflict, StatementRejected: As `create_tickets`.
    """
    (result,) = await create_tickets(transaction, [request], calendars, now=now, mails=mails)
    if isinstance(result, TicketRefused):
        raise result
    return result
