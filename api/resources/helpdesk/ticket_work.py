"""Working on tickets: comments, transitions and assignment (docs/tickets.md)."""

from typing import Annotated, Any

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.helpdesk.assign import assign
from motorpool.actors.helpdesk.comment import comment
from motorpool.actors.helpdesk.facts import Outcome
from motorpool.actors.helpdesk.transition import transition
from motorpool.actors.messages.changes import MaintenanceChanged
from motorpool.actors.words.masking import without_secrets
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import BodyRules, Content, Operations
from motorpool.api.engine.versions import IF_MATCH, VERSION_HEADER
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.idempotency import IDEMPOTENCY_KEY
from motorpool.api.resources.helpdesk.maintenance_reset import find_reset, store_reset
from motorpool.api.resources.helpdesk.ticket_changes import TicketContext, change_ticket, require_agent
from motorpool.api.resources.helpdesk.ticket_evidence import (
    MAX_FILES,
    EvidenceFile,
    announce_evidence,
    find_evidence,
    keep_evidence,
)
from motorpool.api.resources.linked_policy import check_size
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketEvent

OPERATIONS = Operations("tickets")

MAX_TEXT = 65_536
MAX_CAPTURE_ID = 128
HEADERS = {**IF_MATCH, **IDEMPOTENCY_KEY}
Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
TICKET = {200: Content(shape=Ticket, headers=VERSION_HEADER)}


class NewComment(msgspec.Struct, frozen=True, rename="camel"):
    """A comment, and a status to move to after it."""

    text: Text = ""
    """The comment."""
    internal: bool = False
    """Only for agents and managers of the company."""
    on_behalf_of_contact: bool = False
    """Whether the words are the contact's."""
    status_id: Id = 0
    """The status to move to after the comment; 0: it stays."""
    capture_id: Annotated[str, msgspec.Meta(max_length=MAX_CAPTURE_ID)] = ""
    """A capture to add as evidence; its file is kept as long as the ticket. If it is still recording, its end
    is entered later."""
    position_id: Id = 0
    """A position to add as evidence, as a copy; 0 is none."""
    files: Annotated[list[EvidenceFile], msgspec.Meta(max_length=MAX_FILES)] = []
    """Files of devices to add as evidence; they are kept as long as the ticket."""
    version: Id = 0
    """The version that the ticket must have; 0: any."""


class NewTransition(msgspec.Struct, frozen=True, rename="camel"):
    """A status to move to, and a comment before it."""

    status_id: Id = 0
    """The status to move to."""
    comment: Text = ""
    """A comment, stored before."""
    internal: bool = False
    """Whether the comment is only for agents and managers of the company."""
    version: Id = 0
    """The version that the ticket must have; 0: any."""
    attributes: dict[str, Any] = {}
    """Further values for the entry of the history."""
    reset_maintenance: bool = False
    """Whether the ticket's maintenance was done: its next period begins at the value that the device has
    reported last. With a status of kind resolved or closed."""


class NewAssignment(msgspec.Struct, frozen=True, rename="camel"):
    """A team or user to assign to; absent: unchanged, 0: nobody."""

    team_id: Id | None = None
    """The team; 0: none, absent: unchanged."""
    assignee_id: Id | None = None
    """The user; 0: nobody, absent: unchanged."""
    comment: Text = ""
    """An internal comment, stored before."""
    version: Id = 0
    """The version that the ticket must have; 0: any."""
    expect_assignee_id: Id | None = None
    """Who must be the assignee before; 0: nobody."""


