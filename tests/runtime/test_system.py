from typing import Any

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import Broken, Probe, Staged, TestClock, WaitingProbe, open_tree
from trio.testing import MockClock

from motorpool.runtime import (
    Actor,
    ActorStopped,
    ChildSpec,
    DynamicSpec,
    Kind,
    SupervisorSpec,
    SystemClock,
    TopicName,
    open_system,
)

A: Kind[None, Any] = Kind("a")
B: Kind[None, Any] = Kind("b")
DEVICE: Kind[int, Any] = Kind("device")
NEWS: TopicName[str] = TopicName("news")


def staged(kind: Kind[None, Any], stations: list[str]) -> ChildSpec[Any]:
    return ChildSpec(kind=kind, factory=lambda: Staged(kind.name, stations))


async def test_an_error_of_the_body_passes_unchanged_after_an_orderly_stop() -> None:
    stations: list[str] = []
    error = Broken("of the body")
    with pytest.raises(Broken) as caught:
        async with open_tree(staged(A, stations), staged(B, stations)):
            raise error
    assert caught.value is error
    assert stations == ["a starts", "b starts", "b stops", "a stops"]


async def test_a_group_that_the_body_raises_passes_as_it_is() -> None:
    group = ExceptionGroup("of the body", [Broken("1"), Broken("2")])
    with pytest.raises(ExceptionGroup) as caught:
        async with open_tree(staged(A, [])):
            raise group
    assert caught.value.message == "of the body"
    assert caught.value.exceptions == group.exceptions


async def test_a_cancelled_body_still_gets_its_orderly_stop() -> None:
    stations: list[str] = []
    with trio.CancelScope() as scope:
        async with open_tree(staged(A, stations), staged(B, stations)) as system:
            await system.ref(A).tell("queued before the end")
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert stations == [
        "a starts",
        "b starts",
        "b stops",
        "a gets queued before the end",
        "a stops",
    ] or stations == [
        "a starts",
        "b starts",
        "a gets queued before the end",
        "b stops",
        "a stops",
    ]


async def test_cancelling_while_the_tree_starts_ends_what_had_started() -> None:
    stations: list[str] = []

    class Endless(Actor[Any]):
        async def start(self) -> None:
            await trio.sleep_forever()

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            async def open_it() -> None:
                async with open_tree(staged(A, stations), ChildSpec(kind=B, factory=Endless)):
                    pytest.fail("the body must not run")

            nursery.start_soon(open_it)
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    assert stations == ["a starts", "a stops"]


async def test_an_error_of_the_body_and_one_of_an_actors_task_come_out_together() -> None:
    async def serve() -> None:
        async with open_tree(ChildSpec(kind=A, factory=WaitingProbe)) as system:
            await system.ref(A).tell(KeyboardInterrupt())
            try:
                await trio.sleep_forever()
            finally:
                raise Broken("of the body")

    with pytest.raises(BaseExceptionGroup) as caught:
        await serve()
    assert caught.value.subgroup(KeyboardInterrupt) is not None
    assert caught.value.subgroup(Broken) is not None


async def test_an_actor_cannot_be_started_before_its_family_or_after_it() -> None:
    outcomes: list[str] = []

    class Eager(Actor[Any]):
        async def start(self) -> None:
            await self.attempt("too early")

        async def stop(self) -> None:
            await self.attempt("too late")

        async def attempt(self, when: str) -> None:
            with pytest.raises(ActorStopped):
                await self.context.system.start(DEVICE, 1, Probe)
            outcomes.append(when)

    devices = DynamicSpec(kind=DEVICE, name="devices")
    async with open_tree(ChildSpec(kind=A, factory=Eager), devices) as system:
        await system.start(DEVICE, 1, Probe)
    assert outcomes == ["too early", "too late"]


async def test_nothing_of_a_system_is_left_when_it_has_closed() -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    async with open_tree(staged(A, []), staged(B, [])) as system:
        await system.ref(A).tell("hello")
        assert trio.lowlevel.current_statistics().tasks_living > before
    assert trio.lowlevel.current_statistics().tasks_living == before


async def test_actors_run_in_the_context_the_system_was_opened_in_and_not_in_their_senders() -> None:
    import contextvars

    who = contextvars.ContextVar("who", default="nobody")
    seen: list[str] = []

    class Curious(Actor[Any]):
        async def handle(self, message: Any) -> None:
            seen.append(who.get())

    who.set("the opener")
    async with open_tree(ChildSpec(kind=A, factory=Curious)) as system:
        who.set("a sender")
        await system.ref(A).tell("hello")
        await trio.testing.wait_all_tasks_blocked()
    assert seen == ["the opener"]


async def test_the_clock_is_injected_and_reaches_every_actor() -> None:
    clock = TestClock()
    seen: list[object] = []

    class Curious(Probe[Any]):
        async def start(self) -> None:
            seen.append(self.context.clock)
            seen.append(self.context.timers)

    async with open_tree(ChildSpec(kind=A, factory=Curious), clock=clock) as system:
        assert seen == [clock, system.timers]
        assert system.clock is clock
    tree = SupervisorSpec(name="test", children=())
    async with open_system(tree) as system:
        assert isinstance(system.clock, SystemClock)


async def test_a_topic_is_made_once_and_closed_with_the_system() -> None:
    received: list[str] = []
    async with trio.open_nursery() as nursery, open_tree() as system:
        assert system.topic(NEWS) is system.topic(NEWS)
        subscription = system.topic(NEWS).subscribe()

        async def read() -> None:
            received.extend([value async for value in subscription])
            received.append("over")

        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        system.topic(NEWS).publish("one")
        await trio.testing.wait_all_tasks_blocked()
    assert received == ["one", "over"]


async def test_timers_of_the_system_call_plain_functions(autojump_clock: MockClock) -> None:
    called: list[float] = []
    async with open_tree() as system:
        begin = trio.current_time()
        system.timers.after(3600, lambda: called.append(trio.current_time() - begin))
        await trio.sleep(4000)
    assert called == [3600]


async def test_a_system_that_is_cancelled_before_it_opens_starts_nothing_and_ends() -> None:
    stations: list[str] = []
    with trio.CancelScope() as scope:
        scope.cancel()
        async with open_tree(staged(A, stations)):
            raise AssertionError
    assert scope.cancelled_caught
    assert stations in ([], ["a starts", "a stops"])
