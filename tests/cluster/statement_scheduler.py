"""Schedules the statements of the servers of a random history, and what keeps them from the database.

A server's task waits for a turn before each statement, and between the last one of a transaction and its
commit. A server that is frozen gets none: what it knew may be outdated when it goes on. One that is cut off
gets no answers, and when its connections are lost, some statements are executed all the same.
"""

import copy
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import TypeVar, cast

import trio
from tests.cluster.notices import NoticeConnection, Notices
from trio.testing import wait_all_tasks_blocked

from motorpool.storage.cluster.duties import IDLE_SECONDS
from motorpool.storage.database.connections import Connection
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries, Row, Value
from motorpool.storage.database.statements import Session
from motorpool.storage.errors import StorageUnavailable

CHANCES = (0.15, 0.9, 0.9)
"""Of getting a turn: some statements are delayed for long, and others overtake them."""
LATE = 0.2
"""Of the writes outside of transactions: their commit takes long, as on a slow disk."""
EXECUTED = 0.5
"""Of the statements that wait when their connections are lost: the answer is lost, but not they."""

_COUNT_BLOCKED = """
    select count(*) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'
"""

T = TypeVar("T")


def _reads(sql: str) -> bool:
    """Return whether a statement waits for no locks of others."""
    return sql.lstrip().startswith("select") and "for share" not in sql


class Pace:
    """Whether the tasks of one server get turns, and whether the database answers them."""

    def __init__(self) -> None:
        self.is_killed = False
        self.frozen_until = -math.inf
        self.cut_until = -math.inf
        """When this server, which is cut off from the database, can reach it again."""
        self.is_refused = False
        """Whether it notices that at once; else it waits for answers."""
        self.losses = 0
        """How often it lost all its connections to the database."""
        self.notices: NoticeConnection | None = None
        """Its last connection for notices."""

    @property
    def is_frozen(self) -> bool:
        """Whether it does nothing now."""
        return self.frozen_until > trio.current_time()

    @property
    def is_cut(self) -> bool:
        """Whether the database answers others, but not this one."""
        return self.cut_until > trio.current_time()


class _Waiter:
    def __init__(
        self,
        pace: Pace,
        losses: int,
        limit: float,
        chance: float,
        *,
        in_transaction: bool,
    ) -> None:
        self.pace = pace
        self.losses = losses
        """Those of the server when the connection was opened."""
        self.limit = limit
        """When PostgreSQL ends the transaction."""
        self.chance = chance
        """Of getting each turn."""
        self.in_transaction = in_transaction
        self.has_failed = False
        self.loses_answer = False
        self.turn = trio.Event()

    def fail(self) -> None:
        """Let the statement fail without being executed."""
        self.has_failed = True
        self.turn.set()


