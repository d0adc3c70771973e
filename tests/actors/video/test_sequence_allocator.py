"""SequenceAllocator of playlists across lives, in the real table."""

import logging

import pytest

from motorpool.actors.video.sequence_allocator import RESERVED_INDICES, NumbersTaken, SequenceAllocator
from motorpool.runtime.actor import ActorLog

LOG = ActorLog(logging.getLogger("numbers"), {"actor": "streams/1"})


async def test_what_was_reserved_is_skipped_after_a_crash_and_not_after_an_orderly_end(database, make_device):
    row = await make_device()
    first = SequenceAllocator(database, row.id, 1, "playback", LOG)
    assert await first.load() == (0, 0)
    second = SequenceAllocator(database, row.id, 1, "playback", LOG)
    assert await second.load() == (RESERVED_INDICES, RESERVED_INDICES)
    await second.save(RESERVED_INDICES + 7, RESERVED_INDICES + 2)
    assert await SequenceAllocator(database, row.id, 1, "playback", LOG).load() == (
        RESERVED_INDICES + 7,
        RESERVED_INDICES + 2,
    )
    # Live counts for itself.
    assert await SequenceAllocator(database, row.id, 1, "live", LOG).load() == (0, 0)


async def test_they_suffice_until_the_reserve_is_used_up_even_in_an_outage(
    database, make_device, outage, caplog
):
    row = await make_device()
    numbers = SequenceAllocator(database, row.id, 1, "live", LOG)
    await numbers.load()
    assert numbers.has_room(RESERVED_INDICES - 1)
    assert not numbers.has_room(RESERVED_INDICES - 1, 2)
    assert not numbers.has_room(RESERVED_INDICES)
    with outage():
        await numbers.reserve(RESERVED_INDICES, 0)
    assert numbers.has_room(2 * RESERVED_INDICES - 1)
    assert "numbers were not written down" in caplog.text
    # Whether or not the statement was carried out, the numbers are still this allocator's.
    await numbers.reserve(2 * RESERVED_INDICES, 0)
    assert (await SequenceAllocator(database, row.id, 1, "live", LOG).load())[0] == 3 * RESERVED_INDICES


async def test_two_servers_do_not_issue_the_same_number(database, make_device):
    row = await make_device()
    mine = SequenceAllocator(database, row.id, 1, "live", LOG)
    assert await mine.load() == (0, 0)
    other = SequenceAllocator(database, row.id, 1, "live", LOG)
    assert await other.load() == (RESERVED_INDICES, RESERVED_INDICES)
    with pytest.raises(NumbersTaken):
        await mine.reserve(RESERVED_INDICES, 1)
    # Its orderly end gives back nothing of the other's.
    await mine.save(12, 1)
    await other.reserve(2 * RESERVED_INDICES, 1)
    assert (await SequenceAllocator(database, row.id, 1, "live", LOG).load())[0] == 3 * RESERVED_INDICES
