"""Actors of other nodes: one message reaches the actor wherever it lives, and follows it."""

from contextlib import AsyncExitStack, asynccontextmanager

import msgspec
import pytest
import trio
from tests.cluster.fake_pipe import FakeNetwork
from tests.runtime.actor_testing import TestClock
from trio.testing import wait_all_tasks_blocked

from motorpool.runtime import (
    Actor,
    ActorFailed,
    Arrived,
    AskTimedOut,
    Busy,
    Carried,
    Deferred,
    DynamicSpec,
    Failure,
    Far,
    Kind,
    Link,
    NodeLocal,
    Request,
    SharedTime,
    SupervisorSpec,
    TaskSpec,
    Whereabouts,
    open_system,
)
from motorpool.runtime import link as link_module


class Where(msgspec.Struct, Request[tuple[int, int]], frozen=True):
    """Which node the actor lives at, and how many messages it has handled."""


class Wait(msgspec.Struct, Request[int], frozen=True):
    """Answered when the test says so."""


class Break(msgspec.Struct, Request[int], frozen=True):
    pass


class Refuse(msgspec.Struct, Request[int], frozen=True):
    pass


class Note(msgspec.Struct, frozen=True):
    number: int


class Attach(msgspec.Struct, Request[int], NodeLocal, frozen=True):
    """As of a connection to this node."""


class Remind(msgspec.Struct, frozen=True):
    """Which only the real actor needs."""


class Trouble(Exception):
    pass


Message = Where | Wait | Break | Refuse | Note | Attach | Remind | Arrived
CARS: Kind[int, Message] = Kind("cars")
CARRIED = Carried(CARS, int, (Where, Wait, Break, Refuse, Note))


class Car(Actor[Message]):
    def __init__(self, key, node):
        self.key = key
        self.node = node
        self.handled = 0

    def may_leave(self):
        return False

    async def start(self):
        await trio.lowlevel.checkpoint()
        self.node.born.append(self.key)

    def handle(self, message):
        if isinstance(message, Arrived):
            return self.handle(message.message)
        self.handled += 1
        match message:
            case Where() | Attach():
                return (self.node.number, self.handled)
            case Wait():
                self.node.waiting.append(Deferred())
                return self.node.waiting[-1]
            case Break():
                raise RuntimeError("broken")
            case Refuse():
                return Failure(Trouble("no"))
            case Note():
                self.node.noted.append(message.number)
                return self.node.hold.wait() if self.node.hold is not None else None


class Rows:
    """Where cars live, for all nodes: as a table of the database."""

    def __init__(self):
        self.rows = {}
        self.read = 0

    def claim(self, key, node):
        _, epoch = self.rows.get(key, (0, 0))
        self.rows[key] = node, epoch + 1


class CarPlacement:
    def __init__(self, rows, node):
        self.rows, self.node = rows, node
        self.cached = {}
        self.responds = True

    def known(self, key):
        return self.cached.get(key)

    async def locate(self, key):
        await trio.lowlevel.checkpoint()
        if key not in self.cached:
            self.rows.read += 1
            node, epoch = self.rows.rows.get(key, (self.node, 0))
            self.cached[key] = Whereabouts(node, epoch, self.responds)
        return self.cached[key]

    def forget(self, key):
        self.cached.pop(key, None)


class CarNode:
    def __init__(self, number, pipe, rows, clock):
        self.number, self.pipe = number, pipe
        self.placement = CarPlacement(rows, number)
        self.link = Link(pipe, number, SharedTime(clock), (CARRIED,), errors={Trouble: str})
        self.born, self.waiting, self.noted = [], [], []
        self.hold = None

    def ref(self, key):
        return self.system.ref(CARS, key)

    def is_far(self, key):
        return isinstance(self.system._group(CARS).cells[key].actor, Far)

    def tree(self, mailbox_size, idle_seconds):
        def here(key):
            return Car(key, self)

        def make(key):
            return Far(
                CARS,
                key,
                self.link,
                self.placement,
                here,
                carried=CARRIED.messages.values(),
                ignored=(Remind,),
            )

        class Serve(Actor):
            async def run(_self):
                await self.link.serve(self.system)

        return SupervisorSpec(
            name="system",
            children=(
                DynamicSpec(
                    kind=CARS,
                    name="cars",
                    factory=make,
                    mailbox_size=mailbox_size,
                    idle_seconds=idle_seconds,
                ),
                TaskSpec(name="link", factory=Serve),
            ),
        )


