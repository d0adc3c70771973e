"""Reads what decides about the changes of tickets, and locks them; reads what their service levels show."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import msgspec

from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.business_time import ALWAYS, BusinessTime
from motorpool.actors.helpdesk.escalation import escalation_priority
from motorpool.actors.helpdesk.facts import CompanySetup, Person, TicketFacts
from motorpool.actors.helpdesk.service_level_view import EscalationView, ServiceLevelView, view
from motorpool.actors.helpdesk.service_levels import Level, clocks_of
from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.helpdesk import company_tables, ticket_setups, tickets
from motorpool.storage.helpdesk.helpdesk_records import (
    Company,
    Team,
    Ticket,
    TicketPause,
    TicketPriority,
    TicketStatus,
)
from motorpool.storage.helpdesk.ticket_setups import TicketCounter

R = TypeVar("R", bound=msgspec.Struct)


async def lock_facts(
    transaction: Queries,
    ticket_ids: Sequence[int],
    calendars: BusinessCalendars,
    *,
    now: datetime,
    people: Iterable[int] = (),
    priorities: Iterable[int] = (),
) -> dict[int, TicketFacts]:
    """Lock tickets until the transaction ends, and return their facts, by id.

    Unknown tickets are left out. `people` and `priorities` are users and priorities that the change may name.
    """
    rows = await tickets.lock(transaction, ticket_ids)
    if not rows:
        return {}
    locked = [_ticket_of(row) for row in rows]
    pauses = await tickets.pauses_of(transaction, [ticket.id for ticket in locked])
    pairs = {(ticket.company_id, ticket.assignee_id) for ticket in locked}
    pairs |= {(ticket.company_id, user_id) for ticket in locked for user_id in people}
    setups = {row["id"]: _setup(row) for row in await ticket_setups.read(transaction, sorted(pairs))}
    asked = {ticket.priority_id for ticket in locked} | {*priorities}
    since = min(ticket.created_at for ticket in locked)
    hours = await business_times_of(transaction, setups.values(), asked, calendars, now=now, since=since)
    return {
        ticket.id: TicketFacts(
            ticket=ticket,
            first_response=_level_of(row, "first_response", ticket),
            resolution=_level_of(row, "resolution", ticket),
            pauses=tuple(pauses[ticket.id]),
            next_clock_at=row["next_clock_at"],
            message_sequence=row["message_sequence"],
            setup=setups[ticket.company_id],
            business_times=hours,
        )
        for row, ticket in zip(rows, locked, strict=True)
    }


class NumberedCompany(NamedTuple):
    """A company whose tickets this transaction numbers."""

    setup: CompanySetup
    counter: TicketCounter
    ticket_ids: Sequence[int]
    """Ids for its new tickets."""


async def lock_companies(
    transaction: Queries,
    company_ids: Sequence[int],
    pairs: Iterable[tuple[int, int]],
    *,
    skip_locked: bool = False,
) -> dict[int, NumberedCompany]:
    """Lock companies, each named once for each new ticket; see `ticket_setups.lock`.

    `pairs` are companies with the users that matter for their tickets.
    """
    found = await ticket_setups.lock(transaction, company_ids, sorted({*pairs}), skip_locked=skip_locked)
    return {
        row["id"]: NumberedCompany(
            _setup(row), TicketCounter(*(row[name] for name in ticket_setups.COUNTER)), row["ticket_ids"]
        )
        for row in found
    }


def _setup(row: Row) -> CompanySetup:
    return CompanySetup(
        company=Company(row["id"], row["name"], row["unique_id"], row["disabled"], row["attributes"]),
        statuses=_records(TicketStatus, row["statuses"]),
        priorities=_records(TicketPriority, row["priorities"]),
        teams=_records(Team, row["teams"]),
        people={each["id"]: msgspec.convert(each, Person) for each in row["people"]},
    )


def _records(shape: type[R], rows: Iterable[Mapping[str, Any]]) -> dict[int, R]:
    """Return the records of rows as PostgreSQL makes them JSON; references that are null are 0."""
    names = shape.__struct_fields__
    return {
        row["id"]: shape(**{name: 0 if row[name] is None else row[name] for name in names}) for row in rows
    }


async def business_times_of(
    q: Queries,
    setups: Iterable[CompanySetup],
    priorities: Iterable[int],
    calendars: BusinessCalendars,
    *,
    now: datetime,
    since: datetime | None = None,
    only_kept: bool = False,
) -> dict[int, BusinessTime]:
    """Return the business hours of these priorities, and of those that they escalate to.

    `since` is when the oldest ticket that is asked for was created; by default now.
    With `only_kept` those that would have to be computed are left out.
    """
    known = {each.company.id: each for each in setups}
    found = {number: each for setup in known.values() for number, each in setup.priorities.items()}
    asked = {number for number in priorities if number in found}
    asked |= {escalation_priority(found[number].attributes) for number in asked}
    companies = {number: setup.company for number, setup in known.items()}
    wanted = [found[number] for number in sorted(asked) if number in found]
    return await calendars.of_priorities(q, wanted, companies, now, since=since, only_kept=only_kept)


_RECORD = Ticket.__struct_fields__


def _ticket_of(row: Row) -> Ticket:
    """Return the ticket of a row that has its columns among others."""
    return tickets.TABLE.from_row({name: row[name] for name in _RECORD})


def _level_of(row: Row, target: str, ticket: Ticket) -> Level:
    """Return the level of a target, `first_response` or `resolution`, of a row with the clock's columns."""
    done_at = ticket.first_response_at if target == "first_response" else ticket.resolved_at
    return Level(
        target_minutes=row[f"{target}_target"],
        credit=timedelta(seconds=row[f"{target}_credit"]),
        due=row[f"{target}_due"],
        breached=row[f"{target}_breached"],
        verdict=row[f"{target}_verdict"],
        decided_at=row[f"{target}_decided_at"],
        elapsed=row[f"{target}_elapsed"],
        warned=row[f"{target}_warned"],
        done_at=done_at,
    )


