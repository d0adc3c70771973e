from datetime import UTC, datetime, timedelta

from motorpool.storage.devices import device_states, devices
from motorpool.storage.records import Device

NOW = datetime(2026, 6, 1, tzinfo=UTC)


async def test_the_last_update_is_the_last_one_saved(database):
    one, two = [await devices.TABLE.insert(database, Device(unique_id=name)) for name in ("one", "two")]
    await device_states.save(database, {one.id: NOW, two.id: NOW})
    await device_states.save(database, {two.id: NOW + timedelta(seconds=1)})
    # Another server may have seen it since.
    await device_states.save(database, {two.id: NOW})
    assert await device_states.last_updates(database, [two.id, 999]) == {two.id: NOW + timedelta(seconds=1)}
    assert await device_states.all_last_updates(database) == {one.id: NOW, two.id: NOW + timedelta(seconds=1)}


async def test_a_device_never_heard_has_none(database):
    device = await devices.TABLE.insert(database, Device(unique_id="a"))
    assert await device_states.last_updates(database, [device.id]) == {}


async def test_a_device_that_is_gone_is_left_out(database):
    device = await devices.TABLE.insert(database, Device(unique_id="a"))
    await device_states.save(database, {device.id: NOW, 999: NOW})
    assert await device_states.all_last_updates(database) == {device.id: NOW}
    await devices.TABLE.delete(database, device.id)
    assert await device_states.all_last_updates(database) == {}
