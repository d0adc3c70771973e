"""The database: a pool of connections to PostgreSQL, and the embedded server where there is one.

Users send SQL through `Queries` and get the errors of storage/errors.py. The driver's asyncio loop is opened
around the body of `open_database`; tasks anywhere in the program may use the database meanwhile, and get
StorageUnavailable before and after.
"""

import copy
import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import datetime

import trio

from motorpool.storage.database import encryption_keys, migrations, partitions
from motorpool.storage.database.availability import Availability, Tell
from motorpool.storage.database.connections import Connection, first_connection, open_connection
from motorpool.storage.database.driver import (
    Foreign,
    open_loop,
)
from motorpool.storage.database.pool import Pool
from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.database.statements import Session
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.exception_groups import GroupUnwrapper
from motorpool.storage.postgres import requirements
from motorpool.storage.postgres.embedded import EmbeddedServer
from motorpool.storage.settings import DatabaseSettings

_log = logging.getLogger(__name__)

_DATABASE = "motorpool"
_CLOSE_SECONDS = 2.0
_SESSIONS = 6
"""Most connections of a process beside its pool (`Database.session`)."""
_READER_SECONDS = 900
"""The longest that the reader of a stream of rows may take for one batch."""
_TRY_WRITE = """
    create temporary table motorpool_room on commit drop as
    select repeat('x', 1000) as filling from generate_series(1, 1000)
"""
"""A change that needs a megabyte of the disk, and leaves nothing."""
_DURABILITY = """
    select current_setting('server_version'), concat_ws(', ', 'fsync ' || current_setting('fsync'),
        'full_page_writes ' || current_setting('full_page_writes'),
        'synchronous_commit ' || current_setting('synchronous_commit'))
"""


