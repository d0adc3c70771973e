"""Maps the rows of a table to records by a description of the table.

A plain resource needs only a table, a record and a declaration:

    TABLE = Table("drivers", Driver, access=links.access_by_link(links.USER_DRIVER))
"""

import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from motorpool.storage import secret_attributes
from motorpool.storage.database.conditions import Condition, all_of, contains_keyword
from motorpool.storage.database.queries import Queries, Row, Value
from motorpool.storage.encryption import Keyring

R = TypeVar("R", bound=msgspec.Struct)

LOCK = " for no key update"
"""Ends a select whose rows no other transaction may update or delete until this one ends."""
Many = list
"""The built-in `list`, which the method `Table.list` hides inside the class."""


def sort_key(column: str) -> str:
    """Return the SQL that texts are ordered by: accents and case count for nothing (migration 56).

    The order is the same on all servers, whatever the collation of the database.
    """
    return f'sort_key({column}) collate "C"'


@dataclass(frozen=True, kw_only=True)
class ListQuery:
    """The selection of a list; rows must meet all filters."""

    accessible_to: int | None = None
    """Only rows that this user may see; None: all rows."""
    conditions: tuple[Condition, ...] = ()
    keyword: str = ""
    """Only rows where a keyword column contains it, ignoring case; empty: all rows."""
    limit: int = 0
    """Most rows; 0: no limit."""
    offset: int = 0
    """Rows to skip; ignored without a limit (docs/http-api.md#lists)."""
    exclude_attributes: bool = False
    """Whether `attributes` is left empty."""


class Versioned(NamedTuple, Generic[R]):
    """A record, and the version of its row: 1 when it is inserted, and one more with each update."""

    record: R
    version: int


