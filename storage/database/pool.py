"""A bounded pool of connections; it knows nothing of the driver."""

import math
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

from motorpool.storage.errors import Overloaded, StorageUnavailable

C = TypeVar("C")


SMALL = 2
"""A pool of this size or less keeps no connection for urgent users."""


class _Opening:
    """A connection that is being opened."""

    def __init__(self) -> None:
        self.error: StorageUnavailable | None = None


class Pool(Generic[C]):
    """Gives each connection to one user at a time, in the order of their requests; opens them on demand.

    They are opened one after another: to open one takes longer than most statements, so that users that
    come at once, as at the start of the server, are mostly served by connections that are released meanwhile.

    One connection is kept for urgent users, unless the pool is small: others may wait for locks of each other
    with all that they can get.

    Args:
        size: the most connections.
        acquire_seconds: how long `acquire` waits for a connection.
        connect: opens a connection; raises StorageUnavailable.
        reset: ends the statement or transaction that a connection was left in; returns whether it succeeded.
        is_usable: returns whether a connection is open, without waiting.
        terminate: closes a connection at once.
    """

    def __init__(
        self,
        size: int,
        *,
        acquire_seconds: float,
        connect: Callable[[], Awaitable[C]],
        reset: Callable[[C], Awaitable[bool]],
        is_usable: Callable[[C], bool],
        terminate: Callable[[C], None],
    ) -> None:
        self._size = size
        self._acquire_seconds = acquire_seconds
        self._connect = connect
        self._reset = reset
        self._is_usable = is_usable
        self._terminate = terminate
        self._idle: list[C] = []
        self._acquired: dict[int, bool] = {}
        """By identity: whether it takes one of the shared slots."""
        self._slots = trio.Semaphore(size, max_value=size)
        shared = size if size <= SMALL else size - 1
        self._shared_slots = trio.Semaphore(shared, max_value=shared)
        """Of users that are not urgent, who take one of `_slots` as well."""
        self._opening: _Opening | None = None
        self._changed = trio.lowlevel.ParkingLot()
        """Tasks that wait for the end of `_opening` or for a connection to be released."""
        self._nursery: trio.Nursery | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"<pool: {len(self._acquired)} acquired, {len(self._idle)} idle, at most {self._size}>"

    @property
    def acquired(self) -> int:
        """The number of connections in use, those being reset included."""
        return self._size - self._slots.value

    @property
    def idle(self) -> int:
        """The number of idle connections."""
        return len(self._idle)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Reset connections in the background until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            await trio.sleep_forever()

    def adopt(self, connection: C) -> None:
        """Keep a connection that was opened elsewhere; call this before the first `acquire`."""
        self._idle.append(connection)

    async def acquire(self, *, urgent: bool = False) -> C:
        """Acquire a connection, to be given back by `release`.

        Raises:
            StorageUnavailable: none was released in time, or none can be opened.
        """
        if not urgent:
            await self._wait_for(self._shared_slots)
        try:
            await self._wait_for(self._slots)
        except BaseException:
            if not urgent:
                self._shared_slots.release()
            raise
        try:
            connection = self._take_idle() or await self._take_or_open()
        except BaseException:
            self._release_slots(is_shared=not urgent)
            raise
        self._acquired[id(connection)] = not urgent
        return connection

    async def _wait_for(self, slots: trio.Semaphore) -> None:
        try:
            slots.acquire_nowait()
        except trio.WouldBlock:
            with trio.move_on_after(self._acquire_seconds) as scope:
                await slots.acquire()
            if scope.cancelled_caught:
                raise Overloaded(f"all {self._size} connections to the database are busy") from None

    def _release_slots(self, *, is_shared: bool) -> None:
        self._slots.release()
        if is_shared:
            self._shared_slots.release()

    def _take_idle(self) -> C | None:
        while self._idle:
            connection = self._idle.pop()
            if self._is_usable(connection):
                return connection
            self._terminate(connection)
        return None

    async def _take_or_open(self) -> C:
        """Open a connection, or take one that is released while another task opens one."""
        while (opening := self._opening) is not None:
            await self._changed.park()
            connection = self._take_idle()
            if connection is not None:
                return connection
            if opening.error is not None:
                raise type(opening.error)(str(opening.error)) from opening.error
        self._opening = opening = _Opening()
        try:
            return await self._connect()
        except StorageUnavailable as error:
            opening.error = error
            self._changed.unpark_all()
            raise
        finally:
            self._opening = None
            self._changed.unpark()

    def release(self, connection: C, *, clean: bool = True) -> None:
        """Give a connection back; one that is not `clean` is reset first, or terminated where that fails."""
        is_shared = self._acquired.pop(id(connection), False)
        if self._closed or self._nursery is None or not self._is_usable(connection):
            self._terminate(connection)
            self._release_slots(is_shared=is_shared)
        elif clean:
            self._keep(connection)
            self._release_slots(is_shared=is_shared)
        else:
            self._nursery.start_soon(self._reset_and_keep, connection, is_shared)

    def _keep(self, connection: C) -> None:
        self._idle.append(connection)
        self._changed.unpark()

    async def _reset_and_keep(self, connection: C, is_shared: bool) -> None:
        clean = False
        try:
            clean = await self._reset(connection)
        finally:
            if clean and not self._closed:
                self._keep(connection)
            else:
                self._terminate(connection)
            self._release_slots(is_shared=is_shared)

    def terminate_idle(self) -> None:
        """Close the idle connections: their server has gone."""
        while self._idle:
            self._terminate(self._idle.pop())

    async def close(self, seconds: float) -> None:
        """Stop lending connections, wait up to `seconds` for the ones in use, then close the idle ones."""
        self._closed = True
        with trio.move_on_after(seconds if math.isfinite(seconds) else 0):
            for _ in range(self._size):
                await self._slots.acquire()
        self.terminate_idle()
