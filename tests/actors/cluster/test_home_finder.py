"""Homes of devices: found in few statements, and corrected soon."""

import trio

from motorpool.actors.cluster import home_finder
from motorpool.actors.cluster.home_finder import HomeFinder
from motorpool.storage.cluster import homes
from motorpool.storage.database import nodes
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import Device


class Time:
    """A clock of the test."""

    now = 0.0

    def __call__(self):
        return self.now


async def join(database, number):
    address = f"http://10.0.0.{number}:8083"
    async with database.session() as session:
        return await nodes.join(session, "north", "a server of tests", "0", address=address, key="k")


async def test_homes_of_all_devices_in_use_are_read_in_one_statement_a_second(database, monkeypatch):
    me, other = await join(database, 1), await join(database, 2)
    made = [await devices.TABLE.insert(database, Device(unique_id=f"d{count}")) for count in range(20)]
    ids = [device.id for device in made]
    await homes.claim(database, other, ids[:10])
    await homes.claim(database, me, ids[10:15])
    read = []
    find = homes.find_elsewhere

    async def counted(q, node, device_ids):
        read.append(frozenset(device_ids))
        await trio.lowlevel.checkpoint()
        return await find(q, node, device_ids)

    monkeypatch.setattr(home_finder.homes, "find_elsewhere", counted)
    time = Time()
    finder = HomeFinder(database, me, time)
    found = {}

    async def look(device_id):
        home = await finder.find(device_id)
        found[device_id] = home.node if home is not None else None

    async def look_at_all():
        async with trio.open_nursery() as nursery:
            for device_id in ids * 3:
                nursery.start_soon(look, device_id)

    await look_at_all()
    assert found == {number: other if number in ids[:10] else None for number in ids}
    # The first to ask, and those that came while its statement ran.
    assert len(read) == 2
    await look_at_all()
    assert len(read) == 2
    # Later all at once.
    time.now = home_finder.REMEMBER_SECONDS
    await look(ids[0])
    assert read[2:] == [frozenset(ids)]
    await look_at_all()
    assert len(read) == 3


async def test_a_device_that_has_moved_is_looked_up_again_and_one_that_is_gone_stays_where_it_was(database):
    me, other = await join(database, 1), await join(database, 2)
    device = await devices.TABLE.insert(database, Device(unique_id="d"))
    finder = HomeFinder(database, me, Time())
    assert await finder.find(device.id) is None
    await homes.claim(database, other, [device.id])
    assert await finder.find(device.id) is None
    finder.forget(device.id)
    assert (await finder.find(device.id)).address == "http://10.0.0.2:8083"
    # It is connected nowhere now: its playback and its captures are where it was last.
    await homes.release(database, other, [device.id])
    finder.forget_all()
    assert (await finder.find(device.id)).node == other
    assert (await finder.find_server(other)).address == "http://10.0.0.2:8083"
    await nodes.leave(database, other)
    finder.forget_all()
    assert await finder.find(device.id) is None
    assert await finder.find_server(other) is None


async def test_without_the_database_homes_are_known_of_devices_that_were_not_asked_for_lately(
    database, monkeypatch
):
    me, other = await join(database, 1), await join(database, 2)
    first, second = [await devices.TABLE.insert(database, Device(unique_id=name)) for name in "de"]
    await homes.claim(database, other, [first.id])
    time = Time()
    finder = HomeFinder(database, me, time)
    assert (await finder.find(first.id)).node == other
    for seconds in (2.0, 4.0, 6.0):
        time.now = seconds
        assert await finder.find(second.id) is None

    async def fail(*_):
        raise StorageUnavailable("no connection")

    monkeypatch.setattr(home_finder.homes, "find_elsewhere", fail)
    for seconds in (8.0, 10.0):
        time.now = seconds
        assert (await finder.find(first.id)).node == other
    # It has moved, and nobody knows where to.
    finder.forget(first.id)
    assert await finder.find(first.id) is None


async def test_the_devices_that_were_looked_up_last_are_kept(database, monkeypatch):
    monkeypatch.setattr(home_finder, "MAX_REMEMBERED", 2)
    me, other = await join(database, 1), await join(database, 2)
    made = [await devices.TABLE.insert(database, Device(unique_id=name)) for name in "def"]
    ids = [each.id for each in made]
    await homes.claim(database, other, ids)
    time = Time()
    finder = HomeFinder(database, me, time)
    for device_id in (ids[0], ids[1], ids[0], ids[2]):
        time.now += 2.0
        assert (await finder.find(device_id)).node == other

    async def fail(*_):
        raise StorageUnavailable("no connection")

    monkeypatch.setattr(home_finder.homes, "find_elsewhere", fail)
    time.now += 10.0
    assert [await finder.find(device_id) is not None for device_id in ids] == [True, False, True]


async def test_without_the_database_homes_stay_as_they_were(database, monkeypatch):
    me, other = await join(database, 1), await join(database, 2)
    device = await devices.TABLE.insert(database, Device(unique_id="d"))
    await homes.claim(database, other, [device.id])
    time = Time()
    finder = HomeFinder(database, me, time)
    assert (await finder.find(device.id)).node == other

    async def fail(*_):
        raise StorageUnavailable("no connection")

    monkeypatch.setattr(home_finder.homes, "find_elsewhere", fail)
    time.now = 10.0
    assert (await finder.find(device.id)).node == other
    # Of those that nobody had asked for this server answers with what it has.
    assert await finder.find(device.id + 1) is None
