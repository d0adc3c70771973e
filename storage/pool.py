"""A bounded pool of connections, whatever a connection is: the driver's side is in database.py."""

import math
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

from motorpool.storage.errors import StorageUnavailable

__all__ = ["Pool"]

C = TypeVar("C")


class Pool(Generic[C]):
    """Lends each connection to one user at a time; opens them on demand; who waits is served in order.

    `connect` opens one and raises StorageUnavailable; `settle` brings one back that was left in the middle
    of something, whether it succeeds; `is_usable` looks without waiting; `drop` closes at once.
    """

    def __init__(
        self,
        size: int,
        *,
        acquire_seconds: float,
        connect: Callable[[], Awaitable[C]],
        settle: Callable[[C], Awaitable[bool]],
        is_usable: Callable[[C], bool],
        drop: Callable[[C], None],
    ) -> None:
        self._size = size
        self._acquire_seconds = acquire_seconds
        self._connect = connect
        self._settle = settle
        self._is_usable = is_usable
        self._drop = drop
        self._idle: list[C] = []
        self._lent: set[int] = set()
        self._room = trio.Semaphore(size, max_value=size)
        self._nursery: trio.Nursery | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"<pool: {len(self._lent)} lent, {len(self._idle)} idle, at most {self._size}>"

    @property
    def lent(self) -> int:
        """Connections in use, those that are being brought back included."""
        return self._size - self._room.value

    @property
    def idle(self) -> int:
        """Connections that wait for a user."""
        return len(self._idle)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Bring connections back in the background until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            await trio.sleep_forever()

    async def take(self) -> C:
        """Borrow a connection.

        Raises:
            StorageUnavailable: none came free in time, or none can be opened.
        """
        try:
            self._room.acquire_nowait()
        except trio.WouldBlock:
            with trio.move_on_after(self._acquire_seconds) as patience:
                await self._room.acquire()
            if patience.cancelled_caught:
                raise StorageUnavailable(f"all {self._size} connections to the database are busy") from None
        try:
            while self._idle:
                connection = self._idle.pop()
                if self._is_usable(connection):
                    break
                self._drop(connection)
            else:
                connection = await self._connect()
        except BaseException:
            self._room.release()
            raise
        self._lent.add(id(connection))
        return connection

    def give_back(self, connection: C, *, settled: bool = True) -> None:
        """Return a connection; one that was left in the middle of something is settled or dropped first."""
        self._lent.discard(id(connection))
        if self._closed or self._nursery is None or not self._is_usable(connection):
            self._drop(connection)
            self._room.release()
        elif settled:
            self._idle.append(connection)
            self._room.release()
        else:
            self._nursery.start_soon(self._bring_back, connection)

    async def _bring_back(self, connection: C) -> None:
        settled = False
        try:
            settled = await self._settle(connection)
        finally:
            if settled and not self._closed:
                self._idle.append(connection)
            else:
                self._drop(connection)
            self._room.release()

    def drop_idle(self) -> None:
        """Close what nobody uses: the server behind it is gone."""
        while self._idle:
            self._drop(self._idle.pop())

    async def close(self, seconds: float) -> None:
        """Lend no more, wait at most so long for what is lent, then close all that is idle."""
        self._closed = True
        with trio.move_on_after(seconds if math.isfinite(seconds) else 0):
            for _ in range(self._size):
                await self._room.acquire()
        self.drop_idle()
