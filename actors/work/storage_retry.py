"""Repeats work on the database: with back-off while it is unavailable, in halves where it refuses a batch.

Used by actors that must not lose data while the database is away. Work that is repeated must tolerate
being done twice: whether a write that ended by StorageUnavailable was committed is not known.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import trio

from motorpool.runtime import BackOff
from motorpool.storage.errors import Conflict, NotFound, StatementRejected, StorageError

T = TypeVar("T")
R = TypeVar("R")

BACK_OFF = BackOff(first_seconds=0.1, max_seconds=5.0, jitter=0.5)
"""0.1 s, 0.2 s, … 5 s, each shortened by up to a half at random."""
REFUSALS: tuple[type[Exception], ...] = (Conflict, NotFound, StatementRejected)
"""Errors that say something of the rows: the same call fails again."""


class StorageRetry:
    """Repeats calls and stores batches; keeps no state between calls.

    Args:
        on_retry: called with each error after which the work is tried again, before the pause.
        on_dropped: called with an item that cannot be stored, and the error.
        refusals: errors that a row of the batch causes. Every other StorageError is taken for an outage, and
            what is neither is raised.
        back_off: the pauses between two attempts.
    """

    def __init__(
        self,
        *,
        on_retry: Callable[[StorageError], None],
        on_dropped: Callable[[object, Exception], None] = lambda _item, _error: None,
        refusals: tuple[type[Exception], ...] = REFUSALS,
        back_off: BackOff = BACK_OFF,
    ) -> None:
        self._on_retry = on_retry
        self._on_dropped = on_dropped
        self._refusals = refusals
        self._back_off = back_off

    async def call(self, work: Callable[[], Awaitable[R]]) -> R:
        """Return the result of `work()`, called until the database is available.

        Raises:
            StorageError: one of REFUSALS.
        """
        attempt = 0
        while True:
            try:
                return await work()
            except REFUSALS:
                raise
            except StorageError as error:
                attempt += 1
                await self._pause(attempt, error)

    async def store(self, batch: Sequence[T], store: Callable[[Sequence[T]], Awaitable[object]]) -> list[T]:
        """Call `store(batch)` until it succeeds; return the items that were stored, in their order.

        A batch that is refused is halved until the item that cannot be stored is alone; that one is dropped.
        """
        try:
            await store(batch)
        except Exception as error:
            return await self.resume(batch, store, error)
        return list(batch)

    async def resume(
        self, batch: Sequence[T], store: Callable[[Sequence[T]], Awaitable[object]], error: Exception
    ) -> list[T]:
        """As `store`, for a batch whose first attempt has just failed by `error`."""
        attempt = 0
        while True:
            if isinstance(error, StorageError) and not isinstance(error, REFUSALS):
                attempt += 1
                await self._pause(attempt, error)
            elif isinstance(error, self._refusals):
                return await self._split(batch, store, error)
            else:
                raise error
            try:
                await store(batch)
            except Exception as latest:
                error = latest
            else:
                return list(batch)

    async def _split(
        self, batch: Sequence[T], store: Callable[[Sequence[T]], Awaitable[object]], error: Exception
    ) -> list[T]:
        if len(batch) == 1:
            self._on_dropped(batch[0], error)
            return []
        half = len(batch) // 2
        return await self.store(batch[:half], store) + await self.store(batch[half:], store)

    async def _pause(self, attempt: int, error: StorageError) -> None:
        self._on_retry(error)
        await trio.sleep(self._back_off.delay(attempt))
