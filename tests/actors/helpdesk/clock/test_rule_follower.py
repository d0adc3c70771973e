"""Events become tickets once: bursts, two servers, crashes, and events that fail."""

from datetime import timedelta

import pytest
from tests.actors.helpdesk.clock.world import HOUR, MINUTE, SECOND, instant

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.helpdesk import rule_follower, rule_selection, rule_tickets
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.rule_follower import RuleFollower
from motorpool.actors.helpdesk.rule_tickets import RuleTickets
from motorpool.actors.helpdesk.ticket_rules import RuleCondition, TicketRule
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.work import event_consumer
from motorpool.runtime import TaskSpec
from motorpool.storage.accounts import users
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.events import events
from motorpool.storage.events.waiting import WaitingEvents
from motorpool.storage.helpdesk import ticket_rules
from motorpool.storage.records import Event, User

WAITING = WaitingEvents("ticket_rule_events", skips_locked=False)
NOW = instant("06-15 12:00")


def rules_spec(database):
    calendars = BusinessCalendars(timedelta(days=1830))
    tickets = RuleTickets(calendars, TicketMails(OutgoingServices().mail))
    return TaskSpec(name="ticket_rules", factory=lambda: RuleFollower(database, tickets))


@pytest.fixture
async def chief(database, world):
    """An administrator, whose rule opens tickets of alarms."""
    user = await users.TABLE.insert(
        database, User(name="chief", email="chief@example.org", administrator=True)
    )
    await set_rules(database, world, user)
    return user


async def set_rules(database, world, user, **fields):
    rule = {"id": "r1", "userId": user.id, "name": "SOS", "when": {"eventTypes": ["alarm"]}, **fields}
    await world.edit(world.company, attributes={"ticketRules": [rule]})
    await ticket_rules.set_types(database, world.company.id, {("alarm", user.id)}, ["r1"])


def alarms(device, first, count, begin=NOW):
    return [
        Event(id=first + each, type="alarm", event_time=begin + each * SECOND, device_id=device.id)
        for each in range(count)
    ]


async def store(database, *happened):
    await events.insert_many(database, happened, now=NOW)


async def made(database):
    """(device, first event, joined events) of the tickets."""
    rows = await database.fetch(
        "select tickets.device_id, event_id, events from tickets"
        " join ticket_rule_tickets on ticket_id = tickets.id order by tickets.id"
    )
    return [tuple(row.values()) for row in rows]


async def test_a_burst_on_two_servers_makes_one_ticket_for_each_device(
    database, tree, time, chief, make_device, monkeypatch
):
    monkeypatch.setattr(event_consumer, "BATCH", 7)
    first, second = await make_device("1"), await make_device("2")
    async with tree(rules_spec(database)), tree(rules_spec(database)):
        for each in range(5):
            await store(database, *alarms(first, 100 + 10 * each, 10))
        await store(database, *alarms(second, 200, 3))
        await time.passes(60, step=1)
    assert not await WAITING.any(database)
    assert await made(database) == [(first.id, 100, 50), (second.id, 200, 3)]


async def test_a_server_that_is_cut_off_at_any_statement_makes_each_ticket_once(
    database, tree, time, chief, make_device, monkeypatch
):
    device = await make_device("1")
    await store(database, *alarms(device, 100, 3))
    put, failures = ticket_rules.put, iter(range(2))

    async def cut_off(*arguments):
        if next(failures, None) is not None:
            raise StorageUnavailable("cut off")
        await put(*arguments)

    monkeypatch.setattr(rule_tickets.ticket_rules, "put", cut_off)
    async with tree(rules_spec(database)):
        await time.passes(120, step=5)
    assert await made(database) == [(device.id, 100, 3)]
    assert await database.fetch_value("select count(*) from ticket_events where type = 'created'") == 1


async def test_events_that_were_stored_before_a_crash_are_looked_at_after_it(
    database, tree, time, chief, make_device
):
    device = await make_device("1")
    await store(database, *alarms(device, 100, 1))
    async with tree(rules_spec(database)):
        await time.passes(1)
    assert await made(database) == [(device.id, 100, 1)]
    await store(database, *alarms(device, 101, 1))
    async with tree(rules_spec(database)):
        await time.passes(1)
    assert await made(database) == [(device.id, 100, 2)]


async def test_an_event_that_fails_is_discarded_and_the_others_are_not(
    database, tree, time, chief, make_device, monkeypatch, caplog
):
    bad, good = await make_device("1"), await make_device("2")
    create = rule_tickets.create_ticket

    async def failing(transaction, request, *arguments, **fields):
        if request.ticket.device_id == bad.id:
            raise ValueError("of no use")
        return await create(transaction, request, *arguments, **fields)

    monkeypatch.setattr(rule_tickets, "create_ticket", failing)
    await store(database, *alarms(bad, 100, 1), *alarms(good, 200, 1))
    async with tree(rules_spec(database)):
        await time.passes(10, step=1)
    assert await made(database) == [(good.id, 200, 1)]
    assert "no ticket is made of event 100" in caplog.text


