"""Rows that wait until one of several servers takes them, and that it holds under a lease.

All changes are by comparison: of servers that share the database one takes a row, and only the one that holds
it changes it. The table has the columns id, status, not_before, attempts, holder and leased_until.
"""

from datetime import datetime
from typing import Generic, Protocol, TypeVar

from motorpool.storage.database.queries import Queries


class LeasedRow(Protocol):
    """Fields that all leased rows have."""

    @property
    def id(self) -> int:
        """The row's own id."""

    @property
    def not_before(self) -> datetime | None:
        """When it may be taken."""

    @property
    def holder(self) -> str:
        """The server that has taken it; empty while it waits."""

    @property
    def leased_until(self) -> datetime | None:
        """When another server may take it over."""


RowT = TypeVar("RowT", bound=LeasedRow)


class LeasedRows(Generic[RowT]):
    """Queries of one such table; its statuses are named as the table names them."""

    def __init__(self, table: str, shape: type[RowT], *, waiting: str, taken: str, expires: str) -> None:
        """`shape` is a struct of its columns; after the time in column `expires` a row is not taken."""
        names: tuple[str, ...] = shape.__struct_fields__  # type: ignore[attr-defined] # a struct
        columns = ", ".join(names)
        self._shape = shape
        # Statuses are literals, as in the conditions of the indexes.
        self._waiting = f"status = '{waiting}'"
        self._taken = f"status = '{taken}'"
        self._expires = expires
        self._select = f"select {columns} from {table} where "  # noqa: S608 - constant names
        self._added = [name for name in names if name != "id"]
        places = ", ".join(f"${place}" for place in range(1, len(self._added) + 1))
        self._add = f"insert into {table} ({', '.join(self._added)}) values ({places}) returning {columns}"  # noqa: S608
        self._change = f"update {table} set {{}} where id = $1 and {self._taken} and holder = $2"  # noqa: S608
        self._begin = (
            f"update {table} set status = '{taken}', holder = $2, leased_until = $3,"  # noqa: S608
            f" attempts = attempts + 1 where id = $1 and {self._waiting}"
        )
        # Rows that another transaction is deleting are left.
        self._renew = (
            f"update {table} set leased_until = $2 where id in (select id from {table}"  # noqa: S608
            f" where {self._taken} and holder = $1 order by id for update skip locked)"
        )
        self._take_over = (
            f"update {table} set holder = $3, leased_until = $4"  # noqa: S608
            f" where id = $1 and {self._taken} and holder = $2 and leased_until = $5"
        )

    async def add(self, q: Queries, row: RowT) -> RowT:
        """Store a row and return it with its id."""
        stored = await q.fetch_row(self._add, *(getattr(row, name) for name in self._added))
        assert stored is not None
        return self._shape(*stored.values())

    async def select(self, q: Queries, condition: str, *arguments: object) -> list[RowT]:
        """Return the rows of a condition."""
        return [self._shape(*row.values()) for row in await q.fetch(self._select + condition, *arguments)]

    async def due(self, q: Queries, *, now: datetime, after: RowT | None, limit: int) -> list[RowT]:
        """Return waiting rows that may be taken now, the longest due first; those behind `after`."""
        return await self.select(
            q,
            f"{self._waiting} and not_before <= $1 and {self._expires} > $1 and (not_before, id) > ($2, $3)"
            " order by not_before, id limit $4",
            now,
            after.not_before if after is not None else datetime.min.replace(tzinfo=now.tzinfo),
            after.id if after is not None else 0,
            limit,
        )

    async def expired(self, q: Queries, *, now: datetime, limit: int) -> list[RowT]:
        """Return waiting rows that may be taken no longer."""
        return await self.select(
            q, f"{self._waiting} and {self._expires} <= $1 order by id limit $2", now, limit
        )

    async def held_by(self, q: Queries, holder: str) -> list[RowT]:
        """Return the rows that a server has taken."""
        return await self.select(q, f"{self._taken} and holder = $1 order by id", holder)

    async def lapsed(self, q: Queries, *, now: datetime, limit: int) -> list[RowT]:
        """Return rows whose server no longer runs, those that lapsed first first."""
        return await self.select(
            q, f"{self._taken} and leased_until <= $1 order by leased_until, id limit $2", now, limit
        )

    async def begin(self, q: Queries, row_id: int, holder: str, *, until: datetime) -> bool:
        """Take a waiting row; False if another server was first, or it is gone."""
        return await has_changed(q, self._begin, row_id, holder, until)

    async def change(
        self, q: Queries, row_id: int, holder: str, assignments: str, *arguments: object
    ) -> bool:
        """Change a row that a server has taken; False if it is no longer this server's.

        `arguments` are the parameters of `assignments` from `$3` on.
        """
        return await has_changed(q, self._change.format(assignments), row_id, holder, *arguments)

    async def put_back(
        self,
        q: Queries,
        row_id: int,
        holder: str,
        not_before: datetime,
        assignments: str,
        *arguments: object,
    ) -> bool:
        """Have a row that a server has taken wait again; as `change`, but `arguments` begin with `$4`."""
        freed = f"{self._waiting}, holder = '', leased_until = null, not_before = $3"
        return await self.change(q, row_id, holder, f"{freed}, {assignments}", not_before, *arguments)

    async def renew(self, q: Queries, holder: str, *, until: datetime) -> None:
        """Say that a server still holds its rows."""
        await q.execute(self._renew, holder, until)

    async def take_over(self, q: Queries, row: RowT, holder: str, *, until: datetime) -> bool:
        """Take a row whose server no longer runs, as it was read; False if another server was first."""
        return await has_changed(q, self._take_over, row.id, row.holder, holder, until, row.leased_until)


async def has_changed(q: Queries, statement: str, *arguments: object) -> bool:
    """Execute a statement, and return whether it concerned any row."""
    return await q.affected(statement, *arguments) > 0