@asynccontextmanager
async def cars(count=2, mailbox_size=100, idle_seconds=None):
    """Nodes 1 to `count`, and the rows that say where cars live."""
    rows = Rows()
    async with trio.open_nursery() as nursery, AsyncExitStack() as stack:
        network = FakeNetwork(nursery)
        nodes = [CarNode(number + 1, network.pipe(), rows, TestClock()) for number in range(count)]
        for node in nodes:
            node.system = await stack.enter_async_context(
                open_system(node.tree(mailbox_size, idle_seconds), clock=TestClock())
            )
        yield rows, *nodes
        nursery.cancel_scope.cancel()


async def test_who_asks_does_not_know_where_the_actor_lives(autojump_clock):
    async with cars() as (rows, one, two):
        rows.claim(7, 2)
        rows.claim(8, 1)
        assert await one.ref(7).ask(Where()) == (2, 1)
        assert await one.ref(8).ask(Where()) == (1, 1)
        assert await two.ref(7).ask(Where()) == (2, 2)
        assert await two.ref(8).ask(Where()) == (1, 2)
        assert (one.born, two.born) == ([8], [7])
        assert one.is_far(7)
        assert not one.is_far(8)
        # One that nobody has claimed lives where it is asked for.
        assert await one.ref(9).ask(Where()) == (1, 1)


async def test_a_crash_there_is_a_failure_of_the_request_and_of_nothing_else(autojump_clock):
    async with cars() as (rows, one, two):
        rows.claim(7, 2)
        with pytest.raises(ActorFailed):
            await one.ref(7).ask(Break())
        with pytest.raises(Trouble, match="no"):
            await one.ref(7).ask(Refuse())
        await trio.sleep(5)  # its restart
        assert await one.ref(7).ask(Where()) == (2, 2)
        assert two.born == [7, 7]
        assert one.system.snapshot()[0].children[0].children[0].restarts == 0


async def test_several_requests_are_under_way_at_once(autojump_clock):
    async with cars() as (rows, one, two):
        rows.claim(7, 2)
        answers = []

        async def ask():
            answers.append(await one.ref(7).ask(Wait()))

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(ask)
            await trio.sleep(1)
            assert len(two.waiting) == 3
            for number in (2, 0, 1):
                two.waiting[number].answer(number)
        assert sorted(answers) == [0, 1, 2]


async def test_messages_follow_an_actor_that_has_moved(autojump_clock):
    async with cars(3) as (rows, one, two, three):
        rows.claim(7, 2)
        assert await one.ref(7).ask(Where()) == (2, 1)
        # Node 2 has given it up; the others have not heard of it.
        await two.ref(7).stop()
        rows.claim(7, 3)
        two.placement.forget(7)
        assert await one.ref(7).ask(Where()) == (3, 1)
        assert await two.ref(7).ask(Where()) == (3, 2)
        # And to the node of who asks.
        await three.ref(7).stop()
        rows.claim(7, 1)
        three.placement.forget(7)
        assert await one.ref(7).ask(Where()) == (1, 1)
        assert not one.is_far(7)
        assert await two.ref(7).ask(Where()) == (1, 2)
        assert one.born == [7]


async def test_a_node_that_is_told_of_a_later_move_reads_the_rows_again(autojump_clock):
    async with cars() as (rows, one, two):
        rows.claim(7, 1)
        assert await two.ref(7).ask(Where()) == (1, 1)
        await one.ref(7).stop()
        rows.claim(7, 2)
        one.placement.forget(7)
        # Node 2 still has in memory that it is at node 1.
        assert two.is_far(7)
        assert await one.ref(7).ask(Where()) == (2, 1)
        assert not two.is_far(7)


