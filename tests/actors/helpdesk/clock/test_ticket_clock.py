"""The ticket clock on the virtual clock: warnings, breaches, escalations and closes, once and in time."""

import msgspec
import pytest
from tests.actors.conftest import NOW
from tests.actors.helpdesk.clock.world import DAY, HOUR, MINUTE, NEVER_WARN, SECOND, instant

from motorpool.actors.helpdesk import batches, ticket_clock
from motorpool.actors.messages.tickets import TICKET_CLOCK, WakeTicketClock
from motorpool.storage.errors import StatementRejected
from motorpool.storage.helpdesk.ticket_clock import LONG_RETRY, MAX_FAILURES


async def test_a_target_is_warned_of_and_breached_at_its_instants_and_once(tree, time, world, clock_spec):
    priority = await world.priority(first=60, resolution=480)
    ticket = await world.ticket(NOW, priority)
    async with tree(clock_spec()):
        await time.passes(48 * 60)
        assert await world.entries("slaWarning") == []
        await time.passes(1)
        ((_, _, warned_at, _, warning),) = await world.entries("slaWarning")
        assert (warned_at, warning["target"]) == (NOW + 48 * MINUTE, "firstResponse")
        await time.passes(12 * 60 - 1)
        assert await world.entries("slaBreached") == []
        await time.passes(1)
        ((_, _, at, written, breach),) = await world.entries("slaBreached")
        assert (at, breach["target"], "late" in breach) == (NOW + HOUR, "firstResponse", False)
        assert NOW + HOUR < written <= NOW + HOUR + SECOND
        assert await world.column(ticket, "next_clock_at") > NOW + 384 * MINUTE
        await time.passes(10 * 3600, step=1800)
    assert await world.breaches() == [
        (ticket, "firstResponse", NOW + HOUR),
        (ticket, "firstResponse warning", NOW + 48 * MINUTE),
        (ticket, "resolution", NOW + 8 * HOUR),
        (ticket, "resolution warning", NOW + 384 * MINUTE),
    ]
    kinds = [kind for _, _, kind in await world.messages()]
    assert sorted(kinds) == ["ticket.sla_breached"] * 2 + ["ticket.sla_warning"] * 2
    assert await world.column(ticket, "next_clock_at") is None


def restarts(system):
    return sum(child.restarts for child in system.snapshot()[0].children)


async def boot(tree, time, clock, at, *specs):
    """A server that is started at an instant, settles what is due, and is stopped."""
    clock.set_wall(instant(at))
    async with tree(*specs):
        await time.passes(1)


async def test_a_restart_settles_back_dated_and_escalates_once(tree, time, clock, world, clock_spec):
    """Example E12 of docs/service-levels.md."""
    team = await world.team()
    high = await world.priority("High", first=30, resolution=240, **NEVER_WARN)
    normal = await world.priority(
        "Normal", first=60, resolution=480, escalateTeamId=team.id, escalatePriorityId=high.id, **NEVER_WARN
    )
    ticket = await world.ticket(instant("10-12 08:00"), normal)
    await boot(tree, time, clock, "10-12 10:20", clock_spec())
    ((_, _, at, written, breach),) = await world.entries("slaBreached")
    assert (at, breach["target"]) == (instant("10-12 09:00"), "firstResponse")
    assert instant("10-12 10:20") <= written <= instant("10-12 10:21")
    assert breach["late"] is True
    assert breach["detectedAt"] == "2026-10-12T10:20:00Z"
    ((_, _, escalated_at, _, _),) = await world.entries("escalated")
    assert escalated_at == written
    assert await world.column(ticket, "team_id") == team.id
    assert await world.column(ticket, "priority_id") == high.id
    assert await world.column(ticket, "resolution_due") == instant("10-12 12:00")
    assert await world.column(ticket, "first_response_due") == instant("10-12 09:00")

    await boot(tree, time, clock, "10-12 12:40", clock_spec())
    second = (await world.entries("slaBreached"))[1]
    assert (second[2], second[4]["target"]) == (instant("10-12 12:00"), "resolution")
    assert second[4]["detectedAt"] == "2026-10-12T12:40:00Z"
    before = await world.messages()
    assert [kind for _, _, kind in before].count("ticket.escalated") == 1

    await boot(tree, time, clock, "10-12 12:45", clock_spec())
    assert len(await world.entries("slaBreached")) == 2
    assert len(await world.entries("escalated")) == 1
    assert await world.messages() == before


