"""The standard categories, priorities and statuses of a company (docs/helpdesk.md#standard-configuration)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import TicketPriorityChanged
from motorpool.actors.words.catalog import FALLBACK, catalog_of, language_of, languages, read_catalog
from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import BodyRules, Operations
from motorpool.api.engine.resource import id_of
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.resources.helpdesk.caller_membership import membership_of, no_company, require_manager
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery, Table
from motorpool.storage.helpdesk import companies, company_tables
from motorpool.storage.helpdesk.helpdesk_records import TicketCategory, TicketPriority, TicketStatus

OPERATIONS = Operations("tickets")

R = TypeVar("R", TicketCategory, TicketPriority, TicketStatus)

PRIORITIES = (
    TicketPriority(name="Urgent", level=1, first_response_minutes=15, resolution_minutes=240),
    TicketPriority(name="High", level=2, first_response_minutes=60, resolution_minutes=480),
    TicketPriority(name="Normal", level=3, first_response_minutes=240, resolution_minutes=1440),
    TicketPriority(name="Low", level=4, first_response_minutes=480, resolution_minutes=4320),
)


class _Status(NamedTuple):
    """A status, and the names of those that may follow it."""

    status: TicketStatus
    following: tuple[str, ...] = ()


_FROM_WAITING = ("In progress", "Resolved", "Cancelled")
STATUSES = (
    _Status(
        TicketStatus(name="New", kind="new", sort_order=10),
        ("In progress", "Waiting for contact", "Resolved", "Cancelled"),
    ),
    _Status(
        TicketStatus(name="In progress", kind="open", sort_order=20),
        ("Waiting for contact", "Waiting for parts", "Waiting for vehicle", "Resolved", "Cancelled"),
    ),
    _Status(TicketStatus(name="Waiting for contact", kind="pending", sort_order=30), _FROM_WAITING),
    _Status(TicketStatus(name="Waiting for parts", kind="pending", sort_order=40), _FROM_WAITING),
    _Status(TicketStatus(name="Waiting for vehicle", kind="pending", sort_order=50), _FROM_WAITING),
    _Status(TicketStatus(name="Resolved", kind="resolved", sort_order=60), ("In progress", "Closed")),
    _Status(TicketStatus(name="Closed", kind="closed", sort_order=70)),
    _Status(TicketStatus(name="Cancelled", kind="cancelled", sort_order=80)),
)


class _Category(NamedTuple):
    """A category: its name, and the names of its parent, if it has one, and of its priority."""

    name: str
    parent: str = ""
    priority: str = "Normal"


CATEGORIES = (
    _Category("Device"),
    _Category("No signal", "Device", "High"),
    _Category("Installation", "Device"),
    _Category("Power and wiring", "Device"),
    _Category("SIM and data", "Device"),
    _Category("Camera"),
    _Category("No recording", "Camera"),
    _Category("No live picture", "Camera"),
    _Category("Footage request", "Camera", "Low"),
    _Category("Vehicle"),
    _Category("Breakdown", "Vehicle", "Urgent"),
    _Category("Maintenance", "Vehicle"),
    _Category("Accident", "Vehicle", "Urgent"),
    _Category("Driver"),
    _Category("Account and access"),
    _Category("Billing"),
    _Category("Other", priority="Low"),
)
"""Parents before their children."""


class DefaultsFor(msgspec.Struct, rename="camel"):
    """The company to complete, in the query or in the body."""

    company_id: Id = 0
    """The company."""
    language: Annotated[str, Meta(max_length=64)] = FALLBACK
    """Of the names of what is created, such as `de` or `pt-BR`; English if the server has no words of it."""


class TicketDefaults(msgspec.Struct, frozen=True):
    """The standard configuration of a company."""

    categories: list[TicketCategory]
    """The standard categories."""
    priorities: list[TicketPriority]
    """The standard priorities."""
    statuses: list[TicketStatus]
    """The standard statuses."""


@OPERATIONS.operation(
    "POST",
    "/tickets/defaults",
    query=DefaultsFor,
    body=DefaultsFor,
    body_rules=BodyRules(optional=True),
    answer=TicketDefaults,
    errors=(400,),
)
async def create_ticket_defaults(call: Call) -> Response:
    """Create the standard categories, priorities and statuses that a company lacks.

    What there is under one of the names, in any language and whatever its case, is left as it is, so doing it
    again changes nothing. Answers with the company's entries of these names.
    """
    CHANGE["company"].require(call.caller)
    sent = call.query(DefaultsFor)
    if not sent.company_id and (await call.raw_body()).strip():
        sent = await call.body(DefaultsFor)
    company_id = sent.company_id
    if not company_id:
        raise BadRequest("companyId: needed")
    language = language_of(sent.language)
    if language is None:
        raise BadRequest("language: not the tag of a language")
    facts: list[TicketPriorityChanged] = []
    async with call.context.database.transaction() as transaction:
        membership = await membership_of(call, company_id, transaction)
        require_manager(membership)
        if not await companies.lock_configuration(transaction, company_id):
            raise no_company()
        making = _Making(call, transaction, company_id, catalog_of(language).helpdesk)
        found = await making.all()
        facts += making.facts
    if facts:
        await publish_changes(call.context.system, *facts)
    return as_json(found)


class _Making:
    """Adds what a company lacks, in one transaction, in which its configuration is locked."""

    def __init__(self, call: Call, transaction: Queries, company_id: int, words: Mapping[str, str]) -> None:
        self._call = call
        self._transaction = transaction
        self._company_id = company_id
        self._words = words
        """The names of what is added, by the English one."""
        self.facts: list[TicketPriorityChanged] = []
        """What was added, to be published after the commit."""

    async def all(self) -> TicketDefaults:
        """Add what is missing of everything; return the standard entries."""
        priorities = await self._priorities()
        statuses = await self._statuses()
        categories = await self._categories(priorities)
        return TicketDefaults([*categories.values()], [*priorities.values()], [*statuses.values()])

    async def _priorities(self) -> dict[str, TicketPriority]:
        found = await self._known(company_tables.PRIORITIES, [each.name for each in PRIORITIES])
        for each in PRIORITIES:
            if each.name not in found:
                found[each.name] = await self._add(company_tables.PRIORITIES, each, "ticketPriority")
                self.facts.append(TicketPriorityChanged(found[each.name].id, "created"))
        return {each.name: found[each.name] for each in PRIORITIES}

    async def _statuses(self) -> dict[str, TicketStatus]:
        table = company_tables.STATUSES
        found = await self._known(table, [each.status.name for each in STATUSES])
        added = [each for each in STATUSES if each.status.name not in found]
        for each in added:
            found[each.status.name] = await self._add(table, each.status, "ticketStatus")
        # Now that all of them have ids.
        for each in added:
            following = {"next": [found[name].id for name in each.following]}
            status = msgspec.structs.replace(found[each.status.name], attributes=following)
            await self._transaction.execute(
                "update ticket_statuses set attributes = $2 where id = $1", status.id, following
            )
            found[each.status.name] = status
        return {each.status.name: found[each.status.name] for each in STATUSES}

    async def _categories(self, priorities: Mapping[str, TicketPriority]) -> dict[str, TicketCategory]:
        table = company_tables.CATEGORIES
        found = await self._known(table, [each.name for each in CATEGORIES])
        for each in CATEGORIES:
            if each.name in found:
                continue
            new = TicketCategory(
                name=each.name,
                parent_id=found[each.parent].id if each.parent else 0,
                priority_id=priorities[each.priority].id,
            )
            found[each.name] = await self._add(table, new, "ticketCategory")
        return {each.name: found[each.name] for each in CATEGORIES}

    async def _known(self, table: Table[Any], names: Sequence[str]) -> dict[str, Any]:
        """Return what there is under these names, in any language and whatever their case; of several the
        oldest.
        """
        meant = {word.lower(): name for name in names for word in _in_all_languages(name)}
        own = Condition("company_id = {0}", (self._company_id,))
        named = Condition("lower(name) = any({0}::text[])", (list(meant),))
        rows = await table.list(self._transaction, ListQuery(conditions=(own, named)))
        found: dict[str, Any] = {}
        for row in sorted(rows, key=id_of):
            found.setdefault(meant[row.name.lower()], row)
        return found

    async def _add(self, table: Table[R], record: R, kind: str) -> R:
        name = self._words.get(record.name, record.name)
        new = msgspec.structs.replace(record, company_id=self._company_id, name=name)
        stored = await table.insert(self._transaction, new)
        await record_action(self._call, self._transaction, "create", kind, id_of(stored))
        return stored


def _in_all_languages(name: str) -> list[str]:
    return [name, *(read_catalog(language).helpdesk.get(name, name) for language in languages())]
