"""Connections to PostgreSQL, spoken to from Trio, and the wait for the first one."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import msgspec
import trio

from motorpool.storage.database.driver import (
    DRIVER_ERRORS,
    LOOP_CLOSED,
    Foreign,
    connect,
    is_permanent,
    run_coroutine,
    to_storage_error,
)
from motorpool.storage.errors import (
    DatabaseReadOnly,
    NoAnswer,
    SetupFailed,
    StorageError,
    StorageUnavailable,
)
from motorpool.storage.postgres.embedded import EmbeddedServer
from motorpool.storage.settings import DatabaseSettings

_log = logging.getLogger(__name__)

IDLE_SECONDS = 60.0
"""PostgreSQL rolls back a transaction that has been idle for this time, because its process is frozen or its
machine has lost power, so that other servers can lock the same rows."""
_SETTLE_SECONDS = 5.0
_RETRY_SECONDS = 0.25
_MAX_RETRY_SECONDS = 5.0


class Connection:
    """One connection of the driver, spoken to from Trio."""

    __slots__ = ("_is_worn", "_loop", "clean", "driver")

    def __init__(self, loop: Foreign, driver: Foreign) -> None:
        self._loop = loop
        self.driver = driver
        self.clean = True
        """No statement was left in the middle, and no transaction either."""
        self._is_worn = False
        """Whether another connection may do what this one cannot."""

    async def call(
        self, seconds: float, method: Callable[..., Awaitable[Foreign]], *args: object, **more: object
    ) -> Foreign:
        """Call a method of the driver.

        Raises:
            StorageUnavailable: no answer within `seconds`, or the connection is gone.
            StorageError: the database refused it; errors.py has the kinds.
        """
        if not self.clean:
            raise StorageError(
                "a statement of this transaction was cancelled, so nothing more can be done in it"
            )
        self.clean = False
        try:
            with trio.fail_after(seconds):
                answer = await run_coroutine(self._loop, method(*args, **more))
        except trio.TooSlowError:
            raise NoAnswer(f"the database gave no answer within {seconds:g} s") from None
        except LOOP_CLOSED:
            raise StorageUnavailable("the database is being closed") from None
        except DRIVER_ERRORS as error:
            self.clean = True
            found = to_storage_error(error)
            # A session keeps the default that it began with, and one with a standby stays there.
            self._is_worn |= isinstance(found, DatabaseReadOnly)
            raise found from error
        self.clean = True
        return answer

    async def reset(self) -> bool:
        """End what a cancelled call has left; return whether the connection can be used again."""
        self.clean = True
        with suppress(StorageError):
            # The driver first waits until what was cancelled has really ended.
            await self.call(_SETTLE_SECONDS, self.driver.execute, "rollback")
        return self.clean and self.is_usable()

    def is_usable(self) -> bool:
        """Return whether the connection is open and of use, without waiting."""
        return not (self._is_worn or self.driver.is_closed())

    def terminate(self) -> None:
        """Close the connection at once."""
        self.driver.terminate()


async def first_connection(
    loop: Foreign, settings: DatabaseSettings, server: EmbeddedServer | None, database: str
) -> Connection:
    """Wait for a server that is only just starting; a login that is refused is not tried again."""
    reason: StorageError = StorageUnavailable("there was no time to connect to the database")
    pause = _RETRY_SECONDS
    with trio.move_on_after(settings.start_seconds) as waiting:
        while True:
            try:
                return await open_connection(loop, settings, server, database)
            except StorageUnavailable as error:
                reason = error
                if is_permanent(error):
                    raise SetupFailed(f"the database refuses us: {error}") from error
            if server is None:
                left = waiting.deadline - trio.current_time()
                _log.warning(
                    "the database at %s cannot be reached: %s; trying for another %.0f s",
                    _address(settings.url),
                    reason,
                    left,
                )
            await trio.sleep(pause)
            # An embedded server is ready within a second; one elsewhere may be starting its machine.
            pause = min(pause * 2, _MAX_RETRY_SECONDS) if server is None else pause
    if server is not None:
        raise reason
    raise StorageUnavailable(f"the database at {_address(settings.url)} cannot be reached: {reason}")


def _address(url: str) -> str:
    """Return the address of a database, without the login that its URL may hold."""
    try:
        parts = urlsplit(url)
        host = parse_qs(parts.query).get("host", [parts.hostname or "localhost"])[0]
        return host if host.startswith("/") else f"{host}:{parts.port or 5432}"
    except ValueError:
        return "the address of the settings"


async def open_connection(
    loop: Foreign, settings: DatabaseSettings, server: EmbeddedServer | None, database: str
) -> Connection:
    """Connect to the configured database, or to one of the embedded server. Raises StorageUnavailable."""
    where: dict[str, Foreign] = (
        {"dsn": settings.url}
        if server is None
        # Every argument is given, so that nothing is taken from the user's PG… variables or ~/.pgpass.
        else {
            "host": str(server.socket_folder),
            "port": 5432,
            "user": "motorpool",
            "password": "none",
            "database": database,
            "ssl": False,
        }
    )
    driver = await connect(
        loop,
        where,
        connect_seconds=settings.connect_seconds,
        statement_seconds=settings.statement_seconds,
        idle_seconds=IDLE_SECONDS,
        jsonb=(_encode_jsonb, _decode_jsonb),
    )
    return Connection(loop, driver)


_json_encoder = msgspec.json.Encoder()


def _encode_jsonb(value: object) -> bytes:
    return b"\x01" + _json_encoder.encode(value)


def _decode_jsonb(stored: bytes) -> object:
    return msgspec.json.decode(memoryview(stored)[1:])
