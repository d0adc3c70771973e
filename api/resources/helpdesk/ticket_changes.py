"""Changing one ticket: rights, versions, the change itself, and what follows the commit.

All writing operations on tickets lead through here, so that each is one transaction
(docs/tickets.md#changes).
"""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from quart import Response

from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.facts import Author, Change, Outcome, TicketFacts, TicketRefused
from motorpool.actors.helpdesk.ticket_creation import TooManyTickets
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import announce, write
from motorpool.api.auth.rights import WRITE_TICKETS
from motorpool.api.engine.call import Call
from motorpool.api.engine.versions import require_version
from motorpool.api.http.errors import BadRequest, ResourceNotFound, TooManyRequests
from motorpool.api.resources.helpdesk.caller_membership import membership_of, require_linked
from motorpool.api.resources.helpdesk.idempotency import RepeatableRequest, repeatable
from motorpool.api.resources.helpdesk.ticket_json import json_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import Conflict
from motorpool.storage.helpdesk import idempotency, tickets
from motorpool.storage.helpdesk.companies import Membership
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketEvent

MAX_REQUEST_ID = 128


class TicketContext(NamedTuple):
    """A ticket that is locked by the transaction of a request, and what its caller is in its company."""

    call: Call
    transaction: Queries
    facts: TicketFacts
    membership: Membership
    author: Author
    now: datetime

    @property
    def ticket(self) -> Ticket:
        """The ticket before the change."""
        return self.facts.ticket


Decide = Callable[[TicketContext], Awaitable[Outcome]]


def require_writer(call: Call, membership: Membership) -> None:
    """Raise BadRequest unless the caller may create tickets and comment on them."""
    require_linked(membership)
    WRITE_TICKETS.require(call.caller)


def require_agent(membership: Membership) -> None:
    """Raise BadRequest unless the caller handles tickets of the company."""
    if not membership.handles_tickets:
        raise BadRequest("only agents of the company may do this", is_refusal=True)


def author_of(call: Call, membership: Membership) -> Author:
    """Return the caller as the author of changes."""
    attributes: dict[str, Any] = {"userName": call.caller.user.name}
    if call.caller.impersonator_id:
        attributes["byUserId"] = call.caller.impersonator_id
    request_id = call.request.headers.get("X-Request-Id", "")
    if request_id.isprintable() and 0 < len(request_id) <= MAX_REQUEST_ID:
        attributes["requestId"] = request_id
    return Author("user", call.caller.id, membership.handles_tickets, attributes)


def answer_of(body: bytes, ticket: Ticket) -> Response:
    """Return an answer with the version of the ticket as its ETag."""
    response = Response(body, 200, content_type="application/json")
    response.set_etag(str(ticket.version))
    return response


async def serve_once(call: Call, serve: Callable[[RepeatableRequest], Awaitable[Response]]) -> Response:
    """Serve a request, again if another server has served the same one meanwhile."""
    async with repeatable(call) as request:
        is_last = False
        while True:
            try:
                return await serve(request)
            except TooManyTickets as refused:
                raise TooManyRequests(str(refused), refused.seconds) from None
            except TicketRefused as refused:
                raise BadRequest(str(refused)) from None
            except Conflict as conflict:
                # Another server has served the same request, or made a ticket of the same uniqueId.
                if is_last or conflict.constraint not in {idempotency.CONSTRAINT, "tickets_unique_id"}:
                    raise
            is_last = True


async def change_ticket(
    call: Call,
    decide: Decide,
    *,
    version: int = 0,
    people: Iterable[int] = (),
    priorities: Iterable[int] = (),
    lock_company: bool = False,
    shows_comment: bool = False,
) -> Response:
    """Change the ticket of the path as `decide` says, and answer with it, or with the comment it made.

    `version` is what the body expects the ticket to be at, 0 if it expects nothing. `people` and
    `priorities` are what the change may name.

    Raises:
        ResourceNotFound: There is no such ticket.
        BadRequest: The caller has no access, the ticket has another version, or a rule forbids the change.
    """

    async def serve(request: RepeatableRequest) -> Response:
        async with call.context.database.transaction() as transaction:
            response, changes = await change(transaction, request)
        await announce(call.context.system, changes)
        return response

    async def change(transaction: Queries, request: RepeatableRequest) -> tuple[Response, list[Change]]:
        if lock_company:
            company_id = await tickets.company_of(transaction, call.id)
            await tickets.lock_company(transaction, company_id or 0)
        now = to_milliseconds(call.now)
        found = await lock_facts(
            transaction,
            [call.id],
            call.context.helpdesk.business_calendars,
            now=now,
            people=people,
            priorities=priorities,
        )
        facts = found.get(call.id)
        if facts is None:
            raise ResourceNotFound("no such ticket")
        membership = await membership_of(call, facts.ticket.company_id, transaction)
        require_writer(call, membership)
        earlier = await request.earlier_answer(transaction)
        if earlier is not None:
            return earlier, []
        require_version(call, f"ticket {facts.ticket.id}", facts.ticket.version, version)
        author = author_of(call, membership)
        outcome = await decide(TicketContext(call, transaction, facts, membership, author, now))
        if outcome.ticket.status_id != facts.ticket.status_id:
            await _keep_status(transaction, outcome)
        changes = await write(transaction, [Change(facts, outcome)], now, call.context.helpdesk.ticket_mails)
        written = changes[0].outcome
        answered: Ticket | TicketEvent = written.ticket
        if shows_comment:
            answered = next(entry for entry in written.entries if entry.type == "comment")
        body = json_of(answered)
        await request.store(transaction, body, answered)
        return answer_of(body, written.ticket), changes

    return await serve_once(call, serve)


async def _keep_status(transaction: Queries, outcome: Outcome) -> None:
    """Prevent a change of the new status until the commit: its kind is copied into the ticket."""
    kind = await tickets.lock_status(transaction, outcome.ticket.status_id)
    if kind != outcome.ticket.status_kind:
        raise BadRequest(f"status {outcome.ticket.status_id} was changed just now")
