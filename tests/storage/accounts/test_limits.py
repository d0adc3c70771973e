import pytest

from motorpool.storage.accounts import limits, links, users
from motorpool.storage.devices import devices
from motorpool.storage.records import Device, User


@pytest.fixture
def make(database):
    """`make("ann", *managers, device_limit=…)`: a user below managers."""

    async def make(name, *managers, **fields):
        user = await users.TABLE.insert(database, User(email=name, **{"device_limit": -1, **fields}))
        await links.add_many(database, links.USER_USER, [(boss.id, user.id) for boss in managers])
        return user

    return make


async def reached(database, user, column):
    async with database.transaction() as transaction:
        found = await limits.exceeded_limit(transaction, user.id, column, more=1)
    return found and found.user_id


async def test_devices_of_all_below_count_once(database, make):
    top = await make("top", user_limit=-1, device_limit=2)
    middle = await make("middle", top, user_limit=3)
    low, other = await make("low", middle), await make("other", top)
    seen = [await devices.TABLE.insert(database, Device(unique_id=f"{number}")) for number in range(2)]
    await links.add_many(database, links.USER_DEVICE, [(low.id, seen[0].id), (other.id, seen[0].id)])
    for user in (top, middle, low, other):
        assert await reached(database, user, "device_limit") is None
    await links.add(database, links.USER_DEVICE, other.id, seen[1].id)
    for user in (top, middle, low, other):
        assert await reached(database, user, "device_limit") == top.id
    apart = await make("apart")
    assert await reached(database, apart, "device_limit") is None


async def test_the_limit_that_is_exceeded_most_is_told(database, make):
    top = await make("top", user_limit=-1, device_limit=1)
    low = await make("low", top, device_limit=3)
    for number in range(5):
        device = await devices.TABLE.insert(database, Device(unique_id=f"{number}"))
        await links.add(database, links.USER_DEVICE, low.id, device.id)
    async with database.transaction() as transaction:
        assert await limits.exceeded_limit(transaction, low.id, "device_limit") == (top.id, 4)


async def test_users_of_users_count(database, make):
    top = await make("top", user_limit=3)
    middle = await make("middle", top, user_limit=-1)
    await make("low", middle)
    assert await reached(database, middle, "user_limit") is None
    await make("lower", middle)
    assert await reached(database, middle, "user_limit") == top.id
    assert await reached(database, top, "user_limit") == top.id


async def test_administrators_and_who_is_no_manager_any_more_bind_nobody(database, make):
    boss = await make("boss", administrator=True, user_limit=1, device_limit=0)
    former = await make("former", user_limit=0, device_limit=0)
    manager = await make("manager", boss, former, user_limit=2)
    # An administrator is nobody's user, whatever links there are.
    await make("chief", manager, administrator=True)
    await make("low", manager)
    assert await reached(database, manager, "user_limit") is None
    assert await reached(database, manager, "device_limit") is None


async def test_two_who_manage_each_other_have_both_limits(database, make):
    one = await make("one", user_limit=-1, device_limit=5)
    two = await make("two", one, user_limit=1, device_limit=0)
    await links.add(database, links.USER_USER, two.id, one.id)
    for user in (one, two):
        assert await reached(database, user, "device_limit") == two.id
        assert await reached(database, user, "user_limit") == two.id
