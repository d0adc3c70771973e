"""Scheduled commands at two servers of one database: every edge and every step once, whichever is lost."""

from contextlib import asynccontextmanager

import pytest
import trio
from tests.actors.cluster.test_duties import FreezableDatabase
from tests.actors.schedules.test_scheduling import Terminal, World

from motorpool.actors.cluster.duties import LOOK_SECONDS, Duties
from motorpool.actors.messages.scheduling import DISPATCHER, TIMETABLE, RunNow
from motorpool.actors.messages.uplink import DEVICE
from motorpool.actors.tree import schedule_spec
from motorpool.runtime import DynamicSpec
from motorpool.storage.database import nodes


class Server:
    """Scheduled commands at one server; devices are connected to both."""

    def __init__(self, database, node):
        self.node = node
        self.own = FreezableDatabase(database)
        self.duties = Duties(self.own.database, node)
        self.system = None

    @property
    def holds(self):
        return self.duties.duty("schedule").holding is not None

    def freeze(self):
        self.own.thawed = trio.Event()


@pytest.fixture
async def world(database, clock):
    made = World(database, clock)
    await made.build()
    return made


@pytest.fixture
def start(database, tree, world, time):
    """`async with start() as server:` another server."""

    @asynccontextmanager
    async def run():
        node = await database.fetch_value(
            "insert into nodes (cluster, host, release, state, started, seen_until)"
            " values ('north', 'here', '0', 'live', now(), now() + interval '1 day') returning id"
        )
        server = Server(database, node)
        spec = DynamicSpec(kind=DEVICE, name="devices", factory=lambda number: Terminal(number, world))
        schedule = schedule_spec(server.own.database, node=node, duties=server.duties)
        async with tree(*server.duties.keeper_specs(), spec, schedule) as server.system:
            await time.settle()
            yield server

    return run


async def test_each_edge_fires_once_and_at_the_holder(world, start, time):
    number = await world.schedule((10, 20), start=[world.stop, (world.go, 30)], end=[world.go])
    async with start() as first, start() as second:
        assert (first.holds, second.holds) == (True, False)
        await time.passes(1300, step=10)
    assert [sent[0] for sent in world.sent] == [600, 630, 1200]
    senders = await world.database.fetch("select distinct sent_by from scheduled_command_runs")
    assert [row[0] for row in senders] == [first.node]
    assert [row[3] for row in await world.history(number)] == ["sent"] * 3


async def test_edges_and_delayed_steps_of_a_dead_holder_are_those_of_the_next(world, start, time):
    number = await world.schedule(
        (10, 20), (30, 40), start=[world.stop, (world.go, 30), (world.stop, 300)], end=[world.go]
    )
    async with start() as first, start() as second:
        await time.passes(600)
        # One step is sent; the second falls due while no server has the duty.
        first.freeze()
        await time.passes(35)
        await nodes.leave(world.database, first.node)
        await time.passes(LOOK_SECONDS)
        assert second.holds
        assert [sent[0] for sent in world.sent] == [600, 636]
        # The frozen one wakes between the death and its learning of it, when the next step is due.
        first.duties.look = trio.sleep_forever
        await time.passes(299, step=1)
        first.own.thawed.set()
        await time.passes(2000, step=10)
    # Three steps at the begin of each window, one at its end.
    assert len(world.sent) == 8
    assert [row[3] for row in await world.history(number)] == ["sent"] * 8


async def test_an_edge_while_no_server_has_the_duty_fires_late_and_once(world, start, time):
    number = await world.schedule((10, 20), start=[world.stop], end=[world.go])
    async with start() as first, start() as second:
        await time.passes(590)
        first.freeze()
        await time.passes(11)
        assert world.sent == []
        await nodes.leave(world.database, first.node)
        await time.passes(LOOK_SECONDS)
        assert second.holds
        assert [sent[0] for sent in world.sent] == [602]
        first.duties.look = trio.sleep_forever
        first.own.thawed.set()
        await time.passes(1000, step=10)
    assert [row[2:] for row in await world.history(number)] == [("stop", "sent"), ("go", "sent")]


async def test_a_run_by_hand_works_at_the_server_without_the_duty(world, start, time):
    number = await world.schedule((10, 20), start=[world.stop, (world.go, 60)])
    async with start() as first, start() as second:
        assert (first.holds, second.holds) == (True, False)
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def run():
                made = await second.system.ref(DISPATCHER).ask(RunNow(number), seconds=30)
                assert [each.status for each in made] == ["sent", "pending"]

        await time.passes(90, step=10)
        assert [sent[0] for sent in world.sent] == [0, 60]
        await time.passes(600, step=10)
    assert [sent[0] for sent in world.sent] == [0, 60, 600, 660]


async def test_a_server_that_ends_hands_the_schedule_over_at_once(world, start, time):
    await world.schedule((10, 20), start=[world.stop, (world.go, 60)], end=[world.go])
    async with start() as second, start() as first:
        await time.passes(600)
        with trio.fail_after(60):
            await second.system.ref(TIMETABLE).stop()
            await second.system.ref(DISPATCHER).stop()
        await time.passes(LOOK_SECONDS)
        assert first.holds
        await time.passes(10 - LOOK_SECONDS)
        await time.passes(1000, step=10)
    assert [sent[0] for sent in world.sent] == [600, 660, 1200]
