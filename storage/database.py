"""The way to PostgreSQL: a pool, its errors, and the server behind it.

The only file that knows trio-asyncio and asyncpg. Everybody else writes SQL to `Queries` and sees the errors
of storage/errors.py. The asyncio loop is opened around the body of `open_database`; tasks anywhere in the
program may use the database meanwhile, and get a plain StorageUnavailable before and after.
"""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import datetime
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import msgspec
import trio
import trio_asyncio  # type: ignore[import-untyped]  # it ships no types

from motorpool.storage import migrations, partitions
from motorpool.storage.bare_errors import BareErrors
from motorpool.storage.driver_errors import Refusal, translated
from motorpool.storage.errors import SetupFailed, StorageError, StorageUnavailable
from motorpool.storage.pool import Pool
from motorpool.storage.postgres.embedded import EmbeddedServer
from motorpool.storage.queries import Queries, Row
from motorpool.storage.settings import DatabaseSettings
from motorpool.storage.statements import Session, Statements

__all__ = ["Database", "Queries", "open_database"]

_log = logging.getLogger(__name__)

OLDEST_MAJOR = 15
"""The oldest PostgreSQL whose features we use."""
_DATABASE = "motorpool"
_CLOSE_SECONDS = 2.0
_SETTLE_SECONDS = 5.0
_RETRY_SECONDS = 0.25
_REFUSED_FOR_GOOD = ("28", "3D", "42501")
"""SQLSTATEs of a login that waiting does not cure."""
Foreign = Any
"""What comes from the two libraries, which have no types."""
_DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)


class _Connection:
    """One connection of the driver, spoken to from Trio."""

    __slots__ = ("_loop", "driver", "settled")

    def __init__(self, loop: Foreign, driver: Foreign) -> None:
        self._loop = loop
        self.driver = driver
        self.settled = True
        """No statement was left in the middle, and no transaction either."""

    async def call(
        self, seconds: float, method: Callable[..., Awaitable[Foreign]], *args: object, **more: object
    ) -> Foreign:
        if not self.settled:
            raise StorageError(
                "a statement of this transaction was cancelled, so nothing more can be done in it"
            )
        self.settled = False
        try:
            with trio.fail_after(seconds):
                answer = await self._loop.run_aio_coroutine(method(*args, **more))
        except trio.TooSlowError:
            raise StorageUnavailable(f"the database gave no answer within {seconds:g} s") from None
        except asyncio.CancelledError:
            raise StorageUnavailable("the database is being closed") from None
        except _DRIVER_ERRORS as error:
            self.settled = True
            raise _translated(error) from error
        self.settled = True
        return answer

    async def settle(self) -> bool:
        self.settled = True
        with suppress(StorageError):
            # The driver first waits until what was cancelled has really ended.
            await self.call(_SETTLE_SECONDS, self.driver.execute, "rollback")
        return self.settled and self.is_usable()

    def is_usable(self) -> bool:
        return not self.driver.is_closed()

    def drop(self) -> None:
        self.driver.terminate()


