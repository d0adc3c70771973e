"""Plain resources: one declaration serves list, create, fetch, update and delete.

A `Resource` names its record, table and list parameters; routes, OpenAPI, access checks, audit rows and
validation follow from that. Who may do what, and behaviour of its own, is in its `ResourcePolicy`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec

from motorpool.actors.messages.changes import Change
from motorpool.api.auth.rights import CHANGE, Right
from motorpool.api.engine.audit import changed_attributes, privileged_values
from motorpool.api.engine.batches import Fetch
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import (
    COMMON_PARAMETERS,
    ListParameters,
    parameter_of,
    select_parameters,
)
from motorpool.api.engine.operations import BodyRules
from motorpool.api.engine.text_rules import TextRules
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery, Table, Versioned

R = TypeVar("R", bound=msgspec.Struct)


class ResourcePolicy(Generic[R]):
    """Access rules and hooks of a resource; subclasses override what differs from the defaults here.

    A write reads the body before a transaction is begun (`read`). In the transaction it locks the row
    (`lock`), asks whether the caller may write it (`has_access`, `require_write`), checks what is to be
    stored (`prepare`), stores it (`insert`, `update` or `delete`) and writes an audit row (`audited`). After
    the commit it publishes the change, does what was added to `Call.after_commit`, and answers (`show`).
    """

    table: Table[Any]
    parameters: frozenset[str] = COMMON_PARAMETERS
    """Parameters of lists."""
    texts = TextRules()
    """Rules for the texts of bodies."""
    privileged: tuple[str, ...] = ()
    """Fields that decide what somebody may do, whose values before and after a change are audited."""
    audited_attributes: tuple[str, ...] = ()
    """Attributes that decide the same, audited likewise."""
    distinguishes_missing: frozenset[str] = frozenset()
    """Methods on one record that answer 404 for an unknown id and 400 for a missing right. With all other
    methods the two look alike, 404 for GET and 400 for writes, except to administrators."""

    reads_history: bool = False
    """Whether reading takes the right to history, without which it is a 400."""

    async def read(self, call: Call, shape: type[R]) -> R:
        """Read the body of a create or update, trim its texts and check it."""
        return await self.validate(self.texts.trimmed(await call.body(shape)))

    async def validate(self, sent: R) -> R:
        """Return what is to be stored; BadRequest for values that are invalid whatever is stored."""
        return sent

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Check the list parameters against the caller's rights and turn them into a query."""
        raise NotImplementedError

    async def find(self, call: Call, record_id: int) -> Versioned[R] | None:
        """Return the row and its version, or None if there is none that the caller may read."""
        found: Versioned[R] | None = await self.table.fetch_versioned(call.context.database, record_id)
        if found is None or not await self.has_access(call, call.context.database, record_id):
            return None
        return found

    async def has_access(self, call: Call, queries: Queries, record_id: int) -> bool:
        """Return whether the caller has access to this record, which may not exist.

        Who has access may read the record, and with the right to write also edit and delete it, unless
        `require_write` says otherwise. Before a write this is asked in its transaction, with the row locked:
        an implementation reads tables only, since a request that holds a database connection must not wait
        for an actor that needs one.
        """
        raise NotImplementedError

    async def lock(self, call: Call, transaction: Queries) -> Versioned[R] | None:
        """Lock the row of the path and return it with its version; for rules that span rows, others first."""
        found: Versioned[R] | None = await self.table.fetch_versioned(transaction, call.id, lock=True)
        return found

    async def require_write(self, call: Call, transaction: Queries, record: R) -> None:
        """Raise BadRequest unless the caller, who has access to the record, may edit and delete it."""
        del call, transaction, record

    async def prepare(self, call: Call, transaction: Queries, new: R, old: R | None) -> R:
        """Check and complete a record before it is stored.

        `old` is the stored record, whose row is locked, or None for a new one.
        """
        del call, transaction, old
        return new

    async def insert(self, call: Call, transaction: Queries, new: R) -> R:
        """Store a new record and link it to its creator."""
        raise NotImplementedError

    async def update(self, call: Call, transaction: Queries, new: R, old: R) -> R | None:
        """Store a changed record; None if it is gone. `old` is the record before the change."""
        raise NotImplementedError

    async def delete(self, call: Call, transaction: Queries, old: R) -> None:
        """Delete a record, whose row is locked."""
        raise NotImplementedError

    def audited(self, old: R | None, new: R | None) -> Mapping[str, Any]:
        """Return what an audit row says of a change: privileged fields and attributes, and no secrets."""
        found = privileged_values(self.privileged, old, new)
        return found | changed_attributes(self.audited_attributes, old, new)

    async def show(self, call: Call, records: Sequence[R]) -> list[R]:
        """Fill in the fields that no table holds."""
        del call
        return list(records)

    def reader(self, call: Call, count: int, *, exclude_attributes: bool) -> Fetch:
        """Return what reads some of the `count` records of a list that the caller may read."""
        del count

        async def fetch(ids: Sequence[int]) -> Sequence[R]:
            found = await self.table.fetch_many(
                call.context.database, ids, exclude_attributes=exclude_attributes
            )
            return await self.show(call, found)

        return fetch