class Database(Queries):
    """A PostgreSQL database; every call borrows a connection of the pool."""

    def __init__(
        self,
        settings: DatabaseSettings,
        loop: Foreign,
        server: EmbeddedServer | None,
        availability: Availability,
    ) -> None:
        self._settings = settings
        self._loop = loop
        self._server = server
        self._urgent = False
        self._fence: Callable[[Queries], Awaitable[None]] | None = None
        self._idle_milliseconds = 0
        self._availability = availability
        self.pool: Pool[Connection] = Pool(
            settings.pool_size,
            acquire_seconds=settings.acquire_seconds,
            connect=self._connect,
            reset=Connection.reset,
            is_usable=Connection.is_usable,
            terminate=Connection.terminate,
        )

    def __repr__(self) -> str:
        return f"<database: {'available' if self.available else 'not available'}, {self.pool!r}>"

    @property
    def available(self) -> bool:
        """Whether there is no outage and, of an embedded server, whether it runs; makes no call."""
        return (
            self._availability.outage is None
            and not self.pool.closed
            and (self._server is None or self._server.up)
        )

    @property
    def statement_seconds(self) -> float:
        """The time in which a statement must be answered."""
        return self._settings.statement_seconds

    @property
    def server(self) -> EmbeddedServer | None:
        """The embedded server, where there is one."""
        return self._server

    def urgent(self) -> "Database":
        """Return this database for calls that never wait for other callers: the pool reserves a connection.

        For a task that devices depend on and that waits for no locks of others, such as the position writer.
        """
        found = copy.copy(self)
        found._urgent = True
        return found

    def fenced(self, fence: Callable[[Queries], Awaitable[None]], idle_seconds: float) -> "Database":
        """Return this database with `fence(transaction)` as the end of every transaction, before its commit.

        Where `fence` raises, the transaction is rolled back. One that waits for its next statement for more
        than `idle_seconds` is ended by PostgreSQL, so that a frozen process keeps no locks. Statements
        outside of transactions are not fenced.
        """
        found = copy.copy(self)
        found._fence = fence
        found._idle_milliseconds = math.ceil(idle_seconds * 1000)
        return found

    async def check(self) -> None:
        """Ask the database for a sign of life. Raises StorageUnavailable."""
        await self.fetch_value("select 1")

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Queries]:
        """Open a connection of its own, outside of the pool, for what lasts as long as a connection.

        Raises StorageUnavailable.
        """
        async with self.connection() as connection:
            yield Session(connection, self.statement_seconds, keyring=self.keyring)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """As `session`, for what is no statement."""
        if self.pool.closed:
            raise StorageUnavailable("the database is closed")
        connection = None
        try:
            self._require_server()
            connection = await self._connect()
            yield connection
        except StorageUnavailable as error:
            self._note(error)
            raise
        finally:
            if connection is not None:
                # It may hold locks, which only its end releases.
                connection.clean = False
                connection.terminate()

    @asynccontextmanager
    async def transaction(self, *, seconds: float | None = None) -> AsyncIterator[Queries]:
        """Commit at the end of the block, undo all where it ends by an exception."""
        connection = await self._take()
        try:
            session = Session(connection, self._settings.statement_seconds, keyring=self.keyring)
            async with session.transaction(seconds=seconds) as transaction:
                if self._fence is None:
                    yield transaction
                else:
                    await transaction.execute_with_next(
                        f"set local idle_in_transaction_session_timeout = {self._idle_milliseconds}"
                    )
                    yield transaction
                    await self._fence(transaction)
        except StorageUnavailable as error:
            self._note(error)
            raise
        finally:
            self.pool.release(connection, clean=connection.clean)

    async def stream(self, sql: str, *args: object, batch: int = 1000) -> AsyncGenerator[list[Row], None]:
        """Return the rows by a cursor; holds a connection until exhausted or closed."""
        connection = await self._take()
        try:
            session = Session(connection, self._settings.statement_seconds, keyring=self.keyring)
            async with (
                session.transaction() as transaction,
                aclosing(transaction.stream(sql, *args, batch=batch)) as batches,
            ):
                # It locks nothing that others wait for, and its reader may be a slow client.
                await transaction.execute_with_next(
                    f"set local idle_in_transaction_session_timeout = {_READER_SECONDS * 1000}"
                )
                async for rows in batches:
                    yield rows
        except StorageUnavailable as error:
            self._note(error)
            raise
        finally:
            self.pool.release(connection, clean=connection.clean)

    async def _call(self, method: str, *args: object, **more: object) -> Foreign:
        connection = await self._take()
        try:
            answer = await connection.call(
                self._settings.statement_seconds, getattr(connection.driver, method), *args, **more
            )
        except StorageUnavailable as error:
            self._note(error)
            raise
        finally:
            self.pool.release(connection, clean=connection.clean)
        self._availability.answered()
        return answer

    async def _take(self) -> Connection:
        if self.pool.closed:
            raise StorageUnavailable("the database is closed: use it inside `async with open_database(…)`")
        self._availability.require_answers()
        try:
            self._require_server()
            return await self.pool.acquire(urgent=self._urgent)
        except StorageUnavailable as error:
            self._note(error)
            raise

    def _note(self, error: StorageUnavailable) -> None:
        if not self.pool.closed:
            self._availability.failed(error)

    def _require_server(self) -> None:
        """Raise an error while the embedded server, if there is one, is down."""
        if self._server is not None and not self._server.up:
            raise self._server.unavailable()

    async def watch(self) -> None:
        """Find out until cancelled when an outage begins, and when it has ended."""
        await self._availability.watch(self.urgent().check, self._try_write)

    async def _try_write(self) -> None:
        if self.pool.closed:
            return
        async with self.session() as session, session.transaction() as transaction:
            await transaction.execute(_TRY_WRITE)
        if self._availability.outage is not None:
            # They may be of a time when changes were not possible.
            self.pool.terminate_idle()

    async def _connect(self) -> Connection:
        return await open_connection(self._loop, self._settings, self._server, _DATABASE)

    async def close(self) -> None:
        """Refuse all further calls; for `open_database`."""
        await self.pool.close(_CLOSE_SECONDS)