@dataclass(frozen=True)
class Table(Generic[R]):
    """The rows of one table as records. Columns are the fields of the record; the table assigns `id`.

    A table whose rows are updated or fetched with versions has a column `version`, by default 1.

    An int field named `…_id` is a reference, whose value 0 is NULL in the table. Dicts, lists and structs
    are jsonb.
    """

    name: str
    record: type[R]
    sort: str = "name"
    """The column that lists are ordered by, then by id; texts by `sort_key`."""
    keywords: tuple[str, ...] = ("name",)
    access: Callable[[int], Condition] | None = None
    """Returns the condition for rows that a user may see."""
    not_stored: frozenset[str] = frozenset()
    """Fields without a column."""
    immutable: frozenset[str] = frozenset()
    """Columns that are set on insert and never updated."""
    non_references: frozenset[str] = frozenset()
    """Fields named `…_id` that are not references and are stored unchanged."""
    secrets: frozenset[str] = frozenset()
    """Columns that are encrypted; of `attributes` those that storage/secret_attributes.py names."""

    async def insert(self, q: Queries, record: R, **columns: Value) -> R:
        """Store a new row; its id is ignored. Return the record with its id.

        `columns` are those that are no fields of the record.

        Raises:
            Conflict: A unique value is already in use.
            StatementRejected: A reference does not exist, or a value is out of range.
        """
        row_id = await self._insert(q, record, self._stored_columns, columns)
        return msgspec.structs.replace(record, id=row_id)

    async def insert_named(self, q: Queries, record: R) -> None:
        """Store a new row under the id of the record. Raises as `insert`."""
        await self._insert(q, record, self.columns, {})

    async def _insert(
        self, q: Queries, record: R, columns: Sequence[str], more: Mapping[str, Value]
    ) -> Value:
        names = ", ".join(f'"{column}"' for column in (*columns, *more))
        places = ", ".join(f"${number}" for number in range(1, len(columns) + len(more) + 1))
        sql = f'insert into "{self.name}" ({names}) values ({places}) returning id'  # noqa: S608 - constant names
        values = (self._to_column(q, record, column) for column in columns)
        return await q.fetch_value(sql, *values, *more.values())

    async def fetch(self, q: Queries, row_id: int, *, lock: bool = False) -> R | None:
        """Return the record with this id, or None.

        `lock` prevents other transactions from updating or deleting the row until this one ends.
        """
        if not 0 < row_id < 1 << 63:
            return None
        row = await q.fetch_row(f"{self._select()} where id = $1{LOCK if lock else ''}", row_id)
        return None if row is None else self.from_row(row, q.keyring)

    async def fetch_versioned(self, q: Queries, row_id: int, *, lock: bool = False) -> Versioned[R] | None:
        """Return the record with this id and the version of its row, or None; `lock` as in `fetch`."""
        if not 0 < row_id < 1 << 63:
            return None
        sql = f"{self._select(versioned=True)} where id = $1{LOCK if lock else ''}"
        row = await q.fetch_row(sql, row_id)
        return None if row is None else self._versioned(row, q.keyring)

    async def fetch_many(
        self, q: Queries, ids: Iterable[int], *, exclude_attributes: bool = False
    ) -> Many[R]:
        """Return records in the order of the ids; unknown ids are left out."""
        valid_ids = [row_id for row_id in ids if 0 < row_id < 1 << 63]
        rows = await q.fetch(
            self._select(exclude_attributes=exclude_attributes) + " where id = any($1::bigint[])", valid_ids
        )
        found = {row["id"]: row for row in rows}
        return self._from_rows([found[row_id] for row_id in valid_ids if row_id in found], q.keyring)

    async def fetch_many_versioned(self, q: Queries, ids: Iterable[int]) -> dict[int, Versioned[R]]:
        """Return records with the versions of their rows, by id; unknown ids are left out."""
        valid_ids = [row_id for row_id in ids if 0 < row_id < 1 << 63]
        rows = await q.fetch(f"{self._select(versioned=True)} where id = any($1::bigint[])", valid_ids)
        return {row["id"]: self._versioned(row, q.keyring) for row in rows}

    async def update(self, q: Queries, record: R) -> R | None:
        """Replace the values of a row; return the record as stored, or None if there is no such row.

        Raises:
            Conflict: A unique value is already in use.
            StatementRejected: A reference does not exist, or a value is out of range.
        """
        changed = [column for column in self._stored_columns if column not in self.immutable]
        values = [self._to_column(q, record, column) for column in changed]
        row = await q.fetch_row(self._update_sql(changed), getattr(record, "id"), *values)  # noqa: B009 - R has an id
        return None if row is None else self.from_row(row, q.keyring)

    async def delete(self, q: Queries, row_id: int) -> bool:
        """Delete a row; return whether it existed."""
        if not 0 < row_id < 1 << 63:
            return False
        sql = f'delete from "{self.name}" where id = $1 returning true'  # noqa: S608 - constant names
        return await q.fetch_value(sql, row_id) is True

    async def count(self, q: Queries, condition: Condition | None = None) -> int:
        """Return the number of rows, or of those that meet a condition."""
        where, args = self._where(ListQuery(conditions=(condition,) if condition else ()))
        sql = f'select count(*) from "{self.name}"{where}'  # noqa: S608 - constant names
        return int(await q.fetch_value(sql, *args))

    async def list(self, q: Queries, query: ListQuery = ListQuery()) -> Many[R]:
        """Return the records that a query selects, in order."""
        where, args = self._where(query)
        sql = self._select(exclude_attributes=query.exclude_attributes) + where + self._order(query)
        return self._from_rows(await q.fetch(sql, *args), q.keyring)

    async def select(self, q: Queries, condition: str, *args: object) -> Many[R]:
        """Return records; `condition` is what follows the name of the table: "where id > $1 order by id"."""
        return self._from_rows(await q.fetch(f"{self._select()} {condition}", *args), q.keyring)

    async def ids(self, q: Queries, query: ListQuery = ListQuery()) -> Many[int]:
        """Return the ids that a query selects, in order."""
        where, args = self._where(query)
        # One value: a row for each would take most of the time of a list.
        sql = f'select array(select id from "{self.name}"{where}{self._order(query)})'  # noqa: S608 - constant names
        found: Many[int] = await q.fetch_value(sql, *args)
        return found

    def from_row(self, row: Row | dict[str, Any], keyring: Keyring | None = None) -> R:
        """Return the record of a row of this table; one with secrets needs the keyring of the database."""
        values = dict(row.items())
        for column in self.secrets:
            assert keyring is not None
            values[column] = self.decrypted(keyring, column, values[column])
        for name, kind in self._struct_columns.items():
            values[name] = msgspec.convert(values[name], kind)
        return self.record(**values)

    def _from_rows(self, rows: Sequence[Row], keyring: Keyring) -> Many[R]:
        """Return the records of rows of a statement that begins with `_select`, in half the time."""
        make, absent, arranged = self._make, self._absent, self._arranged
        secrets = [(self.columns.index(column), column) for column in self.secrets]
        structs = [(self.columns.index(name), kind) for name, kind in self._struct_columns.items()]
        records = []
        for row in rows:
            values = [*row.values(), *absent]
            for index, column in secrets:
                values[index] = self.decrypted(keyring, column, values[index])
            for index, kind in structs:
                values[index] = msgspec.convert(values[index], kind)
            records.append(make(*arranged(values)))
        return records

    def _versioned(self, row: Row, keyring: Keyring) -> Versioned[R]:
        values = dict(row.items())
        version = values.pop("version")
        return Versioned(self.from_row(values, keyring), version)

    def encrypted(self, keyring: Keyring, column: str, value: Value) -> Value:
        """Return the value of a column of `secrets` as it is stored."""
        context = f"{self.name}.{column}"
        if column == "attributes":
            return secret_attributes.encrypted(value, keyring, context)
        return value if value in (None, "") else keyring.encrypt(value, context)

    def decrypted(self, keyring: Keyring, column: str, value: Value) -> Value:
        """Return the value of a column of `secrets`, as it was before it was stored."""
        context = f"{self.name}.{column}"
        if column == "attributes":
            return secret_attributes.decrypted(value, keyring, context)
        return value if value in (None, "") else keyring.decrypt(value, context)

    def select_list(self, *, of: str = "", exclude_attributes: bool = False) -> str:
        """Return the column list of a select; `of` is the alias of this table in the statement."""
        prefix = f"{of}." if of else ""
        parts = []
        for column in self.columns:
            if column == "attributes" and exclude_attributes:
                parts.append("'{}'::jsonb as attributes")
            elif column in self._references:
                parts.append(f'coalesce({prefix}"{column}", 0) as "{column}"')
            else:
                parts.append(f'{prefix}"{column}"')
        return ", ".join(parts)

    def _select(self, *, exclude_attributes: bool = False, versioned: bool = False) -> str:
        columns = self.select_list(exclude_attributes=exclude_attributes) + (", version" if versioned else "")
        return f'select {columns} from "{self.name}"'  # noqa: S608 - constant names

    def _where(self, query: ListQuery) -> tuple[str, tuple[object, ...]]:
        conditions = list(query.conditions)
        if query.accessible_to is not None:
            if self.access is None:
                raise TypeError(f"{self.name} declares no access")
            conditions.append(self.access(query.accessible_to))
        if query.keyword and self.keywords:
            conditions.append(contains_keyword(query.keyword, self.keywords))
        if not conditions:
            return "", ()
        joined = all_of(*conditions)
        return f" where {joined.numbered()}", joined.args

    def _order(self, query: ListQuery) -> str:
        text = self._types[self.sort] in (str, str | None)
        order = f" order by {sort_key(self.sort) if text else self.sort}, id"
        if query.limit > 0:
            order += f" limit {int(query.limit)} offset {max(0, int(query.offset))}"
        return order

    def _to_column(self, q: Queries, record: R, column: str) -> object:
        value = getattr(record, column)
        if column in self._references:
            return value or None
        return self.encrypted(q.keyring, column, value) if column in self.secrets else value

    def _update_sql(self, changed: Sequence[str]) -> str:
        pairs = ", ".join(f'"{column}" = ${number}' for number, column in enumerate(changed, 2))
        sql = f'update "{self.name}" set {pairs}, version = version + 1 where id = $1'  # noqa: S608 - constant names
        return f"{sql} returning {self.select_list()}"

    @cached_property
    def _types(self) -> dict[str, Any]:
        hints = typing.get_type_hints(self.record)
        return {field.name: hints[field.name] for field in msgspec.structs.fields(self.record)}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of `select_list`."""
        return tuple(name for name in self._types if name not in self.not_stored)

    @cached_property
    def _absent(self) -> tuple[Value, ...]:
        """The values of the fields that are not stored, in their order."""
        fields = msgspec.structs.fields(self.record)
        return tuple(field.default for field in fields if field.name in self.not_stored)

    @cached_property
    def _make(self) -> Callable[..., R]:
        """Makes a record of the values of its fields in their order."""
        record, names = self.record, self.record.__struct_fields__
        if record.__match_args__ == names:
            return record
        # One that takes them by their names only.
        return lambda *values: record(**dict(zip(names, values, strict=True)))

    @cached_property
    def _arranged(self) -> Callable[[Sequence[Value]], tuple[Value, ...]]:
        """Takes the values of the columns, then `_absent`; returns those of all fields in their order."""
        fields = [field.name for field in msgspec.structs.fields(self.record)]
        given = [*self.columns, *(name for name in fields if name in self.not_stored)]
        return itemgetter(*map(given.index, fields))

    @cached_property
    def _stored_columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name != "id")

    @cached_property
    def _references(self) -> frozenset[str]:
        return frozenset(
            name
            for name in self.columns
            if name.endswith("_id") and self._types[name] is int and name not in self.non_references
        )

    @cached_property
    def _struct_columns(self) -> dict[str, Any]:
        """The columns whose decoded JSON must be converted to structs."""
        return {name: self._types[name] for name in self.columns if _holds_struct(self._types[name])}


def _holds_struct(kind: object) -> bool:
    origin = typing.get_origin(kind)
    if origin in (list, tuple, typing.Union, types.UnionType, dict):
        return origin is tuple or any(_holds_struct(inner) for inner in typing.get_args(kind))
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
