from datetime import UTC, datetime

from motorpool.codecs.reports import Recording
from motorpool.storage.devices import devices
from motorpool.storage.records import Device
from motorpool.storage.video import recordings

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def recording(channel, size=1_000):
    return Recording(channel, NOON, NOON.replace(hour=13), 1 << 63, 0, 1, 2, size)


async def test_the_list_is_the_last_one_saved_of_each_device(database):
    one, two = [await devices.TABLE.insert(database, Device(unique_id=name)) for name in ("one", "two")]
    assert (await recordings.load(database, one.id, Recording))[0] == []
    await recordings.save(database, one.id, [recording(1)], NOON)
    await recordings.save(database, one.id, [recording(3), recording(2, (1 << 32) - 1)], NOON)
    await recordings.save(database, two.id, [recording(4)], NOON)
    assert (await recordings.load(database, one.id, Recording))[0] == [
        recording(3),
        recording(2, (1 << 32) - 1),
    ]
    await recordings.save(database, one.id, [], NOON)
    assert (await recordings.load(database, one.id, Recording))[0] == []
    assert (await recordings.load(database, two.id, Recording))[0] == [recording(4)]


async def test_the_time_is_that_of_the_last_list_and_unknown_of_lists_from_before(database):
    device = await devices.TABLE.insert(database, Device(unique_id="one"))
    assert await recordings.load(database, device.id, Recording) == ([], None)
    await recordings.save(database, device.id, [recording(1)], NOON)
    await recordings.save(database, device.id, [], NOON.replace(hour=14))
    assert await recordings.load(database, device.id, Recording) == ([], NOON.replace(hour=14))
    await database.execute("update recordings set received_at = null")
    assert await recordings.load(database, device.id, Recording) == ([], None)


async def test_the_list_goes_with_its_device(database):
    device = await devices.TABLE.insert(database, Device(unique_id="one"))
    await recordings.save(database, device.id, [recording(1)], NOON)
    await devices.TABLE.delete(database, device.id)
    await recordings.save(database, device.id, [recording(1)], NOON)
    assert (await recordings.load(database, device.id, Recording))[0] == []
