"""Plain resource families: one declaration serves list, create, fetch, update and delete.

A resource says which record and table it is, which list parameters it takes and who may do what; routes,
OpenAPI, access, audit rows and validation follow. What it does beyond that is in its `ResourcePolicy`.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from quart import Response

from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.audit import note
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NOTHING, BodyRules, Content, Operation, Operations
from motorpool.api.http.errors import BadRequest, NoSuch
from motorpool.api.http.responses import as_json, as_json_array, nothing
from motorpool.api.masking import keep_secrets
from motorpool.storage.queries import Queries
from motorpool.storage.tables import ListQuery, Table

__all__ = [
    "USUAL",
    "Id",
    "ListParameters",
    "Resource",
    "ResourcePolicy",
    "fetch_one",
    "id_of",
    "serve_family",
]

R = TypeVar("R", bound=msgspec.Struct)

Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ListParameters(msgspec.Struct, frozen=True, rename="camel"):
    """Every list parameter that a family may take; those it does not take stay at their defaults."""

    all: Annotated[bool, msgspec.Meta(description="Administrators and managers: all there are.")] = False
    user_id: Annotated[Id, msgspec.Meta(description="Those linked to this user.")] | None = None
    device_id: Annotated[Id, msgspec.Meta(description="Those linked to this device.")] | None = None
    group_id: Annotated[Id, msgspec.Meta(description="Those linked to this group.")] | None = None
    keyword: Annotated[str, msgspec.Meta(description="Text to be found, whatever its case.")] = ""
    limit: Annotated[Count, msgspec.Meta(description="At most so many; 0 is no limit.")] = 0
    offset: Annotated[Count, msgspec.Meta(description="Skip so many; only with `limit`.")] = 0
    exclude_attributes: Annotated[bool, msgspec.Meta(description="Leave `attributes` empty.")] = False
    refresh: Annotated[bool, msgspec.Meta(description="Taken for old clients; no effect.")] = False
    id: Annotated[tuple[Id, ...], msgspec.Meta(description="Those with these ids.")] = ()
    unique_id: Annotated[tuple[str, ...], msgspec.Meta(description="Those with these unique ids.")] = ()


USUAL = frozenset({"all", "user_id", "keyword", "limit", "offset", "exclude_attributes", "refresh"})

STREAMED_FROM = 500
"""Unlimited lists go out in batches, so that 100,000 records never stand in memory at once."""


class ResourcePolicy(Generic[R]):
    """What a family does beyond the plain; everything here is the plain."""

    needed: tuple[str, ...] = ()
    """Fields without which nothing is stored."""
    distinguishes_missing: frozenset[str] = frozenset()
    """Methods on one record that answer 404 to an unknown id and 400 to who has no access. For all others
    the two look alike: 404 for GET; 400 for what writes, where administrators are told the truth."""

    def longest(self, name: str) -> int | None:
        """Characters that a text may have at most; None is no bound of its own."""
        del name
        return None

    async def read(self, call: Call, shape: type[R]) -> R:
        """Read the body of a create or update."""
        return await call.body(shape)

    async def scope(self, call: Call, wanted: ListParameters) -> ListQuery:
        """Turn list parameters into the query, after checking who may ask for what."""
        raise NotImplementedError

    async def find(self, call: Call, table: Table[Any], number: int) -> R | None:
        """The table's row, where there is one and the caller may read it."""
        row: R | None = await table.fetch(call.context.database, number)
        if row is None or not await self.may_read(call, number):
            return None
        return row

    async def may_read(self, call: Call, number: int) -> bool:
        """Whether the caller has access to this record, which may not exist."""
        raise NotImplementedError

    async def may_write(self, call: Call, number: int) -> bool:
        """Whether the caller may edit and delete it, given that he may write at all."""
        return await self.may_read(call, number)

    async def prepare(self, call: Call, transaction: Queries, new: R, old: R | None) -> R:
        """Check and complete what is to be stored; `old` is None for a new record."""
        del call, transaction, old
        return new

    async def insert(self, call: Call, transaction: Queries, new: R) -> R:
        """Store a new record and link it to its maker."""
        raise NotImplementedError

    async def update(self, call: Call, transaction: Queries, new: R, old: R) -> R | None:
        """Store a changed record; `old` is how it was."""
        raise NotImplementedError

    async def delete(self, call: Call, transaction: Queries, number: int) -> bool:
        """Remove a record."""
        raise NotImplementedError

    async def written(self, call: Call, number: int, new: R | None, old: R | None) -> None:
        """Tell whom it concerns, after the commit; a removed record has no `new`, a new one no `old`."""
        del call, number, new, old

    async def warning(self, call: Call, stored: R) -> str:
        """What the maker of a record should know though it was stored: the header X-Warning, or nothing."""
        del call, stored
        return ""

    async def show(self, call: Call, records: Sequence[R]) -> list[R]:
        """Add what no table holds."""
        del call
        return list(records)


