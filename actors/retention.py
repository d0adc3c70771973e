"""Makes the partitions of positions ahead of time, and drops what has outlived its time."""

from datetime import timedelta

import trio

from motorpool.actors.access import tell_changed
from motorpool.runtime import Actor, ChildSpec, Kind
from motorpool.storage import commands, positions, sessions, tokens, users
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = ["RETENTION", "Retention", "retention_spec"]

CHECK_SECONDS = 3600.0

RETENTION: Kind[None, None] = Kind("retention")


class Retention(Actor[None]):
    """Looks once an hour; what fails is tried at the next look."""

    def __init__(self, database: Database, days: int) -> None:
        self._database = database
        self._days = days

    def handle(self, message: None) -> None:
        """Takes no messages."""

    async def run(self) -> None:
        """Look, then sleep."""
        while True:
            await self._look()
            await trio.sleep(CHECK_SECONDS)

    async def _look(self) -> None:
        database, now = self._database, self.context.clock.now()
        try:
            await positions.ensure_partitions(database, now)
            if self._days > 0:
                dropped = await positions.drop_before(database, now - timedelta(days=self._days))
                if dropped:
                    self.context.log.info("dropped %d positions older than %d days", dropped, self._days)
            await positions.purge_deleted(database)
            for queued in await commands.expire(database, now):
                self.context.log.info("queued command %d of device %d expired", queued.id, queued.device_id)
            await sessions.forget_expired(database, now)
            await tokens.forget_expired(database, now)
            gone = await users.delete_expired_temporary(database, now)
            if gone:
                await tell_changed(self.context.system, user_ids=tuple(gone))
        except StorageError as error:
            self.context.log.warning("not looked after, tried again later: %s", error)


def retention_spec(database: Database, days: int) -> ChildSpec[None]:
    """Its place in the tree. `days` 0 keeps everything for ever."""
    return ChildSpec(kind=RETENTION, factory=lambda: Retention(database, days), resident=False)