async def test_what_was_breached_meanwhile_is_not_warned_of(tree, time, clock, world, clock_spec):
    ticket = await world.ticket(instant("10-12 08:00"), await world.priority(first=60, resolution=180))
    await boot(tree, time, clock, "10-12 10:30", clock_spec())
    due = instant("10-12 08:00")
    assert [each[2] for each in await world.entries("slaWarning")] == [due + 144 * MINUTE]
    kinds = [kind for _, _, kind in await world.messages()]
    assert sorted(kinds) == ["ticket.sla_breached", "ticket.sla_warning"]
    assert await world.breaches() == [
        (ticket, "firstResponse", due + HOUR),
        (ticket, "firstResponse warning", due + 48 * MINUTE),
        (ticket, "resolution warning", due + 144 * MINUTE),
    ]


async def test_an_act_before_the_stop_counts_by_its_own_time(tree, time, clock, world, clock_spec):
    """The control of example E12."""
    high = await world.priority("High", first=30, resolution=240)
    normal = await world.priority("Normal", escalatePriorityId=high.id, **NEVER_WARN)
    answered = instant("2026-10-12T08:49:59Z")
    ticket = await world.ticket(
        instant("10-12 08:00"),
        normal,
        first_response_at=answered,
        first_response_verdict="met",
        first_response_decided_at=answered,
        first_response_elapsed=answered - instant("10-12 08:00"),
    )
    await boot(tree, time, clock, "10-12 10:20", clock_spec())
    assert await world.entries("slaBreached", "escalated") == []
    await boot(tree, time, clock, "10-12 16:00", clock_spec())
    assert [(each[1], each[2]) for each in await world.entries("slaBreached")] == [
        (ticket, instant("10-12 16:00"))
    ]


async def test_a_resolved_ticket_is_closed_after_the_days_of_its_company(tree, time, world, clock_spec):
    await world.edit(world.company, attributes={"autoCloseDays": 2})
    priority = await world.priority()
    ticket = await world.ticket(
        NOW - HOUR,
        priority,
        kind="resolved",
        resolved_at=NOW,
        first_response_at=NOW,
        first_response_verdict="met",
        first_response_decided_at=NOW,
        resolution_verdict="met",
        resolution_decided_at=NOW,
    )
    async with tree(clock_spec()):
        await time.passes(2 * 86_400 - 1, step=3600)
        assert await world.column(ticket, "status_kind") == "resolved"
        await time.passes(1)
        assert await world.column(ticket, "status_kind") == "closed"
    ((_, _, at, _, _),) = await world.entries("statusChanged")
    assert at == NOW + 2 * DAY


async def test_overdue_tickets_are_settled_in_the_order_in_which_they_were_due(
    tree, time, world, clock_spec, monkeypatch
):
    monkeypatch.setattr(ticket_clock, "BATCH", 3)
    monkeypatch.setattr(ticket_clock, "WORKERS", 1)
    priority = await world.priority(first=60, resolution=0, **NEVER_WARN)
    late = [await world.ticket(NOW - (2 + hours) * HOUR, priority) for hours in (1, 0, 5, 3, 0, 2, 4)]
    async with tree(clock_spec()):
        await time.passes(1)
    in_order = [late[place] for place in (2, 6, 3, 5, 0, 1, 4)]
    assert [each[1] for each in await world.entries("slaBreached")] == in_order


async def test_two_servers_on_one_database_settle_each_ticket_once(
    tree, time, world, clock_spec, monkeypatch
):
    monkeypatch.setattr(ticket_clock, "BATCH", 7)
    team = await world.team()
    priority = await world.priority(first=60, resolution=90, escalateTeamId=team.id)
    created = NOW - 3 * HOUR
    tickets = await world.tickets(created, priority, 60)
    async with tree(clock_spec()), tree(clock_spec()):
        await time.passes(5, step=1)
    breached = [(each[1], each[4]["target"]) for each in await world.entries("slaBreached")]
    assert sorted(breached) == sorted(
        (ticket, target) for ticket in tickets for target in ("firstResponse", "resolution")
    )
    assert sorted(each[1] for each in await world.entries("escalated")) == tickets
    messages = await world.messages()
    for ticket in tickets:
        sequences = [sequence for number, sequence, _ in messages if number == ticket]
        assert sequences == list(range(1, len(sequences) + 1))


async def test_a_ticket_that_was_not_announced_is_found_within_half_a_minute(tree, time, world, clock_spec):
    priority = await world.priority(first=60, resolution=0, **NEVER_WARN)
    async with tree(clock_spec()) as system:
        await time.passes(7)
        await world.ticket(NOW - HOUR, priority)
        await time.passes(22)
        assert await world.breaches() == []
        await time.passes(1)
        assert len(await world.breaches()) == 1
        await time.passes(7)
        announced = await world.ticket(NOW - HOUR, priority)
        system.ref(TICKET_CLOCK).offer(WakeTicketClock(await world.column(announced, "next_clock_at")))
        await time.settle()
        assert len(await world.breaches()) == 2


