"""Numbers of playlists: reserved once, given back by who reserved them last."""

import trio

from motorpool.storage.devices import devices
from motorpool.storage.records import Device
from motorpool.storage.video import stream_marks


async def test_each_reservation_begins_where_the_last_one_ended(database):
    device = await devices.TABLE.insert(database, Device(unique_id="a"))
    key = (device.id, 1, "live")
    assert await stream_marks.reserve(database, *key, 100) == (0, 0)
    assert await stream_marks.reserve(database, *key, 100) == (100, 100)
    # Others count for themselves.
    assert await stream_marks.reserve(database, device.id, 1, "playback", 10) == (0, 0)
    assert await stream_marks.reserve(database, device.id, 2, "live", 10) == (0, 0)


async def test_parallel_reservations_share_no_number(database):
    device = await devices.TABLE.insert(database, Device(unique_id="a"))
    found = []

    async def reserve():
        index, _ = await stream_marks.reserve(database, device.id, 1, "live", 10)
        found.append(index)

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(reserve)
    assert sorted(found) == list(range(0, 200, 10))


async def test_only_who_reserved_last_replaces(database):
    device = await devices.TABLE.insert(database, Device(unique_id="a"))
    key = (device.id, 1, "live")
    await stream_marks.reserve(database, *key, 100)
    assert await stream_marks.replace(database, *key, (100,), 7, 2)
    assert await stream_marks.reserve(database, *key, 100) == (7, 2)
    assert not await stream_marks.replace(database, *key, (100,), 8, 3)
    assert await stream_marks.reserve(database, *key, 100) == (107, 102)
    assert await stream_marks.replace(database, *key, (50, 207), 1 << 40, 200)
    assert await stream_marks.reserve(database, *key, 1) == (1 << 40, 200)


async def test_a_deleted_device_has_none(database):
    assert await stream_marks.reserve(database, 77, 1, "live", 5) == (0, 0)
    assert await stream_marks.replace(database, 77, 1, "live", (5,), 6, 0)
