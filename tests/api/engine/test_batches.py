"""Lists in batches of much the same length."""

import json

import trio
from hypothesis import given
from hypothesis import strategies as st

from motorpool.api.engine.batches import BATCH_BYTES, FIRST_BATCH, MAX_BATCH, batches_of, slices_of
from motorpool.storage.records import Geofence


async def read(lengths, gone=frozenset()):
    """The batches of records with names of these lengths, and how many rows each read."""
    sizes = []

    async def fetch(ids):
        sizes.append(len(ids))
        return [Geofence(id=each, name="x" * lengths[each]) for each in ids if each not in gone]

    batches = [batch async for batch in batches_of(range(len(lengths)), fetch)]
    texts = [b"[" + b",".join(bytes(each) for each in batch) + b"]" for batch in batches]
    return [json.loads(text) for text in texts], sizes


async def test_short_records_come_by_the_hundred_and_long_ones_by_few():
    _, sizes = await read([1] * 5000)
    assert sizes[:3] == [FIRST_BATCH, MAX_BATCH, MAX_BATCH]
    _, sizes = await read([16_000] * 200)
    assert sizes[0] == FIRST_BATCH
    assert {BATCH_BYTES // (16_000 + 500) <= size <= BATCH_BYTES // 16_000 for size in sizes[1:-1]} == {True}
    _, sizes = await read([BATCH_BYTES * 2] * 60)
    assert sizes[1:] == [1] * 10


@given(st.lists(st.sampled_from((0, 100, 20_000)), max_size=400), st.sets(st.integers(0, 399)))
def test_every_record_comes_once_and_in_order(lengths, gone):
    async def check():
        batches, _ = await read(lengths, gone)
        found = [record["id"] for batch in batches for record in batch]
        assert found == [number for number in range(len(lengths)) if number not in gone]

    trio.run(check)


async def test_what_was_read_already_is_cut_into_slices():
    numbers = list(range(120))
    assert [[bytes(text) for text in each] async for each in slices_of(numbers)] == [
        [b",".join(b"%d" % number for number in part)] for part in (numbers[:50], numbers[50:])
    ]
    assert [each async for each in slices_of([])] == []
