"""Assigning tickets to teams and users (docs/tickets.md#assignment)."""

from collections.abc import Mapping
from datetime import datetime

from motorpool.actors.helpdesk.comment import add_comment
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.escalation import is_member
from motorpool.actors.helpdesk.facts import (
    Author,
    FieldChange,
    Notice,
    Outcome,
    Person,
    TicketFacts,
    TicketRefused,
    usable,
)
from motorpool.actors.helpdesk.settle import settle_first
from motorpool.storage.helpdesk.helpdesk_records import Team, TicketEvent


def assign(
    facts: TicketFacts,
    author: Author,
    now: datetime,
    *,
    team_id: int | None = None,
    assignee_id: int | None = None,
    comment: str = "",
    expect_assignee_id: int | None = None,
) -> Outcome:
    """Return the ticket with another team or assignee; 0 clears, None leaves as it is.

    Raises:
        TicketRefused: The assignee cannot be assigned, or is not `expect_assignee_id` before.
    """
    if team_id is None and assignee_id is None:
        raise TicketRefused("teamId or assigneeId: needed")
    draft = Draft(facts, author, now)
    present = draft.ticket.assignee_id
    if expect_assignee_id is not None and expect_assignee_id != present:
        raise TicketRefused(f"already assigned to user {present}" if present else "assigned to nobody")
    if not comment and team_id in {None, draft.ticket.team_id} and assignee_id in {None, present}:
        return draft.finish()
    settle_first(draft)
    if comment:
        add_comment(draft, comment, internal=True, moves_status=False)
    assign_to(draft, team_id, assignee_id)
    return draft.finish()


def assign_to(draft: Draft, team_id: int | None, assignee_id: int | None) -> None:
    """Set team and assignee; None leaves as it is. An assignee who is not in a new team is cleared."""
    ticket = draft.ticket
    team = ticket.team_id if team_id is None else team_id
    if team != ticket.team_id and team:
        usable("team", team, draft.setup.teams)
    chosen = ticket.assignee_id if assignee_id is None else assignee_id
    if chosen == ticket.assignee_id:
        if chosen and team and team != ticket.team_id and not is_member(draft, chosen, team):
            chosen = 0
    elif chosen:
        require_assignee(draft, chosen, team)
    _enter(draft, team, chosen)


def require_assignee(draft: Draft, user_id: int, team_id: int) -> None:
    """Raise TicketRefused if a ticket of the team (0: of none) cannot be assigned to the user."""
    person = draft.setup.people.get(user_id)
    if person is None or not (person.linked or person.teams):
        raise TicketRefused(f"assigneeId: user {user_id} has no access to the company")
    if team_id and team_id not in person.teams:
        raise TicketRefused(f"assigneeId: user {user_id} is not a member of team {team_id}")
    if person.disabled:
        raise TicketRefused(f"assigneeId: user {user_id} is disabled")


def _enter(draft: Draft, team_id: int, assignee_id: int) -> None:
    ticket, changes, entry = draft.ticket, [], None
    if team_id != ticket.team_id:
        changes.append(FieldChange("teamId", ticket.team_id, team_id))
        entry = _enter_change(draft, changes[-1], draft.setup.teams)
    if assignee_id != ticket.assignee_id:
        changes.append(FieldChange("assigneeId", ticket.assignee_id, assignee_id))
        entry = _enter_change(draft, changes[-1], draft.setup.people)
        if assignee_id and assignee_id != draft.author.user_id:
            draft.notices.append(Notice("ticketAssigned", assignee_id))
    if changes:
        draft.set(team_id=team_id, assignee_id=assignee_id)
        draft.add_message("ticket.assigned", entry, *changes)


def _enter_change(draft: Draft, change: FieldChange, known: Mapping[int, Team | Person]) -> TicketEvent:
    names = [known[each].name if each in known else "" for each in (change.before, change.after)]
    return draft.enter("assigned", change=change, attributes={"fromName": names[0], "toName": names[1]})
