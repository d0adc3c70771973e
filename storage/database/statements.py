"""Implements Queries on one connection: transactions, savepoints, cursors and COPY."""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Protocol

from motorpool.storage.database.queries import Queries, Row, Value
from motorpool.storage.errors import StorageError


class DriverConnection(Protocol):
    """A connection of the driver as wrapped by `database.py`."""

    clean: bool
    """Whether no statement was interrupted and no transaction is open."""

    @property
    def driver(self) -> Any:  # noqa: ANN401 - the driver has no types
        """The connection object of the driver."""
        ...

    async def call(
        self, seconds: float, method: Callable[..., Awaitable[Any]], *args: object, **more: object
    ) -> Value:
        """Call a method of the driver with a timeout. Raises the errors of storage/errors.py."""
        ...


class Statements(ABC):
    """Implements the statements of Queries by `_call`, which chooses the connection."""

    @abstractmethod
    async def _call(self, method: str, *args: object, **more: object) -> Value:
        """Call the method of this name on the connection of the driver."""

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

    async def defer_to_commit(self, sql: str, *args: object) -> None:
        """Run a statement together with the commit of the transaction; immediately if there is none."""
        await self._call("execute", sql, *args)

    async def execute_with_next(self, script: str) -> None:
        """Run a script together with the next statement of the transaction; immediately if there is none."""
        await self._call("execute", script)

    async def copy_binary(
        self, table: str, columns: tuple[str, ...], source: bytes, *, then: str = "", at_commit: bool = False
    ) -> None:
        """COPY rows in PostgreSQL's binary format; all or none are stored.

        `then` is a script that runs with the COPY, in the same round trip; if it fails, no row is stored.
        `at_commit` sends both together with the commit of the transaction.
        """
        del at_commit  # without a transaction each statement commits
        await self._call("copy_to_table", table, **_copy_options(columns, source, then))


_cursors = itertools.count(1)


class Session(Statements):
    """Statements on one connection that is used exclusively."""

    def __init__(
        self, connection: DriverConnection, seconds: float, depth: int = 0, *, opening: str = ""
    ) -> None:
        self._connection = connection
        self._seconds = seconds
        self._depth = depth
        self._opening = opening
        """SQL to run before the next statement; empty afterwards."""
        self._is_open = not opening
        """Whether the transaction has begun."""
        self._at_commit: list[Callable[[], Awaitable[Any]]] = []
        """Statements that are sent together with the commit."""

    async def _call(self, method: str, *args: object, **more: object) -> Value:
        call = getattr(self._connection.driver, method)
        if self._opening:
            call = partial(_open_and_call, self._connection.driver.execute, self._opening, call)
            self._opening, self._is_open = "", True
        return await self._connection.call(self._seconds, call, *args, **more)

    async def defer_to_commit(self, sql: str, *args: object) -> None:
        """Run a statement together with the commit of the transaction; immediately if there is none."""
        if self._depth:
            self._at_commit.append(partial(self._connection.driver.execute, sql, *args))
        else:
            await self.execute(sql, *args)

    async def execute_with_next(self, script: str) -> None:
        """Run a script together with the next statement of the transaction; immediately if there is none."""
        if self._depth:
            self._opening = f"{self._opening}; {script}" if self._opening else script
        else:
            await super().execute_with_next(script)

    async def copy_binary(
        self, table: str, columns: tuple[str, ...], source: bytes, *, then: str = "", at_commit: bool = False
    ) -> None:
        """COPY rows in PostgreSQL's binary format; `at_commit` together with the commit."""
        if self._depth and at_commit:
            copy = self._connection.driver.copy_to_table
            self._at_commit.append(partial(copy, table, **_copy_options(columns, source, then)))
        else:
            await super().copy_binary(table, columns, source, then=then)

    @asynccontextmanager
    async def transaction(self, *, seconds: float | None = None) -> AsyncIterator[Queries]:
        """Commit at the end of the block; roll back if it raises."""
        point = f"point_{self._depth}"
        commit, rollback = "commit", "rollback"
        # Sent with the first statement: a call into the loop of the driver costs more than `begin` itself.
        opening = "" if self._depth else "begin"
        inner = Session(self._connection, seconds or self._seconds, self._depth + 1, opening=opening)
        if self._depth:
            await self.execute(f"savepoint {point}")
            commit, rollback = f"release savepoint {point}", f"rollback to savepoint {point}"
        try:
            if seconds:
                await inner.execute(f"set local statement_timeout = {math.ceil(seconds * 1000)}")
            yield inner
        except Exception:
            if inner._is_open:
                inner._opening = ""
                # If that fails as well, the connection is lost, and the server rolls back.
                with suppress(StorageError):
                    await inner.execute(rollback)
            raise
        except BaseException:
            # Cancelled: the pool resets the connection later, so that cancellation is not delayed.
            self._connection.clean = False
            raise
        if not (inner._is_open or inner._at_commit):
            return
        try:
            tag = await inner._finish(commit)
        except StorageError:
            with suppress(StorageError):
                await inner.execute(rollback)
            raise
        if tag == "ROLLBACK":
            raise StorageError("the transaction was rolled back because one of its statements had failed")

    async def _finish(self, commit: str) -> str:
        execute = self._connection.driver.execute
        statements: list[Callable[[], Awaitable[Any]]] = [*self._at_commit, partial(execute, commit)]
        finish: Callable[[], Awaitable[Any]] = partial(_execute_all, statements)
        if self._opening:
            finish = partial(_open_and_call, execute, self._opening, finish)
            self._opening, self._is_open = "", True
        tag: str = await self._connection.call(self._seconds * (len(statements) + 1), finish)
        return tag

    async def stream(self, sql: str, *args: object, batch: int = 1000) -> AsyncGenerator[list[Row], None]:
        """Yield the rows of a cursor in lists of at most `batch`; only inside a transaction."""
        cursor = f"cursor_{next(_cursors)}"
        await self.execute(f"declare {cursor} no scroll cursor for {sql}", *args)
        while rows := await self.fetch(f"fetch {int(batch)} from {cursor}"):
            yield rows
        await self.execute(f"close {cursor}")


async def _open_and_call(
    execute: Callable[[str], Awaitable[Any]],
    opening: str,
    call: Callable[..., Awaitable[Any]],
    *args: object,
    **more: object,
) -> Value:
    await execute(opening)
    return await call(*args, **more)


async def _execute_all(statements: Sequence[Callable[[], Awaitable[Any]]]) -> Value:
    """Return the result of the last one."""
    result = None
    for statement in statements:
        result = await statement()
    return result


def _copy_options(columns: tuple[str, ...], source: bytes, then: str) -> dict[str, Any]:
    options: dict[str, Any] = {"columns": columns, "source": _SingleChunk(source), "format": "binary"}
    if then:
        # The condition ends the script that the driver sends, so `then` needs no round trip of its own.
        # Statements of one script are one transaction.
        options["where"] = f"true; {then}"
    return options


class _SingleChunk:
    """An asynchronous iterator over a single chunk of bytes."""

    __slots__ = ("_chunk",)

    def __init__(self, chunk: bytes) -> None:
        self._chunk: bytes | None = chunk

    def __aiter__(self) -> "_SingleChunk":
        return self

    async def __anext__(self) -> bytes:
        chunk, self._chunk = self._chunk, None
        if chunk is None:
            raise StopAsyncIteration
        return chunk
