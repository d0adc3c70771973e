"""Creating tickets (docs/tickets.md#creation)."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from motorpool.actors.helpdesk import service_levels
from motorpool.actors.helpdesk.assign import require_assignee
from motorpool.actors.helpdesk.business_time import BusinessTime
from motorpool.actors.helpdesk.draft import Draft, to_milliseconds
from motorpool.actors.helpdesk.edit import json_name
from motorpool.actors.helpdesk.facts import (
    Author,
    CompanySetup,
    Notice,
    Outcome,
    TicketFacts,
    TicketRefused,
    usable,
)
from motorpool.actors.helpdesk.service_levels import Level
from motorpool.actors.helpdesk.status_moves import DONE_KINDS, ENDED_KINDS, RUNNING_KINDS
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketCategory, TicketPause, TicketStatus

NO_STARTING_STATUS = "company has no starting status; call POST /tickets/defaults"
RESPONDED = "firstResponse"
"""The attribute that says that an agent answered while the ticket was made."""
_FIELDS = Ticket.__struct_fields__
_DERIVED = frozenset({"id", "company_id", "status_kind"})
_INITIAL = (*(name for name in _FIELDS[: _FIELDS.index("created_at")] if name not in _DERIVED), "attributes")
"""Fields whose first values the history holds."""


def with_category(ticket: Ticket, category: TicketCategory | None, setup: CompanySetup) -> Ticket:
    """Return a new ticket with the team and priority of its category, where it has none of its own.

    A team or priority that is disabled is left out.
    """
    if category is None:
        return ticket
    team, priority = setup.teams.get(category.team_id), setup.priorities.get(category.priority_id)
    if not ticket.team_id and team is not None and not team.disabled:
        ticket = msgspec.structs.replace(ticket, team_id=team.id)
    if not ticket.priority_id and priority is not None and not priority.disabled:
        ticket = msgspec.structs.replace(ticket, priority_id=priority.id)
    return ticket


def create(
    ticket: Ticket,
    setup: CompanySetup,
    business_times: Mapping[int, BusinessTime],
    author: Author,
    now: datetime,
    *,
    created_at: datetime | None = None,
) -> Outcome:
    """Return a new ticket, whose id and number have been assigned.

    Of the record the fields that clients may set are read; plain references have been checked, and the
    category has given its team and priority (`with_category`). `created_at` is `now` unless it is imported.

    Raises:
        TicketRefused: The company has no starting status, or a reference cannot be set.
    """
    began = to_milliseconds(created_at or now)
    before = TicketFacts(
        ticket=msgspec.structs.replace(ticket, version=0),
        first_response=Level(),
        resolution=Level(),
        pauses=(),
        next_clock_at=None,
        message_sequence=0,
        setup=setup,
        business_times=business_times,
    )
    draft = Draft(before, author, now)
    status = starting_status(setup, ticket.status_id)
    if ticket.priority_id:
        usable("priority", ticket.priority_id, setup.priorities)
    if ticket.team_id:
        usable("team", ticket.team_id, setup.teams)
    if ticket.assignee_id:
        require_assignee(draft, ticket.assignee_id, ticket.team_id)
    draft.set(
        status_id=status.id,
        status_kind=status.kind,
        reporter_id=author.user_id,
        created_at=began,
        status_changed_at=began,
        resolved_at=began if status.kind in DONE_KINDS else None,
        closed_at=began if status.kind in ENDED_KINDS else None,
    )
    if status.kind in DONE_KINDS or (author.is_agent and ticket.attributes.get(RESPONDED) is True):
        draft.set(first_response_at=began)
    _start_clocks(draft, status)
    initial = {json_name(name): getattr(draft.ticket, name) for name in _INITIAL}
    attributes = {
        "initial": {name: value for name, value in initial.items() if value not in ("", 0, {})},
        "statusKind": status.kind,
        **_names(draft),
        "firstResponse": {"targetMinutes": draft.first_response.target_minutes},
        "resolution": {"targetMinutes": draft.resolution.target_minutes},
    }
    entry = draft.enter("created", event_time=began, attributes=attributes)
    if draft.ticket.first_response_at is not None:
        reason = {"reason": "resolved"} if status.kind in DONE_KINDS else {}
        draft.enter("firstResponse", event_time=began, attributes=reason)
    draft.add_message("ticket.created", entry)
    if ticket.assignee_id and ticket.assignee_id != author.user_id:
        draft.notices.append(Notice("ticketAssigned", ticket.assignee_id))
    return draft.finish()


def starting_status(setup: CompanySetup, status_id: int) -> TicketStatus:
    """Return the status of a new ticket; `status_id` is the one asked for, 0: the company's first.

    Raises:
        TicketRefused: There is none, or it is disabled.
    """
    if status_id:
        return usable("status", status_id, setup.statuses)
    status = setup.first_status("new", "open")
    if status is None:
        raise TicketRefused(NO_STARTING_STATUS)
    return status


def _start_clocks(draft: Draft, status: TicketStatus) -> None:
    began = draft.ticket.created_at
    first, resolution = draft.clocks
    draft.first_response = service_levels.start(first, began)
    draft.resolution = service_levels.start(resolution, began)
    if draft.ticket.first_response_at is not None:
        draft.first_response = service_levels.complete(draft.first_response, first, began)
    if status.kind in DONE_KINDS:
        draft.resolution = service_levels.complete(draft.resolution, resolution, began)
    if status.kind not in RUNNING_KINDS:
        draft.pauses.append(TicketPause(began, None, status.id, status.kind))
        first, resolution = draft.clocks
        draft.first_response = service_levels.move(draft.first_response, first, began)
        draft.resolution = service_levels.move(draft.resolution, resolution, began)


def _names(draft: Draft) -> dict[str, str]:
    """Return names that may have been changed when the history is read."""
    ticket, setup = draft.ticket, draft.setup
    named = {
        "statusName": setup.statuses.get(ticket.status_id),
        "priorityName": setup.priorities.get(ticket.priority_id),
        "teamName": setup.teams.get(ticket.team_id),
        "assigneeName": setup.people.get(ticket.assignee_id),
    }
    return {name: record.name for name, record in named.items() if record is not None}
