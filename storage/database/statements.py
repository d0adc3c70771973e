"""Implements Queries on one connection: transactions, savepoints, cursors and COPY."""

import itertools
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from motorpool.storage.database.connections import Connection
from motorpool.storage.database.queries import Queries, Row, Value, copy_options
from motorpool.storage.encryption import NO_KEYS, Keyring
from motorpool.storage.errors import StorageError

_cursors = itertools.count(1)


class Session(Queries):
    """Statements on one connection that is used exclusively."""

    def __init__(
        self,
        connection: Connection,
        seconds: float,
        depth: int = 0,
        *,
        opening: str = "",
        keyring: Keyring = NO_KEYS,
    ) -> None:
        self.keyring = keyring
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
    ) -> str:
        """COPY rows in PostgreSQL's binary format; `at_commit` together with the commit."""
        if self._depth and at_commit:
            copy = self._connection.driver.copy_to_table
            self._at_commit.append(partial(copy, table, **copy_options(columns, source, then)))
            return ""
        return await super().copy_binary(table, columns, source, then=then)

    @asynccontextmanager
    async def transaction(self, *, seconds: float | None = None) -> AsyncIterator[Queries]:
        """Commit at the end of the block; roll back if it raises."""
        point = f"point_{self._depth}"
        commit, rollback = "commit", "rollback"
        # Sent with the first statement: a call into the loop of the driver costs more than `begin` itself.
        opening = "" if self._depth else "begin"
        inner = Session(
            self._connection,
            seconds or self._seconds,
            self._depth + 1,
            opening=opening,
            keyring=self.keyring,
        )
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
