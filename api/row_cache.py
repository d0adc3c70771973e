"""Rows that requests ask for again and again, remembered until they change."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

__all__ = ["RowCache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RowCache(Generic[K, V]):
    """The last `most` rows that were asked for, each for `seconds` at most.

    Who changes a row forgets it here after the commit. A row that was read before and arrives after that is
    handed to whoever asked, but not kept: it may be the old one.
    """

    def __init__(
        self,
        fetch: Callable[[tuple[K, ...]], Awaitable[Mapping[K, V]]],
        *,
        most: int,
        seconds: float,
        monotonic: Callable[[], float],
    ) -> None:
        """`fetch` finds the rows of several keys; keys without a row are left out and asked for again."""
        self._fetch = fetch
        self._most = most
        self._seconds = seconds
        self._monotonic = monotonic
        self._kept: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._forgotten = 0

    def __len__(self) -> int:
        return len(self._kept)

    async def get(self, key: K) -> V | None:
        """Return the row of one key."""
        known = self._kept.get(key)
        if known is not None and known[0] > self._monotonic():
            self._kept.move_to_end(key)
            return known[1]
        return (await self._load((key,))).get(key)

    async def get_many(self, keys: Iterable[K]) -> dict[K, V]:
        """Return the rows there are."""
        now = self._monotonic()
        found: dict[K, V] = {}
        missing = []
        for key in keys:
            known = self._kept.get(key)
            if known is not None and known[0] > now:
                found[key] = known[1]
            else:
                missing.append(key)
        if missing:
            found.update(await self._load(tuple(missing)))
        return found

    def forget(self, keys: Iterable[K]) -> None:
        """Drop rows that changed."""
        self._forgotten += 1
        for key in keys:
            self._kept.pop(key, None)

    def clear(self) -> None:
        """Drop everything."""
        self._forgotten += 1
        self._kept.clear()

    async def _load(self, keys: tuple[K, ...]) -> Mapping[K, V]:
        before = self._forgotten
        found = await self._fetch(keys)
        if self._forgotten == before:
            until = self._monotonic() + self._seconds
            for key, row in found.items():
                self._kept[key] = (until, row)
                self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found
