"""What the writer stores is what the reader reads, and is what the rules decided."""

from datetime import timedelta

import msgspec
import pytest
from tests.actors.helpdesk import ticket_world as world

from motorpool.actors.helpdesk.assign import assign
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.comment import comment
from motorpool.actors.helpdesk.edit import edit
from motorpool.actors.helpdesk.facts import Author, Change
from motorpool.actors.helpdesk.settle import settle
from motorpool.actors.helpdesk.ticket_creation import CreateTicket, create_ticket
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import write, write_deletion
from motorpool.actors.helpdesk.transition import transition
from motorpool.storage.accounts import links, users
from motorpool.storage.helpdesk import company_tables, tickets
from motorpool.storage.helpdesk.helpdesk_records import Company, Team, Ticket, TicketPriority, TicketStatus
from motorpool.storage.records import User

NOW = world.START
CALENDARS = BusinessCalendars()


class Rows:
    """A company in the database with statuses, priorities, a team and two users."""

    def __init__(self, database):
        self.database = database

    async def make(self, **attributes):
        q = self.database
        self.company_id = (
            await company_tables.COMPANIES.insert(q, Company(name="Haulage", attributes=attributes))
        ).id
        at = {"company_id": self.company_id}
        self.statuses = {}
        for place, kind in enumerate(("new", "open", "pending", "resolved", "closed", "cancelled")):
            row = TicketStatus(name=kind.title(), kind=kind, sort_order=place, **at)
            self.statuses[kind] = (await company_tables.STATUSES.insert(q, row)).id
        urgent = TicketPriority(
            name="Urgent", level=1, first_response_minutes=15, resolution_minutes=60, **at
        )
        self.urgent = (await company_tables.PRIORITIES.insert(q, urgent)).id
        normal = TicketPriority(
            name="Normal",
            level=2,
            first_response_minutes=60,
            resolution_minutes=480,
            attributes={"escalatePriorityId": self.urgent},
            **at,
        )
        self.normal = (await company_tables.PRIORITIES.insert(q, normal)).id
        self.team = (await company_tables.TEAMS.insert(q, Team(name="Workshop", **at))).id
        self.ann = (await users.TABLE.insert(q, User(name="Ann", email="ann@example.org"))).id
        await links.add(q, links.USER_COMPANY, self.ann, self.company_id)
        await links.add(q, links.USER_TEAM, self.ann, self.team)
        self.agent = Author("user", self.ann, is_agent=True)
        return self

    async def create(self, at=NOW, **fields):
        fields = {"priority_id": self.normal, "subject": "No signal"} | fields
        async with self.database.transaction() as transaction:
            ticket = Ticket(company_id=self.company_id, **fields)
            change = await create_ticket(transaction, CreateTicket(ticket, self.agent), CALENDARS, now=at)
        return change.outcome

    async def change(self, ticket_ids, rule, at, **values):
        async with self.database.transaction() as transaction:
            facts = await lock_facts(transaction, ticket_ids, CALENDARS, now=at, people=[self.ann])
            changes = [Change(each, rule(each, at, **values)) for each in facts.values()]
            changes = await write(transaction, changes, at)
        return [change.outcome for change in changes]

    async def facts(self, ticket_id):
        async with self.database.transaction() as transaction:
            return (await lock_facts(transaction, [ticket_id], CALENDARS, now=NOW))[ticket_id]

    async def events(self, ticket_id):
        rows = await self.database.fetch(
            "select * from ticket_events where ticket_id = $1 order by id", ticket_id
        )
        return [dict(row.items()) for row in rows]


@pytest.fixture
async def rows(database):
    return await Rows(database).make()


def without_ids(pauses):
    return [msgspec.structs.replace(pause, id=0) for pause in pauses]


async def check_stored(rows, outcome):
    facts = await rows.facts(outcome.ticket.id)
    assert facts.ticket == outcome.ticket
    assert facts.first_response == outcome.first_response
    assert facts.resolution == outcome.resolution
    assert facts.next_clock_at == outcome.next_clock_at
    assert without_ids(facts.pauses) == without_ids(outcome.pauses)


def by(author, change, **values):
    return lambda facts, at: change(facts, author, at, **values)


async def test_a_life_is_stored_as_it_was_decided(rows):
    outcome = await rows.create(description="It blinks", attributes={"tags": ["gps"], "n": [1, {"a": None}]})
    await check_stored(rows, outcome)
    ticket_id = outcome.ticket.id
    agent, kinds = rows.agent, rows.statuses
    steps = [
        by(agent, comment, text="Looking\nat it"),
        by(agent, assign, team_id=rows.team, assignee_id=rows.ann),
        by(agent, transition, status_id=kinds["pending"]),
        by(agent, edit, fields={"priority_id": rows.urgent, "description": "", "attributes": {"n": 2}}),
        by(agent, transition, status_id=kinds["open"]),
        settle,
        by(agent, transition, status_id=kinds["resolved"]),
        by(agent, comment, text="Wrong again", on_behalf_of_contact=True),
        by(agent, transition, status_id=kinds["cancelled"]),
    ]
    at = NOW
    for place, step in enumerate(steps):
        at = NOW.replace(microsecond=123_000) + _minutes(place)
        (outcome,) = await rows.change([ticket_id], step, at)
        await check_stored(rows, outcome)
    told = await rows.events(ticket_id)
    assert [row["version"] for row in told] == sorted(row["version"] for row in told)
    assert {row["version"] for row in told} == set(range(1, outcome.ticket.version + 1))
    assert all(row["company_id"] == rows.company_id for row in told)