async def test_a_rule_without_rights_makes_nothing_and_a_company_without_statuses_holds_nothing_up(
    database, tree, time, chief, world, make_device, caplog
):
    device = await make_device("1")
    await database.execute("update users set disabled = true where id = $1", chief.id)
    await store(database, *alarms(device, 100, 1))
    async with tree(rules_spec(database)):
        await time.passes(1)
        await database.execute("update users set disabled = false where id = $1", chief.id)
        await database.execute("update ticket_statuses set disabled = true")
        await store(database, *alarms(device, 101, 3))
        await time.passes(31, step=1)
    assert not await WAITING.any(database)
    assert await made(database) == []
    # A rule may be asked each second.
    assert caplog.text.count("no ticket is made: rule r1") == 1


async def test_a_long_alarm_leaves_few_entries(database, tree, time, chief, make_device, monkeypatch):
    monkeypatch.setattr(event_consumer, "BATCH", 1)
    monkeypatch.setattr(rule_tickets, "ENTRIES", 5)
    device = await make_device("1")
    await store(database, *alarms(device, 100, 20))
    async with tree(rules_spec(database)):
        await time.passes(1)
        await store(database, *alarms(device, 200, 1, NOW + HOUR + MINUTE))
        await time.passes(3660, step=30)
        await store(database, *alarms(device, 300, 1, NOW + HOUR + MINUTE))
        await time.passes(30, step=30)
    assert await made(database) == [(device.id, 100, 22)]
    entries = await database.fetch(
        "select attributes->'count' from ticket_events where type = 'evidence' order by id"
    )
    assert [row[0] for row in entries] == [2, 3, 4, 5, 6, 22]


async def test_a_device_with_many_events_does_not_hold_back_others(
    database, tree, time, chief, make_device, monkeypatch
):
    monkeypatch.setattr(rule_selection, "MAX_WORK", 2)
    busy, other = await make_device("1"), await make_device("2")
    await store(database, *alarms(busy, 100, 40), *alarms(other, 200, 1))
    order = []

    async def note(*args, **named):
        selection = await rule_selection.select(*args, **named)
        order.append(selection.handled_ids)
        return selection

    monkeypatch.setattr(rule_follower, "select", note)
    async with tree(rules_spec(database)):
        await time.passes(60, step=1)
    assert order[0] == (100, 200)
    assert sorted(each for batch in order for each in batch) == [*range(100, 140), 200]
    assert await made(database) == [(busy.id, 100, 40), (other.id, 200, 1)]


async def test_rules_are_read_again_when_their_company_was_edited(
    database, tree, time, chief, world, make_device, monkeypatch
):
    device = await make_device("1")
    read, rules_of = [], ticket_rules.rules_of

    async def count(q, company_ids):
        read.append(sorted(company_ids))
        return await rules_of(q, company_ids)

    monkeypatch.setattr(ticket_rules, "rules_of", count)
    async with tree(rules_spec(database)):
        for number in (100, 101):
            await store(database, *alarms(device, number, 1))
            await time.passes(60)
        assert read == [[world.company.id], []]
        await set_rules(database, world, chief, disabled=True)
        await store(database, *alarms(device, 102, 1))
        await time.passes(60)
    assert read[2] == [world.company.id]
    assert await made(database) == [(device.id, 100, 2)]


def test_rules_are_found_by_type_user_and_geofence():
    def rule(name, *kinds, user_id=1, geofences=(), over=False):
        when = RuleCondition(event_types=kinds, geofence_ids=geofences)
        return TicketRule(name=name, when=when, id=name, user_id=user_id, comment_when_over=over)

    found = rule_selection._by_type(
        [
            rule("enter", "geofenceEnter", over=True),
            rule("depot", "geofenceEnter", "geofenceExit", geofences=(5, 7, 7)),
            rule("other's", "geofenceEnter", user_id=2),
        ]
    )

    def names(user_id, kind, geofence_id):
        of_type = found.get((user_id, kind), rule_selection.NO_RULES)
        return [each.name for each in of_type.of(Event(type=kind, geofence_id=geofence_id))]

    assert names(1, "geofenceEnter", 5) == ["enter", "depot"]
    assert names(1, "geofenceEnter", 6) == ["enter"]
    assert names(1, "geofenceExit", 7) == ["enter", "depot"]
    assert names(2, "geofenceEnter", 5) == ["other's"]
    assert names(2, "geofenceExit", 5) == []
