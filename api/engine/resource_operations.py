"""The operations that a resource declares: list, create, fetch, update and delete."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import changed_fields
from motorpool.actors.words.masking import restore_secrets
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.batches import FIRST_BATCH, batches_of
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Content, Operation, Operations
from motorpool.api.engine.resource import Resource, id_of, spaced
from motorpool.api.engine.text_rules import require_plain_texts
from motorpool.api.engine.versions import (
    FIRST_VERSION,
    IF_MATCH,
    VERSION_HEADER,
    require_version,
    with_version,
)
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, as_json_array, no_content
from motorpool.api.json import camel
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Versioned

R = TypeVar("R", bound=msgspec.Struct)


def add_resource_operations(resource: Resource[Any], operations: Operations) -> None:
    """Add the operations list, create, get, update and delete of a resource."""
    served = _ResourceOperations(resource)
    may_refuse = "GET" in resource.policy.distinguishes_missing or resource.policy.reads_history
    one, many = resource.title, resource.plural
    thing, things = spaced(one), spaced(many)
    article = "an" if thing[0] in "aeio" else "a"
    shape = resource.shape
    collection, single = f"/{resource.path}", f"/{resource.path}/{{id}}"
    listed: Any = list[shape]  # type: ignore[valid-type]  # a type made at run time, for msgspec
    found: dict[int, Content] = {200: Content(shape=shape, headers=VERSION_HEADER)}
    declare = [
        (
            "GET",
            collection,
            f"list{many}",
            f"List {things}",
            served.list_records,
            {200: Content(shape=listed)},
        ),
        ("POST", collection, f"create{one}", f"Create {article} {thing}", served.create, found),
        ("GET", single, f"get{one}", f"Fetch {article} {thing}", served.fetch, found),
        ("PUT", single, f"update{one}", f"Replace {article} {thing}", served.update, found),
        ("DELETE", single, f"delete{one}", f"Delete {article} {thing}", served.delete, {204: NO_CONTENT}),
    ]
    for method, path, name, summary, serve, answers in declare:
        is_public = resource.public_create and method == "POST"
        errors = () if (method, path) == ("GET", single) and not may_refuse else (400,)
        headers = {"POST": resource.create_headers, "PUT": IF_MATCH, "DELETE": IF_MATCH}
        operations.add(
            Operation(
                method=method,
                path=path,
                tag=operations.tag,
                name=name,
                summary=summary,
                serve=serve,
                query=resource.query if serve == served.list_records else None,
                body=shape if method in {"POST", "PUT"} else None,
                body_rules=resource.body_rules,
                answers=answers,
                # Anybody may create some, up to a limit.
                errors=(*errors, 429) if is_public else errors,
                public=is_public,
                headers=headers.get(method, {}),
            )
        )


class _ResourceOperations(Generic[R]):
    """Serves the operations of one resource."""

    def __init__(self, resource: Resource[R]) -> None:
        self._resource = resource
        self._policy = resource.policy
        self._change = resource.change_right

    async def list_records(self, call: Call) -> Response:
        query = await self._policy.list_query(call, self._resource.read_parameters(call))
        table, database = self._policy.table, call.context.database
        if query.limit and query.limit <= FIRST_BATCH:
            return as_json(await self._policy.show(call, await table.list(database, query)))

        async with call.turn:
            ids = await table.ids(database, query)
        fetch = self._policy.reader(call, len(ids), exclude_attributes=query.exclude_attributes)
        return await as_json_array(call.in_turns(batches_of(ids, fetch)))

    async def fetch(self, call: Call) -> Response:
        found = await fetch_readable(call, self._resource)
        return with_version(as_json((await self._policy.show(call, [found.record]))[0]), found.version)

    async def create(self, call: Call) -> Response:
        if not self._resource.public_create:
            self._change.require(call.caller)
        sent = await self._policy.read(call, self._resource.shape)
        async with call.context.database.transaction() as transaction:
            new = await self._policy.prepare(call, transaction, self._as_new(sent), None)
            require_plain_texts(new, None)
            stored = await self._policy.insert(call, transaction, new)
            number = id_of(stored)
            await self._record(call, transaction, "create", number, None, new)
        await self._after_commit(call, number, stored, None)
        return await self._answer(call, stored, FIRST_VERSION)

    async def update(self, call: Call) -> Response:
        self._change.require(call.caller)
        sent = await self._policy.read(call, self._resource.shape)
        if id_of(sent) not in {0, call.id}:
            raise BadRequest("id: is not the one of the path")
        async with call.context.database.transaction() as transaction:
            locked = await self._lock(call, transaction, "PUT")
            old = locked.record
            require_unchanged(self._policy.table.immutable, sent, old)
            new = await self._policy.prepare(call, transaction, self._with_server_fields(sent, old), old)
            require_plain_texts(new, old)
            stored = await self._policy.update(call, transaction, new, old)
            if stored is None:
                raise ResourceNotFound(f"no such {self._resource.words}")
            await self._record(call, transaction, "edit", call.id, old, new)
        await self._after_commit(call, call.id, stored, old)
        return await self._answer(call, stored, locked.version + 1)

    async def _record(
        self, call: Call, transaction: Queries, action: str, number: int, old: R | None, new: R | None
    ) -> None:
        attributes = self._policy.audited(old, new)
        await record_action(call, transaction, action, self._resource.name, number, attributes=attributes)

    async def _after_commit(self, call: Call, record_id: int, new: R | None, old: R | None) -> None:
        """Publish the change, where something in memory follows rows of this kind; then act on it."""
        change = self._resource.change
        if change is not None:
            if new is None:
                fact = change(record_id, "deleted")
            elif old is None:
                fact = change(record_id, "created")
            else:
                fact = change(record_id, "updated", changed_fields(old, new))
            await publish_changes(call.context.system, fact)
        await call.finish_change()

    async def _answer(self, call: Call, stored: R, version: int) -> Response:
        """Return the stored record, with a warning if there is one."""
        answer = with_version(as_json((await self._policy.show(call, [stored]))[0]), version)
        return _with_warning(answer, call)

    async def delete(self, call: Call) -> Response:
        self._change.require(call.caller)
        async with call.context.database.transaction() as transaction:
            old = (await self._lock(call, transaction, "DELETE")).record
            await self._policy.delete(call, transaction, old)
            await self._record(call, transaction, "remove", call.id, old, None)
        await self._after_commit(call, call.id, None, old)
        return _with_warning(no_content(), call)

    async def _lock(self, call: Call, transaction: Queries, method: str) -> Versioned[R]:
        """Lock the row until the transaction ends, and return it with its version.

        Rights are checked against this row, so that no other request changes it in between.

        Raises:
            ResourceNotFound: There is no such record, and the caller may know it.
            BadRequest: There is no access, or the row does not have the version that the client expects.
        """
        found = await self._policy.lock(call, transaction)
        if call.caller.administrator:
            permitted = True
        elif found is None:
            permitted = method in self._policy.distinguishes_missing
        else:
            permitted = await self._policy.has_access(call, transaction, call.id)
        if not permitted:
            raise BadRequest(f"no access to the {self._resource.words}", is_refusal=True)
        if found is None:
            raise ResourceNotFound(f"no such {self._resource.words}")
        await self._policy.require_write(call, transaction, found.record)
        require_version(call, f"{self._resource.words} {call.id}", found.version)
        return found

    def _as_new(self, sent: R) -> R:
        """Reset the id and the fields that only the server writes."""
        defaults = {name: self._defaults[name] for name in self._resource.read_only}
        return restore_secrets(msgspec.structs.replace(sent, id=0, **defaults), None)

    def _with_server_fields(self, sent: R, old: R) -> R:
        """Keep the fields that only the server writes, and the secrets that were not sent."""
        kept = {
            name: getattr(old, name, self._defaults.get(name)) for name in ("id", *self._resource.read_only)
        }
        return restore_secrets(msgspec.structs.replace(sent, **kept), old)

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        found = {}
        for item in msgspec.structs.fields(self._resource.shape):
            found[item.name] = (
                item.default_factory()
                if item.default is msgspec.NODEFAULT and item.default_factory is not msgspec.NODEFAULT
                else item.default
            )
        return found


def require_unchanged(names: Iterable[str], sent: msgspec.Struct, old: msgspec.Struct) -> None:
    """Raise BadRequest for a field that a record keeps for ever and that a body names differently.

    A field that is left out keeps its value.
    """
    for name in sorted(names):
        wanted = getattr(sent, name)
        if wanted and wanted != getattr(old, name):
            raise BadRequest(f"{camel(name)}: cannot be changed")


def _with_warning(answer: Response, call: Call) -> Response:
    """Add the header X-Warning, if there is anything to warn of."""
    if call.warning:
        answer.headers["X-Warning"] = call.warning
    return answer


async def fetch_readable(call: Call, resource: Resource[R]) -> Versioned[R]:
    """Return the record of the path if the caller may read it; ResourceNotFound or BadRequest if not."""
    found = await resource.policy.find(call, call.id)
    if found is not None:
        return found
    exists = not call.caller.administrator and await _exists(call, resource)
    if exists and "GET" in resource.policy.distinguishes_missing:
        raise BadRequest(f"no access to the {resource.words}", is_refusal=True)
    raise ResourceNotFound(f"no such {resource.words}", is_refusal=exists)


async def _exists(call: Call, resource: Resource[Any]) -> bool:
    """Return whether there is such a record, whatever the caller's rights."""
    return await resource.policy.table.fetch(call.context.database, call.id) is not None