async def test_what_no_node_takes_for_its_own_is_handled_here_after_some_moves(autojump_clock):
    async with cars() as (rows, one, two):
        rows.claim(7, 2)
        two.placement.cached[7] = Whereabouts(3, 1)
        two.placement.forget = lambda _: None  # it will never believe the rows
        assert await one.ref(7).ask(Where()) == (1, 1)
        assert two.born == []


async def test_without_a_connection_the_actor_here_does_what_it_can(autojump_clock):
    async with cars() as (rows, one, _two):
        rows.claim(7, 2)
        assert await one.ref(7).ask(Where()) == (2, 1)
        one.pipe.cut()
        assert await one.ref(7).ask(Where()) == (1, 1)
        assert not one.is_far(7)
        one.pipe.mend()
        # As its actor leaves, the next message finds it where it lives.
        await one.ref(7).stop()
        assert await one.ref(7).ask(Where()) == (2, 2)


async def test_a_node_that_is_gone_or_silent_is_as_good_as_none(autojump_clock):
    async with cars() as (rows, one, _two):
        rows.claim(7, 9)
        assert await one.ref(7).ask(Where()) == (1, 1)
        assert one.link.counts["undelivered"] == 1
        rows.claim(8, 2)
        one.placement.responds = False
        assert await one.ref(8).ask(Where()) == (1, 1)
        assert one.link.counts["sent"] == 1
        rows.claim(9, 9)
        one.placement.responds = True
        await one.ref(9).tell(Note(1))
        await trio.sleep(1)
        assert one.noted == [1]


async def test_a_message_of_a_connection_makes_it_the_real_one(autojump_clock):
    async with cars() as (rows, one, two):
        rows.claim(7, 2)
        assert await one.ref(7).ask(Where()) == (2, 1)
        # What concerns only a real one does not.
        await one.ref(7).tell(Remind())
        assert one.is_far(7)
        assert await one.ref(7).ask(Attach()) == (1, 1)
        assert not one.is_far(7)
        assert await one.ref(7).ask(Where()) == (1, 2)
        assert two.born == [7]


async def test_it_does_not_leave_while_answers_are_due(autojump_clock):
    async with cars(idle_seconds=4) as (rows, one, two):
        rows.claim(7, 2)
        async with trio.open_nursery() as nursery:

            async def ask():
                assert await one.ref(7).ask(Wait(), seconds=60) == 5

            nursery.start_soon(ask)
            await trio.sleep(20)
            assert one.ref(7).alive
            two.waiting[0].answer(5)
        await trio.sleep(20)
        assert not one.ref(7).alive


async def test_who_tells_goes_at_the_pace_of_the_other_node_and_keeps_the_order(autojump_clock, monkeypatch):
    monkeypatch.setattr(link_module, "WINDOW", 4)
    async with cars(mailbox_size=10) as (rows, one, two):
        rows.claim(7, 2)
        sent = []

        async def tell_many():
            for number in range(100):
                await one.ref(7).tell(Note(number))
                sent.append(number)

        async with trio.open_nursery() as nursery:
            one.pipe.max_unsent = 0  # nothing gets through
            nursery.start_soon(tell_many)
            await wait_all_tasks_blocked()
            one.pipe.max_unsent = None
        assert len(sent) == 100
        await trio.sleep(1)
        assert two.noted == list(range(100))


async def test_who_asks_too_much_at_once_is_told(autojump_clock, monkeypatch):
    monkeypatch.setattr(link_module, "WINDOW", 4)
    async with cars() as (rows, one, two):
        rows.claim(7, 2)
        errors = []

        async def ask():
            try:
                await one.ref(7).ask(Wait(), seconds=5)
            except (Busy, AskTimedOut) as error:
                errors.append(type(error))

        async with trio.open_nursery() as nursery:
            for _ in range(6):
                nursery.start_soon(ask)
        assert sorted(errors, key=str) == [AskTimedOut] * 4 + [Busy] * 2
        assert len(two.waiting) == 4
