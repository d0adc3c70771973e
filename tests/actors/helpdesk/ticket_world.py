"""A company to change tickets of without a database, and the history read back by hand."""

from datetime import UTC, datetime, timedelta
from itertools import count

import msgspec

from motorpool.actors.helpdesk.business_time import ALWAYS, BusinessTime
from motorpool.actors.helpdesk.create import create
from motorpool.actors.helpdesk.facts import Author, CompanySetup, Person, TicketFacts
from motorpool.storage.helpdesk.helpdesk_records import Company, Team, Ticket, TicketPriority, TicketStatus

START = datetime(2026, 10, 12, 8, tzinfo=UTC)
OPENS, SHUTS = 8, 18
"""Business hours of the priority "Office", in UTC, every day."""

NEW, OPEN, PENDING, PARTS, RESOLVED, CLOSED, CANCELLED = range(1, 8)
STATUSES = {
    NEW: ("New", "new", None),
    OPEN: ("In progress", "open", None),
    PENDING: ("Waiting", "pending", [OPEN, PARTS, RESOLVED, CLOSED, CANCELLED]),
    PARTS: ("Parts", "pending", [OPEN, PENDING, RESOLVED]),
    RESOLVED: ("Resolved", "resolved", [OPEN, PENDING, CLOSED, CANCELLED]),
    CLOSED: ("Closed", "closed", None),
    CANCELLED: ("Cancelled", "cancelled", None),
}
OFFICE, URGENT, SLOW = 1, 2, 3
TEAM_A, TEAM_B = 7, 8
ANN, BOB, EVE = 21, 22, 23

AGENT = Author("user", ANN, is_agent=True)
READER = Author("user", EVE)


def office_windows(start, end):
    day = start.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    while day < end:
        opens, shuts = max(start, day.replace(hour=OPENS)), min(end, day.replace(hour=SHUTS))
        if opens < shuts:
            yield opens, shuts
        day += timedelta(days=1)


def make_setup(**attributes):
    return CompanySetup(
        company=Company(id=1, name="Haulage", attributes=attributes),
        statuses={
            number: TicketStatus(
                id=number,
                company_id=1,
                name=name,
                kind=kind,
                sort_order=number,
                attributes={} if following is None else {"next": following},
            )
            for number, (name, kind, following) in STATUSES.items()
        },
        priorities={
            OFFICE: TicketPriority(
                id=OFFICE,
                company_id=1,
                name="Office",
                first_response_minutes=120,
                resolution_minutes=600,
                calendar_id=5,
                attributes={"escalatePriorityId": URGENT, "escalateTeamId": TEAM_B},
            ),
            URGENT: TicketPriority(
                id=URGENT, company_id=1, name="Urgent", first_response_minutes=30, resolution_minutes=240
            ),
            SLOW: TicketPriority(id=SLOW, company_id=1, name="Slow", resolution_minutes=3000),
        },
        teams={number: Team(id=number, company_id=1, name=f"Team {number}") for number in (TEAM_A, TEAM_B)},
        people={
            ANN: Person(ANN, "Ann", disabled=False, linked=True, teams=frozenset({TEAM_A})),
            BOB: Person(BOB, "Bob", disabled=False, linked=True, teams=frozenset({TEAM_A, TEAM_B})),
            EVE: Person(EVE, "Eve", disabled=False, linked=True, teams=frozenset()),
        },
    )


def hours():
    return {OFFICE: BusinessTime(office_windows), URGENT: ALWAYS, SLOW: ALWAYS}


