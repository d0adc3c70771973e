"""Tickets that are created together: each request has its own outcome, whatever the others have."""

import base64
import random
from collections import Counter

import msgspec
import trio
from tests.actors.conftest import NOW
from tests.actors.helpdesk.clock.world import HOUR, World

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.helpdesk import ticket_creator
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.facts import SYSTEM, TicketRefused
from motorpool.actors.helpdesk.ticket_creation import CreateTicket, TooManyTickets
from motorpool.actors.helpdesk.ticket_creator import (
    ANSWER_SECONDS,
    TICKET_CREATOR,
    TicketCreator,
)
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.runtime import ChildSpec
from motorpool.storage.database.connections import Connection
from motorpool.storage.errors import Conflict, StatementRejected, StorageUnavailable
from motorpool.storage.helpdesk import company_tables
from motorpool.storage.helpdesk.helpdesk_records import Branch, Ticket

GONE = 999_999
HOURS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//tests//EN
BEGIN:VEVENT
UID:1
DTSTAMP:20260101T000000Z
DTSTART:20260101T080000Z
DTEND:20260101T180000Z
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR
"""


def creator_spec(database, most_per_hour=0):
    mails = TicketMails(OutgoingServices().mail)
    return ChildSpec(
        kind=TICKET_CREATOR,
        factory=lambda: TicketCreator(database, BusinessCalendars(), mails, most_per_hour),
    )


def ticket(company, **fields):
    return CreateTicket(Ticket(company_id=company.id, subject="No signal", **fields), SYSTEM)


async def outcomes(system, requests):
    """What each request is answered, or raises; they are sent in their order."""
    found = [None] * len(requests)

    async def wait(place, asked):
        try:
            found[place] = await asked
        except (TicketRefused, StorageUnavailable, Conflict, StatementRejected) as error:
            found[place] = error

    async with trio.open_nursery() as nursery:
        for place, request in enumerate(requests):
            try:
                nursery.start_soon(wait, place, system.ref(TICKET_CREATOR).ask_now(request, ANSWER_SECONDS))
            except StorageUnavailable as error:
                found[place] = error
    return found


async def stored(database):
    """(company, number, unique id) of all tickets."""
    rows = await database.fetch("select company_id, number, unique_id from tickets order by 1, 2")
    return [tuple(row.values()) for row in rows]


async def test_requests_that_come_together_share_transactions(tree, database, world):
    async with tree(creator_spec(database)) as system:
        changes = await outcomes(system, [ticket(world.company) for _ in range(200)])
    assert [change.outcome.ticket.number for change in changes] == list(range(1, 201))
    assert await database.fetch_value("select last_ticket_number from companies") == 200
    transactions = await database.fetch_value("select count(distinct xmin::text) from tickets")
    assert transactions < 100
    # All messages of the webhook, each with the first number of its ticket.
    assert Counter(kind for _, _, kind in await world.messages()) == {"ticket.created": 200}


async def test_a_ticket_has_due_times_of_a_calendar_that_is_computed_first(tree, database, world):
    calendar = await world.calendar(base64.b64encode(HOURS.replace("\n", "\r\n").encode()).decode())
    priority = await world.priority(first=60, resolution=0, calendar_id=calendar.id)
    async with tree(creator_spec(database)) as system:
        first, plain, second = await outcomes(
            system,
            [
                ticket(world.company, priority_id=priority.id),
                ticket(world.company),
                ticket(world.company, priority_id=priority.id),
            ],
        )
        (third,) = await outcomes(system, [ticket(world.company, priority_id=priority.id)])
    assert plain.outcome.ticket.first_response_due is None
    tickets = [change.outcome.ticket for change in (first, second, third)]
    assert {each.first_response_due - each.created_at for each in tickets} == {HOUR}


async def test_each_request_has_the_outcome_that_it_has_alone(tree, database, seed):
    """Compared with a model that creates one ticket after the other."""
    chance = random.Random(seed)
    worlds = [World(database), World(database)]
    for world in worlds:
        world.company = await world.make_company()
    urgent = [(await world.priority()).id for world in worlds]
    requests, expected, numbers, taken = [], [], Counter(), set()
    for _ in range(40):
        place = chance.randrange(2)
        kind = chance.choice(["good", "good", "good", "unique", "refused", "rejected", "nowhere"])
        company, fields, outcome = worlds[place].company, {}, None
        match kind:
            case "good":
                fields = {"priority_id": chance.choice([0, urgent[place]])}
            case "unique":
                fields = {"unique_id": chance.choice("abc")}
                key = (company.id, fields["unique_id"])
                outcome = Conflict if key in taken else None
                taken.add(key)
            case "refused":
                fields = {"priority_id": urgent[1 - place]}
                outcome = TicketRefused
            case "rejected":
                fields = {"branch_id": GONE}
                outcome = StatementRejected
            case "nowhere":
                company = msgspec.structs.replace(company, id=GONE)
                outcome = "no company"
        if outcome is None:
            numbers[company.id] += 1
            outcome = (company.id, numbers[company.id])
        requests.append(ticket(company, **fields))
        expected.append(outcome)
    async with tree(creator_spec(database)) as system:
        found = await outcomes(system, requests)
    shown = [
        "no company"
        if each is None
        else type(each)
        if isinstance(each, Exception)
        else (each.outcome.ticket.company_id, each.outcome.ticket.number)
        for each in found
    ]
    assert shown == expected
    assert [(company, number) for company, number, _ in await stored(database)] == sorted(
        outcome for outcome in expected if isinstance(outcome, tuple)
    )
    last = await database.fetch("select id, last_ticket_number from companies where last_ticket_number > 0")
    assert {row[0]: row[1] for row in last} == numbers


async def test_a_company_that_is_locked_holds_up_no_other(tree, database, world):
    other = World(database)
    await other.make_company()
    async with (
        tree(creator_spec(database)) as system,
        trio.open_nursery() as nursery,
        database.transaction() as transaction,
    ):
        await transaction.execute("select from companies where id = $1 for update", world.company.id)
        nursery.start_soon(outcomes, system, [ticket(world.company, unique_id="late")])
        (change,) = await outcomes(system, [ticket(other.company, unique_id="early")])
        assert change.outcome.ticket.number == 1
        assert [unique_id for _, _, unique_id in await stored(database)] == ["early"]
    assert sorted(unique_id for _, _, unique_id in await stored(database)) == ["early", "late"]


async def test_a_locked_branch_holds_up_its_tickets_alone(tree, database, world, monkeypatch):
    monkeypatch.setattr(ticket_creator, "LOCK_SECONDS", 0.01)
    monkeypatch.setattr(ticket_creator, "LOCK_SECONDS_APART", 0.01)
    branch = await company_tables.BRANCHES.insert(database, Branch(company_id=world.company.id, name="North"))
    requests = [
        ticket(world.company, unique_id="1"),
        ticket(world.company, branch_id=branch.id),
        ticket(world.company, unique_id="3"),
    ]
    late = []
    async with tree(creator_spec(database)) as system, trio.open_nursery() as nursery:

        async def create_late():
            late.extend(await outcomes(system, requests[1:2]))

        async with database.transaction() as transaction:
            await transaction.execute("select from branches where id = $1 for update", branch.id)
            nursery.start_soon(create_late)
            changes = await outcomes(system, [requests[0], requests[2]])
            assert sorted(change.outcome.ticket.number for change in changes) == [1, 2]
            assert not late
    (change,) = late
    assert change.outcome.ticket.number == 3


async def test_what_waits_is_bounded(tree, database, world, monkeypatch):
    monkeypatch.setattr(ticket_creator, "MAX_WAITING", 3)
    async with tree(creator_spec(database)) as system:
        found = await outcomes(system, [ticket(world.company) for _ in range(5)])
        refused = [each for each in found if isinstance(each, StorageUnavailable)]
        assert len(refused) == 2
        monkeypatch.setattr(ticket_creator, "WAIT_SECONDS", -1.0)
        (late,) = await outcomes(system, [ticket(world.company)])
        assert isinstance(late, StorageUnavailable)
        monkeypatch.undo()
        (change,) = await outcomes(system, [ticket(world.company)])
    assert change.outcome.ticket.number == 4


async def test_two_servers_number_the_tickets_of_a_company_one_after_the_other(tree, database, world):
    found = {}
    async with tree(creator_spec(database)) as one, tree(creator_spec(database)) as two:

        async def create(system):
            found[system] = await outcomes(system, [ticket(world.company) for _ in range(60)])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(create, one)
            nursery.start_soon(create, two)
    numbers = [change.outcome.ticket.number for changes in found.values() for change in changes]
    assert sorted(numbers) == list(range(1, 121))


async def test_in_an_outage_each_request_fails_and_later_ones_succeed(tree, database, world, outage):
    async with tree(creator_spec(database)) as system:
        with outage():
            found = await outcomes(system, [ticket(world.company) for _ in range(5)])
        assert all(isinstance(each, StorageUnavailable) for each in found)
        (change,) = await outcomes(system, [ticket(world.company)])
    assert change.outcome.ticket.number == len(await stored(database))


async def test_a_company_gets_so_many_tickets_within_an_hour(tree, clock, database, world):
    other = World(database)
    await other.make_company()
    async with tree(creator_spec(database, 5)) as one, tree(creator_spec(database, 5)) as two:
        clock.set_wall(NOW)
        found = await outcomes(one, [ticket(world.company) for _ in range(4)])
        found += await outcomes(two, [ticket(world.company) for _ in range(3)])
        assert [isinstance(each, TooManyTickets) for each in found] == [False] * 5 + [True] * 2
        assert 3500 < found[-1].seconds <= 3600
        (change,) = await outcomes(one, [ticket(other.company)])
        assert change.outcome.ticket.number == 1
        # The clock goes on while the tickets are made.
        clock.set_wall(NOW + 2 * HOUR)
        (change,) = await outcomes(two, [ticket(world.company)])
    assert change.outcome.ticket.number == 6


async def test_tickets_take_three_calls_of_the_driver_however_many_they_are(
    tree, database, world, monkeypatch
):
    calls = []
    call = Connection.call

    async def counted(connection, *arguments, **more):
        calls.append(connection)
        return await call(connection, *arguments, **more)

    async with tree(creator_spec(database)) as system:
        monkeypatch.setattr(Connection, "call", counted)
        for count in (1, 50):
            calls.clear()
            creator = system.ref(TICKET_CREATOR)
            asked = [creator.ask_now(ticket(world.company), ANSWER_SECONDS) for _ in range(count)]
            for each in asked:
                await each
            # Companies are locked and read, tickets and histories stored; the rest goes with the commit.
            assert len(calls) == 3
