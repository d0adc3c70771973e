"""Creates partitions of positions ahead of time, and deletes rows older than their retention."""

from datetime import timedelta

import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import UserChanged
from motorpool.runtime import Actor, ChildSpec, Kind
from motorpool.storage import known_addresses, positions, runs, sessions, tokens, users
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = ["RETENTION", "Retention", "retention_spec"]

CHECK_SECONDS = 3600.0
"""Interval between two runs."""

RETENTION: Kind[None, None] = Kind("retention")


class Retention(Actor[None]):
    """Runs once an hour; failed work is repeated in the next run."""

    def __init__(self, database: Database, position_days: int, run_days: int) -> None:
        self._database = database
        self._days = position_days
        self._run_days = run_days

    def handle(self, message: None) -> None:
        """Do nothing: no messages are sent to this actor."""

    async def run(self) -> None:
        """Clean up at startup and then once an hour."""
        while True:
            await self._clean_up()
            await trio.sleep(CHECK_SECONDS)

    async def _clean_up(self) -> None:
        database, now = self._database, self.context.clock.now()
        try:
            await positions.ensure_partitions(database, now)
            if self._days > 0:
                dropped = await positions.drop_before(database, now - timedelta(days=self._days))
                if dropped:
                    self.context.log.info("deleted %d positions older than %d days", dropped, self._days)
            await positions.purge_deleted(database)
            while self._run_days > 0 and await runs.delete_before(database, now - timedelta(self._run_days)):
                pass
            await sessions.delete_expired(database, now)
            await tokens.delete_expired(database, now)
            await known_addresses.delete_before(database, now - known_addresses.LIFETIME)
            gone = await users.delete_expired_temporary(database, now)
            if gone:
                deleted = [UserChanged(user_id, "deleted") for user_id in gone]
                await publish_changes(self.context.system, *deleted)
        except StorageError as error:
            self.context.log.warning("cleanup failed, retrying later: %s", error)


def retention_spec(database: Database, *, position_days: int = 0, run_days: int = 0) -> ChildSpec[None]:
    """Return the child spec. Positions and runs of scheduled commands are kept this long; 0: for ever."""
    return ChildSpec(
        kind=RETENTION, factory=lambda: Retention(database, position_days, run_days), resident=False
    )