class StatementScheduler:
    """Who waits to reach the database."""

    def __init__(self, database: Database, choose: random.Random) -> None:
        self.postgres = Pace()
        """That of PostgreSQL itself, which commits when it has written."""
        self.is_down = False
        """Whether the database answers nobody."""
        self._database = database
        self._choose = choose
        self._waiting: list[_Waiter] = []
        self._reading = 0
        self._writing = 0
        """Statements that may wait for locks."""
        self._executed = trio.Event()

    def is_deciding(self, pace: Pace) -> bool:
        """Return whether a server waits for the first statement of a transaction, which has no limit yet."""
        return any(
            waiter.pace is pace and waiter.in_transaction and waiter.limit == math.inf
            for waiter in self._waiting
        )

    async def wait(
        self, pace: Pace, losses: int, *, in_transaction: bool = False, limit: float = math.inf
    ) -> bool:
        """Wait for a turn, on a connection from a time of so many losses; return whether the answer is lost.

        Raises:
            StorageUnavailable: the database cannot be reached, or has ended the transaction at its limit.
        """
        chance = self._choose.choice(CHANCES)
        waiter = _Waiter(pace, losses, limit, chance, in_transaction=in_transaction)
        self._waiting.append(waiter)
        if pace.is_killed:
            waiter.fail()
        try:
            await waiter.turn.wait()
        finally:
            self._waiting.remove(waiter)
        if waiter.has_failed:
            raise StorageUnavailable("the connection to the database is lost")
        return waiter.loses_answer

    @contextmanager
    def executing(self, sql: str = "") -> Iterator[None]:
        """Let the next turns wait for the end of the block, which executes this statement or others."""
        reads = _reads(sql)
        self._reading += reads
        self._writing += not reads
        try:
            yield
        finally:
            self._reading -= reads
            self._writing -= not reads
            self._executed.set()
            self._executed = trio.Event()

    async def quiet(self) -> None:
        """Wait until all tasks wait for a turn, a message or for time, or in PostgreSQL for a lock."""
        await wait_all_tasks_blocked()
        while self._reading or self._writing:
            if self._reading or not any(waiter.in_transaction for waiter in self._waiting):
                await self._executed.wait()
            elif await self._count_blocked() >= self._writing:
                return
            await wait_all_tasks_blocked()

    async def _count_blocked(self) -> int:
        count: int = await self._database.fetch_value(_COUNT_BLOCKED)
        return count

    def commits_late(self) -> bool:
        """Choose whether PostgreSQL takes long for a commit."""
        return self._choose.random() < LATE

    def lose_connections(self, pace: Pace) -> None:
        """Let a server lose its connections; the database has executed some of the statements that waited."""
        pace.losses += 1
        for waiter in self._waiting:
            if waiter.pace is pace and not waiter.turn.is_set():
                if pace.is_killed or pace.is_frozen or self._choose.random() >= EXECUTED:
                    waiter.fail()
                else:
                    waiter.loses_answer = True
                    waiter.turn.set()

    def give(self, *, to_all: bool) -> None:
        """Give turns to some or all of those who wait for one."""
        for waiter in self._waiting:
            pace = waiter.pace
            if trio.current_time() > waiter.limit:
                waiter.fail()
            elif not pace.is_frozen and (to_all or self._choose.random() < waiter.chance):
                if waiter.losses != pace.losses or self.is_down or (pace.is_cut and pace.is_refused):
                    waiter.fail()
                elif not pace.is_cut:
                    waiter.turn.set()


