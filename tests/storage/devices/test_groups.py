from motorpool.storage.devices import devices, groups
from motorpool.storage.records import Device, Group


async def test_the_chain_above_a_group_is_told_nearest_first(database):
    above, ids = 0, []
    for depth in range(3):
        group = await groups.TABLE.insert(database, Group(name=str(depth), group_id=above))
        above = group.id
        ids.append(group.id)
    assert await groups.with_ancestors(database, ids[2]) == ids[::-1]
    assert await groups.with_ancestors(database, ids[0]) == ids[:1]
    assert await groups.with_ancestors(database, 999) == []


async def test_a_cycle_that_got_in_does_not_hang_us(database):
    a = await groups.TABLE.insert(database, Group(name="a"))
    b = await groups.TABLE.insert(database, Group(name="b", group_id=a.id))
    await groups.TABLE.update(database, Group(id=a.id, name="a", group_id=b.id))
    assert set(await groups.with_ancestors(database, a.id)) == {a.id, b.id}


async def test_what_lay_in_a_deleted_group_stays_without_one(database):
    group = await groups.TABLE.insert(database, Group(name="a"))
    child = await groups.TABLE.insert(database, Group(name="b", group_id=group.id))
    device = await devices.TABLE.insert(database, Device(name="d", unique_id="d", group_id=group.id))
    await groups.TABLE.delete(database, group.id)
    assert (await groups.TABLE.fetch(database, child.id)).group_id == 0
    assert (await devices.TABLE.fetch(database, device.id)).group_id == 0
