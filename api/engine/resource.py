"""Plain resources: one declaration serves list, create, fetch, update and delete.

A `Resource` names its record, table and list parameters; routes, OpenAPI, access checks, audit rows and
validation follow from that. Who may do what, and behaviour of its own, is in its `ResourcePolicy`.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import Change, changed_fields
from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS, ListParameters
from motorpool.api.engine.operations import NO_CONTENT, BodyRules, Content, Operation, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, as_json_array, no_content
from motorpool.api.masking import restore_secrets
from motorpool.storage.queries import Queries
from motorpool.storage.tables import ListQuery, Table

__all__ = ["Resource", "ResourcePolicy", "add_resource_operations", "fetch_readable", "id_of"]

R = TypeVar("R", bound=msgspec.Struct)

STREAMED_FROM = 500
"""Records; longer or unlimited lists are streamed in batches, so that memory never holds all of them."""


class ResourcePolicy(Generic[R]):
    """Access rules and hooks of a resource; subclasses override what differs from the defaults here."""

    required: tuple[str, ...] = ()
    """Fields that a body must hold, and whose texts must not be blank."""
    distinguishes_missing: frozenset[str] = frozenset()
    """Methods on one record that answer 404 for an unknown id and 400 for a missing right. With all other
    methods the two look alike, 404 for GET and 400 for writes, except to administrators."""

    def max_length(self, name: str) -> int | None:
        """Return how many characters a text field may have; None: no limit of its own."""
        del name
        return None

    async def read(self, call: Call, shape: type[R]) -> R:
        """Read the body of a create or update."""
        return await call.body(shape)

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Check the list parameters against the caller's rights and turn them into a query."""
        raise NotImplementedError

    async def find(self, call: Call, table: Table[Any], record_id: int) -> R | None:
        """Return the row, or None if there is none that the caller may read."""
        row: R | None = await table.fetch(call.context.database, record_id)
        if row is None or not await self.may_read(call, record_id):
            return None
        return row

    async def may_read(self, call: Call, record_id: int) -> bool:
        """Return whether the caller has access to this record, which may not exist."""
        raise NotImplementedError

    async def may_write(self, call: Call, record_id: int) -> bool:
        """Return whether a caller who may write at all may edit and delete this record."""
        return await self.may_read(call, record_id)

    async def prepare(self, call: Call, transaction: Queries, new: R, old: R | None) -> R:
        """Check and complete a record before it is stored; `old` is None for a new one."""
        del call, transaction, old
        return new

    async def insert(self, call: Call, transaction: Queries, new: R) -> R:
        """Store a new record and link it to its creator."""
        raise NotImplementedError

    async def update(self, call: Call, transaction: Queries, new: R, old: R) -> R | None:
        """Store a changed record; None if it is gone. `old` is the record before the change."""
        raise NotImplementedError

    async def delete(self, call: Call, transaction: Queries, record_id: int) -> bool:
        """Delete a record; whether there was one."""
        raise NotImplementedError

    async def after_commit(self, call: Call, record_id: int, new: R | None, old: R | None) -> None:
        """Do what follows the commit; a deleted record has no `new`, a new one no `old`."""
        del call, record_id, new, old

    async def warning(self, call: Call, stored: R) -> str:
        """Return the header X-Warning for a record that was stored nevertheless, or an empty text."""
        del call, stored
        return ""

    async def show(self, call: Call, records: Sequence[R]) -> list[R]:
        """Fill in the fields that no table holds."""
        del call
        return list(records)