class Database(Statements):
    """A PostgreSQL database; every call borrows a connection of the pool."""

    def __init__(self, settings: DatabaseSettings, loop: Foreign, server: EmbeddedServer | None) -> None:
        self._settings = settings
        self._loop = loop
        self._server = server
        self._closed = False
        self._answered = True
        self.pool: Pool[_Connection] = Pool(
            settings.pool_size,
            acquire_seconds=settings.acquire_seconds,
            connect=self._connect,
            settle=_Connection.settle,
            is_usable=_Connection.is_usable,
            drop=_Connection.drop,
        )

    def __repr__(self) -> str:
        return f"<database: {'available' if self.available else 'not available'}, {self.pool!r}>"

    @property
    def available(self) -> bool:
        """Whether the last call was answered and, of an embedded server, whether it runs; asks nobody."""
        return self._answered and not self._closed and (self._server is None or self._server.up)

    @property
    def server(self) -> EmbeddedServer | None:
        """The embedded server, where there is one."""
        return self._server

    async def check(self) -> None:
        """Ask the database for a sign of life. Raises StorageUnavailable."""
        await self.fetch_value("select 1")

    @asynccontextmanager
    async def transaction(self, *, seconds: float | None = None) -> AsyncIterator[Queries]:
        """Commit at the end of the block, undo all where it ends by an exception."""
        connection = await self._take()
        try:
            async with Session(connection, self._settings.statement_seconds).transaction(
                seconds=seconds
            ) as transaction:
                yield transaction
        finally:
            self.pool.give_back(connection, settled=connection.settled)

    async def stream(self, sql: str, *args: object, batch: int = 1000) -> AsyncGenerator[list[Row], None]:
        """Return the rows by a cursor; holds a connection until exhausted or closed."""
        connection = await self._take()
        try:
            session = Session(connection, self._settings.statement_seconds)
            async with (
                session.transaction() as transaction,
                aclosing(transaction.stream(sql, *args, batch=batch)) as batches,
            ):
                async for rows in batches:
                    yield rows
        finally:
            self.pool.give_back(connection, settled=connection.settled)

    async def _call(self, method: str, *args: object, **more: object) -> Foreign:
        connection = await self._take()
        try:
            answer = await connection.call(
                self._settings.statement_seconds, getattr(connection.driver, method), *args, **more
            )
        except StorageUnavailable:
            self._answered = False
            raise
        finally:
            self.pool.give_back(connection, settled=connection.settled)
        self._answered = True
        return answer

    async def _take(self) -> _Connection:
        if self._closed:
            raise StorageUnavailable("the database is closed: use it inside `async with open_database(…)`")
        if self._server is not None and not self._server.up:
            raise StorageUnavailable("the embedded PostgreSQL is being started again")
        try:
            return await self.pool.take()
        except StorageUnavailable:
            self._answered = False
            raise

    async def _connect(self) -> _Connection:
        return await _connect(self._loop, self._settings, self._server, _DATABASE)

    async def close(self) -> None:
        """Refuse all further calls; for `open_database`."""
        self._closed = True
        await self.pool.close(_CLOSE_SECONDS)


@asynccontextmanager
async def open_database(
    settings: DatabaseSettings, *, clock_now: Callable[[], datetime]
) -> AsyncIterator[Database]:
    """Open the database for the body: starts the embedded server, brings the tables up to date.

    `clock_now` is the wall clock, aware. The embedded server is watched and started again meanwhile; at
    the end it is stopped, within some seconds.

    Raises:
        SetupFailed: a person must see to something; one line says what. AlreadyRunning is one of these.
        StorageUnavailable: the server did not appear in time.
    """
    async with BareErrors() as bare, _asyncio_loop() as loop:
        with bare.noting():
            async with _running_server(settings) as server, trio.open_nursery() as nursery:
                database = Database(settings, loop, server)
                await nursery.start(database.pool.run)
                if server is not None:
                    nursery.start_soon(server.watch)
                try:
                    with bare.noting():
                        await _set_up(loop, settings, server, clock_now)
                        await _look_after_partitions(database, clock_now())
                        await _tell_durability(database)
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
    names = ("fsync", "full_page_writes", "synchronous_commit")
    values = [await database.fetch_value("select current_setting($1)", name) for name in names]
    version = await database.fetch_value("select current_setting('server_version')")
    stated = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
    _log.info("PostgreSQL %s: %s", version, stated)


@asynccontextmanager
async def _asyncio_loop() -> AsyncIterator[Foreign]:
    loop = trio_asyncio.current_loop.get()
    if loop is not None:
        yield loop
        return
    async with trio_asyncio.open_loop() as loop:
        # Unasked, trio-asyncio ends the program over a future of a lost connection that nobody looked at.
        loop.set_exception_handler(_log_loose_end)
        yield loop


def _log_loose_end(_loop: Foreign, context: dict[str, Foreign]) -> None:
    _log.warning("%s: %r", context.get("message"), context.get("exception"))


@asynccontextmanager
async def _running_server(settings: DatabaseSettings) -> AsyncIterator[EmbeddedServer | None]:
    if settings.url != "embedded":
        yield None
        return
    server = EmbeddedServer(
        settings.data, max_connections=settings.pool_size + 32, start_seconds=settings.start_seconds
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
) -> None:
    if server is not None:
        connection = await _first_connection(loop, settings, server, "postgres")
        try:
            session = Session(connection, settings.start_seconds)
            sql = "select exists (select from pg_database where datname = $1)"
            if not await session.fetch_value(sql, _DATABASE):
                await session.execute(f"create database {_DATABASE}")
        finally:
            connection.drop()
    connection = await _first_connection(loop, settings, server, _DATABASE)
    try:
        version = connection.driver.get_server_version()
        if version.major < OLDEST_MAJOR:
            raise SetupFailed(
                f"the database server is PostgreSQL {version.major}.{version.minor},"
                f" needed is {OLDEST_MAJOR} or later"
            )
        session = Session(connection, math.inf)
        await session.execute("set statement_timeout = 0")
        await migrations.migrate(session, migrations.load(), clock_now=clock_now)
    finally:
        connection.drop()


