"""A cache of rows that requests read again and again."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RowCache(Generic[K, V]):
    """The rows read last, at most `max_rows` of them, each for at most `max_age_seconds`.

    A row that has changed is invalidated after the commit. What a read returns that began before an
    invalidation is handed to the caller but not kept, since it may be the old row.
    """

    def __init__(
        self,
        fetch: Callable[[tuple[K, ...]], Awaitable[Mapping[K, V]]],
        *,
        max_rows: int,
        max_age_seconds: float,
        monotonic: Callable[[], float],
    ) -> None:
        """`fetch` reads the rows of several keys; a key without a row is left out, and is not cached."""
        self._fetch = fetch
        self._max_rows = max_rows
        self._max_age = max_age_seconds
        self._monotonic = monotonic
        self._rows: OrderedDict[K, tuple[float, V]] = OrderedDict()
        """Key -> (when it expires on the monotonic clock, row), the one used last at the end."""
        self._invalidations = 0

    def __len__(self) -> int:
        return len(self._rows)

    async def get(self, key: K) -> V | None:
        """Return the row of one key."""
        cached = self._rows.get(key)
        if cached is not None and cached[0] > self._monotonic():
            self._rows.move_to_end(key)
            return cached[1]
        return (await self._load((key,))).get(key)

    async def get_many(self, keys: Iterable[K]) -> dict[K, V]:
        """Return the rows that exist."""
        now = self._monotonic()
        found: dict[K, V] = {}
        missing = []
        for key in keys:
            cached = self._rows.get(key)
            if cached is not None and cached[0] > now:
                found[key] = cached[1]
            else:
                missing.append(key)
        if missing:
            found.update(await self._load(tuple(missing)))
        return found

    def invalidate(self, *keys: K) -> None:
        """Drop rows that have changed."""
        self._invalidations += 1
        for key in keys:
            self._rows.pop(key, None)

    def clear(self) -> None:
        """Drop all rows."""
        self._invalidations += 1
        self._rows.clear()

    async def _load(self, keys: tuple[K, ...]) -> Mapping[K, V]:
        before = self._invalidations
        found = await self._fetch(keys)
        if self._invalidations == before:
            expires = self._monotonic() + self._max_age
            for key, row in found.items():
                self._rows[key] = (expires, row)
                self._rows.move_to_end(key)
            while len(self._rows) > self._max_rows:
                self._rows.popitem(last=False)
        return found
