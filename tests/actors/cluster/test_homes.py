"""Where each device is connected, of two servers on one database: the rows follow the connections."""

from contextlib import asynccontextmanager

import pytest
from tests.runtime.actor_testing import Probe

from motorpool.actors.change_feed import apply_changes
from motorpool.actors.cluster.homes import Homes
from motorpool.actors.messages.changes import LOCAL_CHANGES, DeviceMoved, EverythingChanged
from motorpool.actors.messages.homes import HOMES, DeviceConnected, DeviceDisconnected
from motorpool.actors.messages.live_stream import STREAM, MoveStream
from motorpool.actors.messages.uplink import DEVICE, ConnectedElsewhere
from motorpool.runtime import ChildSpec, DynamicSpec
from motorpool.storage.cluster import homes
from motorpool.storage.database import nodes
from motorpool.storage.video import stream_marks


class Server:
    """One of the cluster, whose devices record; other servers learn of its announcements by the test."""

    def __init__(self, database, node):
        self.node = node
        self.devices = {}
        self.announced = []
        self.system = None
        self.streams = {}
        self.specs = (
            ChildSpec(kind=HOMES, factory=lambda: Homes(database, node, moves_streams=True)),
            DynamicSpec(
                kind=STREAM, name="streams", factory=lambda key: self.streams.setdefault(key, Probe())
            ),
            DynamicSpec(
                kind=DEVICE, name="devices", factory=lambda number: self.devices.setdefault(number, Probe())
            ),
        )

    async def connects(self, device_id):
        await self.system.ref(DEVICE, device_id).tell("begin")
        await self.system.ref(HOMES).tell(DeviceConnected(device_id))

    async def disconnects(self, device_id):
        await self.system.ref(HOMES).tell(DeviceDisconnected(device_id))

    def closed(self, device_id):
        return ConnectedElsewhere() in self.devices[device_id].messages


@pytest.fixture
def start(database, tree):
    """`async with start() as server:` another server."""

    @asynccontextmanager
    async def starting():
        async with database.session() as session:
            node = await nodes.join(session, "north", "a server of tests", "0")
        await database.execute("update nodes set seen_until = now() + interval '1 day' where id = $1", node)
        server = Server(database, node)
        async with tree(*server.specs) as system:
            server.system = system
            listener = system.topic(LOCAL_CHANGES).listen(server.announced.extend)
            yield server
            listener.cancel()

    return starting


@pytest.fixture
def home_of(database):
    async def home(row):
        return await database.fetch_value("select node from homes where device_id = $1", row.id)

    return home


async def test_a_device_that_connects_to_another_server_loses_its_connection_to_the_first(
    start, make_device, home_of, time
):
    van = await make_device()
    async with start() as one, start() as two:
        await one.connects(van.id)
        await time.settle()
        assert (await home_of(van), one.announced) == (one.node, [])
        await two.connects(van.id)
        await time.settle()
        assert (await home_of(van), two.announced) == (two.node, [DeviceMoved(van.id)])
        await apply_changes(one.system, *two.announced)
        await time.settle()
        assert (one.closed(van.id), two.closed(van.id)) == (True, False)
        await one.disconnects(van.id)
        await time.settle()
        assert await home_of(van) == two.node


async def test_a_stale_login_of_a_server_that_was_frozen_does_not_leave_the_device_without_a_home(
    start, make_device, home_of, time
):
    van = await make_device()
    async with start() as frozen, start() as keeper:
        await keeper.connects(van.id)
        await time.settle()
        # It wakes, reads a login that the device has given up, and then the end of that connection.
        await frozen.connects(van.id)
        await time.settle()
        await frozen.disconnects(van.id)
        await time.settle()
        assert await home_of(van) is None
        await apply_changes(keeper.system, *frozen.announced)
        await time.settle()
        assert await home_of(van) == keeper.node
        assert not keeper.closed(van.id)


@pytest.mark.parametrize("is_released", [False, True])
async def test_what_a_server_that_died_did_not_announce_is_set_right(
    database, start, make_device, home_of, time, is_released
):
    van, bus = await make_device("1"), await make_device("2")
    async with start() as keeper:
        await keeper.connects(van.id)
        await time.settle()
        async with database.session() as session:
            killed = await nodes.join(session, "north", "a server of tests", "0")
        assert await homes.claim(database, killed, [van.id, bus.id]) == [van.id]
        if is_released:
            await homes.release(database, killed, [van.id])
        await nodes.leave(database, killed)
        # As the relay says at each death.
        await apply_changes(keeper.system, EverythingChanged())
        await time.settle()
        assert (await home_of(van), await home_of(bus)) == (keeper.node, killed)
        assert not keeper.closed(van.id)


async def test_a_server_that_may_have_missed_an_announcement_closes_what_has_moved(
    start, make_device, home_of, time
):
    van = await make_device()
    async with start() as one, start() as two:
        await one.connects(van.id)
        await time.settle()
        await two.connects(van.id)
        await time.settle()
        await apply_changes(one.system, EverythingChanged())
        await time.settle()
        assert (one.closed(van.id), await home_of(van)) == (True, two.node)


async def test_a_device_that_has_gone_is_not_claimed_again(start, make_device, home_of, time):
    van = await make_device()
    async with start() as one, start() as two:
        await one.connects(van.id)
        await one.disconnects(van.id)
        await time.settle()
        await two.connects(van.id)
        await two.disconnects(van.id)
        await time.settle()
        await apply_changes(one.system, DeviceMoved(van.id), EverythingChanged())
        await time.settle()
        assert await home_of(van) is None


async def test_what_moved_during_an_outage_is_set_right_after_it(start, make_device, home_of, time, outage):
    van = await make_device()
    async with start() as frozen, start() as keeper:
        await keeper.connects(van.id)
        await time.settle()
        await frozen.connects(van.id)
        await time.settle()
        await frozen.disconnects(van.id)
        await time.settle()
        with outage():
            await apply_changes(keeper.system, *frozen.announced)
            await time.passes(2, step=1)
        await time.passes(60, step=5)
        assert await home_of(van) == keeper.node


async def test_live_streams_of_another_server_move_to_the_one_that_the_device_connects_to(
    start, make_device, time, database
):
    van, bus = await make_device("van"), await make_device("bus")
    async with start() as one, start() as two:
        for row, channel in ((van, 1), (van, 3), (bus, 1)):
            await stream_marks.reserve(database, row.id, channel, "live", 100)
            await stream_marks.note_server(database, row.id, channel, (100,), one.node)
        # Nothing is left of this one.
        await stream_marks.forget_server(database, van.id, 3, one.node)
        await one.connects(van.id)
        await time.settle()
        assert one.streams == {}
        await two.connects(van.id)
        await time.settle()
        assert {key: probe.messages for key, probe in two.streams.items()} == {(van.id, 1): [MoveStream()]}
        await nodes.leave(database, one.node)
        await two.connects(bus.id)
        await time.settle()
        assert list(two.streams) == [(van.id, 1)]