@dataclass(frozen=True, kw_only=True)
class Resource(Generic[R]):
    """A record type served with list, create, fetch, update and delete."""

    name: str
    """Name in audit rows: "device"."""
    path: str
    """Path below /api: "devices"."""
    right: str = ""
    """Name in the table of rights, where it is not `name`."""
    policy: ResourcePolicy[R]
    extended: type[R] | None = None
    """Type of bodies and answers, where it extends the table's record."""
    change: Callable[..., Change] | None = None
    """The fact to publish when a row was created, updated or deleted, such as `DeviceChanged`; None where
    nothing in memory depends on such rows."""
    parameters: frozenset[str] | None = None
    """Parameters of lists; None: those of the policy."""
    read_only: tuple[str, ...] = ()
    """Fields that a body may carry but that only the server writes."""
    public_create: bool = False
    create_headers: Mapping[str, str] = field(default_factory=dict)
    """Optional headers of a request to create a record -> their description."""

    @property
    def change_right(self) -> Right:
        """The right to create, edit and delete."""
        return CHANGE[self.right or self.name]

    @property
    def list_parameters(self) -> frozenset[str]:
        """The names of the parameters of lists."""
        return self.policy.parameters if self.parameters is None else self.parameters

    @property
    def shape(self) -> type[R]:
        """Type of bodies and answers."""
        record: type[R] = self.extended or self.policy.table.record
        return record

    @cached_property
    def query(self) -> type[msgspec.Struct]:
        """The list parameters of this resource, as a struct."""
        return select_parameters(
            ListParameters,
            self.list_parameters,
            name=f"{self.title}Query",
            base=msgspec.Struct,
            rename=parameter_of,
        )

    def read_parameters(self, call: Call) -> ListParameters:
        """Read the list parameters of the request."""
        return ListParameters(**msgspec.structs.asdict(call.query(self.query)))

    @property
    def body_rules(self) -> BodyRules:
        """Rules for bodies that their type cannot express."""
        texts = self.policy.texts
        bounds = {name: bound for name, bound in texts.max_lengths.items() if bound is not None}
        return BodyRules(required=texts.required, max_lengths=bounds, ignored=self.read_only)

    @property
    def title(self) -> str:
        """Name in operation names: "Device"."""
        return self.shape.__name__

    @property
    def plural(self) -> str:
        """Name in the names of lists: "Devices"."""
        return plural(self.title)

    @property
    def words(self) -> str:
        """Name in sentences: "scheduled command"."""
        return spaced(self.name)


def id_of(record: msgspec.Struct) -> int:
    """Return the id of a record."""
    number = getattr(record, "id")  # noqa: B009 - the bound of the type cannot say that it is there
    assert isinstance(number, int)
    return number


def plural(name: str) -> str:
    """Return the plural of a name: `Branches` for `Branch`."""
    if name.endswith(("s", "ch")):
        return f"{name}es"
    if re.search(r"[^aeiou]y$", name):
        return f"{name[:-1]}ies"
    return f"{name}s"


def spaced(name: str) -> str:
    """Return a name in camel case as words: `scheduled command` for `ScheduledCommand`."""
    return re.sub(r"(?<!^)([A-Z])", r" \1", name).lower()
