"""Time that a history lets pass, and the turns at which its servers execute their statements.

A server's task waits for a turn before each statement, and between the last one of a transaction and its
commit. A server that is frozen gets none: what it knew may be outdated when it goes on.
"""

import copy
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar, cast

import trio
from trio.testing import wait_all_tasks_blocked

from motorpool.storage.database import Database
from motorpool.storage.duties import IDLE_SECONDS
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.queries import Queries, Row, Value

__all__ = ["Pace", "PacedDatabase", "Turns"]

CHANCES = (0.15, 0.9, 0.9)
"""Of getting a turn: some statements are delayed for long, and others overtake them."""

T = TypeVar("T")


class Pace:
    """Whether the tasks of one server get turns."""

    def __init__(self) -> None:
        self.frozen_until = 0.0


class _Waiter:
    def __init__(
        self, pace: Pace, until: float, *, chance: float = 1.0, in_transaction: bool = False
    ) -> None:
        self.pace = pace
        self.until = until
        """When it has slept enough, or when PostgreSQL ends the transaction."""
        self.chance = chance
        """Of getting each turn."""
        self.in_transaction = in_transaction
        self.has_failed = False
        self.turn = trio.Event()


class Turns:
    """The clock of a history, and who waits for it."""

    def __init__(self, choose: random.Random) -> None:
        self.now = 0.0
        self._choose = choose
        self._sleeping: list[_Waiter] = []
        self._waiting: list[_Waiter] = []
        self._executing = 0
        self._idle = trio.Event()

    def is_deciding(self, pace: Pace) -> bool:
        """Return whether a server is in a transaction."""
        return any(waiter.pace is pace and waiter.in_transaction for waiter in self._waiting)

    def is_frozen(self, pace: Pace) -> bool:
        """Return whether a server does nothing now."""
        return pace.frozen_until > self.now

    async def sleep(self, pace: Pace, seconds: float) -> None:
        """Wait until so much time has passed, and the server is not frozen."""
        await self._wait(self._sleeping, _Waiter(pace, self.now + seconds))

    async def turn(self, pace: Pace, *, in_transaction: bool = False, is_first: bool = False) -> None:
        """Wait for a turn. The first statement of a transaction sets the limit on its standing still.

        Raises:
            StorageUnavailable: PostgreSQL has ended the transaction meanwhile.
        """
        limit = math.inf if is_first or not in_transaction else self.now + IDLE_SECONDS
        chance = self._choose.choice(CHANCES)
        waiter = _Waiter(pace, limit, chance=chance, in_transaction=in_transaction)
        await self._wait(self._waiting, waiter)
        if waiter.has_failed:
            raise StorageUnavailable("the transaction stood still for too long")

    async def _wait(self, waiting: list[_Waiter], waiter: _Waiter) -> None:
        waiting.append(waiter)
        try:
            await waiter.turn.wait()
        finally:
            waiting.remove(waiter)

    async def execute(self, call: Callable[[], Awaitable[T]]) -> T:
        """Execute a statement, whose end is waited for before the next turns."""
        self._executing += 1
        try:
            return await call()
        finally:
            self._executing -= 1
            if not self._executing:
                self._idle.set()
                self._idle = trio.Event()

    async def quiet(self) -> None:
        """Wait until all tasks wait for a turn, a message or for time."""
        await wait_all_tasks_blocked()
        while self._executing:
            await self._idle.wait()
            await wait_all_tasks_blocked()

    def give(self, *, to_all: bool) -> None:
        """Wake who has slept enough, and give turns to some or all of those who wait for one."""
        for waiter in self._sleeping:
            if waiter.until <= self.now and not self.is_frozen(waiter.pace):
                waiter.turn.set()
        for waiter in self._waiting:
            if self.now > waiter.until:
                waiter.has_failed = True
                waiter.turn.set()
            elif not self.is_frozen(waiter.pace) and (to_all or self._choose.random() < waiter.chance):
                waiter.turn.set()


class PacedDatabase(Database):
    """A database as one server uses it."""

    def __init__(self, database: Database, turns: Turns, pace: Pace) -> None:
        vars(self).update(vars(database))
        self._turns = turns
        self._pace = pace

    async def _call(self, method: str, *args: object, **more: object) -> Value:
        await self._turns.turn(self._pace)
        return await self._turns.execute(lambda: super(PacedDatabase, self)._call(method, *args, **more))

    @asynccontextmanager
    async def transaction(self, *, seconds: float | None = None) -> AsyncIterator[Queries]:
        """Commit at the end of the block, at a later turn than its last statement and the fence."""
        unfenced = copy.copy(self)
        unfenced._fence = None
        async with Database.transaction(unfenced, seconds=seconds) as transaction:
            paced = cast("Queries", _PacedQueries(transaction, self._turns, self._pace))
            yield paced
            if self._fence is not None:
                await self._fence(paced)
            await self._turns.turn(self._pace, in_transaction=True)


class _PacedQueries:
    def __init__(self, queries: Queries, turns: Turns, pace: Pace) -> None:
        self._queries = queries
        self._turns = turns
        self._pace = pace
        self._has_begun = False

    async def fetch(self, sql: str, *args: object) -> list[Row]:
        """Return all rows."""
        return await self._execute(lambda: self._queries.fetch(sql, *args))

    async def fetch_value(self, sql: str, *args: object) -> Value:
        """Return the first column of the first row."""
        return await self._execute(lambda: self._queries.fetch_value(sql, *args))

    async def execute(self, sql: str, *args: object) -> str:
        """Run a statement."""
        return await self._execute(lambda: self._queries.execute(sql, *args))

    async def _execute(self, call: Callable[[], Awaitable[T]]) -> T:
        await self._turns.turn(self._pace, in_transaction=True, is_first=not self._has_begun)
        self._has_begun = True
        return await self._turns.execute(call)
