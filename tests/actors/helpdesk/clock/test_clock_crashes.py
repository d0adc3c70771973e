"""Servers that end at any statement while tickets breach: nothing is missed, and nothing happens twice."""

import random

import trio
from tests.actors.conftest import NOW
from tests.actors.helpdesk.clock.world import HOUR, SECOND
from tests.actors.schedules.scheduling_harness import InterruptibleDatabase, KillSwitch

from motorpool.actors.helpdesk import ticket_clock

TICKETS = 6
STATEMENTS = (*range(16), *range(17, 60, 3))
"""After which the server is cut off: the last ones are more than the clock needs."""


async def expect(world, tickets, created):
    """Each ticket was warned of, breached twice and escalated, once and by its due times."""
    due = {ticket: created + number * SECOND for number, ticket in enumerate(tickets)}
    first, second = HOUR, 2 * HOUR
    found = [each for each in await world.breaches() if each[0] in due and "warning" not in each[1]]
    assert found == sorted(
        row
        for ticket, begin in due.items()
        for row in (
            (ticket, "firstResponse", begin + first),
            (ticket, "resolution", begin + second),
            *(each for each in found if each[0] == ticket and each[1] == "escalation"),
        )
    )
    entries = [each for each in await world.entries("slaBreached") if each[1] in due]
    assert sorted((each[1], each[2]) for each in entries) == sorted(
        (ticket, begin + span) for ticket, begin in due.items() for span in (first, second)
    )
    assert sorted(each[1] for each in await world.entries("escalated") if each[1] in due) == sorted(tickets)
    messages = await world.messages()
    for ticket in tickets:
        mine = [(sequence, kind) for number, sequence, kind in messages if number == ticket]
        assert [sequence for sequence, _ in mine] == list(range(1, len(mine) + 1))
        kinds = [kind for _, kind in mine]
        assert (kinds.count("ticket.sla_breached"), kinds.count("ticket.escalated")) == (2, 1)


async def until_settled(time, world):
    """Let seconds pass: what a server that is no more had locked may be locked for a moment."""
    due = "select exists (select from tickets where next_clock_at <= $1)"
    await time.settle()
    for _ in range(1000):
        if not await world.database.fetch_value(due, NOW):
            return
        await time.passes(1)
    raise AssertionError("tickets are due still")


async def test_a_server_that_is_cut_off_at_any_statement(
    tree, time, world, clock_spec, monkeypatch, database
):
    monkeypatch.setattr(ticket_clock, "BATCH", 4)
    team = await world.team()
    priority = await world.priority(first=60, resolution=120, escalateTeamId=team.id)
    reached = 0
    for statements in STATEMENTS:
        created = NOW - 4 * HOUR
        tickets = await world.tickets(created, priority, TICKETS)
        kill_switch = KillSwitch()
        kill_switch.left = statements
        async with tree(clock_spec(InterruptibleDatabase(database, kill_switch))):
            await time.settle()
            reached = max(
                reached, len([each for each in await world.entries("escalated") if each[1] in tickets])
            )
        async with tree(clock_spec()):
            await until_settled(time, world)
        await expect(world, tickets, created)
    # The last servers had settled all of them.
    assert reached == TICKETS


async def test_a_server_that_is_cancelled_at_any_instant(tree, time, world, clock_spec, monkeypatch):
    monkeypatch.setattr(ticket_clock, "BATCH", 4)
    team = await world.team()
    priority = await world.priority(first=60, resolution=120, escalateTeamId=team.id)
    instants = random.Random(1)
    for _ in range(12):
        created = NOW - 4 * HOUR
        tickets = await world.tickets(created, priority, TICKETS)
        async with tree(clock_spec()):
            for _ in range(instants.randrange(150)):
                await trio.lowlevel.checkpoint()
        async with tree(clock_spec()):
            await until_settled(time, world)
        await expect(world, tickets, created)