@dataclass(frozen=True, kw_only=True)
class Resource(Generic[R]):
    """A record type served with list, create, fetch, update and delete."""

    name: str
    """Name in audit rows and in the table of rights: "device"."""
    path: str
    """Path below /api: "devices"."""
    shape: type[R]
    """Type of bodies and answers: the table's record, or one that extends it."""
    table: Table[Any]
    policy: ResourcePolicy[R]
    change: Callable[..., Change] | None = None
    """The fact to publish when a row was created, updated or deleted, such as `DeviceChanged`; None where
    nothing in memory depends on such rows."""
    parameters: frozenset[str] = COMMON_PARAMETERS
    read_only: tuple[str, ...] = ()
    """Fields that a body may carry but that only the server writes."""
    public_create: bool = False
    create_headers: Mapping[str, str] = field(default_factory=dict)
    """Optional headers of a request to create a record -> their description."""

    @cached_property
    def query(self) -> type[msgspec.Struct]:
        """The list parameters of this resource, as a struct."""
        fields = [
            (item.name, item.type, item.default)
            for item in msgspec.structs.fields(ListParameters)
            if item.name in self.parameters
        ]
        return msgspec.defstruct(f"{self.title}Query", fields, rename="camel", frozen=True)

    def read_parameters(self, call: Call) -> ListParameters:
        """Read the list parameters of the request."""
        return ListParameters(**msgspec.structs.asdict(call.query(self.query)))

    @property
    def body_rules(self) -> BodyRules:
        """Rules for bodies that their type cannot express."""
        texts = [item.name for item in msgspec.structs.fields(self.shape)]
        bounds = {name: bound for name in texts if (bound := self.policy.max_length(name)) is not None}
        return BodyRules(required=self.policy.required, max_lengths=bounds, ignored=self.read_only)

    @property
    def title(self) -> str:
        """Name in operation names: "Device"."""
        return self.shape.__name__

    @property
    def words(self) -> str:
        """Name in sentences: "scheduled command"."""
        return _spaced(self.name)


def add_resource_operations(resource: Resource[Any], operations: Operations) -> None:
    """Add the operations list, create, get, update and delete of a resource."""
    served = _ResourceOperations(resource)
    distinguishes = "GET" in resource.policy.distinguishes_missing
    one, many = resource.title, f"{resource.title}s"
    thing = _spaced(one)
    article = "an" if thing[0] in "aeio" else "a"
    shape = resource.shape
    path, single = f"/{resource.path}", f"/{resource.path}/{{id}}"
    listed: Any = list[shape]  # type: ignore[valid-type]  # a type made at run time, for msgspec
    found: dict[int, Content] = {200: Content(shape=shape)}
    declare = [
        ("GET", path, f"list{many}", f"List {thing}s", served.list_records, {200: Content(shape=listed)}),
        ("POST", path, f"create{one}", f"Create {article} {thing}", served.create, found),
        ("GET", single, f"get{one}", f"Fetch {article} {thing}", served.fetch, found),
        ("PUT", single, f"update{one}", f"Replace {article} {thing}", served.update, found),
        ("DELETE", single, f"delete{one}", f"Delete {article} {thing}", served.delete, {204: NO_CONTENT}),
    ]
    for method, place, name, summary, serve, answers in declare:
        is_public = resource.public_create and method == "POST"
        errors = () if (method, place) == ("GET", single) and not distinguishes else (400,)
        operations.add(
            Operation(
                method=method,
                path=place,
                tag=operations.tag,
                name=name,
                summary=summary,
                serve=serve,
                query=resource.query if serve == served.list_records else None,
                body=shape if method in {"POST", "PUT"} else None,
                body_rules=resource.body_rules,
                answers=answers,
                # Anybody may create so many only.
                errors=(*errors, 429) if is_public else errors,
                public=is_public,
                headers=resource.create_headers if method == "POST" else {},
            )
        )


