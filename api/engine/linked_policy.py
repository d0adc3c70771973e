"""The policy of families that users see by links, their own or their groups' (docs/permissions.md,
docs/http-api.md#lists).
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from motorpool.api.access import may_see_device
from motorpool.api.auth.caller import Caller
from motorpool.api.engine.call import Call
from motorpool.api.engine.resource import ListParameters, ResourcePolicy, id_of
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import camel
from motorpool.storage import groups, links
from motorpool.storage.conditions import Condition, both, either
from motorpool.storage.links import Pair
from motorpool.storage.queries import Queries
from motorpool.storage.tables import ListQuery, Table

__all__ = ["Linked", "may_see", "may_see_user"]

R = TypeVar("R", bound=msgspec.Struct)


class Linked(ResourcePolicy[R]):
    """Who has access reads; who may write and has access writes; the maker is linked to what he makes."""

    def __init__(
        self,
        table: Table[Any],
        link: Pair,
        *,
        device_link: Pair | None = None,
        group_link: Pair | None = None,
        references: Mapping[str, Table[Any]] | None = None,
        user_id_expands: bool = False,
    ) -> None:
        self.table = table
        self._link = link
        self._device_link = device_link
        self._group_link = group_link
        self._references = references or {}
        self._user_id_expands = user_id_expands

    async def scope(self, call: Call, wanted: ListParameters) -> ListQuery:
        """Check who asks for what."""
        conditions = []
        owner_scope = await self._owner_scope(call, wanted)
        if owner_scope is not None:
            conditions.append(owner_scope)
        if wanted.device_id is not None and self._device_link is not None:
            if not await may_see_device(call, wanted.device_id):
                raise BadRequest("deviceId: no access to the device")
            conditions.append(links.linked_from(self._device_link, wanted.device_id))
        if wanted.group_id is not None and self._group_link is not None:
            if not await may_see(call, groups.TABLE, wanted.group_id):
                raise BadRequest("groupId: no access to the group")
            conditions.append(links.linked_from(self._group_link, wanted.group_id))
        return ListQuery(
            conditions=tuple(conditions),
            keyword=wanted.keyword,
            limit=wanted.limit,
            offset=wanted.offset,
            exclude_attributes=wanted.exclude_attributes,
        )

    async def _owner_scope(self, call: Call, wanted: ListParameters) -> Condition | None:
        """Whose objects are meant; None is everybody's."""
        caller, access = call.caller, self.table.access
        assert access is not None
        if wanted.user_id is not None:
            if not await may_see_user(call, call.context.database, wanted.user_id):
                raise BadRequest("userId: not the caller's to ask for")
            return (
                access(wanted.user_id)
                if self._user_id_expands
                else links.linked_from(self._link, wanted.user_id)
            )
        if wanted.all and caller.administrator:
            return None
        if wanted.all and caller.manager:
            managed = await links.properties(call.context.database, links.USER_USER, caller.id)
            return either(access(caller.id), *(access(user_id) for user_id in managed))
        return access(caller.id)

    async def may_read(self, call: Call, number: int) -> bool:
        """Administrators see any object by its id; others what links give them."""
        return await may_see(call, self.table, number)

    async def check_references(self, call: Call, queries: Queries, new: R, old: R | None) -> None:
        """Refuse a changed reference to what the caller has no access to."""
        for name, table in self._references.items():
            wanted = getattr(new, name)
            changed = wanted and (old is None or getattr(old, name) != wanted)
            if changed and not await may_see(call, table, wanted, queries):
                raise BadRequest(f"{camel(name)}: no access to it, or no such")

    async def prepare(self, call: Call, transaction: Queries, new: R, old: R | None) -> R:
        """Check the references."""
        await self.check_references(call, transaction, new, old)
        return new

    async def insert(self, call: Call, transaction: Queries, new: R) -> R:
        """Store and link to the maker."""
        stored: R = await self.table.insert(transaction, new)
        await links.add(transaction, self._link, call.caller.id, id_of(stored))
        return stored

    async def update(self, call: Call, transaction: Queries, new: R, old: R) -> R | None:
        """Store."""
        del call, old
        return await self.table.update(transaction, new)

    async def delete(self, call: Call, transaction: Queries, number: int) -> bool:
        """Remove."""
        del call
        return await self.table.delete(transaction, number)


async def may_see(call: Call, table: Table[Any], number: int, queries: Queries | None = None) -> bool:
    """Whether the object exists and the caller has access to it."""
    q = queries or call.context.database
    if not 0 < number < 2**63:
        return False
    only = Condition("id = {0}", (number,))
    if not call.caller.administrator:
        assert table.access is not None
        only = both(only, table.access(call.caller.id))
    return await table.count(q, only) > 0


async def may_see_user(call: Call, queries: Queries, user_id: int) -> bool:
    """Oneself, one's managed users, or anybody for administrators."""
    caller: Caller = call.caller
    if caller.administrator or caller.id == user_id:
        return True
    return caller.manager and await links.exists(queries, links.USER_USER, caller.id, user_id)
