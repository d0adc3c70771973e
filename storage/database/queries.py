"""What the functions of this package query: a database, or one transaction on it."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, ItemsView, Iterable, Iterator, KeysView
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from motorpool.storage.encryption import NO_KEYS, Keyring

Value = Any
"""The value of a column; the caller knows its type."""


class Row(Protocol):
    """A row of a result; columns are accessed by name or index."""

    def __getitem__(self, column: str | int, /) -> Value:
        """Return the value of a column."""
        ...

    def keys(self) -> KeysView[str]:
        """Return the column names."""
        ...

    def items(self) -> ItemsView[str, Any]:
        """Return pairs of column name and value."""
        ...

    def values(self) -> Iterator[Any]:
        """Return the values in column order."""
        ...


class Queries(ABC):
    """Executes statements with parameters `$1`, `$2`, …. Raises only the errors of storage/errors.py.

    jsonb maps to Python values, timestamptz to aware UTC datetimes. A cancelled call leaves the database
    usable, but it is not known whether its statement took effect.
    """

    keyring: Keyring = NO_KEYS
    """What secrets are encrypted with where they are stored, and decrypted where they are read."""

    @abstractmethod
    async def _call(self, method: str, *args: object, **more: object) -> Value:
        """Call the method of this name on a connection of the driver."""

    async def fetch(self, sql: str, *args: object) -> list[Row]:
        """Return all rows."""
        rows: list[Row] = await self._call("fetch", sql, *args)
        return rows

    async def fetch_row(self, sql: str, *args: object) -> Row | None:
        """Return the first row, or None without rows."""
        row: Row | None = await self._call("fetchrow", sql, *args)
        return row

    async def fetch_value(self, sql: str, *args: object) -> Value:
        """Return the first column of the first row, or None without rows."""
        return await self._call("fetchval", sql, *args)

    async def execute(self, sql: str, *args: object) -> str:
        """Run a statement, or without arguments a script; return the command tag, such as "DELETE 3"."""
        tag: str = await self._call("execute", sql, *args)
        return tag

    async def affected(self, sql: str, *args: object) -> int:
        """Run a statement; return the number of rows that it affected."""
        return affected_rows(await self.execute(sql, *args))

    async def defer_to_commit(self, sql: str, *args: object) -> None:
        """Run a statement together with the commit of the transaction; immediately if there is none.

        Saves a round trip for statements whose effect the transaction does not read. The commit raises
        their errors.
        """
        await self._call("execute", sql, *args)

    async def execute_with_next(self, script: str) -> None:
        """Run a script together with the next statement of the transaction; immediately if there is none.

        Saves a round trip. The next statement raises its errors; without a next one it may not be run.
        """
        await self._call("execute", script)

    async def copy_binary(
        self, table: str, columns: tuple[str, ...], source: bytes, *, then: str = "", at_commit: bool = False
    ) -> str:
        """COPY rows in PostgreSQL's binary format with header and trailer; all or none are stored.

        `then` is a script of statements that return no rows, such as DO, that is run after it: if it fails,
        nothing is stored. `at_commit` is for a transaction that does not read the rows, like
        `defer_to_commit`. Return the command tag of the last statement; empty if it is deferred.
        """
        del at_commit  # without a transaction each statement commits
        tag: str = await self._call("copy_to_table", table, **copy_options(columns, source, then))
        return tag

    @abstractmethod
    def stream(self, sql: str, *args: object, batch: int = 1000) -> AsyncGenerator[list[Row], None]:
        """Yield the rows of a cursor in lists of at most `batch`.

        Holds a connection until the generator is exhausted or closed (`contextlib.aclosing`).
        """

    @abstractmethod
    def transaction(self, *, seconds: float | None = None) -> AbstractAsyncContextManager["Queries"]:
        """Commit at the end of the block; roll back if it raises. Transactions nest by savepoints.

        `seconds` is the timeout of each statement; None means the default timeout.
        """


def affected_rows(tag: str) -> int:
    """Return the number of rows in a command tag such as "DELETE 3"."""
    return int(tag.rpartition(" ")[2])


def copy_options(columns: tuple[str, ...], source: bytes, then: str) -> dict[str, Any]:
    """Return the arguments for the driver of `Queries.copy_binary`."""
    # Bytes would be taken for the path of a file.
    options: dict[str, Any] = {"columns": columns, "source": memoryview(source), "format": "binary"}
    if then:
        # The condition ends the script that the driver sends, so `then` needs no round trip of its own.
        # Statements of one script are one transaction.
        options["where"] = f"true; {then}"
    return options


def columns(rows: Iterable[Iterable[object]]) -> list[list[object]]:
    """Return rows, at least one, as the columns that `unnest` takes."""
    return [list(column) for column in zip(*rows, strict=True)]
