"""Creates partitions of positions ahead of time, and deletes rows older than their retention."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Never

import msgspec
import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import UserChanged
from motorpool.actors.work.age_clock import AgeClock
from motorpool.runtime import Actor
from motorpool.storage.accounts import known_addresses, sessions, signing_keys, tokens
from motorpool.storage.database import partitions
from motorpool.storage.database.database import Database
from motorpool.storage.devices import command_log, positions
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import idempotency, ticket_presences
from motorpool.storage.schedules import runs
from motorpool.storage.upkeep import expired_positions, expired_rows
from motorpool.storage.upkeep.expired_rows import Kept
from motorpool.storage.video import captures

CHECK_SECONDS = 3600.0
"""Interval between two runs."""


class RetentionDays(msgspec.Struct, frozen=True, kw_only=True):
    """How long rows are kept, in days; 0: for ever."""

    positions: int = 0
    events: int = 0
    """Also commands of the log."""
    audit: int = 0
    statistics: int = 0
    runs: int = 0
    """Ended runs of scheduled commands."""


class Retention(Actor[Never]):
    """Runs once an hour; failed work is repeated in the next run."""

    def __init__(self, database: Database, days: Callable[[], RetentionDays]) -> None:
        """`days` returns what applies now."""
        self._database = database
        self._days = days
        self._age_clock = AgeClock()

    async def run(self) -> None:
        """Clean up at startup and then once an hour."""
        while True:
            await self._clean_up()
            await trio.sleep(CHECK_SECONDS)

    async def _clean_up(self) -> None:
        days = self._days()
        steps = (
            partial(self._positions, days.positions),
            partial(self._runs, days.runs),
            partial(self._rows, "events", days.events),
            partial(self._rows, "command_log", days.events),
            self._command_log,
            partial(self._rows, "audit", days.audit),
            partial(self._rows, "statistics", days.statistics),
            self._accounts,
            self._captures,
            self._stored_answers,
            self._presences,
        )
        for step in steps:
            try:
                await step()
            except StorageError as error:
                self.context.log.warning("cleanup failed, retrying later: %s", error)

    def _now(self) -> datetime:
        return self._age_clock.now(self.context.clock)

    def _cutoff(self, days: int) -> datetime:
        return self._now() - timedelta(days=days)

    async def _positions(self, days: int) -> None:
        database = self._database
        await partitions.ensure_partitions(database, self.context.clock.now())
        if days:
            begun = self.context.clock.monotonic()
            deleted = await expired_positions.delete_before(database, self._cutoff(days))
            self._report(deleted, "positions", days, begun)
        await positions.purge_deleted(database)

    async def _runs(self, days: int) -> None:
        while days and await runs.delete_before(self._database, self._cutoff(days)):
            pass

    async def _rows(self, table: Kept, days: int) -> None:
        if not days:
            return
        deleted, begun = 0, self.context.clock.monotonic()
        while count := await expired_rows.delete_before(self._database, table, self._cutoff(days)):
            deleted += count
        self._report(deleted, f"rows of {table}", days, begun)

    async def _command_log(self) -> None:
        while await command_log.trim(self._database):
            pass

    async def _accounts(self) -> None:
        database, now = self._database, self._now()
        await sessions.delete_expired(database, now)
        await tokens.delete_expired(database, now)
        await signing_keys.delete_expired(database, now)
        await known_addresses.delete_before(database, now - known_addresses.LIFETIME)
        if gone := await expired_rows.delete_temporary_users(database, now):
            deleted = [UserChanged(user_id, "deleted") for user_id in gone]
            await publish_changes(self.context.system, *deleted)

    async def _captures(self) -> None:
        await captures.delete_old(self._database, self._now())

    async def _stored_answers(self) -> None:
        while await idempotency.delete_expired(self._database, self._now()):
            pass

    async def _presences(self) -> None:
        await ticket_presences.delete_expired(self._database)

    def _report(self, deleted: int, what: str, days: int, begun: float) -> None:
        if deleted:
            seconds = self.context.clock.monotonic() - begun
            self.context.log.info("deleted %d %s older than %d days in %.2f s", deleted, what, days, seconds)