class Desk:
    """One ticket, changed by the rules; what a database would keep."""

    def __init__(self, setup=None, *, at=START, author=AGENT, **fields):
        self.setup = setup or make_setup()
        self.hours = hours()
        self.entries = []
        self.messages = []
        self.notices = []
        self.breaches = []
        self.now = at
        self._ids = count(1)
        fields = {"priority_id": OFFICE, "subject": "No signal"} | fields
        ticket = Ticket(id=118, number=42, company_id=1, **fields)
        self.facts = None
        self.keep(create(ticket, self.setup, self.hours, author, at))

    @property
    def ticket(self):
        return self.facts.ticket

    def keep(self, outcome):
        """Store what came of a change, as the tables would."""
        for entry in outcome.entries:
            self.entries.append(msgspec.structs.replace(entry, id=next(self._ids)))
        self.messages += outcome.messages
        self.notices += outcome.notices
        self.breaches += [each.target for each in outcome.breaches]
        ticket = outcome.ticket
        self.facts = TicketFacts(
            ticket=ticket,
            first_response=msgspec.structs.replace(outcome.first_response, done_at=ticket.first_response_at),
            resolution=msgspec.structs.replace(outcome.resolution, done_at=ticket.resolved_at),
            pauses=tuple(
                pause if pause.id else msgspec.structs.replace(pause, id=next(self._ids))
                for pause in outcome.pauses
            ),
            next_clock_at=outcome.next_clock_at,
            message_sequence=0,
            setup=self.setup,
            business_times=self.hours,
        )
        return outcome

    def do(self, change, author=AGENT, *, after=timedelta(0), **values):
        """Change the ticket some time later."""
        self.now += after
        return self.keep(change(self.facts, author, self.now, **values))

    def types(self):
        return [entry.type for entry in self.entries]


def snake(name):
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)


LIVE = {"new", "open", "pending"}


def replay(entries):
    """The ticket that a history tells of, as far as it is not a due time."""
    ticket = {
        "attributes": {},
        "first_response_at": None,
        "reopened_at": None,
        "last_contact_at": None,
        "last_agent_at": None,
        "escalated_at": None,
        "first_response_breached": False,
        "resolution_breached": False,
        "reopen_count": 0,
        "comment_count": 0,
    }
    for entry in entries:
        apply(ticket, entry)
        ticket["version"] = entry.version
        ticket["updated_at"] = entry.created_at
    ticket["sla_paused"] = ticket["status_kind"] == "pending"
    return ticket


def apply(ticket, entry):
    at, noted = entry.event_time, entry.attributes
    match entry.type:
        case "created":
            ticket |= {snake(name): value for name, value in noted["initial"].items()}
            ticket |= {"created_at": at, "status_changed_at": at, "status_kind": noted["statusKind"]}
            ticket["resolved_at"] = at if noted["statusKind"] in {"resolved", "closed"} else None
            ticket["closed_at"] = at if noted["statusKind"] in {"closed", "cancelled"} else None
        case "updated" if entry.field.startswith("attributes."):
            ticket["attributes"] = dict(ticket["attributes"])
            ticket["attributes"].pop(entry.field[11:], None)
            if entry.to is not None:
                ticket["attributes"][entry.field[11:]] = entry.to
        case "updated" | "assigned":
            ticket[snake(entry.field)] = "" if entry.to is None else entry.to
        case "comment":
            ticket["comment_count"] += 1
            if not entry.internal:
                ticket["last_contact_at" if entry.actor == "contact" else "last_agent_at"] = at
        case "firstResponse":
            ticket["first_response_at"] = at
        case "statusChanged":
            move(ticket, entry.to, noted["fromKind"], noted["toKind"], at)
        case "reopened":
            ticket |= {"resolved_at": None, "closed_at": None, "reopened_at": at}
            ticket["reopen_count"] += 1
        case "slaBreached":
            ticket[snake(noted["target"]) + "_breached"] = True
        case "escalationSkipped":
            ticket["escalated_at"] = at
        case "escalated":
            ticket["escalated_at"] = at
            for name in ("TeamId", "AssigneeId", "PriorityId"):
                if f"to{name}" in noted:
                    ticket[snake(name[0].lower() + name[1:])] = noted[f"to{name}"]


def move(ticket, status_id, old, new, at):
    ticket |= {"status_id": status_id, "status_kind": new, "status_changed_at": at}
    if new in {"resolved", "closed"} and ticket["resolved_at"] is None:
        ticket["resolved_at"] = at
    if new == "resolved":
        ticket["closed_at"] = None
    if new in {"closed", "cancelled"} and not (old == new and ticket["closed_at"]):
        ticket["closed_at"] = at