async def _first_connection(
    loop: Foreign, settings: DatabaseSettings, server: EmbeddedServer | None, database: str
) -> _Connection:
    """Wait for a server that is only just starting; a login that is refused is not tried again."""
    reason: StorageError = StorageUnavailable("there was no time to connect to the database")
    with trio.move_on_after(settings.start_seconds):
        while True:
            try:
                return await _connect(loop, settings, server, database)
            except StorageUnavailable as error:
                reason = error
                cause = error.__cause__
                state = getattr(cause, "sqlstate", None) or ""
                if state.startswith(_REFUSED_FOR_GOOD) or isinstance(cause, asyncpg.ClientConfigurationError):
                    raise SetupFailed(f"the database refuses us: {error}") from error
            await trio.sleep(_RETRY_SECONDS)
    raise reason


async def _connect(
    loop: Foreign, settings: DatabaseSettings, server: EmbeddedServer | None, database: str
) -> _Connection:
    where: dict[str, Foreign] = (
        {"dsn": settings.url}
        if server is None
        # All is said, so that nothing is taken from the user's PG… variables or ~/.pgpass.
        else {
            "host": str(server.socket_folder),
            "port": 5432,
            "user": "motorpool",
            "password": "none",
            "database": database,
            "ssl": False,
        }
    )
    driver = None
    try:
        with trio.fail_after(settings.connect_seconds):
            driver = await loop.run_aio_coroutine(
                asyncpg.connect(
                    **where,
                    timeout=settings.connect_seconds * 2,
                    server_settings={
                        "application_name": "motorpool",
                        "timezone": "UTC",
                        "statement_timeout": str(math.ceil(settings.statement_seconds * 1000)),
                    },
                )
            )
            await loop.run_aio_coroutine(
                driver.set_type_codec(
                    "jsonb",
                    schema="pg_catalog",
                    encoder=_encode_jsonb,
                    decoder=_decode_jsonb,
                    format="binary",
                )
            )
    except BaseException as error:
        if driver is not None:
            driver.terminate()
        if isinstance(error, trio.TooSlowError | TimeoutError):
            raise StorageUnavailable(
                f"the database took no connection within {settings.connect_seconds:g} s"
            ) from None
        if isinstance(error, asyncio.CancelledError):
            raise StorageUnavailable("the database is being closed") from None
        if isinstance(error, _DRIVER_ERRORS):
            raise StorageUnavailable(_sentence(error)) from error
        raise
    return _Connection(loop, driver)


_json_encoder = msgspec.json.Encoder()


def _encode_jsonb(value: object) -> bytes:
    return b"\x01" + _json_encoder.encode(value)


def _decode_jsonb(stored: bytes) -> object:
    return msgspec.json.decode(memoryview(stored)[1:])


def _translated(error: Exception) -> StorageError:
    if isinstance(error, asyncpg.DataError):
        state = "22000"
    elif isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
    elif isinstance(error, asyncpg.InterfaceError) and "another operation is in progress" in str(error):
        state = ""
    else:
        # The connection broke, in the driver's words or the system's.
        state = "08000"
    return translated(
        Refusal(
            sqlstate=state,
            text=_reason(error),
            detail=getattr(error, "detail", None) or "",
            constraint=getattr(error, "constraint_name", None) or "",
            column=getattr(error, "column_name", None) or "",
        )
    )


def _reason(error: Exception) -> str:
    text = _sentence(error)
    # "invalid input for query argument $4: [1e400] (value out of range)": our numbers mean nothing outside.
    if isinstance(error, asyncpg.DataError) and text.startswith("invalid input for query argument"):
        return f"a value cannot be stored: {text.rpartition('(')[2].rstrip(')')}"
    return text


def _sentence(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
