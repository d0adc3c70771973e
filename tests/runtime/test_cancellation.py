"""Cancel at every await that a caller can be in; afterwards the picture must show nothing left over."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import Probe, open_tree
from trio.testing import MockClock

from motorpool.runtime import Actor, ActorState, DynamicSpec, Kind, Request, Restart, System, TopicName

SLOW: Kind[int, Any] = Kind("slow")
CONNECTION: Kind[int, Any] = Kind("connection")
NEWS: TopicName[int] = TopicName("news")


class Echo(Request[Any]):
    """Answered by itself."""


class Slow(Actor[Any]):
    """Waits at a gate in every stage of its life that the test closes."""

    def __init__(self, gates: dict[str, trio.Event]) -> None:
        self.gates = gates

    async def start(self) -> None:
        await self.gates["start"].wait()

    async def handle(self, message: Any) -> object:
        await self.gates["handle"].wait()
        return message

    async def stop(self) -> None:
        await self.gates["stop"].wait()


class Gates(dict[str, trio.Event]):
    """Open but for those named."""

    def __init__(self, *closed: str) -> None:
        for stage in ("start", "handle", "stop"):
            self[stage] = trio.Event()
            if stage not in closed:
                self[stage].set()

    def open(self) -> None:
        for gate in self.values():
            gate.set()


def spec(gates: Gates, **more: Any) -> DynamicSpec[int, Any]:
    return DynamicSpec(kind=SLOW, name="slow", factory=lambda _: Slow(gates), mailbox_size=1, **more)


async def cancel_while_blocked(work: Callable[[], Awaitable[object]]) -> None:
    """Run `work` until it waits, then cancel it; its own nursery shows that it has ended."""
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(work)
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    assert scope.cancelled_caught, "it did not wait at all"


def picture(system: System) -> ActorState:
    return system.snapshot()[0].children[0]


async def test_a_cancelled_tell_has_sent_nothing() -> None:
    gates = Gates("handle")
    async with open_tree(spec(gates)) as system:
        ref = system.ref(SLOW, 1)
        await ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()
        await ref.tell("waits")
        await cancel_while_blocked(lambda: ref.tell("cancelled"))
        assert ref.statistics().waiting == 0
        gates.open()
        await trio.testing.wait_all_tasks_blocked()
        assert picture(system).handled == 2
        assert picture(system).depth == 0


async def test_an_ask_cancelled_in_line_for_room_is_forgotten() -> None:
    gates = Gates("handle")
    async with open_tree(spec(gates)) as system:
        ref = system.ref(SLOW, 1)
        await ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()
        await ref.tell("waits")
        await cancel_while_blocked(lambda: ref.ask(Echo()))
        assert ref.statistics().waiting == 0
        gates.open()
        await trio.testing.wait_all_tasks_blocked()
        assert picture(system).handled == 2


@pytest.mark.parametrize("stage", ["start", "handle"])
async def test_an_ask_cancelled_while_it_waits_for_its_answer_leaves_the_actor_in_order(stage: str) -> None:
    gates = Gates(stage)
    async with open_tree(spec(gates)) as system:
        ref = system.ref(SLOW, 1)
        await cancel_while_blocked(lambda: ref.ask(Echo()))
        gates.open()
        await trio.testing.wait_all_tasks_blocked()
        assert picture(system).handled == 1
        assert await ref.ask(Echo()) is not None
        assert picture(system).depth == 0


@pytest.mark.parametrize("restart", list(Restart))
async def test_a_cancelled_start_leaves_no_actor(restart: Restart) -> None:
    gates = Gates("start")
    connections = DynamicSpec(kind=CONNECTION, name="connections", restart=restart)
    async with open_tree(connections) as system:
        await cancel_while_blocked(lambda: system.start(CONNECTION, 1, lambda: Slow(gates)))
        await trio.testing.wait_all_tasks_blocked()
        assert system.count(CONNECTION) == 0
        assert picture(system).alive == 0
        await system.start(CONNECTION, 1, Probe)
        assert system.count(CONNECTION) == 1


@pytest.mark.parametrize("stage", ["start", "handle", "stop"])
async def test_a_stop_goes_on_when_its_caller_is_cancelled(stage: str) -> None:
    gates = Gates(stage)
    async with open_tree(spec(gates)) as system:
        ref = system.ref(SLOW, 1)
        await ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()
        await cancel_while_blocked(ref.stop)
        assert not ref.alive
        gates.open()
        await ref.wait_stopped()
        assert system.count(SLOW) == 0
        assert picture(system).handled == 1
        assert system.dead_letters == 0


async def test_a_cancelled_wait_stopped_leaves_the_actor_alone() -> None:
    async with open_tree(spec(Gates())) as system:
        ref = system.ref(SLOW, 1)
        await ref.tell("hello")
        await cancel_while_blocked(ref.wait_stopped)
        assert await ref.ask(Echo()) is not None


async def test_a_cancelled_reader_of_a_topic_leaves_nothing_that_would_be_woken() -> None:
    async with open_tree() as system:
        topic = system.topic(NEWS)
        subscription = topic.subscribe()
        await cancel_while_blocked(subscription.receive_batch)
        topic.publish(1)
        assert await subscription.receive_batch() == [1]


async def test_all_waits_for_an_actor_end_with_the_system(autojump_clock: MockClock) -> None:
    gates = Gates("handle")
    ended: list[str] = []
    async with trio.open_nursery() as nursery, open_tree(spec(gates, shutdown_seconds=1)) as system:
        ref = system.ref(SLOW, 1)
        await ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()

        async def wait(name: str, work: Callable[[], Awaitable[object]]) -> None:
            with pytest.raises(Exception, match="slow/1 has stopped"):
                await work()
            ended.append(name)

        nursery.start_soon(wait, "an ask in the mailbox", lambda: ref.ask(Echo(), seconds=1000))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(wait, "a tell in line", lambda: ref.tell("more"))
        nursery.start_soon(wait, "an ask in line", lambda: ref.ask(Echo(), seconds=1000))
        await trio.testing.wait_all_tasks_blocked()
    assert sorted(ended) == ["a tell in line", "an ask in line", "an ask in the mailbox"]
