"""Which server a device is connected to: the last claim counts, and only of servers that live."""

import trio

from motorpool.storage.cluster import homes
from motorpool.storage.database import nodes
from motorpool.storage.devices import devices
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


async def silence(database, node):
    """Let a server look as if it had not renewed its row for long."""
    await database.execute(
        "update nodes set seen_until = clock_timestamp() - interval '1 second' where id = $1", node
    )


async def test_a_claim_that_meets_a_burial_waits_for_it_and_is_refused(database, meanwhile):
    living, frozen = await join(database), await join(database)
    (van,) = await make(database)
    await homes.claim(database, living, [van])
    await silence(database, frozen)
    found = []

    async def claim():
        found.extend(await homes.claim(database, frozen, [van]))

    async with meanwhile(claim) as transaction:
        assert await nodes.declare_dead(transaction, living) == [frozen]
    assert found == []
    assert await homes.connected_elsewhere(database, frozen, [van]) == {van}


async def test_a_burial_that_meets_a_claim_waits_for_it(database, meanwhile):
    frozen, living = await join(database), await join(database)
    (van,) = await make(database)
    await silence(database, frozen)
    seen = []

    async def declare_dead():
        seen.append(await nodes.declare_dead(database, living))
        # What the server decided while it lived is there before it is dead.
        seen.append(await database.fetch_value("select node from homes where device_id = $1", van))

    async with meanwhile(declare_dead) as transaction:
        await homes.claim(transaction, frozen, [van])
    assert seen == [[frozen], frozen]


async def test_only_rows_that_no_live_server_has_are_claimed_again(database):
    one, two, dead = [await join(database) for _ in range(3)]
    lost, kept, left, taken = await make(database, 4)
    await homes.claim(database, dead, [lost])
    await homes.claim(database, one, [kept, left])
    await homes.release(database, one, [left])
    await homes.claim(database, two, [taken])
    await nodes.leave(database, dead)
    devices = [taken, left, kept, lost]
    assert await homes.claim_free(database, one, devices, devices) == {taken}
    rows = await database.fetch("select device_id, node, former, epoch from homes")
    assert {tuple(row.values()) for row in rows} == {
        (lost, one, dead, 2),
        (kept, one, None, 1),
        (left, one, None, 2),
        (taken, two, None, 1),
    }
    await homes.claim_free(database, dead, [left], [left])
    assert await homes.connected_elsewhere(database, two, [left]) == {left}


async def test_a_server_that_claims_at_the_same_time_keeps_its_device(database, meanwhile):
    one, two = await join(database), await join(database)
    (van,) = await make(database)
    await homes.claim(database, one, [van])
    await homes.release(database, one, [van])
    async with meanwhile(lambda: homes.claim_free(database, one, [van], [van])) as transaction:
        await homes.claim(transaction, two, [van])
    assert await homes.connected_elsewhere(database, one, [van]) == {van}
