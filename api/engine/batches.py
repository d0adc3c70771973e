"""Long lists in batches of much the same length, so that none takes long on the event loop.

What a record costs is its length: attributes may have a few bytes or many thousand.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import cast

import msgspec

from motorpool.actors.words.record_json import encode

FIRST_BATCH, MAX_BATCH = 50, 1000
"""Records of the first batch, and the most of one."""
BATCH_BYTES = 256 * 1024
"""JSON of a batch, as far as that is known from the one before: some milliseconds of work."""

Batches = AsyncGenerator[Sequence[msgspec.Raw], None]
"""Each has pieces of a JSON array, between which commas belong."""


class BatchSize:
    """How many records the next batch of a list has."""

    def __init__(self) -> None:
        self.records = FIRST_BATCH

    def encode(self, records: Sequence[object], count: int) -> list[msgspec.Raw]:
        """Return a batch as pieces of a JSON array; the next one is adapted to its length.

        They may be JSON already, and a piece of it may be of many of the `count` records.
        """
        if not records:
            return []
        if type(records[0]) is msgspec.Raw:
            pieces = cast("list[msgspec.Raw]", list(records))
        else:
            pieces = [msgspec.Raw(encode(records)[1:-1])]
        length = sum(map(len, pieces))
        self.records = max(1, min(MAX_BATCH, BATCH_BYTES * count // max(1, length)))
        return pieces


Fetch = Callable[[Sequence[int]], Awaitable[Sequence[object]]]
"""Returns the records with these ids, those that still exist, or their JSON with commas between."""


async def batches_of(ids: Sequence[int], fetch: Fetch) -> Batches:
    """Yield the records with these ids; `fetch(some_ids)` returns those that still exist."""
    start, size = 0, BatchSize()
    while part := ids[start : start + size.records]:
        start += len(part)
        yield size.encode(await fetch(part), len(part))


async def slices_of(records: Sequence[object]) -> Batches:
    """Yield records that were read already, some at a time."""
    start, size = 0, BatchSize()
    while part := records[start : start + size.records]:
        start += len(part)
        yield size.encode(part, len(part))