@asynccontextmanager
async def open_database(
    settings: DatabaseSettings,
    *,
    clock_now: Callable[[], datetime],
    on_outage: Tell | None = None,
    without_keys: bool = False,
) -> AsyncIterator[Database]:
    """Open the database for the body: starts the embedded server, brings the tables up to date.

    `clock_now` is the wall clock, aware. The embedded server is watched and started again meanwhile; at
    the end it is stopped, within some seconds. `on_outage` is that of `Availability`. With `without_keys` it
    is opened also if keys of its secrets are missing, and nothing is encrypted.

    Raises:
        SetupFailed: a person must see to something; one line says what. AlreadyRunning is one of these.
        StorageUnavailable: the server did not appear in time.
    """
    async with GroupUnwrapper() as unwrapper, open_loop() as loop:
        with unwrapper.record():
            async with _running_server(settings) as server, trio.open_nursery() as nursery:
                database = Database(settings, loop, server, Availability(on_outage))
                await nursery.start(database.pool.run)
                if server is not None:
                    nursery.start_soon(server.watch)
                try:
                    with unwrapper.record():
                        connection = await _set_up(loop, settings, server, clock_now)
                        database.pool.adopt(connection)
                        if not without_keys:
                            database.keyring = await encryption_keys.open_keyring(
                                database,
                                settings.keys,
                                settings.data,
                                is_embedded=server is not None,
                                clock_now=clock_now,
                            )
                        await _look_after_partitions(database, clock_now())
                        await _tell_durability(database)
                        if on_outage is not None:
                            nursery.start_soon(database.watch)
                        yield database
                finally:
                    with trio.CancelScope(shield=True):
                        await database.close()
                    nursery.cancel_scope.cancel()


async def _look_after_partitions(database: Database, now: datetime) -> None:
    try:
        await partitions.ensure_partitions(database, now)
    except StorageUnavailable as error:
        # Another server may be at the table; until the next look rows wait in the open end.
        _log.warning("partitions not looked after: %s", error)


async def _tell_durability(database: Database) -> None:
    """What "stored" is worth here; the operator of an external server may have chosen otherwise."""
    _log.info("PostgreSQL %s: %s", *(await database.fetch(_DURABILITY))[0].values())


def _connections(settings: DatabaseSettings) -> int:
    """Return how many connections the embedded server admits: those of all processes, and some of others."""
    further = (settings.processes - 1) * (settings.pool_size + _SESSIONS)
    return settings.pool_size + 32 + further


@asynccontextmanager
async def _running_server(settings: DatabaseSettings) -> AsyncIterator[EmbeddedServer | None]:
    if settings.url != "embedded":
        yield None
        return
    server = EmbeddedServer(
        settings.data, max_connections=_connections(settings), start_seconds=settings.start_seconds
    )
    await server.start()
    try:
        yield server
    finally:
        with trio.CancelScope(shield=True):
            await server.stop()


async def _set_up(
    loop: Foreign,
    settings: DatabaseSettings,
    server: EmbeddedServer | None,
    clock_now: Callable[[], datetime],
) -> Connection:
    """Bring the tables up to date; return the connection this was done on, reset."""
    if server is not None:
        connection = await first_connection(loop, settings, server, "postgres")
        try:
            session = Session(connection, settings.start_seconds)
            sql = "select exists (select from pg_database where datname = $1)"
            if not await session.fetch_value(sql, _DATABASE):
                await session.execute(f"create database {_DATABASE}")
        finally:
            connection.terminate()
    connection = await first_connection(loop, settings, server, _DATABASE)
    try:
        session = Session(connection, math.inf)
        await _check_requirements(connection, session)
        await session.execute("set statement_timeout = 0")
        await migrations.migrate(session, migrations.load(), clock_now=clock_now)
        if not connection.clean:
            # The release of the lock was cancelled, since the machine is busy.
            await connection.reset()
        # Also releases the lock if `migrate` could not.
        await connection.call(settings.statement_seconds, connection.driver.reset)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def _check_requirements(connection: Connection, session: Session) -> None:
    version = connection.driver.get_server_version()
    requirements.check(f"{version.major}.{version.minor}", await session.fetch_value("show server_encoding"))
    if not await session.fetch_value(requirements.KNOWS_LETTERS):
        _log.warning("%s", requirements.WITHOUT_LETTERS)
