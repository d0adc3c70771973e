import pytest
import trio

from motorpool.storage.database.id_blocks import allocate_block


async def test_blocks_never_overlap_however_many_take_them(database):
    taken = []

    async def take(count):
        taken.append(await allocate_block(database, "positions", count))

    async with trio.open_nursery() as nursery:
        for count in (1, 10, 1000, 3, 250, 7):
            nursery.start_soon(take, count)
    ids = [number for block in taken for number in block]
    assert len(set(ids)) == len(ids) == 1271
    assert min(ids) == 1


async def test_kinds_are_numbered_apart(database):
    assert await allocate_block(database, "positions", 5) == range(1, 6)
    assert await allocate_block(database, "events", 5) == range(1, 6)


async def test_an_empty_block_is_a_mistake(database):
    with pytest.raises(ValueError, match="0 ids"):
        await allocate_block(database, "positions", 0)
