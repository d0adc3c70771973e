"""Random lives of tickets: the history alone tells the ticket, and every due time."""

from contextlib import suppress
from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.actors.helpdesk import ticket_world as world

from motorpool.actors.helpdesk.assign import assign
from motorpool.actors.helpdesk.comment import comment
from motorpool.actors.helpdesk.edit import edit
from motorpool.actors.helpdesk.facts import SYSTEM, TicketRefused
from motorpool.actors.helpdesk.settle import settle
from motorpool.actors.helpdesk.transition import transition
from motorpool.actors.helpdesk.zone_follower import follow_zone

MINUTES = st.integers(0, 3000)
STATUS = st.sampled_from(sorted(world.STATUSES))
AUTHOR = st.sampled_from([world.AGENT, world.READER])
STEPS = st.one_of(
    st.tuples(st.just("comment"), AUTHOR, st.booleans(), st.sampled_from([0, *world.STATUSES])),
    st.tuples(st.just("transition"), AUTHOR, STATUS),
    st.tuples(
        st.just("assign"),
        st.sampled_from([None, 0, world.TEAM_A, world.TEAM_B]),
        st.sampled_from([None, 0, world.ANN, world.BOB, world.EVE]),
    ),
    st.tuples(st.just("priority"), st.sampled_from([0, world.OFFICE, world.URGENT, world.SLOW])),
    st.tuples(
        st.just("edit"),
        st.sampled_from(["", "Wheel", "Wheel "]),
        st.dictionaries(st.sampled_from("ab"), st.integers(0, 2)),
    ),
    st.tuples(st.just("zone"), st.booleans()),
    st.tuples(st.just("settle")),
    st.tuples(st.just("recalculate")),
)


def take(desk, step):
    match step:
        case "comment", author, internal, status_id:
            internal = internal and author.is_agent
            desk.do(comment, author, text="word", internal=internal, status_id=status_id)
        case "transition", author, status_id:
            desk.do(transition, author, status_id=status_id)
        case "assign", team_id, assignee_id:
            desk.do(assign, team_id=team_id, assignee_id=assignee_id)
        case "priority", priority_id:
            desk.do(edit, fields={"priority_id": priority_id})
        case "edit", description, attributes:
            desk.do(edit, fields={"description": description, "attributes": attributes})
        case "zone", is_outside:
            desk.do(follow_zone, SYSTEM, is_outside=is_outside)
        case ("settle",):
            desk.keep(settle(desk.facts, desk.now))
        case ("recalculate",):
            desk.keep(settle(desk.facts, desk.now, reason="calendar"))


def lives(desk, steps):
    """Take the steps, with the clock in between as the actor would; yield after each."""
    for minutes, step in steps:
        until = desk.now + timedelta(minutes=minutes, milliseconds=7)
        while (at := desk.facts.next_clock_at) is not None and at <= until:
            desk.now = max(desk.now, at)
            desk.keep(settle(desk.facts, desk.now))
            assert desk.facts.next_clock_at is None or desk.facts.next_clock_at > desk.now
        desk.now = until
        with suppress(TicketRefused):
            take(desk, step)
        yield


def used(start, end, pauses, office):
    """Business time of a span, by cutting it at every edge there is."""
    edges = {start, end, *(edge for pause in pauses for edge in pause if edge is not None)}
    day = start.replace(hour=0, minute=0, second=0, microsecond=0)
    while day < end:
        edges |= {day.replace(hour=world.OPENS), day.replace(hour=world.SHUTS)}
        day += timedelta(days=1)
    ordered = sorted(edge for edge in edges if start <= edge <= end)
    total = timedelta(0)
    for begin, finish in pairwise(ordered):
        if office and not world.OPENS <= begin.hour < world.SHUTS:
            continue
        if not any(pause[0] <= begin and (pause[1] is None or pause[1] > begin) for pause in pauses):
            total += finish - begin
    return total


def terms(desk, target):
    """Target, credit and business hours of the latest entry that says them."""
    priority, minutes, credit = 0, 0, 0
    for entry in desk.entries:
        if entry.type == "created":
            priority = entry.attributes["initial"].get("priorityId", 0)
            minutes = entry.attributes[target]["targetMinutes"]
        elif entry.type == "updated" and entry.field == "priorityId":
            priority = entry.to
        elif entry.type == "escalated":
            priority = entry.attributes.get("toPriorityId", priority)
        elif entry.type == "slaRecalculated" and entry.field == target + "Due":
            minutes, credit = entry.attributes["targetMinutes"], entry.attributes["creditSeconds"]
    return minutes, credit, priority == world.OFFICE


KINDS_OF_PAUSES = {"pending", "resolved", "closed", "cancelled", "outsideZone"}


def stops(desk, kinds):
    """When the status was of one of these kinds, or the vehicle outside of its zone, by the history."""
    found, outside, kind = [], [], None
    for entry in desk.entries:
        if entry.attributes.get("reason") == "outsideZone" in kinds:
            if entry.type == "slaPaused":
                outside.append([entry.event_time, None])
            else:
                outside[-1][1] = entry.event_time
        if entry.type not in {"created", "statusChanged"}:
            continue
        before, kind = kind, entry.attributes["statusKind" if entry.type == "created" else "toKind"]
        if before in kinds:
            found[-1][1] = entry.event_time
        if kind in kinds:
            found.append([entry.event_time, None])
    return found + outside


@given(st.lists(st.tuples(MINUTES, STEPS), max_size=14), st.sampled_from([world.OFFICE, world.URGENT, 0]))
def test_the_history_alone_tells_the_ticket_and_its_due_times(steps, priority_id):
    desk = world.Desk(priority_id=priority_id, team_id=world.TEAM_A)
    for _ in lives(desk, steps):
        told = world.replay(desk.entries)
        stored = {name: getattr(desk.ticket, name) for name in told}
        assert told == stored
        check_due(desk, "firstResponse", desk.facts.first_response, {"resolved", "closed", "cancelled"})
        check_due(desk, "resolution", desk.facts.resolution, KINDS_OF_PAUSES)
    assert len(set(desk.breaches)) == len(desk.breaches)
    versions = [entry.version for entry in desk.entries]
    assert versions == sorted(versions)
    assert set(versions) == set(range(1, desk.ticket.version + 1))


def check_due(desk, target, level, kinds):
    """An open due time is the first instant at which the business time reaches target and credit."""
    minutes, credit, office = terms(desk, target)
    pauses = stops(desk, kinds)
    if level.done_at is not None or level.breached:
        return
    if not minutes or any(end is None for _, end in pauses):
        assert level.due is None
    else:
        budget = timedelta(minutes=minutes, seconds=credit)
        begin = desk.ticket.created_at
        assert level.due is not None
        assert used(begin, level.due, pauses, office) == budget
        assert used(begin, level.due - timedelta(milliseconds=1), pauses, office) < budget


@given(st.lists(st.tuples(MINUTES, STEPS), max_size=10))
def test_each_change_of_a_status_is_one_message_and_each_message_shows_the_ticket_then(steps):
    desk = world.Desk(team_id=world.TEAM_A)
    for _ in lives(desk, steps):
        moves = [entry for entry in desk.entries if entry.type == "statusChanged"]
        told = [message for message in desk.messages if message.type == "ticket.status_changed"]
        assert [message.event.to for message in told] == [entry.to for entry in moves]
        assert [message.ticket.status_id for message in told] == [entry.to for entry in moves]
        for message in desk.messages:
            assert message.event is None or message.ticket.version == message.event.version