class _ResourceOperations(Generic[R]):
    """Serves the operations of one resource."""

    def __init__(self, resource: Resource[R]) -> None:
        self._resource = resource
        self._policy = resource.policy
        self._change = CHANGE[resource.name]

    async def list_records(self, call: Call) -> Response:
        query = await self._policy.list_query(call, self._resource.read_parameters(call))
        if query.limit and query.limit <= STREAMED_FROM:
            records = await self._resource.table.list(call.context.database, query)
            return as_json(await self._policy.show(call, records))
        return await as_json_array(self._batches(call, query))

    async def _batches(self, call: Call, query: ListQuery) -> "AsyncIterator[list[object]]":
        async for batch in self._resource.table.stream(call.context.database, query):
            yield [*await self._policy.show(call, batch)]

    async def fetch(self, call: Call) -> Response:
        record = await fetch_readable(call, self._resource)
        return as_json((await self._policy.show(call, [record]))[0])

    async def create(self, call: Call) -> Response:
        if not self._resource.public_create:
            self._change.require(call.caller)
        sent = await self._policy.read(call, self._resource.shape)
        async with call.context.database.transaction() as transaction:
            new = await self._policy.prepare(call, transaction, self._as_new(sent), None)
            stored = await self._policy.insert(call, transaction, new)
            number = id_of(stored)
            await record_action(call, transaction, "create", self._resource.name, number)
        await self._after_commit(call, number, stored, None)
        return await self._answer(call, stored)

    async def update(self, call: Call) -> Response:
        self._change.require(call.caller)
        sent = await self._policy.read(call, self._resource.shape)
        if id_of(sent) not in {0, call.id}:
            raise BadRequest("id: is not the one of the path")
        if not await self._may_write(call, "PUT"):
            raise ResourceNotFound(f"no such {self._resource.words}")
        async with call.context.database.transaction() as transaction:
            # Locked, so that the published names of changed fields are right beside another update.
            old = await self._resource.table.fetch(transaction, call.id, lock=True)
            if old is None:
                raise ResourceNotFound(f"no such {self._resource.words}")
            new = await self._policy.prepare(call, transaction, self._with_server_fields(sent, old), old)
            stored = await self._policy.update(call, transaction, new, old)
            if stored is None:
                raise ResourceNotFound(f"no such {self._resource.words}")
            await record_action(call, transaction, "edit", self._resource.name, call.id)
        await self._after_commit(call, call.id, stored, old)
        return await self._answer(call, stored)

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
        await self._policy.after_commit(call, record_id, new, old)

    async def _answer(self, call: Call, stored: R) -> Response:
        """Return the stored record, with a warning if there is one."""
        answer = as_json((await self._policy.show(call, [stored]))[0])
        warning = await self._policy.warning(call, stored)
        if warning:
            answer.headers["X-Warning"] = warning
        return answer

    async def delete(self, call: Call) -> Response:
        self._change.require(call.caller)
        if not await self._may_write(call, "DELETE"):
            if "DELETE" in self._policy.distinguishes_missing:
                raise ResourceNotFound(f"no such {self._resource.words}")
            return no_content()
        async with call.context.database.transaction() as transaction:
            old = await self._resource.table.fetch(transaction, call.id)
            if await self._policy.delete(call, transaction, call.id):
                await record_action(call, transaction, "remove", self._resource.name, call.id)
        await self._after_commit(call, call.id, None, old)
        return no_content()

    async def _may_write(self, call: Call, method: str) -> bool:
        """Return whether the caller may write; False if there is no such record and the caller may know it.

        BadRequest if there is no access. Called before the transaction: a request that holds a database
        connection must not wait for an actor that needs one.
        """
        if await self._policy.may_write(call, call.id):
            return True
        if call.caller.administrator:
            return False
        if method in self._policy.distinguishes_missing and not await _exists(call, self._resource):
            return False
        raise BadRequest(f"no access to the {self._resource.words}")

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


def _spaced(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r" \1", name).lower()


async def fetch_readable(call: Call, resource: Resource[R]) -> R:
    """Return the record of the path if the caller may read it; ResourceNotFound or BadRequest if not."""
    record = await resource.policy.find(call, resource.table, call.id)
    if record is not None:
        return record
    if "GET" in resource.policy.distinguishes_missing and await _exists(call, resource):
        raise BadRequest(f"no access to the {resource.words}")
    raise ResourceNotFound(f"no such {resource.words}")


async def _exists(call: Call, resource: Resource[Any]) -> bool:
    """Return whether there is such a record, whatever the caller's rights."""
    return await resource.table.fetch(call.context.database, call.id) is not None


def id_of(record: msgspec.Struct) -> int:
    """Return the id of a record."""
    number = getattr(record, "id")  # noqa: B009 - the bound of the type cannot say that it is there
    assert isinstance(number, int)
    return number