async def test_a_wake_for_later_does_not_disturb_its_sleep(tree, time, world, clock_spec, monkeypatch):
    looks = []
    find = ticket_clock.ticket_clock.next_instant

    async def counted(q):
        looks.append(q)
        return await find(q)

    monkeypatch.setattr(ticket_clock.ticket_clock, "next_instant", counted)
    async with tree(clock_spec()) as system:
        await time.passes(1)
        seen = len(looks)
        for _ in range(50):
            system.ref(TICKET_CLOCK).offer(WakeTicketClock(NOW + HOUR))
        await time.passes(1)
        assert len(looks) == seen


async def test_a_wall_clock_that_is_moved(tree, time, clock, world, clock_spec):
    priority = await world.priority(first=60, resolution=0, **NEVER_WARN)
    ticket = await world.ticket(NOW, priority)
    async with tree(clock_spec()):
        await time.passes(1800)
        clock.move_wall(-3600)
        # Two hours to go on the wall, half an hour on the clock that sleeps.
        await time.passes(5399, step=20)
        assert await world.breaches() == []
        await time.passes(2)
        assert await world.breaches() == [(ticket, "firstResponse", NOW + HOUR)]
        later = await world.ticket(clock.now(), priority)
        await time.passes(60, step=30)
        clock.move_wall(7200)
        await time.passes(30)
        assert [each[0] for each in await world.breaches()] == [ticket, later]


async def test_after_an_outage_of_the_database_it_goes_on(tree, time, world, clock_spec, outage):
    priority = await world.priority(first=60, resolution=0, **NEVER_WARN)
    ticket = await world.ticket(NOW, priority)
    async with tree(clock_spec()) as system:
        await time.passes(3500)
        with outage():
            await time.passes(300, step=2)
        await time.passes(60, step=2)
        assert await world.breaches() == [(ticket, "firstResponse", NOW + HOUR)]
        assert restarts(system) == 0


def refuse_decision(monkeypatch, broken):
    settle = ticket_clock.settle

    def failing(facts, now):
        if facts.ticket.id in broken:
            raise LookupError("this ticket cannot be settled")
        return settle(facts, now)

    monkeypatch.setattr(ticket_clock, "settle", failing)


def refuse_writing(monkeypatch, broken):
    write = batches.write

    async def failing(transaction, changes, *args, **more):
        written = await write(transaction, changes, *args, **more)
        if any(change.outcome.ticket.id in broken for change in changes):
            raise StatementRejected("this ticket cannot be stored")
        return written

    monkeypatch.setattr(batches, "write", failing)


@pytest.mark.parametrize("refuse", [refuse_decision, refuse_writing])
async def test_a_ticket_that_fails_is_kept_apart_and_tried_again(
    tree, time, world, clock_spec, monkeypatch, caplog, refuse
):
    priority = await world.priority(first=60, resolution=0, **NEVER_WARN)
    tickets = await world.tickets(NOW - 2 * HOUR, priority, 9)
    broken = {tickets[4]}
    refuse(monkeypatch, broken)
    async with tree(clock_spec()) as system:
        await time.settle()
        settled = [each[0] for each in await world.breaches()]
        assert settled == [ticket for ticket in tickets if ticket not in broken]
        assert await world.column(tickets[4], "clock_failures") == 1
        await time.passes(10, step=1)
        assert await world.column(tickets[4], "clock_failures") == MAX_FAILURES
        assert len([record for record in caplog.records if "cannot be settled" in record.message]) == 3
        await time.passes(LONG_RETRY.total_seconds() - 20, step=10)
        assert await world.column(tickets[4], "clock_failures") == MAX_FAILURES
        broken.clear()
        await time.passes(40, step=10)
        assert restarts(system) == 0
    assert [each[0] for each in await world.breaches()] == tickets
    assert await world.column(tickets[4], "clock_failures") == 0
    assert (await world.entries("slaBreached", ticket_id=tickets[4]))[0][2] < NOW


async def test_a_ticket_that_stays_due_does_not_occupy_the_clock(
    tree, time, world, clock_spec, monkeypatch, caplog
):
    priority = await world.priority(first=60, resolution=0)
    ticket = await world.ticket(NOW, priority)
    settle = ticket_clock.settle
    monkeypatch.setattr(
        ticket_clock,
        "settle",
        lambda facts, now: msgspec.structs.replace(settle(facts, now), next_clock_at=now),
    )
    async with tree(clock_spec()):
        await time.passes(3, step=1)
    assert 1 <= await world.column(ticket, "clock_failures") <= 3
    assert "it is due at" in caplog.text
