import pytest

from motorpool.storage.accounts import access, links, users
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import devices, groups
from motorpool.storage.records import Device, Group, User


class Fleet:
    """Four groups below each other, a device in each, one without a group, and two users."""

    def __init__(self, ann, ben, chain, inside, loose):
        self.ann, self.ben, self.chain, self.inside, self.loose = ann, ben, chain, inside, loose


async def visible_devices(database, user_id, ids):
    """Which of the devices the user sees, by the condition of lists."""
    condition = access.devices_of_user(user_id)
    rows = await database.fetch(
        f"select id from devices where id = any($1::bigint[]) and {condition.numbered(2)}",
        list(ids),
        *condition.args,
    )
    return {row[0] for row in rows}


@pytest.fixture
async def fleet(database):
    ann = await users.TABLE.insert(database, User(email="ann@example.com"))
    ben = await users.TABLE.insert(database, User(email="ben@example.com"))
    chain, inside, above = [], [], 0
    for depth in range(4):
        group = await groups.TABLE.insert(database, Group(name=f"level {depth}", group_id=above))
        above = group.id
        chain.append(group)
        device = Device(name=f"in {depth}", unique_id=f"in-{depth}", group_id=group.id)
        inside.append(await devices.TABLE.insert(database, device))
    loose = await devices.TABLE.insert(database, Device(name="loose", unique_id="loose"))
    return Fleet(ann, ben, chain, inside, loose)


async def test_without_links_a_user_sees_nothing(database, fleet):
    assert await access.device_ids(database, fleet.ann.id) == set()
    assert await access.group_ids(database, fleet.ann.id) == set()


async def test_a_direct_link_shows_one_device(database, fleet):
    await links.add(database, links.USER_DEVICE, fleet.ann.id, fleet.loose.id)
    assert await access.device_ids(database, fleet.ann.id) == {fleet.loose.id}
    assert await visible_devices(database, fleet.ann.id, (fleet.loose.id,))
    assert not await visible_devices(database, fleet.ben.id, (fleet.loose.id,))


async def test_a_group_counts_to_three_levels(database, fleet):
    await links.add(database, links.USER_GROUP, fleet.ann.id, fleet.chain[0].id)
    assert await access.group_ids(database, fleet.ann.id) == {group.id for group in fleet.chain[:3]}
    assert await access.device_ids(database, fleet.ann.id) == {device.id for device in fleet.inside[:3]}


async def test_a_link_does_not_reach_upwards(database, fleet):
    await links.add(database, links.USER_GROUP, fleet.ann.id, fleet.chain[2].id)
    assert await access.device_ids(database, fleet.ann.id) == {fleet.inside[2].id, fleet.inside[3].id}


async def test_lists_hold_what_the_user_sees(database, fleet):
    await links.add(database, links.USER_GROUP, fleet.ann.id, fleet.chain[1].id)
    await links.add(database, links.USER_DEVICE, fleet.ann.id, fleet.loose.id)
    query = ListQuery(accessible_to=fleet.ann.id)
    assert [d.name for d in await devices.TABLE.list(database, query)] == ["in 1", "in 2", "in 3", "loose"]
    assert [g.name for g in await groups.TABLE.list(database, query)] == ["level 1", "level 2", "level 3"]


async def test_the_visible_of_many_are_told_at_once(database, fleet):
    await links.add(database, links.USER_DEVICE, fleet.ann.id, fleet.inside[3].id)
    asked = [fleet.inside[3].id, fleet.inside[0].id, 999]
    assert await visible_devices(database, fleet.ann.id, asked) == {fleet.inside[3].id}


@pytest.mark.parametrize("depth", range(4))
async def test_every_way_of_asking_gives_the_same_users_of_a_device(database, fleet, depth):
    await links.add(database, links.USER_GROUP, fleet.ann.id, fleet.chain[0].id)
    await links.add(database, links.USER_DEVICE, fleet.ben.id, fleet.inside[depth].id)
    device_id = fleet.inside[depth].id
    both = (fleet.ann, fleet.ben)
    expected = {user.id for user in both if await visible_devices(database, user.id, (device_id,))}
    assert fleet.ben.id in expected
    assert (fleet.ann.id in expected) == (depth < 3)
    assert expected == {user.id for user in both if device_id in await access.device_ids(database, user.id)}
    condition = access.sees_device("u.id", "d.id")
    rows = await database.fetch(
        f"select u.id from users u, devices d where d.id = $1 and {condition}", device_id
    )
    assert expected == {row[0] for row in rows}


async def test_the_devices_of_a_group_lie_in_it_or_up_to_two_below(database, fleet):
    query = ListQuery(conditions=(access.devices_of_group(fleet.chain[0].id),))
    assert [device.name for device in await devices.TABLE.list(database, query)] == ["in 0", "in 1", "in 2"]
