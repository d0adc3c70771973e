"""Two servers on one database: each duty is done by one of them, whatever becomes of the other."""

import copy
import itertools
import random
from contextlib import AsyncExitStack

import pytest
import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.cluster import duties as module
from motorpool.actors.cluster.duties import Duties
from motorpool.actors.messages.changes import ApplyChanges, DutyReleased, ServerEnded
from motorpool.actors.messages.conditions import NO_DUTIES
from motorpool.runtime import Actor, Kind
from motorpool.storage.cluster import membership
from motorpool.storage.database import nodes
from motorpool.storage.errors import StorageError

EDGES = "create table if not exists edges (number bigint, node bigint)"


class FreezableDatabase:
    """The database as one server sees it; while it is frozen, no call begins."""

    def __init__(self, database):
        self.thawed = trio.Event()
        self.thawed.set()
        self.database = copy.copy(database)
        self.database._take = self._take
        self._inner = database

    async def _take(self):
        await self.thawed.wait()
        return await self._inner._take()


class Ticks(Actor):
    """Decides by what it reads that an edge has been reached, and stores it: the rows keep nothing apart."""

    kind = Kind("ticks")

    def __init__(self, database, server):
        self.database, self.server = database, server

    async def start(self):
        self.server.lives += 1

    def handle(self, message):
        if isinstance(message, ApplyChanges):
            self.server.messages.append(message)
            return
        raise RuntimeError(message)

    async def run(self):
        while True:
            try:
                async with self.database.transaction() as transaction:
                    last = await transaction.fetch_value("select max(number) from edges") or 0
                    await transaction.execute("insert into edges values ($1, $2)", last + 1, self.server.node)
                self.server.commits += 1
            except StorageError as error:
                self.server.errors.append(error)
            await trio.sleep(self.server.seconds)

    async def stop(self):
        self.server.stops += 1


class Server:
    """One of the cluster: a keeper, and an actor that only the holder runs."""

    def __init__(self, database, node, seconds=10.0, *, is_holder=True):
        self.node, self.seconds = node, seconds
        self.own = FreezableDatabase(database)
        self.leaving = trio.Event()
        self.duties = Duties(self.own.database, node, self.leaving, is_holder=is_holder)
        self.lives = self.stops = self.commits = 0
        self.messages, self.errors = [], []
        self.system = None

    @property
    def specs(self):
        only = self.duties.only("ticks", lambda database: Ticks(database, self), Ticks.kind)
        return (*self.duties.keeper_specs(), only)

    def freeze(self):
        self.own.thawed = trio.Event()

    def thaw(self):
        self.own.thawed.set()


@pytest.fixture
async def start(database, tree):
    """`async with start() as server:` another server."""
    await database.execute(EDGES)
    try:
        yield lambda **settings: _Starting(database, tree, settings)
    finally:
        await database.execute("drop table edges")


class _Starting:
    def __init__(self, database, tree, settings):
        self.database, self.tree, self.settings = database, tree, settings

    async def __aenter__(self):
        roles = ["duties"] if self.settings.get("is_holder", True) else ["api", "devices"]
        node = await self.database.fetch_value(
            "insert into nodes (cluster, host, release, roles, state, started, seen_until)"
            " values ('north', 'here', '0', $1, 'live', now(), now() + interval '1 day') returning id",
            roles,
        )
        server = Server(self.database, node, **self.settings)
        self.running = self.tree(*server.specs)
        server.system = await self.running.__aenter__()
        return server

    async def __aexit__(self, *raised):
        return await self.running.__aexit__(*raised)


async def edges(database):
    rows = await database.fetch("select number, node from edges order by ctid")
    return [tuple(row.values()) for row in rows]


async def test_one_of_two_runs_the_actor_and_messages_reach_only_that(database, start, time):
    async with start() as first:
        await time.settle()
        async with start() as second:
            await time.passes(30, step=1)
            assert (first.lives, second.lives) == (1, 0)
            assert {node for _, node in await edges(database)} == {first.node}
            for server in (first, second):
                await server.system.ref(Ticks.kind).ask(ApplyChanges(()), seconds=30)
            assert (len(first.messages), len(second.messages)) == (1, 0)


async def test_a_server_that_ends_leaves_its_duties_to_the_others(database, start, time):
    async with start() as second:
        await time.settle()
        async with start() as first:
            await time.settle()
            # Asked to end in order, without the rest of its system.
            with trio.fail_after(60):
                await second.system.ref(Ticks.kind).stop()
            assert (second.stops, first.lives) == (1, 0)
            # As the change feed brings it; without that the next look finds it.
            await publish_changes(first.system, DutyReleased("ticks"))
            await time.settle()
            assert first.lives == 1
            # It is not taken again by the one that ends.
            await time.passes(5, step=1)
            assert (await database.fetch_value("select node from duties"), second.lives) == (first.node, 1)


async def test_a_server_that_leaves_does_its_duties_no_more_while_it_goes_on(database, start, time, caplog):
    async with start() as first:
        await time.settle()
        async with start() as second:
            await time.settle()
            first.leaving.set()
            await time.settle()
            assert (first.stops, first.lives) == (1, 1)
            await time.passes(module.LOOK_SECONDS)
            assert second.lives == 1
            second.leaving.set()
            # Nobody is left who takes it.
            await time.passes(5, step=1)
            assert (first.lives, second.lives, second.stops) == (1, 1, 1)
            assert await database.fetch_value("select node from duties") is None
            # Messages are ignored, and it is no crash.
            await first.system.ref(Ticks.kind).ask(ApplyChanges(()), seconds=30)
            assert first.messages == []
            assert "restarted" not in caplog.text