@OPERATIONS.operation(
    "POST",
    "/tickets/{id}/comments",
    body=NewComment,
    body_rules=BodyRules(required=("text",)),
    answers={200: Content(shape=TicketEvent, headers=VERSION_HEADER)},
    headers=HEADERS,
)
async def comment_ticket(call: Call) -> Response:
    """Comment on a ticket, and move it to a status if one is given.

    The first public comment of an agent is the first response. One of the contact moves a pending ticket on
    and reopens a resolved one; what a linked user who is no agent writes counts as the contact's.
    """
    body = await call.body(NewComment)
    text = body.text.strip()
    if not text:
        raise BadRequest("text: needed")
    evidence = await find_evidence(call, body.capture_id, body.position_id, body.files)

    async def decide(context: TicketContext) -> Outcome:
        if body.internal or body.on_behalf_of_contact or evidence.entries:
            require_agent(context.membership)
        _require_mover(context, body.status_id)
        await keep_evidence(context.transaction, evidence, context.ticket, internal=body.internal)
        return comment(
            context.facts,
            context.author,
            context.now,
            text=text,
            internal=body.internal,
            on_behalf_of_contact=body.on_behalf_of_contact,
            status_id=body.status_id,
            evidence=evidence.entries,
        )

    response = await change_ticket(call, decide, version=body.version, shows_comment=True)
    announce_evidence(call, evidence)
    return response


@OPERATIONS.operation(
    "POST",
    "/tickets/{id}/transition",
    body=NewTransition,
    body_rules=BodyRules(required=("status_id",)),
    answers=TICKET,
    headers=HEADERS,
)
async def transition_ticket(call: Call) -> Response:
    """Move a ticket to a status that the workflow allows; the present one changes nothing.

    Users who are no agents may reopen and cancel what they reported. `resetMaintenance` resets the
    maintenance that the ticket is about, with the value that its device has reported last.
    """
    body = await call.body(NewTransition)
    if not body.status_id:
        raise BadRequest("statusId: needed")
    check_size(body.attributes)
    published: list[MaintenanceChanged] = []

    async def decide(context: TicketContext) -> Outcome:
        if body.internal:
            require_agent(context.membership)
        _require_mover(context, body.status_id)
        attributes = dict(without_secrets(body.attributes))
        published.clear()
        reset = None
        if body.reset_maintenance and body.status_id != context.ticket.status_id:
            require_agent(context.membership)
            reset = await find_reset(context, body.status_id)
            attributes |= reset.attributes()
        outcome = transition(
            context.facts,
            context.author,
            context.now,
            status_id=body.status_id,
            comment=body.comment.strip(),
            internal=body.internal,
            attributes=attributes,
        )
        if reset is not None:
            await store_reset(context, reset)
            published.append(MaintenanceChanged(reset.before.id, "updated", ("start",)))
        return outcome

    response = await change_ticket(call, decide, version=body.version)
    if published:
        await publish_changes(call.context.system, *published)
    return response


@OPERATIONS.operation("POST", "/tickets/{id}/assign", body=NewAssignment, answers=TICKET, headers=HEADERS)
async def assign_ticket(call: Call) -> Response:
    """Assign a ticket to a team, a user, or nobody.

    With `expectAssigneeId` 0 of several users who take a ticket at once one gets it.
    """
    body = await call.body(NewAssignment)

    async def decide(context: TicketContext) -> Outcome:
        require_agent(context.membership)
        return assign(
            context.facts,
            context.author,
            context.now,
            team_id=body.team_id,
            assignee_id=body.assignee_id,
            comment=body.comment.strip(),
            expect_assignee_id=body.expect_assignee_id,
        )

    people = [body.assignee_id] if body.assignee_id else []
    return await change_ticket(call, decide, version=body.version, people=people)


def _require_mover(context: TicketContext, status_id: int) -> None:
    """Raise BadRequest unless the caller may move the ticket to a status.

    Agents may; others may reopen a resolved ticket that they reported, and cancel it.
    """
    ticket, setup = context.ticket, context.facts.setup
    if not status_id or context.membership.handles_tickets:
        return
    status = setup.statuses.get(status_id)
    is_own = ticket.reporter_id == context.author.user_id
    kind = status.kind if status is not None else ""
    reopens = ticket.status_kind == "resolved" and kind == "open"
    if not (is_own and (reopens or kind == "cancelled")):
        require_agent(context.membership)