@dataclass(frozen=True, kw_only=True)
class Resource(Generic[R]):
    """One plain resource."""

    name: str
    """In audit rows, and in the table of rights: "device"."""
    path: str
    """Below /api: "devices"."""
    shape: type[R]
    """As the API shows and takes it; the table's record, or one that extends it."""
    table: Table[Any]
    policy: ResourcePolicy[R]
    parameters: frozenset[str] = USUAL
    read_only: tuple[str, ...] = ()
    """Fields that a body may carry but that only the server writes."""
    public_create: bool = False

    @cached_property
    def query(self) -> type[msgspec.Struct]:
        """The list parameters that this family takes, as a record."""
        fields = [
            (item.name, item.type, item.default)
            for item in msgspec.structs.fields(ListParameters)
            if item.name in self.parameters
        ]
        return msgspec.defstruct(f"{self.title}Query", fields, rename="camel", frozen=True)

    def read_parameters(self, call: Call) -> ListParameters:
        """Read those of the request."""
        return ListParameters(**msgspec.structs.asdict(call.query(self.query)))

    @property
    def body_rules(self) -> BodyRules:
        """What a body must and may hold."""
        texts = [item.name for item in msgspec.structs.fields(self.shape)]
        bounds = {name: bound for name in texts if (bound := self.policy.longest(name)) is not None}
        return BodyRules(needed=self.policy.needed, longest=bounds, ignored=self.read_only)

    @property
    def title(self) -> str:
        """The family's name for operation names: "Device"."""
        return self.shape.__name__

    @property
    def words(self) -> str:
        """The family's name in a sentence: "scheduled command"."""
        return _spaced(self.name)


def serve_family(family: Resource[Any], operations: Operations) -> None:
    """Add the five operations of a family."""
    served, tells = _Served(family), "GET" in family.policy.distinguishes_missing
    one, many = family.title, f"{family.title}s"
    thing = _spaced(one)
    article = "an" if thing[0] in "aeio" else "a"
    shape = family.shape
    path, single = f"/{family.path}", f"/{family.path}/{{id}}"
    listed: Any = list[shape]  # type: ignore[valid-type]  # a type made at run time, for msgspec
    found: dict[int, Content] = {200: Content(shape=shape)}
    declare = [
        ("GET", path, f"list{many}", f"List {thing}s", served.enumerate, {200: Content(shape=listed)}),
        ("POST", path, f"create{one}", f"Create {article} {thing}", served.create, found),
        ("GET", single, f"get{one}", f"Fetch {article} {thing}", served.fetch, found),
        ("PUT", single, f"update{one}", f"Replace {article} {thing}", served.update, found),
        ("DELETE", single, f"delete{one}", f"Delete {article} {thing}", served.delete, {204: NOTHING}),
    ]
    for method, place, name, summary, serve, answers in declare:
        operations.add(
            Operation(
                method=method,
                path=place,
                tag=operations.tag,
                name=name,
                summary=summary,
                serve=serve,
                query=family.query if serve == served.enumerate else None,
                body=shape if method in {"POST", "PUT"} else None,
                body_rules=family.body_rules,
                answers=answers,
                refusals=() if (method, place) == ("GET", single) and not tells else (400,),
                public=family.public_create and method == "POST",
            )
        )


