"""The driver: asyncpg on the asyncio loop of trio-asyncio. The only file that knows these two libraries."""

import asyncio
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import trio
import trio_asyncio  # type: ignore[import-untyped]  # it ships no types

from motorpool.storage.database.driver_errors import DriverError, passing_error, translate
from motorpool.storage.errors import OUT_OF_FILES, NoAnswer, StorageError, StorageUnavailable, TooManyFiles

Foreign = Any
"""An object of the two libraries, which have no types."""
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""Errors of a driver call when the database or the connection fails."""
LOOP_CLOSED = asyncio.CancelledError
"""Errors of a driver call when its loop is being closed."""

_PERMANENT = ("28", "3D", "42501")
"""SQLSTATEs of a refused login that waiting does not cure."""
_MAX_CALLBACKS = 100
"""Callbacks that are run before other tasks have their turn."""
_READ_BYTES = 64 * 1024
"""Most bytes of one read of a connection."""
_PLAIN_CALLBACKS = (asyncio.Handle, asyncio.TimerHandle)
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
        _Callbacks(loop).install()
        # Whether a callback is a coroutine function is asked for each one; asyncio does so when debugging.
        loop._check_callback = _accept_callback
        yield loop


class _Callbacks:
    """The callbacks of a loop that are ready; the task that makes them ready runs them, where it can.

    By default trio-asyncio leaves every callback to the task of the loop, which runs one in a pass of Trio's
    loop. Of the ten of a statement five had to wait for a pass and its system calls. Here the task that calls
    the driver runs them until the statement is sent, and the task that waits for the socket until the result
    is handed over. The task of the loop runs what others have made ready, what starts tasks of Trio, and
    timers (docs/decisions/0270).

    Has the methods of a memory channel that the loop uses.
    """

    def __init__(self, loop: Foreign) -> None:
        self._loop = loop
        self._run_one = loop._main_loop_one
        self._ready: deque[Foreign] = deque()
        self._idle = trio.lowlevel.ParkingLot()
        """Where the task of the loop waits."""
        self._held = False
        """Whether the current task is about to run what becomes ready. No task waits meanwhile."""
        self._stopping = False

    def install(self) -> None:
        """Replace the parts of the loop."""
        waited_for, self._loop._q_send, self._loop._q_recv = self._loop._q_send, self, self
        # The task of the loop waits there already.
        waited_for.send_nowait(asyncio.Handle(lambda: None, (), self._loop))
        self._loop._main_loop_one = self._run_batch
        self._loop._io_task = self._serve_socket
        self._stop, self._loop.stop = self._loop.stop, self._stop_loop
        self._loop.callbacks = self

    def send_nowait(self, callback: Foreign) -> None:
        """Append a callback."""
        self._ready.append(callback)
        if not self._held:
            self._idle.unpark()

    def receive_nowait(self) -> Foreign:
        """Remove and return the first callback. Raises trio.WouldBlock where there is none."""
        if not self._ready:
            raise trio.WouldBlock
        return self._ready.popleft()

    async def receive(self) -> Foreign | None:
        """Wait for a callback; return None where another task has run it, or where timers have changed."""
        if self._ready:
            await trio.lowlevel.checkpoint()
        else:
            await self._idle.park()
        return self._ready.popleft() if self._ready else None

    async def start(self, coroutine: Foreign) -> Foreign:
        """Begin a coroutine of asyncio as far as it goes without waiting; return its task.

        In a scope that is cancelled nothing of it is run, so that no statement is sent.
        """
        if trio.current_effective_deadline() == -math.inf:
            return asyncio.ensure_future(coroutine, loop=self._loop)
        return await self._call(asyncio.ensure_future, coroutine, loop=self._loop)

    async def _serve_socket(self, fd: int, handle: Foreign, wait_ready: Foreign) -> None:
        """Call a reader or writer whenever its socket is ready, and run what that makes ready."""
        with handle._scope:
            try:
                while not handle._cancelled:
                    try:
                        await wait_ready(fd)
                    except OSError:
                        # A socket may be closed while its reader is being removed.
                        if handle._cancelled:
                            return
                        raise
                    if handle._cancelled:
                        return
                    await self._call(handle._run)
            except Exception as error:
                handle._raise(error)

    async def _call(self, function: Callable[..., Foreign], *args: object, **named: object) -> Foreign:
        """Call a function of asyncio, and run what it makes ready, where this task can. Does not wait."""
        # Callbacks take the loop of the current task for the one that runs them.
        if self._stopping or trio_asyncio.current_loop.get() is not self._loop:
            return function(*args, **named)
        timers = self._loop._timers
        first_timer = timers[0] if timers else None
        self._held = True
        try:
            result = function(*args, **named)
            await self._run_ready()
        finally:
            self._held = False
            # The task of the loop waits until the timer that was the first.
            if self._ready or (timers[0] if timers else None) is not first_timer:
                self._idle.unpark()
        return result

    async def _run_batch(self, no_wait: bool = False) -> None:
        await self._run_one(no_wait)
        await self._run_ready()

    async def _run_ready(self) -> None:
        """Run the callbacks that are ready, and those that become ready meanwhile. Does not wait."""
        for _ in range(_MAX_CALLBACKS):
            # Others are those that the loop waits for until they have started a task of Trio.
            if not self._ready or type(self._ready[0]) not in _PLAIN_CALLBACKS:
                return
            await self._run_one(no_wait=True)

    def _stop_loop(self, waiter: trio.Event | None = None) -> trio.Event:
        # The callback that stops the loop does so by an exception in the task of the loop.
        self._stopping = True
        stopped: trio.Event = self._stop(waiter)
        return stopped


async def run_coroutine(loop: Foreign, coroutine: Foreign) -> Foreign:
    """Run a coroutine of asyncio on a loop of `open_loop`; return its result, or raise its exception.

    Raises:
        asyncio.CancelledError: the loop is being closed (LOOP_CLOSED).
    """
    try:
        loop._check_closed()
    except RuntimeError:
        coroutine.close()
        raise
    task = await loop.callbacks.start(coroutine)
    return await trio_asyncio.run_aio_future(task)


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
    idle_seconds: float,
    jsonb: tuple[Callable[[object], bytes], Callable[[bytes], object]],
) -> Foreign:
    """Return a connection of the driver.

    `where` are the arguments of asyncpg.connect() that name the database. PostgreSQL ends a statement after
    `statement_seconds`, and a transaction that waits for its next one after `idle_seconds`. `jsonb` encodes a
    value for a column of that type, and decodes it.

    Raises:
        StorageUnavailable: the database takes no connection. `is_permanent` says whether it ever will.
    """
    driver = None
    try:
        with trio.fail_after(connect_seconds):
            driver = await run_coroutine(
                loop,
                asyncpg.connect(
                    **where,
                    timeout=connect_seconds * 2,
                    server_settings={
                        "application_name": "motorpool",
                        "timezone": "UTC",
                        "statement_timeout": str(math.ceil(statement_seconds * 1000)),
                        "idle_in_transaction_session_timeout": str(math.ceil(idle_seconds * 1000)),
                    },
                ),
            )
            # By default 256 KiB, which are mapped and unmapped for each read: ten times what it costs.
            driver._transport.max_size = _READ_BYTES
            await run_coroutine(
                loop,
                driver.set_type_codec(
                    "jsonb",
                    schema="pg_catalog",
                    encoder=jsonb[0],
                    decoder=jsonb[1],
                    format="binary",
                ),
            )
    except BaseException as error:
        if driver is not None:
            driver.terminate()
        if isinstance(error, trio.TooSlowError | TimeoutError):
            raise NoAnswer(f"the database took no connection within {connect_seconds:g} s") from None
        if isinstance(error, LOOP_CLOSED):
            raise StorageUnavailable("the database is being closed") from None
        if isinstance(error, DRIVER_ERRORS):
            text = _first_line(error)
            if isinstance(error, OSError) and error.errno in OUT_OF_FILES:
                raise TooManyFiles(text) from error
            found = passing_error(getattr(error, "sqlstate", None) or "", text)
            raise found or StorageUnavailable(text) from error
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
    if isinstance(error, asyncpg.InternalClientError):
        # "cannot switch to state 11", where the connection broke at an odd moment.
        return f"the connection was lost ({text})"
    # "invalid input for query argument $4: [1e400] (value out of range)": our numbers mean nothing outside.
    if isinstance(error, asyncpg.DataError) and text.startswith("invalid input for query argument"):
        return f"a value cannot be stored: {text.rpartition('(')[2].rstrip(')')}"
    return text


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
