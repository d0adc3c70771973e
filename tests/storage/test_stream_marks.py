from motorpool.storage import devices, stream_marks
from motorpool.storage.records import Device, StreamMark


async def test_a_stream_that_never_ran_begins_at_zero(database):
    assert await stream_marks.load(database, 1, 1, "live") == StreamMark(0, 0)


async def test_the_mark_is_the_last_one_saved_of_each_stream(database):
    device = await devices.TABLE.insert(database, Device(unique_id="a"))
    await stream_marks.save(database, device.id, 1, "live", 120, 3)
    await stream_marks.save(database, device.id, 1, "live", 100, 2)
    await stream_marks.save(database, device.id, 1, "playback", 7, 0)
    await stream_marks.save(database, device.id, 2, "live", 1 << 40, 0)
    assert await stream_marks.load(database, device.id, 1, "live") == StreamMark(100, 2)
    assert await stream_marks.load(database, device.id, 1, "playback") == StreamMark(7, 0)
    assert await stream_marks.load(database, device.id, 2, "live") == StreamMark(1 << 40, 0)


async def test_a_stream_of_a_device_that_is_gone_leaves_no_mark(database):
    await stream_marks.save(database, 77, 1, "live", 5, 0)
    assert await stream_marks.load(database, 77, 1, "live") == StreamMark(0, 0)
