"""A company with tickets for tests of the ticket clock; due times are written by hand."""

import itertools
from datetime import UTC, datetime, timedelta

import msgspec

from motorpool.storage import plain_tables
from motorpool.storage.helpdesk import company_tables
from motorpool.storage.helpdesk.helpdesk_records import Company, Team, TicketPriority, TicketStatus
from motorpool.storage.records import Calendar

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WEBHOOK = {"url": "https://hooks.example.org/tickets", "secret": "a-secret-of-the-company"}
NEVER_WARN = {"warnPercent": 0}
KINDS = ("new", "open", "pending", "resolved", "closed")


def instant(text):
    """ "2026-10-12T08:00:00Z" or "10-12 08:00" of 2026."""
    if len(text) < 19:
        text = f"2026-{text.replace(' ', 'T')}:00Z"
    return datetime.fromisoformat(text).astimezone(UTC)


class World:
    """Makes rows and reads what has become of them."""

    def __init__(self, database):
        self.database = database
        self.company = None
        self.statuses = {}
        self._numbers = itertools.count(1)

    async def make_company(self, **attributes):
        row = Company(name="ACME", attributes={"ticketWebhook": WEBHOOK, **attributes})
        self.company = await company_tables.COMPANIES.insert(self.database, row)
        for order, kind in enumerate(KINDS):
            status = TicketStatus(
                company_id=self.company.id, name=kind.title(), kind=kind, sort_order=10 * order
            )
            self.statuses[kind] = await company_tables.STATUSES.insert(self.database, status)
        return self.company

    async def priority(self, name="Normal", first=60, resolution=480, calendar_id=0, **attributes):
        row = TicketPriority(
            company_id=self.company.id,
            name=name,
            level=3,
            first_response_minutes=first,
            resolution_minutes=resolution,
            calendar_id=calendar_id,
            attributes=attributes,
        )
        return await company_tables.PRIORITIES.insert(self.database, row)

    async def edit(self, row, **fields):
        """Write a changed priority, calendar or company; return it."""
        tables = {
            TicketPriority: company_tables.PRIORITIES,
            Calendar: plain_tables.CALENDARS,
            Company: company_tables.COMPANIES,
        }
        row = msgspec.structs.replace(row, **fields)
        await tables[type(row)].update(self.database, row)
        return row

    async def team(self, name="Second line"):
        return await company_tables.TEAMS.insert(self.database, Team(company_id=self.company.id, name=name))

    async def calendar(self, data, **attributes):
        row = Calendar(name="Hours", data=data, attributes=attributes)
        return await plain_tables.CALENDARS.insert(self.database, row)

    async def ticket(self, created, priority, *, kind="new", first=None, resolution=None, **columns):
        """A ticket of which the clock has not heard; its due times count every minute unless they are given.

        Its `next_clock_at` is when it was created: the clock looks at it, and finds the right instant.
        """
        first_target, target = priority.first_response_minutes, priority.resolution_minutes
        status = self.statuses[kind]
        if first_target and first is None:
            first = created + first_target * MINUTE
        if target and resolution is None:
            resolution = created + target * MINUTE
        columns = {
            "company_id": self.company.id,
            "number": next(self._numbers),
            "subject": "No signal",
            "priority_id": priority.id,
            "status_id": status.id,
            "status_kind": kind,
            "created_at": created,
            "updated_at": created,
            "status_changed_at": created,
            "first_response_due": first,
            "resolution_due": resolution,
            "first_response_target": first_target,
            "resolution_target": target,
            "next_clock_at": created,
            **columns,
        }
        names = ", ".join(columns)
        places = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
        return await self.database.fetch_value(
            f"insert into tickets ({names}) values ({places}) returning id",
            *columns.values(),
        )

    async def tickets(self, created, priority, count, **columns):
        """Tickets created a second apart; their ids."""
        return [await self.ticket(created + number * SECOND, priority, **columns) for number in range(count)]

    async def column(self, ticket_id, name):
        return await self.database.fetch_value(f"select {name} from tickets where id = $1", ticket_id)

    async def entries(self, *types, ticket_id=None):
        """(type, ticket, eventTime, createdAt, attributes) in the order of writing."""
        rows = await self.database.fetch(
            "select type, ticket_id, event_time, created_at, attributes from ticket_events"
            " where type = any($1::text[]) and ($2::bigint is null or ticket_id = $2) order by id",
            list(types),
            ticket_id,
        )
        return [tuple(row.values()) for row in rows]

    async def breaches(self):
        """(ticket, target, due) of what happens once."""
        rows = await self.database.fetch("select ticket_id, target, due from ticket_breaches")
        return sorted(tuple(row.values()) for row in rows)

    async def messages(self):
        """(ticket, sequence, type) of the messages to webhooks."""
        rows = await self.database.fetch(
            "select order_key, sequence, type from deliveries where company_id is not null"
            " order by order_key, sequence"
        )
        return [tuple(row.values()) for row in rows]
