"""The driver: asyncpg on the asyncio loop of trio-asyncio. The only file that knows these two libraries."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import trio
import trio_asyncio  # type: ignore[import-untyped]  # it ships no types

from motorpool.storage.driver_errors import DriverError, translate
from motorpool.storage.errors import StorageError, StorageUnavailable

__all__ = [
    "DRIVER_ERRORS",
    "LOOP_CLOSED",
    "Foreign",
    "connect",
    "is_permanent",
    "open_loop",
    "to_storage_error",
]

Foreign = Any
"""An object of the two libraries, which have no types."""
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""What a call of the driver raises where the database or the connection fails."""
LOOP_CLOSED = asyncio.CancelledError
"""What a call of the driver raises where its loop is being closed."""

_PERMANENT = ("28", "3D", "42501")
"""SQLSTATEs of a refused login that waiting does not cure."""
_MOST_CALLBACKS = 100
"""Callbacks that are run before other tasks have their turn."""
_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_loop() -> AsyncIterator[Foreign]:
    """Open an asyncio loop for the body, or return the one that is open."""
    loop = trio_asyncio.current_loop.get()
    if loop is not None:
        yield loop
        return
    async with trio_asyncio.open_loop() as loop:
        # By default trio-asyncio ends the program over an unretrieved future of a lost connection.
        loop.set_exception_handler(_log_unhandled)
        _run_callbacks_in_batches(loop)
        # Whether a callback is a coroutine function is asked for each one; asyncio does so when debugging.
        loop._check_callback = _accept_callback
        yield loop


def _run_callbacks_in_batches(loop: Foreign) -> None:
    """Let the loop run all callbacks that are ready before it waits, as the loops of asyncio do.

    By default trio-asyncio waits for each callback by itself, which costs a pass of Trio's loop and a system
    call; a statement has about ten callbacks.
    """
    run_one = loop._main_loop_one

    async def run_batch(no_wait: bool = False) -> None:
        await run_one(no_wait)
        # Raises WouldBlock when there is no callback.
        with suppress(trio.WouldBlock):
            for _ in range(_MOST_CALLBACKS):
                await run_one(no_wait=True)

    loop._main_loop_one = run_batch


def _accept_callback(_callback: Foreign, _method: str) -> None:
    pass


def _log_unhandled(_loop: Foreign, context: dict[str, Foreign]) -> None:
    _log.warning("%s: %r", context.get("message"), context.get("exception"))


async def connect(
    loop: Foreign,
    where: dict[str, Foreign],
    *,
    connect_seconds: float,
    statement_seconds: float,
    jsonb: tuple[Callable[[object], bytes], Callable[[bytes], object]],
) -> Foreign:
    """Return a connection of the driver.

    `where` are the arguments of asyncpg.connect() that name the database; `jsonb` encodes a value for a
    column of that type, and decodes it.

    Raises:
        StorageUnavailable: the database takes no connection. `is_permanent` says whether it ever will.
    """
    driver = None
    try:
        with trio.fail_after(connect_seconds):
            driver = await loop.run_aio_coroutine(
                asyncpg.connect(
                    **where,
                    timeout=connect_seconds * 2,
                    server_settings={
                        "application_name": "motorpool",
                        "timezone": "UTC",
                        "statement_timeout": str(math.ceil(statement_seconds * 1000)),
                    },
                )
            )
            await loop.run_aio_coroutine(
                driver.set_type_codec(
                    "jsonb",
                    schema="pg_catalog",
                    encoder=jsonb[0],
                    decoder=jsonb[1],
                    format="binary",
                )
            )
    except BaseException as error:
        if driver is not None:
            driver.terminate()
        if isinstance(error, trio.TooSlowError | TimeoutError):
            raise StorageUnavailable(
                f"the database took no connection within {connect_seconds:g} s"
            ) from None
        if isinstance(error, LOOP_CLOSED):
            raise StorageUnavailable("the database is being closed") from None
        if isinstance(error, DRIVER_ERRORS):
            raise StorageUnavailable(_first_line(error)) from error
        raise
    return driver


def is_permanent(error: StorageUnavailable) -> bool:
    """Return whether `connect` will always fail: the login is refused, or the URL is wrong."""
    cause = error.__cause__
    state = getattr(cause, "sqlstate", None) or ""
    return state.startswith(_PERMANENT) or isinstance(cause, asyncpg.ClientConfigurationError)


def to_storage_error(error: Exception) -> StorageError:
    """Return the error of storage/errors.py for one of DRIVER_ERRORS."""
    if isinstance(error, asyncpg.DataError):
        state = "22000"
    elif isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
    elif isinstance(error, asyncpg.InterfaceError) and "another operation is in progress" in str(error):
        state = ""
    else:
        # The connection broke, in the driver's words or the system's.
        state = "08000"
    return translate(
        DriverError(
            sqlstate=state,
            text=_reason(error),
            detail=getattr(error, "detail", None) or "",
            constraint=getattr(error, "constraint_name", None) or "",
            column=getattr(error, "column_name", None) or "",
        )
    )


def _reason(error: Exception) -> str:
    text = _first_line(error)
    # "invalid input for query argument $4: [1e400] (value out of range)": our numbers mean nothing outside.
    if isinstance(error, asyncpg.DataError) and text.startswith("invalid input for query argument"):
        return f"a value cannot be stored: {text.rpartition('(')[2].rstrip(')')}"
    return text


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
