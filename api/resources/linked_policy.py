"""Access through links of users to records, or to groups of records (docs/permissions.md,
docs/http-api.md#lists).
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from motorpool.api.access import require_device_for_change
from motorpool.api.auth.caller import Caller
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS, ListParameters
from motorpool.api.engine.resource import ResourcePolicy, id_of
from motorpool.api.engine.text_rules import TextRules, rules_for_all
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import camel
from motorpool.api.resources import quotas
from motorpool.storage.accounts import access, links, users
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.database.conditions import Condition, all_of, any_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery, Table
from motorpool.storage.devices import groups

R = TypeVar("R", bound=msgspec.Struct)

MAX_ATTRIBUTES_BYTES = 16_384
"""Longest JSON of the attributes of a record."""
HIDDEN_GROUPS = "there are groups below it that the caller has no access to"


class LinkedPolicy(ResourcePolicy[R]):
    """Access lets read, and with the right to write also write; a new record is linked to its creator."""

    max_attributes_bytes = MAX_ATTRIBUTES_BYTES

    def __init__(
        self,
        table: Table[Any],
        link: LinkType,
        *,
        filters: tuple[LinkType, ...] = (),
        references: Mapping[str, Table[Any]] | None = None,
        user_id_expands: bool = False,
        required: tuple[str, ...] = (),
        verbatim: tuple[str, ...] = (),
        texts: TextRules | None = None,
    ) -> None:
        """`filters` are links of devices and groups that lists may be restricted to.

        Without `texts` all but `verbatim` ones are trimmed and bounded, and `required` ones not blank.
        """
        self.texts = texts or rules_for_all(table.record, required=required, verbatim=verbatim)
        self.table = table
        self._link = link
        self._filters = filters
        self.parameters = COMMON_PARAMETERS | {link.owner_column for link in filters}
        self._references = references or {}
        self._user_id_expands = user_id_expands

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Build the query from the caller's links and the filters."""
        conditions = []
        owner_scope = await self._owner_scope(call, parameters)
        if owner_scope is not None:
            conditions.append(owner_scope)
        for link in self._filters:
            is_device = link.owner == "device"
            owner_id = parameters.device_id if is_device else parameters.group_id
            if owner_id is None:
                continue
            if is_device:
                await require_device_for_change(call, owner_id)
            elif not await may_see(call, groups.TABLE, owner_id):
                raise BadRequest("groupId: no access to the group")
            conditions.append(links.linked_to(link, owner_id))
        return ListQuery(
            conditions=tuple(conditions),
            keyword=parameters.keyword,
            limit=parameters.limit,
            offset=parameters.offset,
            exclude_attributes=parameters.exclude_attributes,
        )

    async def _owner_scope(self, call: Call, parameters: ListParameters) -> Condition | None:
        """Return the condition for the users whose records are listed; None: all records."""
        caller, access = call.caller, self.table.access
        assert access is not None
        if parameters.user_id is not None:
            if not await may_see_user(call, call.context.database, parameters.user_id):
                raise BadRequest("userId: not the caller's to ask for")
            return (
                access(parameters.user_id)
                if self._user_id_expands
                else links.linked_to(self._link, parameters.user_id)
            )
        if parameters.all and caller.administrator:
            return None
        if parameters.all and caller.manager:
            managed = await users.managed_by(call.context.database, caller.id)
            return any_of(access(caller.id), *(access(user_id) for user_id in managed))
        return access(caller.id)

    async def has_access(self, call: Call, queries: Queries, record_id: int) -> bool:
        """Return whether the caller is linked to it; administrators have access to all."""
        return await may_see(call, self.table, record_id, queries)

    async def prepare(self, call: Call, transaction: Queries, new: R, old: R | None) -> R:
        """Refuse long attributes, and a changed reference to what the caller has no access to."""
        check_attributes(new, old, self.max_attributes_bytes)
        for name, table in self._references.items():
            wanted = getattr(new, name)
            changed = wanted and (old is None or getattr(old, name) != wanted)
            if changed and not await may_see(call, table, wanted, transaction):
                raise BadRequest(f"{camel(name)}: no access to it, or no such")
        return new

    async def insert(self, call: Call, transaction: Queries, new: R) -> R:
        """Store and link to the creator."""
        stored: R = await self.table.insert(transaction, new, **self.new_columns(call, new))
        await links.add(transaction, self._link, call.caller.id, id_of(stored))
        await quotas.require_room(call, transaction, new, self.table.name)
        return stored

    def new_columns(self, call: Call, new: R) -> dict[str, Any]:
        """Return the columns of a new row that are no fields of the record."""
        del new
        return quotas.creator_columns(call, self.table.name)

    async def update(self, call: Call, transaction: Queries, new: R, old: R) -> R | None:
        """Store the changed record."""
        async with quotas.counted_change(call, transaction, new, old, self.table.name):
            return await self.table.update(transaction, new)

    async def delete(self, call: Call, transaction: Queries, old: R) -> None:
        """Delete the record."""
        del call
        await self.table.delete(transaction, id_of(old))


def check_attributes(
    new: msgspec.Struct, old: msgspec.Struct | None, most: int = MAX_ATTRIBUTES_BYTES
) -> None:
    """Raise BadRequest if a record has changed attributes that are longer than `most` bytes of JSON."""
    attributes = getattr(new, "attributes", None)
    if attributes and (old is None or getattr(old, "attributes") != attributes):  # noqa: B009 - as id_of
        check_size(attributes, most)


def check_size(attributes: Mapping[str, Any], most: int = MAX_ATTRIBUTES_BYTES) -> None:
    """Raise BadRequest for attributes that are longer than `most` bytes of JSON."""
    if len(msgspec.json.encode(attributes)) > most:
        raise BadRequest(f"attributes: more than {most} bytes")


async def may_see(call: Call, table: Table[Any], record_id: int, queries: Queries | None = None) -> bool:
    """Return whether the record exists and the caller has access to it."""
    q = queries or call.context.database
    if not 0 < record_id < 2**63:
        return False
    only = Condition("id = {0}", (record_id,))
    if call.caller.administrator:
        return await table.count(q, only) > 0
    assert table.access is not None
    found = await table.count(q, all_of(only, table.access(call.caller.id))) > 0
    call.was_denied |= not found
    return found


async def require_no_hidden_groups(call: Call, queries: Queries, group_id: int, *, levels: int) -> None:
    """Check that what a user sees by the group is no more than the caller sees: groups reach to three levels.

    Raises:
        BadRequest: there are groups below it that the caller does not see.
    """
    if await access.with_hidden_groups(queries, call.caller.id, [group_id], levels=levels):
        raise BadRequest(f"groupId: {HIDDEN_GROUPS}")


async def may_see_user(call: Call, queries: Queries, user_id: int) -> bool:
    """Return whether the caller is that user, manages them, or is an administrator.

    A manager has no access to administrators (docs/users.md#managers).
    """
    caller: Caller = call.caller
    if caller.administrator or caller.id == user_id:
        return True
    found = caller.manager and await users.manages(queries, caller.id, user_id)
    call.was_denied |= not found
    return found
