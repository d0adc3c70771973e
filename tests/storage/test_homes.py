"""Which server a device is connected to: the last claim counts, and only of servers that live."""

import trio

from motorpool.storage import devices, homes, nodes
from motorpool.storage.records import Device


async def make(database, count=1):
    return [(await devices.TABLE.insert(database, Device(unique_id=f"d{n}"))).id for n in range(count)]


async def join(database):
    async with database.session() as session:
        return await nodes.join(session, "north", "a server of tests", "0")


async def test_the_last_claim_counts_and_says_who_had_the_device(database):
    one, two = await join(database), await join(database)
    (van,) = await make(database)
    assert await homes.claim(database, one, [van, 999]) == []
    assert await homes.claim(database, one, [van]) == []
    assert await homes.connected_elsewhere(database, two, [van]) == {van}
    assert await homes.connected_elsewhere(database, one, [van]) == frozenset()
    assert await homes.claim(database, two, [van]) == [van]
    # Who lost it gives up nothing of the other's.
    await homes.release(database, one, [van])
    assert await homes.connected_elsewhere(database, one, [van]) == {van}
    await homes.release(database, two, [van])
    assert await homes.connected_elsewhere(database, one, [van]) == frozenset()
    assert await homes.claim(database, one, [van]) == []


async def test_what_a_dead_server_had_is_connected_nowhere(database):
    one, two = await join(database), await join(database)
    (van,) = await make(database)
    await homes.claim(database, one, [van])
    await nodes.leave(database, one)
    assert await homes.connected_elsewhere(database, two, [van]) == frozenset()
    assert await homes.claim(database, two, [van]) == []


async def test_a_dead_server_takes_no_device_from_one_that_lives(database):
    dead, living = await join(database), await join(database)
    (van,) = await make(database)
    await homes.claim(database, living, [van])
    await nodes.leave(database, dead)
    assert await homes.claim(database, dead, [van]) == []
    await homes.release(database, dead, [van])
    assert await homes.connected_elsewhere(database, dead, [van]) == {van}


async def test_parallel_claims_count_each_connection_and_miss_no_former_server(database):
    servers = [await join(database) for _ in range(3)]
    vans = await make(database, 20)
    taken = []

    async def claim(server, order):
        for _ in range(10):
            taken.extend(await homes.claim(database, server, order))

    async with trio.open_nursery() as nursery:
        for number, server in enumerate(servers):
            nursery.start_soon(claim, server, vans if number % 2 else vans[::-1])
    rows = await database.fetch("select device_id, epoch from homes")
    assert {row[0]: row[1] for row in rows} == dict.fromkeys(vans, 30)
    # Claimed again and again by one server in a row, or by another one each time.
    assert 2 * len(vans) <= len(taken) <= 29 * len(vans)
