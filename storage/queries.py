"""What every function of this folder asks of a database: the database itself, or one transaction on it."""

from collections.abc import AsyncGenerator, ItemsView, Iterator, KeysView
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

__all__ = ["Queries", "Row", "Value"]

Value = Any
"""What a column holds; who reads it knows the type."""


class Row(Protocol):
    """A row of an answer, by column name or number."""

    def __getitem__(self, column: str | int, /) -> Value:
        """Return a column's value."""
        ...

    def keys(self) -> KeysView[str]:
        """Return the column names."""
        ...

    def items(self) -> ItemsView[str, Any]:
        """Return names and values."""
        ...

    def values(self) -> Iterator[Any]:
        """Return the values in order."""
        ...


class Queries(Protocol):
    """Statements with `$1` parameters. All raise the errors of storage/errors.py and nothing else.

    jsonb goes in and comes out as Python values, timestamptz as aware UTC datetimes. A cancelled call
    leaves the database usable; whether its statement took effect is not known.
    """

    async def fetch(self, sql: str, *args: object) -> list[Row]:
        """Return all rows."""
        ...

    async def fetch_row(self, sql: str, *args: object) -> Row | None:
        """Return the first row, if there is one."""
        ...

    async def fetch_value(self, sql: str, *args: object) -> Value:
        """Return the first column of the first row, None without rows."""
        ...

    async def execute(self, sql: str, *args: object) -> str:
        """Run a statement, or without args a whole script; return its tag: "DELETE 3"."""
        ...

    async def defer_to_commit(self, sql: str, *args: object) -> None:
        """Run a statement together with the commit of the transaction; outside of one at once.

        For what nobody reads before: it saves a way to the database. Its errors come out of the commit.
        """
        ...

    async def copy_binary(self, table: str, columns: tuple[str, ...], source: bytes) -> None:
        """COPY rows in PostgreSQL's binary format, header and trailer included, all or none."""
        ...

    def stream(self, sql: str, *args: object, batch: int = 1000) -> AsyncGenerator[list[Row], None]:
        """Return the rows by a cursor, at most `batch` at once.

        Holds a connection until it is exhausted or closed (`contextlib.aclosing`).
        """
        ...

    def transaction(self, *, seconds: float | None = None) -> AbstractAsyncContextManager["Queries"]:
        """Commit at the end of the block, undo all where it ends by an exception. Nests.

        `seconds` is the patience for each statement where the usual one is too short.
        """
        ...