class _Served(Generic[R]):
    """The five operations of one family."""

    def __init__(self, family: Resource[R]) -> None:
        self._family = family
        self._conduct = family.policy
        self._change = CHANGE[family.name]

    async def enumerate(self, call: Call) -> Response:
        query = await self._conduct.scope(call, self._family.read_parameters(call))
        if query.limit and query.limit <= STREAMED_FROM:
            records = await self._family.table.list(call.context.database, query)
            return as_json(await self._conduct.show(call, records))
        return await as_json_array(self._batches(call, query))

    async def _batches(self, call: Call, query: ListQuery) -> "AsyncIterator[list[object]]":
        async for batch in self._family.table.stream(call.context.database, query):
            yield [*await self._conduct.show(call, batch)]

    async def fetch(self, call: Call) -> Response:
        record = await fetch_one(call, self._family)
        return as_json((await self._conduct.show(call, [record]))[0])

    async def create(self, call: Call) -> Response:
        if not self._family.public_create:
            self._change.require(call.caller)
        sent = await self._conduct.read(call, self._family.shape)
        async with call.context.database.transaction() as transaction:
            new = await self._conduct.prepare(call, transaction, self._blank(sent), None)
            stored = await self._conduct.insert(call, transaction, new)
            number = id_of(stored)
            await note(call, transaction, "create", self._family.name, number)
        await self._conduct.written(call, number, stored, None)
        return await self._answer(call, stored)

    async def update(self, call: Call) -> Response:
        self._change.require(call.caller)
        sent = await self._conduct.read(call, self._family.shape)
        if id_of(sent) not in {0, call.id}:
            raise BadRequest("id: is not the one of the path")
        if not await self._may_write(call, "PUT"):
            raise NoSuch(f"no such {self._family.words}")
        async with call.context.database.transaction() as transaction:
            old = await self._family.table.fetch(transaction, call.id)
            if old is None:
                raise NoSuch(f"no such {self._family.words}")
            new = await self._conduct.prepare(call, transaction, self._keep(sent, old), old)
            stored = await self._conduct.update(call, transaction, new, old)
            if stored is None:
                raise NoSuch(f"no such {self._family.words}")
            await note(call, transaction, "edit", self._family.name, call.id)
        await self._conduct.written(call, call.id, stored, old)
        return await self._answer(call, stored)

    async def _answer(self, call: Call, stored: R) -> Response:
        """What was stored, and what its maker should know."""
        answer = as_json((await self._conduct.show(call, [stored]))[0])
        warning = await self._conduct.warning(call, stored)
        if warning:
            answer.headers["X-Warning"] = warning
        return answer

    async def delete(self, call: Call) -> Response:
        self._change.require(call.caller)
        if not await self._may_write(call, "DELETE"):
            if "DELETE" in self._conduct.distinguishes_missing:
                raise NoSuch(f"no such {self._family.words}")
            return nothing()
        async with call.context.database.transaction() as transaction:
            old = await self._family.table.fetch(transaction, call.id)
            if await self._conduct.delete(call, transaction, call.id):
                await note(call, transaction, "remove", self._family.name, call.id)
        await self._conduct.written(call, call.id, None, old)
        return nothing()

    async def _may_write(self, call: Call, method: str) -> bool:
        """Refuse with 400 what is not the caller's; False: there is nothing, and the caller may know.

        Asked before the transaction: who holds a connection must not wait for an actor that needs one.
        """
        if await self._conduct.may_write(call, call.id):
            return True
        if call.caller.administrator:
            return False
        if method in self._conduct.distinguishes_missing and not await _exists(call, self._family):
            return False
        raise BadRequest(f"no access to the {self._family.words}")

    def _blank(self, sent: R) -> R:
        """A new record has no id and nothing of what only the server writes."""
        defaults = {name: self._defaults[name] for name in self._family.read_only}
        return keep_secrets(msgspec.structs.replace(sent, id=0, **defaults), None)

    def _keep(self, sent: R, old: R) -> R:
        """What only the server writes stays as it was, and so do secrets that were not sent."""
        kept = {
            name: getattr(old, name, self._defaults.get(name)) for name in ("id", *self._family.read_only)
        }
        return keep_secrets(msgspec.structs.replace(sent, **kept), old)

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        found = {}
        for item in msgspec.structs.fields(self._family.shape):
            found[item.name] = (
                item.default_factory()
                if item.default is msgspec.NODEFAULT and item.default_factory is not msgspec.NODEFAULT
                else item.default
            )
        return found


def _spaced(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r" \1", name).lower()


async def fetch_one(call: Call, family: Resource[R]) -> R:
    """The record of the path; NoSuch or BadRequest where there is none that the caller may read."""
    record = await family.policy.find(call, family.table, call.id)
    if record is not None:
        return record
    if "GET" in family.policy.distinguishes_missing and await _exists(call, family):
        raise BadRequest(f"no access to the {family.words}")
    raise NoSuch(f"no such {family.words}")


async def _exists(call: Call, family: Resource[Any]) -> bool:
    """Whether there is such a record, whoever asks."""
    return await family.table.fetch(call.context.database, call.id) is not None


def id_of(record: msgspec.Struct) -> int:
    """The id that every record has."""
    number = getattr(record, "id")  # noqa: B009 - the bound of the type cannot say that it is there
    assert isinstance(number, int)
    return number