async def read_service_levels(
    q: Queries, ticket_ids: Iterable[int], calendars: BusinessCalendars, now: datetime
) -> dict[int, ServiceLevelView]:
    """Return what is shown of the service levels of tickets, by id; unknown tickets are left out."""
    rows = {row["id"]: row for row in await tickets.fetch_service_levels(q, ticket_ids)}
    if not rows:
        return {}
    found = {ticket_id: _ticket_of(row) for ticket_id, row in rows.items()}
    companies = {
        each.id: each
        for each in await company_tables.COMPANIES.fetch_many(q, {each.company_id for each in found.values()})
    }
    # Of a company that was deleted meanwhile nothing is left.
    found = {ticket_id: each for ticket_id, each in found.items() if each.company_id in companies}
    named = {each.priority_id for each in found.values()} - {0}
    priorities = {
        each.id: each
        for each in await company_tables.PRIORITIES.fetch_many(q, named)
        if each.company_id in companies
    }
    since = min((each.created_at for each in found.values()), default=now)
    hours = await calendars.of_priorities(q, priorities.values(), companies, now, since=since)
    return {
        ticket_id: _view_of(
            rows[ticket_id],
            ticket,
            priorities.get(ticket.priority_id),
            hours.get(ticket.priority_id, ALWAYS),
            now,
        )
        for ticket_id, ticket in found.items()
    }


def _view_of(
    row: Row, ticket: Ticket, priority: TicketPriority | None, hours: BusinessTime, now: datetime
) -> ServiceLevelView:
    levels = _level_of(row, "first_response", ticket), _level_of(row, "resolution", ticket)
    columns = (row[name] for name in ("begins", "ends", "ids", "reasons"))
    pauses = [TicketPause(*values) for values in zip(*columns, strict=True)]
    escalation = row["escalation"] or {}
    return view(
        ticket,
        priority,
        levels,
        clocks_of(ticket.created_at, priority, pauses, hours),
        pauses,
        now,
        EscalationView(
            ticket.escalated_at, escalation.get("toTeamId") or 0, escalation.get("toPriorityId") or 0
        ),
    )