def _minutes(place):
    return timedelta(minutes=place * place * 20)


async def test_two_hundred_tickets_are_settled_in_one_batch_and_others_stay(rows):
    made = [await rows.create() for _ in range(3)]
    late = NOW + _minutes(4)
    ids = [outcome.ticket.id for outcome in made]
    outcomes = await rows.change(ids, settle, late)
    assert [outcome.ticket.first_response_breached for outcome in outcomes] == [True] * 3
    assert all(outcome.entries for outcome in outcomes)
    for outcome in outcomes:
        await check_stored(rows, outcome)
        assert outcome.ticket.priority_id == rows.urgent
    before = [await rows.events(ticket_id) for ticket_id in ids]
    again = await rows.change(ids, settle, late)
    assert not any(outcome.entries for outcome in again)
    assert [await rows.events(ticket_id) for ticket_id in ids] == before
    found = await rows.database.fetch("select ticket_id, target from ticket_breaches order by 1, 2")
    targets = ["escalation", "firstResponse", "firstResponse warning", "resolution warning"]
    assert [tuple(row.values()) for row in found] == [(each, target) for each in ids for target in targets]


async def test_a_deleted_ticket_leaves_nothing_behind_and_its_children_have_no_parent(rows):
    parent = (await rows.create()).ticket
    child = (await rows.create(parent_id=parent.id)).ticket
    await rows.change([parent.id], by(rows.agent, transition, status_id=rows.statuses["pending"]), NOW)
    async with rows.database.transaction() as transaction:
        await lock_facts(transaction, [parent.id], CALENDARS, now=NOW)
        await tickets.delete(transaction, rows.company_id, parent.id, now=NOW)
    for table in ("ticket_events", "ticket_pauses", "ticket_breaches"):
        left = await rows.database.fetch_value(
            f"select count(*) from {table} where ticket_id = $1", parent.id
        )
        assert left == 0
    facts = await rows.facts(child.id)
    assert (facts.ticket.parent_id, facts.ticket.version) == (0, 2)
    last = (await rows.events(child.id))[-1]
    assert (last["field"], last["from_value"], last["to_value"]) == ("parentId", parent.id, 0)


async def test_the_history_in_the_database_tells_the_same_ticket(rows):
    outcome = await rows.create(at=NOW.replace(microsecond=999_000))
    await rows.change(
        [outcome.ticket.id], by(rows.agent, comment, text="x"), NOW.replace(microsecond=999_000) + _minutes(1)
    )
    entries = await rows.events(outcome.ticket.id)
    assert [row["type"] for row in entries] == ["created", "comment", "firstResponse"]
    assert entries[0]["event_time"] == outcome.ticket.created_at


async def test_a_change_writes_its_messages(database):
    """In the order in which it tells of them, numbered without gaps, with the ids of the history."""
    rows = await Rows(database).make(ticketWebhook={"url": "https://hooks.example.org", "secret": "x" * 16})
    ticket_id = (await rows.create()).ticket.id
    at, agent = NOW + _minutes(1), rows.agent
    answer = by(agent, comment, text="Answered", status_id=rows.statuses["pending"])
    await rows.change([ticket_id], answer, at)
    # What changes nothing is not told, nor is an internal comment, unless it is asked for.
    await rows.change([ticket_id], by(agent, transition, status_id=rows.statuses["pending"]), at)
    await rows.change([ticket_id], by(agent, comment, text="Among us", internal=True), at)
    async with database.transaction() as transaction:
        facts = (await lock_facts(transaction, [ticket_id], CALENDARS, now=at))[ticket_id]
        await write_deletion(transaction, facts, at)
    found = await database.fetch(
        "select type, sequence, message ->> 'text' as body, company_id from deliveries order by id"
    )
    assert [(row["type"], row["sequence"]) for row in found] == [
        ("ticket.created", 1),
        ("ticket.commented", 2),
        ("ticket.status_changed", 3),
        ("ticket.deleted", 4),
    ]
    created, commented, moved, deleted = (msgspec.json.decode(row["body"]) for row in found)
    assert created["data"]["event"]["id"] > 0
    assert commented["data"]["event"]["text"] == "Answered"
    assert moved["data"]["ticket"]["statusKind"] == "pending"
    assert {"field": "statusId", "from": rows.statuses["new"], "to": rows.statuses["pending"]} in moved[
        "data"
    ]["changes"]
    assert "ticket" not in deleted["data"]
    assert {row["company_id"] for row in found} == {rows.company_id}
