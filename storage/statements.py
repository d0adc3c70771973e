"""The statements of Queries on one connection: transactions, savepoints, cursors, COPY."""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Protocol

from motorpool.storage.errors import StorageError
from motorpool.storage.queries import Queries, Row, Value

__all__ = ["DriverConnection", "Session", "Statements"]


class DriverConnection(Protocol):
    """A driver's connection as database.py wraps it."""

    clean: bool
    """No statement was left in the middle, and no transaction either."""

    @property
    def driver(self) -> Any:  # noqa: ANN401 - the driver has no types
        """The driver's own object."""
        ...

    async def call(
        self, seconds: float, method: Callable[..., Awaitable[Any]], *args: object, **more: object
    ) -> Value:
        """Run a method of the driver; raises the errors of storage/errors.py."""
        ...


class Statements(ABC):
    """The statements of Queries, on whatever connection `_call` finds."""

    @abstractmethod
    async def _call(self, method: str, *args: object, **more: object) -> Value:
        """Call the driver's method of this name."""

    async def fetch(self, sql: str, *args: object) -> list[Row]:
        """Return all rows."""
        rows: list[Row] = await self._call("fetch", sql, *args)
        return rows

    async def fetch_row(self, sql: str, *args: object) -> Row | None:
        """Return the first row, if there is one."""
        row: Row | None = await self._call("fetchrow", sql, *args)
        return row

    async def fetch_value(self, sql: str, *args: object) -> Value:
        """Return the first column of the first row, None without rows."""
        return await self._call("fetchval", sql, *args)

    async def execute(self, sql: str, *args: object) -> str:
        """Run a statement, or without args a whole script; return its tag: "DELETE 3"."""
        tag: str = await self._call("execute", sql, *args)
        return tag

    async def defer_to_commit(self, sql: str, *args: object) -> None:
        """Run a statement together with the commit of the transaction; outside of one at once."""
        await self._call("execute", sql, *args)

    async def copy_binary(self, table: str, columns: tuple[str, ...], source: bytes) -> None:
        """COPY rows in PostgreSQL's binary format, header and trailer included, all or none."""
        await self._call("copy_to_table", table, columns=columns, source=_Once(source), format="binary")


_cursors = itertools.count(1)


class Session(Statements):
    """Statements on one connection, which nobody else uses meanwhile."""

    def __init__(
        self, connection: DriverConnection, seconds: float, depth: int = 0, *, opening: str = ""
    ) -> None:
        self._connection = connection
        self._seconds = seconds
        self._depth = depth
        self._opening = opening
        """What goes out before the first statement; empty once it has."""
        self._last: list[tuple[str, tuple[object, ...]]] = []
        """What goes out with the commit."""

    async def _call(self, method: str, *args: object, **more: object) -> Value:
        call = getattr(self._connection.driver, method)
        if self._opening:
            call = partial(_after, self._connection.driver.execute, self._opening, call)
            self._opening = ""
        return await self._connection.call(self._seconds, call, *args, **more)

    async def defer_to_commit(self, sql: str, *args: object) -> None:
        """Run a statement together with the commit of the transaction; outside of one at once."""
        if self._depth:
            self._last.append((sql, args))
        else:
            await self.execute(sql, *args)

    @asynccontextmanager
    async def transaction(self, *, seconds: float | None = None) -> AsyncIterator[Queries]:
        """Commit at the end of the block, undo all where it ends by an exception."""
        point = f"point_{self._depth}"
        commit, rollback = "commit", "rollback"
        # With the first statement: each way to the driver's loop costs more than the word.
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
            if not inner._opening:
                # Where even that fails the connection is lost, and the transaction with it.
                with suppress(StorageError):
                    await inner.execute(rollback)
            raise
        except BaseException:
            # Cancelled: whoever lent the connection brings it back, without holding us up.
            self._connection.clean = False
            raise
        if inner._opening and not inner._last:
            return
        try:
            tag = await inner._finish(commit)
        except StorageError:
            with suppress(StorageError):
                await inner.execute(rollback)
            raise
        if tag == "ROLLBACK":
            raise StorageError("the transaction was undone, because a statement in it had failed")

    async def _finish(self, commit: str) -> str:
        execute = self._connection.driver.execute
        statements = [*self._last, (commit, ())]
        if self._opening:
            statements.insert(0, (self._opening, ()))
            self._opening = ""
        tag: str = await self._connection.call(self._seconds * len(statements), _each, execute, statements)
        return tag

    async def stream(self, sql: str, *args: object, batch: int = 1000) -> AsyncGenerator[list[Row], None]:
        """Return the rows by a cursor, at most `batch` at once; inside a transaction."""
        cursor = f"cursor_{next(_cursors)}"
        await self.execute(f"declare {cursor} no scroll cursor for {sql}", *args)
        while rows := await self.fetch(f"fetch {int(batch)} from {cursor}"):
            yield rows
        await self.execute(f"close {cursor}")


async def _after(
    execute: Callable[[str], Awaitable[Any]],
    opening: str,
    call: Callable[..., Awaitable[Any]],
    *args: object,
    **more: object,
) -> Value:
    await execute(opening)
    return await call(*args, **more)


async def _each(
    execute: Callable[..., Awaitable[str]], statements: Sequence[tuple[str, tuple[object, ...]]]
) -> str:
    tag = ""
    for sql, args in statements:
        tag = await execute(sql, *args)
    return tag


class _Once:
    """An asynchronous iterator over a single piece."""

    __slots__ = ("_piece",)

    def __init__(self, piece: bytes) -> None:
        self._piece: bytes | None = piece

    def __aiter__(self) -> "_Once":
        return self

    async def __anext__(self) -> bytes:
        piece, self._piece = self._piece, None
        if piece is None:
            raise StopAsyncIteration
        return piece
