"""Counts of limited attempts that the servers of a cluster share (docs/servers.md#limits-on-guesses)."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from motorpool.actors.rate_limits import RateLimit
from motorpool.runtime import Clock
from motorpool.storage import counted_attempts
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.queries import Queries

__all__ = ["Limit", "SharedAttempts", "SharedRate"]

_log = logging.getLogger(__name__)

CLEAN_AFTER = 200
"""Attempts that this server counts between two looks for rows that can be deleted."""

Limit = tuple[str, str, int]
"""Kind and key of what is counted, and how many are allowed within the window."""


class _Exceeded(Exception):
    def __init__(self, limit: Limit) -> None:
        super().__init__(limit)
        self.limit = limit


class SharedAttempts:
    """Attempts of all servers in rows. While the database is away, each server relies on its own counts."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._counted = 0

    async def recent(
        self, limits: Sequence[Limit], window: timedelta
    ) -> dict[tuple[str, str], list[datetime]]:
        """Return the attempts within the window by kind and key, oldest first, if there are any."""
        keys = [(kind, key) for kind, key, _ in limits]
        try:
            return await counted_attempts.recent(self._database, keys, now=self._clock.now(), window=window)
        except StorageError as error:
            self._warn(error)
            return {}

    async def count(self, limits: Sequence[Limit], window: timedelta) -> datetime | Limit | None:
        """Count an attempt for all keys, or for none and return the limit that is exceeded.

        Where it is counted, return the instant by which `remove` finds it; None if it could not be.
        """
        now = self._clock.now()
        try:
            async with self._database.transaction() as transaction:
                for each in limits:
                    await self._count(transaction, each, now, window)
        except _Exceeded as exceeded:
            return exceeded.limit
        except StorageError as error:
            self._warn(error)
            return None
        await self._clean()
        return now

    async def add(self, limits: Sequence[Limit], window: timedelta) -> None:
        """Count an attempt that has failed, past the limits as well."""
        now = self._clock.now()
        try:
            async with self._database.transaction() as transaction:
                for each in limits:
                    await self._add(transaction, each, now, window, always=True)
        except StorageError as error:
            self._warn(error)
        await self._clean()

    async def remove(self, keys: Sequence[tuple[str, str]], at: datetime) -> None:
        """Uncount an attempt that `count` has counted."""
        with suppress(StorageError):
            await counted_attempts.remove(self._database, keys, at)

    async def clear(self, kind: str, key: str) -> None:
        """Uncount the attempts of a key."""
        with suppress(StorageError):
            await counted_attempts.clear(self._database, kind, key)

    async def clear_account(self, account: int) -> None:
        """Uncount the failed passwords of an account, from wherever."""
        with suppress(StorageError):
            await counted_attempts.clear(self._database, "account", f"{account} ")
            await counted_attempts.clear_beginning(self._database, "known place", f"{account}  ")

    async def _count(self, q: Queries, limit: Limit, now: datetime, window: timedelta) -> None:
        if not await self._add(q, limit, now, window, always=False):
            raise _Exceeded(limit)

    async def _add(self, q: Queries, limit: Limit, now: datetime, window: timedelta, *, always: bool) -> bool:
        kind, key, allowed = limit
        return await counted_attempts.add(q, kind, key, limit=allowed, now=now, window=window, always=always)

    async def _clean(self) -> None:
        self._counted += 1
        if self._counted % CLEAN_AFTER == 0:
            with suppress(StorageError):
                await counted_attempts.clean(self._database, self._clock.now())

    def _warn(self, error: StorageError) -> None:
        _log.warning("attempts are counted by this server alone: %s", error)


class SharedRate:
    """A rate limit of this server and, in a cluster, of all servers together."""

    def __init__(
        self, kind: str, limit: int, seconds: float, clock: Clock, shared: SharedAttempts | None
    ) -> None:
        self._kind = kind
        self._limit = limit
        self._window = timedelta(seconds=seconds)
        self._local = RateLimit(limit, seconds, clock.monotonic)
        self._clock = clock
        self._shared = shared

    async def hit(self, key: str) -> float:
        """Count an event and return 0; past the limit return the seconds until one is allowed."""
        if (seconds := self._local.hit(key)) or self._shared is None:
            return seconds
        limit = (self._kind, key, self._limit)
        if not isinstance(await self._shared.count((limit,), self._window), tuple):
            return 0.0
        times = (await self._shared.recent((limit,), self._window)).get((self._kind, key))
        if not times:
            return 1.0
        return max(1.0, (times[0] + self._window - self._clock.now()).total_seconds())
