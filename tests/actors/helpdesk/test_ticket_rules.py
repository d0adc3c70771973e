"""Rules of tickets, one by one, without a database."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.actors.helpdesk import ticket_world as world
from tests.actors.helpdesk.ticket_world import ANN, BOB, EVE, TEAM_A, TEAM_B, Desk

from motorpool.actors.helpdesk import status_moves
from motorpool.actors.helpdesk.assign import assign
from motorpool.actors.helpdesk.comment import comment
from motorpool.actors.helpdesk.create import create, starting_status, with_category
from motorpool.actors.helpdesk.edit import edit
from motorpool.actors.helpdesk.facts import Author, TicketRefused
from motorpool.actors.helpdesk.settle import settle
from motorpool.actors.helpdesk.transition import transition
from motorpool.storage.helpdesk.helpdesk_records import (
    Team,
    Ticket,
    TicketCategory,
    TicketPriority,
    TicketStatus,
)

DAY = timedelta(days=1)


def with_statuses(setup, **changes):
    """A setup in which statuses have other fields."""
    statuses = dict(setup.statuses)
    for name, fields in changes.items():
        number = getattr(world, name)
        statuses[number] = msgspec.structs.replace(statuses[number], **fields)
    return msgspec.structs.replace(setup, statuses=statuses)


def test_a_contact_moves_a_pending_ticket_to_the_first_open_status_that_may_follow():
    desk = Desk(status_id=world.PENDING)
    outcome = desk.do(comment, world.READER, text="Well?")
    assert desk.ticket.status_id == world.OPEN
    assert [message.type for message in outcome.messages] == ["ticket.commented", "ticket.status_changed"]
    assert outcome.messages[0].ticket.status_id == world.PENDING
    assert desk.entries[-2].attributes["reason"] == "contactComment"


def test_where_no_open_status_may_follow_the_ticket_stays_and_the_entry_says_so():
    setup = with_statuses(world.make_setup(), PENDING={"attributes": {"next": [world.RESOLVED]}})
    desk = Desk(setup, status_id=world.PENDING)
    outcome = desk.do(comment, world.READER, text="Well?")
    assert desk.ticket.status_id == world.PENDING
    assert outcome.entries[-1].attributes["reason"] == "no open status may follow"


@pytest.mark.parametrize(
    ("days", "after", "reopens"), [(None, 14, True), (None, 15, False), (2, 3, False), (0, 0, True)]
)
def test_a_contact_reopens_a_resolved_ticket_for_some_days(days, after, reopens):
    setup = world.make_setup(**({} if days is None else {"reopenDays": days}))
    desk = Desk(setup)
    desk.do(transition, status_id=world.RESOLVED)
    if reopens:
        desk.do(comment, world.READER, after=after * DAY, text="Again")
        assert (desk.ticket.status_id, desk.ticket.reopen_count) == (world.OPEN, 1)
        assert desk.ticket.resolved_at is None
    else:
        with pytest.raises(TicketRefused, match="open a new one with parentId"):
            desk.do(comment, world.READER, after=after * DAY, text="Again")


@pytest.mark.parametrize("status", [world.CLOSED, world.CANCELLED])
def test_a_contact_cannot_write_on_a_ticket_that_has_ended_but_agents_can(status):
    desk = Desk(status_id=status)
    before = desk.ticket
    with pytest.raises(TicketRefused, match="ticket is closed"):
        desk.do(comment, world.READER, text="Hello")
    desk.do(comment, text="For the record", internal=True)
    assert desk.ticket.comment_count == 1
    assert desk.ticket.status_id == before.status_id
    assert desk.ticket.last_agent_at is None


def test_an_answer_that_makes_the_ticket_pending_is_a_response():
    desk = Desk()
    desk.do(comment, after=timedelta(minutes=5), text="Send a photo", status_id=world.PENDING)
    assert desk.ticket.first_response_at == desk.now
    assert desk.facts.first_response.verdict == "met"
    assert desk.ticket.sla_paused
    assert desk.types() == ["created", "comment", "firstResponse", "statusChanged", "slaPaused"]


def test_who_resolves_has_responded_and_who_cancels_has_not():
    resolved = Desk()
    resolved.do(transition, after=timedelta(minutes=5), status_id=world.RESOLVED)
    assert resolved.ticket.first_response_at == resolved.ticket.resolved_at == resolved.now
    assert resolved.entries[-1].attributes == {"reason": "resolved"}
    cancelled = Desk()
    cancelled.do(transition, after=timedelta(minutes=5), status_id=world.CANCELLED)
    assert cancelled.ticket.first_response_at is None
    assert cancelled.facts.next_clock_at is None
    assert (cancelled.facts.first_response.verdict, cancelled.facts.resolution.verdict) == (None, None)
    cancelled.do(comment, text="Never mind")
    assert cancelled.ticket.first_response_at is None


def test_what_an_agent_said_while_creating_counts_only_if_they_say_so():
    said = Desk(attributes={"firstResponse": True})
    assert said.ticket.first_response_at == world.START
    by_contact = Desk(attributes={"firstResponse": True}, author=world.READER)
    assert by_contact.ticket.first_response_at is None
    assert Desk(description="They called").ticket.first_response_at is None


def test_a_category_gives_team_and_priority_unless_they_are_named_or_disabled():
    setup = world.make_setup()
    category = TicketCategory(id=9, company_id=1, team_id=TEAM_A, priority_id=world.URGENT)
    found = with_category(Ticket(subject="x"), category, setup)
    assert (found.team_id, found.priority_id) == (TEAM_A, world.URGENT)
    named = with_category(Ticket(team_id=TEAM_B, priority_id=world.SLOW), category, setup)
    assert (named.team_id, named.priority_id) == (TEAM_B, world.SLOW)
    off = msgspec.structs.replace(
        setup,
        teams={TEAM_A: Team(id=TEAM_A, company_id=1, name="A", disabled=True)},
        priorities={world.URGENT: TicketPriority(id=world.URGENT, company_id=1, disabled=True)},
    )
    found = with_category(Ticket(subject="x"), category, off)
    assert (found.team_id, found.priority_id) == (0, 0)


def test_a_company_without_new_or_open_status_starts_no_tickets():
    setup = with_statuses(world.make_setup(), NEW={"disabled": True}, OPEN={"disabled": True})
    with pytest.raises(TicketRefused, match="no starting status"):
        create(Ticket(subject="x"), setup, {}, world.AGENT, world.START)
    opened = with_statuses(world.make_setup(), NEW={"disabled": True})
    assert Desk(opened).ticket.status_kind == "open"


def test_an_assignee_who_is_not_in_the_new_team_is_cleared():
    desk = Desk(team_id=TEAM_A, assignee_id=ANN)
    outcome = desk.do(assign, team_id=TEAM_B)
    assert (desk.ticket.team_id, desk.ticket.assignee_id) == (TEAM_B, 0)
    assert [(change.field, change.after) for change in outcome.messages[0].changes] == [
        ("teamId", TEAM_B),
        ("assigneeId", 0),
    ]
    stays = Desk(team_id=TEAM_A, assignee_id=BOB)
    stays.do(edit, fields={"team_id": TEAM_B, "assignee_id": BOB})
    assert (stays.ticket.team_id, stays.ticket.assignee_id) == (TEAM_B, BOB)
    with pytest.raises(TicketRefused, match="not a member"):
        stays.do(assign, assignee_id=EVE)
    stays.do(assign, team_id=0, assignee_id=EVE)
    assert stays.ticket.assignee_id == EVE


def test_only_others_assignments_are_mailed():
    desk = Desk()
    desk.do(assign, assignee_id=ANN)
    assert desk.notices == []
    desk.do(assign, Author("user", EVE, is_agent=True), assignee_id=BOB)
    assert [(notice.kind, notice.user_id) for notice in desk.notices] == [("ticketAssigned", BOB)]


def test_the_first_breach_escalates_once_for_good():
    desk = Desk(team_id=TEAM_A, assignee_id=ANN)
    desk.now += timedelta(hours=3)
    outcome = desk.keep(settle(desk.facts, desk.now))
    ticket = desk.ticket
    assert ticket.first_response_breached
    assert (ticket.team_id, ticket.assignee_id, ticket.priority_id) == (TEAM_B, 0, world.URGENT)
    assert ticket.escalated_at == desk.now
    breach = next(entry for entry in outcome.entries if entry.type == "slaBreached")
    assert breach.event_time == world.START + timedelta(hours=2)
    assert breach.attributes["late"] is True
    assert [(notice.kind, notice.user_id) for notice in desk.notices] == [("ticketBreached", ANN)]
    desk.now += timedelta(hours=9)
    desk.keep(settle(desk.facts, desk.now))
    assert desk.ticket.resolution_breached
    assert desk.breaches.count("escalation") == 1
    assert desk.types().count("escalated") == 1


def test_an_escalation_that_is_half_possible_is_done_by_half():
    setup = world.make_setup()
    off = msgspec.structs.replace(setup.teams[TEAM_B], disabled=True)
    desk = Desk(msgspec.structs.replace(setup, teams={**setup.teams, TEAM_B: off}), team_id=TEAM_A)
    desk.now += timedelta(hours=3)
    outcome = desk.keep(settle(desk.facts, desk.now))
    skipped = next(entry for entry in outcome.entries if entry.type == "escalationSkipped")
    assert skipped.attributes == {"reason": "team Team 8 is disabled"}
    assert (desk.ticket.team_id, desk.ticket.priority_id) == (TEAM_A, world.URGENT)


def test_resolved_tickets_are_closed_after_some_days():
    desk = Desk(world.make_setup(autoCloseDays=3))
    desk.do(transition, status_id=world.RESOLVED)
    assert desk.facts.next_clock_at == desk.now + 3 * DAY
    desk.now += 3 * DAY
    outcome = desk.keep(settle(desk.facts, desk.now))
    assert (desk.ticket.status_id, desk.ticket.closed_at) == (world.CLOSED, desk.now)
    assert [entry.type for entry in outcome.entries] == ["statusChanged"]
    assert (outcome.entries[0].actor, outcome.entries[0].attributes["reason"]) == ("system", "autoClose")
    assert desk.facts.next_clock_at is None
    never = Desk(with_statuses(world.make_setup(autoCloseDays=3), CLOSED={"disabled": True}))
    never.do(transition, status_id=world.RESOLVED)
    assert never.facts.next_clock_at is None


@pytest.mark.parametrize("value", [None, True, "3", -1, 1e9, [3]])
def test_days_that_are_no_number_count_as_absent(value):
    desk = Desk(world.make_setup(autoCloseDays=value))
    desk.do(transition, status_id=world.RESOLVED)
    assert desk.facts.next_clock_at is None


def test_what_changes_nothing_writes_nothing():
    desk = Desk(team_id=TEAM_A, assignee_id=ANN)
    late = world.START + 30 * DAY
    for outcome in (
        transition(desk.facts, world.AGENT, late, status_id=world.NEW),
        assign(desk.facts, world.AGENT, late, team_id=TEAM_A, assignee_id=ANN),
        edit(desk.facts, world.AGENT, late, fields={"subject": "No signal", "priority_id": world.OFFICE}),
    ):
        assert not outcome.entries
        assert not outcome.messages
        assert outcome.ticket == desk.ticket


def test_a_comment_with_a_transition_to_the_present_status_is_kept():
    desk = Desk()
    desk.do(transition, status_id=world.NEW, comment="Still here")
    assert desk.types() == ["created", "comment", "firstResponse"]


def test_one_request_with_several_changes_makes_one_version_and_its_messages_in_order():
    desk = Desk()
    fields = {
        "subject": "y",
        "attributes": {"tags": ["a"]},
        "priority_id": world.URGENT,
        "team_id": TEAM_A,
        "assignee_id": ANN,
        "status_id": world.OPEN,
    }
    outcome = desk.do(edit, fields=fields)
    assert {entry.version for entry in outcome.entries} == {2}
    assert [message.type for message in outcome.messages] == [
        "ticket.updated",
        "ticket.assigned",
        "ticket.status_changed",
    ]
    assert [change.field for change in outcome.messages[0].changes] == [
        "subject",
        "attributes.tags",
        "priorityId",
    ]


def test_a_ticket_that_was_paused_too_often_only_ends(monkeypatch):
    monkeypatch.setattr(status_moves, "MAX_PAUSES", 3)
    desk = Desk()
    for status in (world.PENDING, world.PARTS, world.PENDING):
        desk.do(transition, status_id=status, after=timedelta(minutes=1))
    assert len(desk.facts.pauses) == 3
    for change, fields in (
        (transition, {"status_id": world.OPEN}),
        (comment, {"text": "On", "status_id": world.RESOLVED}),
        (edit, {"fields": {"status_id": world.PARTS}}),
    ):
        with pytest.raises(TicketRefused, match="paused 3 times"):
            desk.do(change, **fields)
    desk.do(comment, text="No more")
    desk.do(transition, status_id=world.CLOSED)
    for status in (world.CANCELLED, world.OPEN):
        with pytest.raises(TicketRefused, match="paused 3 times"):
            desk.do(transition, status_id=status)
    assert len(desk.facts.pauses) == 4


@given(
    st.lists(
        st.tuples(st.sampled_from(["new", "open", "pending", "closed"]), st.integers(0, 3), st.booleans()),
        max_size=6,
    )
)
def test_a_ticket_starts_in_the_first_new_status_else_in_the_first_open_one(told):
    statuses = {
        number: TicketStatus(
            id=number, company_id=1, name=f"{number}", kind=kind, sort_order=order, disabled=disabled
        )
        for number, (kind, order, disabled) in enumerate(told, start=1)
    }
    setup = msgspec.structs.replace(world.make_setup(), statuses=statuses)
    ranked = sorted(
        (kind != "new", order, number)
        for number, (kind, order, disabled) in enumerate(told, start=1)
        if kind in {"new", "open"} and not disabled
    )
    if ranked:
        assert starting_status(setup, 0).id == ranked[0][2]
    else:
        with pytest.raises(TicketRefused, match="no starting status"):
            starting_status(setup, 0)
