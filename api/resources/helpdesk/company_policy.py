"""The policy that all resources of a company share: rights, and that no reference leaves the company
(docs/helpdesk.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from motorpool.actors.messages.changes import Change
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS, ListParameters
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource, id_of, spaced
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import camel
from motorpool.api.resources.helpdesk.caller_membership import (
    membership_of,
    no_company,
    require_linked,
    require_manager,
)
from motorpool.api.resources.helpdesk.cleared_references import clear_references
from motorpool.api.resources.linked_policy import LinkedPolicy, may_see
from motorpool.storage.accounts import links
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery, Table, Versioned
from motorpool.storage.helpdesk import companies, configuration_uses
from motorpool.storage.helpdesk.configuration_uses import Cleared, Counted

R = TypeVar("R", bound=msgspec.Struct)

MAX_REFERENCE = 2**63 - 1


class CompanyPolicy(LinkedPolicy[R]):
    """Users linked to the company read, its managers and administrators write.

    `own` and `accessed` are references, in fields or attributes, that are checked when they change: those in
    `own` must name rows of the same company that are not disabled, those in `accessed` rows that the caller
    has access to.
    """

    distinguishes_missing = frozenset({"GET", "PUT", "DELETE"})
    max_rows: int = 0
    """Rows that a company may have; 0: no limit."""
    agents_write = False
    """Whether agents of the company write them as well as managers."""
    counted: Counted | None = None
    """The reference of tickets to a row that keeps it from deletion."""
    cleared: Cleared | None = None
    """The reference of tickets to a row that is set to 0 when it is deleted."""

    def __init__(
        self,
        table: Table[Any],
        *,
        own: Mapping[str, Table[Any]] | None = None,
        accessed: Mapping[str, Table[Any]] | None = None,
        references: Mapping[str, Table[Any]] | None = None,
        required: tuple[str, ...] = (),
    ) -> None:
        super().__init__(
            table,
            links.USER_COMPANY,
            references=references,
            user_id_expands=True,
            required=("company_id", "name", *required),
        )
        self._own = own or {}
        self._accessed = accessed or {}

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Build the query from the caller's companies and the filters."""
        if parameters.company_id is None:
            return await super().list_query(call, parameters)
        require_linked(await membership_of(call, parameters.company_id))
        if call.caller.administrator:
            # What is asked for by the company need not be the administrator's own.
            parameters = msgspec.structs.replace(parameters, all=True)
        query = await super().list_query(call, parameters)
        return narrowed(query, Condition("company_id = {0}", (parameters.company_id,)))

    async def lock(self, call: Call, transaction: Queries) -> Versioned[R] | None:
        """Lock the row; a company is configured by one request after the other."""
        sql = f"select company_id from {self.table.name} where id = $1"  # noqa: S608 - constant names
        company_id = await transaction.fetch_value(sql, call.id) if call.id <= MAX_REFERENCE else None
        if company_id is not None:
            await companies.lock_configuration(transaction, company_id)
        return await super().lock(call, transaction)

    async def require_write(self, call: Call, transaction: Queries, record: R) -> None:
        """Refuse users who are linked to the company and nothing more."""
        membership = await membership_of(call, company_of(record), transaction)
        if not self.agents_write:
            require_manager(membership)
            return
        require_linked(membership)
        if not membership.handles_tickets:
            raise BadRequest("only agents and managers of the company may do this", is_refusal=True)

    async def prepare(self, call: Call, transaction: Queries, new: R, old: R | None) -> R:
        """Check the company, who creates, and the references."""
        company_id = company_of(new)
        if not company_id:
            raise BadRequest("companyId: needed")
        if old is None:
            await self.require_write(call, transaction, new)
            if not await companies.lock_configuration(transaction, company_id):
                raise no_company()
            await self._check_count(transaction, company_id)
        new = await super().prepare(call, transaction, new, old)
        await self._check_own(transaction, new, old)
        for name, table in self._accessed.items():
            place, wanted, held = _change_of(name, new, old)
            await require_access(call, transaction, table, place, wanted, held)
        return new

    async def _check_count(self, transaction: Queries, company_id: int) -> None:
        """Refuse a row too many: each change of a ticket reads what its company configures."""
        if not self.max_rows:
            return
        count = await self.table.count(transaction, Condition("company_id = {0}", (company_id,)))
        if count >= self.max_rows:
            words = spaced(self.table.record.__name__)
            raise BadRequest(f"{words}: the company has {count}, which are the most there may be")

    async def _check_own(self, transaction: Queries, new: R, old: R | None) -> None:
        for name, table in self._own.items():
            place, number, held = _change_of(name, new, old)
            if not number or number == held:
                continue
            found = await table.fetch(transaction, number)
            words = spaced(table.record.__name__)
            if found is None or company_of(found) != company_of(new):
                raise BadRequest(f"{place}: no such {words} in the company")
            if found.disabled:
                raise BadRequest(f"{place}: the {words} is disabled")

    async def insert(self, call: Call, transaction: Queries, new: R) -> R:
        """Store; users have access by their links to the company."""
        del call
        stored: R = await self.table.insert(transaction, new)
        return stored

    async def delete(self, call: Call, transaction: Queries, old: R) -> None:
        """Delete a row that no ticket counts on (`counted`); its tickets are then without it (`cleared`)."""
        company_id, record_id = company_of(old), id_of(old)
        await self.require_unused(transaction, old, "disable it instead")
        if self.cleared is not None:
            name = getattr(old, "name", "")
            await clear_references(
                call, transaction, self.cleared, record_id, company_id=company_id, name=name
            )
        await super().delete(call, transaction, old)

    async def require_unused(self, transaction: Queries, record: R, advice: str) -> None:
        """Raise BadRequest if tickets have the row in their reference `counted`."""
        if self.counted is None:
            return
        number = id_of(record)
        used = await configuration_uses.count(transaction, self.counted, company_of(record), number)
        if used:
            what = f"{self.counted.removesuffix('_id')} {number}"
            raise BadRequest(f"{what} is used by {used} ticket{'s' * (used != 1)}; {advice}")


