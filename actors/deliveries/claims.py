"""The messages of the outbox that this server is sending (docs/decisions/0210)."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import trio

from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import outbox
from motorpool.storage.deliveries.outbox import QueuedMessage


class Claims:
    """Remembers what is claimed, so that an orderly stop ends the claims."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._claimed: set[int] = set()
        self._claiming = trio.Lock()
        self._is_closed = False

    async def take(self, claim: Callable[[], Awaitable[Sequence[QueuedMessage]]]) -> Sequence[QueuedMessage]:
        """Return what `claim` claims; after `close` wait to be cancelled."""
        async with self._claiming:
            claimed = None if self._is_closed else await claim()
            self._claimed.update(row.id for row in claimed or ())
        if claimed is None:
            # Not while the lock is held, for which `close` may be waiting.
            await trio.sleep_forever()
        return claimed

    def done(self, claimed: Iterable[QueuedMessage]) -> None:
        """Forget messages that are sent, postponed or released."""
        self._claimed.difference_update(row.id for row in claimed)

    async def close(self) -> None:
        """End all claims: other servers, and this one after its start, may send the messages at once.

        Raises:
            StorageError: the claims end by themselves.
        """
        self._is_closed = True
        async with self._claiming:
            await self._release()

    async def _release(self) -> None:
        if self._claimed:
            await outbox.release(self._database, self._claimed)
            self._claimed.clear()
