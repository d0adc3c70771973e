"""Lists of tickets (docs/tickets.md#lists)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from quart import Response

from motorpool.api.engine.batches import slices_of
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Count, Id, PageSize
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json_array
from motorpool.api.json import camel
from motorpool.api.resources.helpdesk.caller_membership import memberships_of, no_company
from motorpool.api.resources.helpdesk.ticket_json import whole_seconds
from motorpool.api.resources.linked_policy import may_see_user
from motorpool.storage.accounts import users
from motorpool.storage.database.conditions import ALWAYS, Condition, all_of
from motorpool.storage.errors import TookTooLong
from motorpool.storage.helpdesk import ticket_lists, tickets
from motorpool.storage.helpdesk.helpdesk_records import TARGETS, StatusKind, Target, Ticket

OPERATIONS = Operations("tickets")

TOTAL = "X-Total-Count"
NAMES = {"start": "from", "end": "to", "is_all": "all", "is_open": "open"}

Sort = Literal[
    "createdAt",
    "-createdAt",
    "updatedAt",
    "-updatedAt",
    "number",
    "-number",
    "level",
    "-level",
    "firstResponseDue",
    "-firstResponseDue",
    "resolutionDue",
    "-resolutionDue",
    "nextDue",
    "-nextDue",
]
Ids = tuple[Id, ...]
Texts = tuple[str, ...]
MAX_KEYWORD = 128
"""Characters. The time of a search grows with the length of the keyword times the length of all texts."""
SEARCH_SECONDS = 3.0
"""A keyword whose parts are in most tickets takes longer: each of their texts is read."""
MAX_TAGS = 50
"""Each is compared with each tag of a ticket."""


def name_in_url(name: str) -> str:
    """Return the name of a parameter."""
    return NAMES.get(name) or camel(name)


class TicketFilters(msgspec.Struct, frozen=True, kw_only=True, rename=name_in_url):
    """What tickets refer to: any of the values of a parameter, and all of the parameters."""

    company_id: Ids = ()
    """Tickets of these companies."""
    branch_id: Ids = ()
    """Tickets of these branches; 0: of none."""
    zone: Texts = ()
    """Tickets of branches in these zones."""
    team_id: Ids = ()
    """Tickets of these teams; 0: of none."""
    assignee_id: Ids = ()
    """Assigned to these users; 0: to nobody."""
    contact_id: Ids = ()
    """Tickets of these contacts; 0: of none."""
    device_id: Ids = ()
    """About these devices; 0: about none."""
    category_id: Ids = ()
    """Tickets of these categories; 0: of none."""
    include_children: bool = True
    """Include the subcategories of `categoryId`."""
    priority_id: Ids = ()
    """Tickets of these priorities; 0: of none."""
    status_id: Ids = ()
    """Tickets in these statuses."""
    reporter_id: Ids = ()
    """Created by these users; 0: by the server."""
    parent_id: Ids = ()
    """Below these tickets; 0: below none."""
    event_id: Ids = ()
    """Caused by these events; 0: by none."""


class TicketQuery(TicketFilters, frozen=True, kw_only=True, rename=name_in_url):
    """The parameters of a list of tickets."""

    kind: tuple[StatusKind, ...] = ()
    """Tickets in statuses of these kinds."""
    is_open: bool | None = None
    """Tickets in a status of kind new, open or pending; false: in any other."""
    breached: bool | None = None
    """A target was breached; false: none was."""
    target: tuple[Target, ...] = ()
    """Only these targets count for `breached` and `dueBefore`."""
    due_before: Instant | None = None
    """A target is due before, and can still be breached."""
    overdue: bool | None = None
    """In a status of kind new, open or pending, with a target that is late and not done; false: any other."""
    escalated: bool | None = None
    """Was escalated; false: was not."""
    unique_id: Texts = ()
    """Tickets with these unique ids."""
    number: Ids = ()
    """Tickets with these numbers."""
    tag: Annotated[Texts, Meta(max_length=MAX_TAGS)] = ()
    """Tickets with one of these in `attributes.tags`."""
    start: Instant | None = None
    """Created at this instant or later."""
    end: Instant | None = None
    """Created before this instant."""
    updated_from: Instant | None = None
    """Changed last at this instant or later."""
    updated_to: Instant | None = None
    """Changed last before this instant."""
    keyword: Annotated[str, Meta(max_length=MAX_KEYWORD)] = ""
    """Text in the subject, description, unique id or name of the contact, whatever its case; `#118` finds the
    number too."""
    is_all: bool = False
    """Administrators and managers: all there are."""
    user_id: Id | None = None
    """Tickets of the companies that this user is linked to."""
    exclude_attributes: bool = False
    """Leave `attributes` empty."""
    sort: Sort = "-createdAt"
    """The order, descending with `-`; tickets without a value come last."""
    limit: PageSize = 100
    """Maximum number of tickets; 0 is 1000."""
    offset: Count = 0
    """Number of tickets to skip."""


@OPERATIONS.operation(
    "GET",
    "/tickets",
    query=TicketQuery,
    answers={200: Content(shape=list[Ticket], headers={TOTAL: "How many there are without `limit`."})},
)
async def list_tickets(call: Call) -> Response:
    """List tickets of the companies that the caller is linked to."""
    sent = call.query(TicketQuery)
    scope = await ticket_scope(call, sent.company_id, is_all=sent.is_all, user_id=sent.user_id)
    condition = all_of(scope, references(sent), _properties(sent, scope, call.now))
    if not sent.keyword.strip():
        return await _answer(call, sent, condition)
    async with call.context.limits.searches.enter(call.caller.id):
        try:
            return await _answer(call, sent, condition, seconds=SEARCH_SECONDS)
        except TookTooLong:
            raise BadRequest(
                "keyword: the search takes too long; name a company or a span, or look for other words"
            ) from None


async def _answer(call: Call, sent: TicketQuery, condition: Condition, *, seconds: float = 0.0) -> Response:
    """List the tickets that meet a condition; a search, which has a time limit, finds all in any case."""
    async with (
        call.turn,
        ticket_lists.from_indexes(call.context.database, seconds=seconds) as queries,
    ):
        page, total = await ticket_lists.list_page(
            queries,
            condition,
            sort=sent.sort.removeprefix("-"),
            is_descending=sent.sort.startswith("-"),
            limit=sent.limit,
            offset=sent.offset,
            exclude_attributes=sent.exclude_attributes,
            counts=bool(seconds),
        )
        if total is None:
            total = sent.offset + len(page)
            if len(page) == sent.limit or (sent.offset and not page):
                total = await tickets.TABLE.count(queries, condition)
    found = slices_of([whole_seconds(ticket) for ticket in page])
    answer = await as_json_array(call.in_turns(found))
    answer.headers[TOTAL] = str(total)
    return answer


async def ticket_scope(
    call: Call, company_ids: Sequence[int], *, is_all: bool = False, user_id: int | None = None
) -> Condition:
    """Return the condition for the companies whose tickets are listed.

    Raises:
        BadRequest: The caller has no access to one of the companies, or may not ask for the user.
    """
    is_all = is_all or (call.caller.administrator and bool(company_ids))
    seen = await _seen_companies(call, is_all=is_all, user_id=user_id)
    if seen is None:
        return ticket_lists.is_any_of("company_id", company_ids)
    if not company_ids:
        return ticket_lists.is_any_of("company_id", sorted(seen)) if seen else Condition("false")
    if not seen.issuperset(company_ids) and not call.caller.administrator:
        raise no_company()
    chosen = sorted(seen.intersection(company_ids))
    return ticket_lists.is_any_of("company_id", chosen) if chosen else Condition("false")


async def _seen_companies(call: Call, *, is_all: bool, user_id: int | None) -> set[int] | None:
    """Return the companies that a list covers; None: all."""
    database, caller = call.context.database, call.caller
    if user_id is not None:
        if not await may_see_user(call, database, user_id):
            raise BadRequest("userId: not the caller's to ask for")
        return set(await ticket_lists.companies_of(database, [user_id]))
    if is_all and caller.administrator:
        return None
    found = set(await memberships_of(call))
    if is_all and caller.manager:
        managed = await users.managed_by(database, caller.id)
        found |= set(await ticket_lists.companies_of(database, managed))
    return found


def references(sent: TicketFilters) -> Condition:
    """Return the condition for what tickets refer to, but for the company."""
    return all_of(
        *(
            ticket_lists.refers_to(f"{name}_id", ids)
            for name, ids in (
                ("branch", sent.branch_id),
                ("team", sent.team_id),
                ("assignee", sent.assignee_id),
                ("contact", sent.contact_id),
                ("device", sent.device_id),
                ("priority", sent.priority_id),
                ("status", sent.status_id),
                ("reporter", sent.reporter_id),
                ("parent", sent.parent_id),
            )
            if ids
        ),
        ticket_lists.in_zones(sent.zone),
        ticket_lists.in_categories(sent.category_id, with_children=sent.include_children),
        # Events may be deleted before the tickets they caused, so that none is 0, not null.
        ticket_lists.is_any_of("event_id", sent.event_id),
    )


def _properties(sent: TicketQuery, scope: Condition, now: datetime) -> Condition:
    targets = sent.target or TARGETS
    keyword = sent.keyword.strip()
    return all_of(
        ticket_lists.is_any_of("status_kind", sent.kind),
        ALWAYS if sent.is_open is None else ticket_lists.is_open(sent.is_open),
        ALWAYS if sent.breached is None else ticket_lists.is_breached(sent.breached, targets),
        ALWAYS if sent.due_before is None else ticket_lists.due_before(sent.due_before, targets),
        ALWAYS if sent.overdue is None else ticket_lists.is_overdue(sent.overdue, now),
        ALWAYS if sent.escalated is None else ticket_lists.is_escalated(sent.escalated),
        ticket_lists.is_any_of("unique_id", sent.unique_id),
        ticket_lists.is_any_of("number", sent.number),
        ticket_lists.has_tag(sent.tag),
        ticket_lists.between("created_at", sent.start, sent.end),
        ticket_lists.between("updated_at", sent.updated_from, sent.updated_to),
        ticket_lists.has_keyword(keyword, scope) if keyword else ALWAYS,
    )