def company_resource(
    name: str,
    path: str,
    policy: CompanyPolicy[Any],
    *,
    parameters: frozenset[str] = frozenset(),
    change: Callable[..., Change] | None = None,
) -> tuple[Resource[Any], Operations]:
    """Return a resource of companies, whose lists take `companyId` and `parameters`, and its operations."""
    taken = COMMON_PARAMETERS | {"company_id"} | parameters
    resource = Resource(name=name, path=path, right="company", policy=policy, parameters=taken, change=change)
    operations = Operations(path)
    add_resource_operations(resource, operations)
    return resource, operations


def company_of(record: msgspec.Struct) -> int:
    """Return the company that a record belongs to."""
    number = getattr(record, "company_id")  # noqa: B009 - the bound of the type cannot say that it is there
    assert isinstance(number, int)
    return number


def attributes_of(record: msgspec.Struct) -> dict[str, Any]:
    """Return the attributes of a record."""
    found = getattr(record, "attributes")  # noqa: B009 - as above
    assert isinstance(found, dict)
    return found


def _change_of(name: str, new: msgspec.Struct, old: msgspec.Struct | None) -> tuple[str, int, object]:
    """Return how errors call a reference, which is a field or an attribute, and its new and old values."""
    if name in new.__struct_fields__:
        return camel(name), getattr(new, name), getattr(old, name, 0)
    held = None if old is None else attributes_of(old).get(name)
    return f"attributes.{name}", reference_of(new, name), held


async def require_access(
    call: Call, transaction: Queries, table: Table[Any], place: str, wanted: int, held: object = None
) -> None:
    """Raise BadRequest if an attribute or field names a row that the caller has no access to.

    `place` begins the error, `held` is what is stored, which may stay. The row is locked, so that it is not
    deleted meanwhile: attributes are no foreign keys.
    """
    if not wanted or wanted == held:
        return
    found = await table.fetch(transaction, wanted, lock=True)
    if found is None or not await may_see(call, table, wanted, transaction):
        raise BadRequest(f"{place}: no access to it, or no such")


def narrowed(query: ListQuery, *conditions: Condition) -> ListQuery:
    """Return the query with further conditions."""
    return replace(query, conditions=(*query.conditions, *conditions))


def reference_of(record: msgspec.Struct, key: str) -> int:
    """Return the reference that an attribute holds, 0 if there is none. Raises BadRequest."""
    return whole_number(record, key, MAX_REFERENCE)


def whole_number(record: msgspec.Struct, key: str, most: int) -> int:
    """Return the number that an attribute holds, 0 if there is none.

    Raises BadRequest for anything else than a whole number from 0 to `most`.
    """
    value = attributes_of(record).get(key)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise BadRequest(f"attributes.{key}: not a whole number from 0 to {most}")
    return value