async def test_the_duties_of_a_server_that_is_said_to_be_dead_are_taken_at_once(database, start, time):
    async with start() as first:
        await time.settle()
        async with start() as second:
            await time.settle()
            await time.passes(module.LOOK_SECONDS)
            first.freeze()
            first.duties.look = trio.sleep_forever
            await nodes.note_end(database, first.node)
            await publish_changes(second.system, ServerEnded(first.node))
            await time.settle()
            assert second.lives == 1
            first.thaw()


async def test_the_duties_of_a_dead_server_are_taken_and_what_it_decides_later_is_not_committed(
    database, start, time
):
    async with start() as first:
        await time.settle()
        async with start() as second:
            await time.passes(20, step=10)
            first.freeze()
            # The keeper is the last to wake.
            first.duties.look = trio.sleep_forever
            before = await edges(database)
            await time.passes(5, step=1)
            assert second.lives == 0
            await nodes.leave(database, first.node)
            await time.passes(module.LOOK_SECONDS)
            assert second.lives == 1
            await time.passes(20, step=10)
            first.thaw()
            await time.passes(20, step=10)
            found = await edges(database)
    assert [number for number, _ in found] == list(range(1, len(found) + 1))
    assert {node for _, node in found[: len(before)]} == {first.node}
    assert {node for _, node in found[len(before) :]} == {second.node}
    # It learned of it by the fence, without which its edge would be there, and ended without an orderly end.
    assert first.commits == len([node for _, node in found if node == first.node])
    assert (first.duties.duty("ticks").holding, first.stops) == (None, 0)


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_servers_die_freeze_and_wake_each_edge_is_stored_once_and_in_order_of_holders(
    database, start, time, seed
):
    choose = random.Random(seed)
    async with AsyncExitStack() as running:
        living, frozen = [], []
        for _ in range(25):
            if len(living) < 3:
                living.append(await running.enter_async_context(start(seconds=0.3)))
            action = choose.choice(("pass", "die", "wake"))
            if action == "die" and len(living) > 1:
                # The holder more often than another.
                server = next((each for each in living if each.duties.duty("ticks").holding), living[0])
                living.remove(server)
                server.freeze()
                if choose.random() < 0.5:
                    server.duties.look = trio.sleep_forever
                await nodes.leave(database, server.node)
                frozen.append(server)
            elif action == "wake" and frozen:
                frozen.pop(choose.randrange(len(frozen))).thaw()
            await time.passes(choose.uniform(0.2, 3), step=0.3)
        for server in frozen:
            server.thaw()
        await time.passes(2, step=0.5)
        found = await edges(database)
    assert [number for number, _ in found] == list(range(1, len(found) + 1))
    holders = [node for node, _ in itertools.groupby(node for _, node in found)]
    assert len(holders) == len(set(holders)) > 2


async def test_an_actor_that_crashes_goes_on_where_the_duty_is(database, start, time):
    async with start() as first:
        await time.settle()
        async with start() as second:
            await first.system.ref(Ticks.kind).tell("break")
            await time.passes(5, step=0.5)
            assert (first.lives, second.lives) == (2, 0)
            assert first.duties.duty("ticks").holding.epoch == 1


async def test_a_database_that_does_not_answer_costs_no_duty(database, start, time, outage):
    async with start() as first:
        await time.settle()
        async with start() as second:
            with outage():
                await time.passes(5, step=1)
            await time.passes(25, step=5)
            assert (first.lives, second.lives) == (1, 0)
            assert first.duties.duty("ticks").holding.epoch == 1


async def test_a_server_without_the_role_takes_none_and_says_if_nobody_does(database, start, time):
    async with start(is_holder=False) as first:
        await time.passes(3, step=1)
        assert first.lives == 0
        assert first.system.conditions.find(NO_DUTIES) is not None
        async with start() as second:
            await time.passes(3, step=1)
            assert (first.lives, second.lives) == (0, 1)
            assert second.system.conditions.find(NO_DUTIES) is None
            assert first.system.conditions.find(NO_DUTIES) is None
            # One that is dead is none.
            await nodes.leave(database, second.node)
            await time.passes(3, step=1)
            assert first.lives == 0
            assert first.system.conditions.find(NO_DUTIES) is not None


async def test_a_server_that_is_alone_has_no_duties(database):
    duties = Duties(database, None)
    assert duties.keeper_specs() == ()
    assert duties.duty("ticks") is None
    actor = Actor()
    given = []
    spec = duties.only("ticks", lambda held: given.append(held) or actor, Ticks.kind)
    assert spec.kind is Ticks.kind
    assert spec.factory() is actor
    assert given == [database]


def test_a_duty_is_taken_over_within_twelve_seconds_of_the_last_renewal():
    noticed = nodes.LIFE_SECONDS + membership.RENEW_SECONDS
    assert noticed + module.LOOK_SECONDS <= 10, "two seconds are for a busy machine"
