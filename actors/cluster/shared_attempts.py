"""Counts of limited attempts that the servers of a cluster share (docs/servers.md#limits-on-guesses)."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from motorpool.actors.work.rate_limits import RateLimit
from motorpool.runtime import Clock
from motorpool.storage.accounts import counted_attempts
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import StorageError

_log = logging.getLogger(__name__)

CLEAN_AFTER = 200
"""Attempts that this server counts between two looks for rows that can be deleted."""
MAX_BLOCKS = 1000
"""Instants of one row; limits beyond it are counted in blocks."""
MAX_KEYS = 50_000
"""Keys with a begun block; the oldest is dropped first."""


class Limit(NamedTuple):
    """What is counted."""

    kind: str
    key: str
    allowed: int
    """How many are allowed within the window."""
    attempts: int = 1
    """How many are to be counted now."""


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
        keys = [(limit.kind, limit.key) for limit in limits]
        try:
            return await counted_attempts.recent(self._database, keys, now=self._clock.now(), window=window)
        except StorageError as error:
            self._warn(error)
            return {}

    async def count(self, limits: Sequence[Limit], window: timedelta) -> datetime | Limit | None:
        """Count attempts for all keys, or for none and return the limit that is exceeded.

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

    async def clear_beginning(self, kind: str, prefix: str) -> None:
        """Uncount the attempts of all keys that begin with `prefix`."""
        with suppress(StorageError):
            await counted_attempts.clear_beginning(self._database, kind, prefix)

    async def seconds_left(self, limit: Limit, window: timedelta) -> float:
        """Return the seconds until attempts that exceed a limit are allowed, at least 1."""
        times = (await self.recent((limit,), window)).get((limit.kind, limit.key), [])
        excess = len(times) + limit.attempts - limit.allowed
        if not 0 < excess <= len(times):
            return 1.0
        return max(1.0, (times[excess - 1] + window - self._clock.now()).total_seconds())

    async def _count(self, q: Queries, limit: Limit, now: datetime, window: timedelta) -> None:
        if not await self._add(q, limit, now, window, always=False):
            raise _Exceeded(limit)

    async def _add(self, q: Queries, limit: Limit, now: datetime, window: timedelta, *, always: bool) -> bool:
        return await counted_attempts.add(
            q,
            limit.kind,
            limit.key,
            limit=limit.allowed,
            now=now,
            window=window,
            attempts=limit.attempts,
            always=always,
        )

    async def _clean(self) -> None:
        self._counted += 1
        if self._counted % CLEAN_AFTER == 0:
            with suppress(StorageError):
                await counted_attempts.clean(self._database, self._clock.now())

    def _warn(self, error: StorageError) -> None:
        _log.warning("attempts are counted by this server alone: %s", error)


class SharedRates:
    """Rate limits of this server and, in a cluster, of all servers together.

    Events count against all of the limits, or against none. What this server has counted itself refuses
    first, without a query.
    """

    def __init__(
        self,
        limits: Mapping[str, int],
        seconds: float,
        monotonic: Callable[[], float],
        shared: SharedAttempts | None,
    ) -> None:
        """`limits`: by kind, how many events are allowed within `seconds`; `shared`: None if it is alone."""
        self._window = timedelta(seconds=seconds)
        self._here = {kind: RateLimit(limit, seconds, monotonic) for kind, limit in limits.items()}
        self._blocks = {kind: _Blocks(limit) for kind, limit in limits.items()}
        self._shared = shared

    async def hit(self, keys: Mapping[str, str], events: int = 1) -> tuple[str, float] | None:
        """Count events for a key of each kind.

        If a limit is exceeded, count nothing and return its kind and the seconds until `events` events are
        allowed: infinite if never.
        """
        return self.hit_here(keys, events) or await self.hit_together(keys, events)

    def hit_here(self, keys: Mapping[str, str], events: int = 1) -> tuple[str, float] | None:
        """As `hit`, at this server alone; `hit_together` is to follow."""
        for kind, key in keys.items():
            if seconds := self._here[kind].wait(key, events):
                return kind, seconds
        for kind, key in keys.items():
            self._here[kind].hit(key, events)
        return None

    async def hit_together(self, keys: Mapping[str, str], events: int = 1) -> tuple[str, float] | None:
        """Count for all servers what `hit_here` has counted; as `hit`."""
        if self._shared is None:
            return None
        taken = {kind: self._blocks[kind].take(key, events) for kind, key in keys.items()}
        limits = [
            Limit(kind, keys[kind], self._blocks[kind].allowed, count)
            for kind, count in taken.items()
            if count
        ]
        exceeded = await self._shared.count(limits, self._window) if limits else None
        if not isinstance(exceeded, Limit):
            return None
        for kind, key in keys.items():
            self._blocks[kind].put_back(key, events, taken[kind])
            self._here[kind].uncount(key, events)
        return exceeded.kind, await self._shared.seconds_left(exceeded, self._window)


class SharedRate:
    """One rate limit of this server and, in a cluster, of all servers together."""

    def __init__(
        self,
        kind: str,
        limit: int,
        seconds: float,
        monotonic: Callable[[], float],
        shared: SharedAttempts | None,
    ) -> None:
        self._kind = kind
        self._rates = SharedRates({kind: limit}, seconds, monotonic, shared)

    async def hit(self, key: str) -> float:
        """Count an event and return 0; past the limit return the seconds until one is allowed."""
        exceeded = await self._rates.hit({self._kind: key})
        return exceeded[1] if exceeded else 0.0


class _Blocks:
    """Divides a large limit into blocks of events, each of which is one attempt in the rows.

    So a row has at most MAX_BLOCKS instants and is seldom written. Each server has at most one block of a key
    begun, by which the limit may be exceeded.
    """

    def __init__(self, limit: int) -> None:
        self._size = max(1, -(-limit // MAX_BLOCKS))
        self.allowed = -(-limit // self._size)
        """Blocks within the window."""
        self._left: OrderedDict[str, int] = OrderedDict()
        """Events left of the begun block of a key; negative where others used one that was put back."""

    def take(self, key: str, events: int) -> int:
        """Return how many blocks these events begin."""
        left = self._left.pop(key, 0)
        blocks = max(0, -(-(events - left) // self._size))
        self._keep(key, left + blocks * self._size - events)
        return blocks

    def put_back(self, key: str, events: int, blocks: int) -> None:
        """Undo `take`."""
        self._keep(key, self._left.pop(key, 0) + events - blocks * self._size)

    def _keep(self, key: str, left: int) -> None:
        if left:
            self._left[key] = left
        while len(self._left) > MAX_KEYS:
            self._left.popitem(last=False)