class PacedDatabase(Database):
    """A database as one server uses it."""

    def __init__(
        self, database: Database, scheduler: StatementScheduler, pace: Pace, notices: Notices
    ) -> None:
        vars(self).update(vars(database))
        self._scheduler = scheduler
        self._pace = pace
        self._notices = notices

    async def _call(self, method: str, *args: object, **more: object) -> Value:
        line = _Line(self._scheduler, self._pace)
        sql = str(args[0])
        if _reads(sql) or not self._scheduler.commits_late():
            return await line.execute(partial(super()._call, method, *args, **more), sql)
        loses_answer = await line.wait()
        # A server that is killed does not keep PostgreSQL from committing.
        with trio.CancelScope(shield=True):
            answer = await self._commit_late(method, *args, **more)
        if loses_answer or line.is_lost:
            raise StorageUnavailable("the connection was lost before the answer")
        return answer

    async def _commit_late(self, method: str, *args: object, **more: object) -> Value:
        """Execute a statement that holds its locks until a later turn of PostgreSQL."""
        postgres = self._scheduler.postgres
        async with AsyncExitStack() as stack:
            with self._scheduler.executing():
                transaction = await stack.enter_async_context(self._open_transaction(None))
                answer = await cast("Session", transaction)._call(method, *args, **more)
            await self._scheduler.wait(postgres, postgres.losses, in_transaction=True)
            with self._scheduler.executing():
                await stack.aclose()
        return answer

    @asynccontextmanager
    async def transaction(self, *, seconds: float | None = None) -> AsyncIterator[Queries]:
        """Commit at the end of the block, at a later turn than its last statement and the fence."""
        line = _Line(self._scheduler, self._pace, in_transaction=True)
        async with AsyncExitStack() as stack:
            transaction = await stack.enter_async_context(self._open_transaction(seconds))
            paced = cast("Queries", _PacedQueries(transaction, line))
            yield paced
            if self._fence is not None:
                await self._fence(paced)
            loses_answer = await line.wait()
            with self._scheduler.executing():
                await stack.aclose()
        if loses_answer:
            raise StorageUnavailable("the connection was lost before the answer to the commit")

    def _open_transaction(self, seconds: float | None) -> AbstractAsyncContextManager[Queries]:
        unfenced = copy.copy(self)
        unfenced._fence = None
        return Database.transaction(unfenced, seconds=seconds)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Queries]:
        """Use a connection of the pool, which stands for a new one."""
        line = _Line(self._scheduler, self._pace)
        await line.wait()
        with self._scheduler.executing():
            connection = await self._take()
        try:
            yield cast("Queries", _PacedQueries(Session(connection, self.statement_seconds), line))
        finally:
            with trio.CancelScope(shield=True), self._scheduler.executing():
                if connection.clean or await connection.reset():
                    await Session(connection, math.inf).execute("select pg_advisory_unlock_all()")
            self.pool.release(connection, clean=connection.clean)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Use a connection that receives simulated notices."""
        line = _Line(self._scheduler, self._pace)
        await line.wait()
        connection = NoticeConnection(self._notices, line.execute)
        self._pace.notices = connection
        try:
            yield cast("Connection", connection)
        finally:
            connection.terminate()


class _Line:
    """A connection of a server, until the next loss of all."""

    def __init__(self, scheduler: StatementScheduler, pace: Pace, *, in_transaction: bool = False) -> None:
        self._scheduler = scheduler
        self._pace = pace
        self._losses = pace.losses
        self._in_transaction = in_transaction
        self._limit = math.inf

    @property
    def is_lost(self) -> bool:
        """Whether it was lost."""
        return self._losses != self._pace.losses

    async def wait(self) -> bool:
        """Wait for a turn; return whether the answer to it is lost. Raises StorageUnavailable."""
        loses_answer = await self._scheduler.wait(
            self._pace,
            self._losses,
            in_transaction=self._in_transaction,
            limit=trio.current_time() + self._limit,
        )
        if self._in_transaction:
            # From its first statement on.
            self._limit = IDLE_SECONDS
        return loses_answer

    async def execute(self, call: Callable[[], Awaitable[T]], sql: str = "") -> T:
        """Execute a statement at a turn. Raises StorageUnavailable."""
        loses_answer = await self.wait()
        with self._scheduler.executing(sql):
            answer = await call()
        if loses_answer:
            raise StorageUnavailable("the connection was lost before the answer")
        return answer

    @asynccontextmanager
    async def executing(self) -> AsyncIterator[None]:
        """Execute the block at one turn. Raises StorageUnavailable."""
        loses_answer = await self.wait()
        with self._scheduler.executing():
            yield
        if loses_answer:
            raise StorageUnavailable("the connection was lost before the answer")


class _PacedQueries:
    def __init__(self, queries: Queries, line: _Line) -> None:
        self.keyring = queries.keyring
        self._queries = queries
        self._line = line

    async def fetch(self, sql: str, *args: object) -> list[Row]:
        """Return all rows."""
        return await self._line.execute(lambda: self._queries.fetch(sql, *args), sql)

    async def fetch_value(self, sql: str, *args: object) -> Value:
        """Return the first column of the first row."""
        return await self._line.execute(lambda: self._queries.fetch_value(sql, *args), sql)

    async def execute(self, sql: str, *args: object) -> str:
        """Run a statement."""
        return await self._line.execute(lambda: self._queries.execute(sql, *args), sql)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Queries]:
        """Commit at the end of the block, all at one turn: servers join one after the other."""
        async with self._line.executing(), self._queries.transaction() as transaction:
            yield transaction
