import logging
from itertools import pairwise
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runtime.actor_testing import (
    STEADY,
    Broken,
    FailsInInit,
    FailsInRun,
    FailsInStart,
    Probe,
    Staged,
    open_tree,
)
from trio.testing import MockClock

from motorpool.runtime import (
    Actor,
    ActorFailed,
    ActorStopped,
    AlreadyStarted,
    ChildSpec,
    DynamicSpec,
    Kind,
    Request,
    Restart,
    Strategy,
)
from motorpool.runtime.clock import SystemClock
from motorpool.runtime.dynamic import SLICE, TICK_SLICE

DEVICE: Kind[Any, Any] = Kind("device")
WRITER: Kind[None, Any] = Kind("writer")


class Echo(Request[Any]):
    """Answered by any actor."""


class Children:
    """A factory that remembers what it built, by key."""

    def __init__(self, make: Any = Probe) -> None:
        self.make = make
        self.built: dict[Any, list[Any]] = {}

    def __call__(self, key: Any) -> Actor[Any]:
        actor = self.make()
        self.built.setdefault(key, []).append(actor)
        return actor


def devices(factory: Any, **more: Any) -> DynamicSpec[Any, Any]:
    return DynamicSpec(kind=DEVICE, name="devices", factory=factory, back_off=STEADY, **more)


async def test_the_first_message_makes_the_actor_and_later_ones_find_it() -> None:
    children = Children()
    async with open_tree(devices(children)) as system:
        await system.ref(DEVICE, 1).tell("a")
        await system.ref(DEVICE, 2).tell("b")
        await system.ref(DEVICE, 1).tell("c")
        assert {key: [each.messages for each in built] for key, built in children.built.items()} == {
            1: [["a", "c"]],
            2: [["b"]],
        }
        assert sorted(system.keys(DEVICE)) == [1, 2]
        assert system.count(DEVICE) == 2
        assert system.ref(DEVICE, 1).alive


async def test_idle_actors_have_no_task() -> None:
    async with open_tree(devices(lambda _: Probe())) as system:
        before = trio.lowlevel.current_statistics().tasks_living
        for key in range(1000):
            await system.ref(DEVICE, key).tell("hello")
        assert trio.lowlevel.current_statistics().tasks_living == before


async def test_messages_wait_while_start_loads_what_is_to_be_known() -> None:
    gate = trio.Event()

    class Loading(Probe[Any]):
        async def start(self) -> None:
            await gate.wait()

    children = Children(Loading)
    async with open_tree(devices(children)) as system:
        ref = system.ref(DEVICE, 1)
        await ref.tell("early")
        await trio.testing.wait_all_tasks_blocked()
        assert ref.alive
        assert children.built[1][0].messages == []
        gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert children.built[1][0].messages == ["early"]


async def test_an_actor_without_messages_leaves_and_comes_back_with_the_next(
    autojump_clock: MockClock,
) -> None:
    children = Children()
    async with open_tree(devices(children, idle_seconds=100)) as system:
        ref = system.ref(DEVICE, 1)
        for _ in range(5):
            await ref.tell("keeps it here")
            await trio.sleep(99)
        assert len(children.built[1]) == 1
        await trio.sleep(1 + 25 + 1)
        assert system.count(DEVICE) == 0
        assert children.built[1][0].stops == 1
        assert not ref.alive
        await ref.tell("again")
        assert len(children.built[1]) == 2
        assert system.totals()[0].handled == 6


async def test_its_own_timers_do_not_keep_an_actor_from_leaving(autojump_clock: MockClock) -> None:
    class Ticking(Probe[Any]):
        async def start(self) -> None:
            self.context.every(1, "tick")

    async with open_tree(devices(Children(Ticking), idle_seconds=100)) as system:
        await system.ref(DEVICE, 1).tell("hello")
        await trio.sleep(99)
        assert system.count(DEVICE) == 1
        await trio.sleep(30)
        assert system.count(DEVICE) == 0


async def test_ticks_come_to_all_in_time_and_keep_nobody_from_leaving(autojump_clock: MockClock) -> None:
    count = 3 * TICK_SLICE + 1
    children = Children()
    spec = devices(children, tick="tick", tick_seconds=10, idle_seconds=100)
    async with open_tree(spec) as system:
        for key in range(count):
            await system.ref(DEVICE, key).tell("hello")
        await trio.sleep(19.5)
        await system.ref(DEVICE, "late").tell("hello")
        assert [children.built[key][0].messages for key in range(count)] == [["hello", "tick"]] * count
        await trio.sleep(10)
        assert children.built["late"][0].messages == ["hello", "tick"]
        await trio.sleep(200)
        assert system.count(DEVICE) == 0
        await trio.sleep(100)
        assert system.count(DEVICE) == 0


async def test_a_tick_waits_for_a_handler_and_is_left_out_where_an_actor_cannot_take_it(
    autojump_clock: MockClock,
) -> None:
    taken: dict[Any, list[str]] = {"works": [], "full": [], "starts": [], "ends": []}

    class Slow(Actor[Any]):
        async def start(self) -> None:
            if self.context.key == "starts":
                await trio.sleep(4)

        async def handle(self, message: str) -> None:
            taken[self.context.key].append(message)
            if message == "long":
                await trio.sleep(4)

        async def stop(self) -> None:
            await trio.sleep(4)

    async with open_tree(devices(lambda _: Slow(), tick="tick", tick_seconds=10, mailbox_size=1)) as system:
        await trio.sleep(8)
        for key, messages in {"works": ["long"], "full": ["long", "next"], "starts": ["next"]}.items():
            for message in messages:
                await system.ref(DEVICE, key).tell(message)
        await system.ref(DEVICE, "ends").tell("hello")
        await system.ref(DEVICE, "ends").stop()
        assert trio.current_time() == pytest.approx(12)
        await trio.sleep(1)
    assert taken == {
        "works": ["long", "tick"],
        "full": ["long", "next"],
        "starts": ["next"],
        "ends": ["hello"],
    }


async def test_nobody_is_told_a_tick_while_the_group_is_down(autojump_clock: MockClock) -> None:
    children = Children()
    writer = ChildSpec(kind=WRITER, factory=Probe)
    spec = devices(children, tick="tick", tick_seconds=10)
    async with open_tree(writer, spec, strategy=Strategy.REST_FOR_ONE) as system:
        await system.ref(DEVICE, 1).tell("hello")
        await system.ref(WRITER).tell(Broken("once"))
        await trio.sleep(5)
        await system.ref(DEVICE, 1).tell("hello")
        await trio.sleep(30)
        assert [each.messages for each in children.built[1]] == [["hello"], ["hello", *["tick"] * 3]]


async def test_an_actor_may_refuse_to_leave(autojump_clock: MockClock) -> None:
    class Needed(Probe[Any]):
        needed = True

        def may_leave(self) -> bool:
            return not self.needed

    async with open_tree(devices(Children(Needed), idle_seconds=10)) as system:
        await system.ref(DEVICE, 1).tell("hello")
        await trio.sleep(1000)
        assert system.count(DEVICE) == 1
        Needed.needed = False
        await trio.sleep(30)
        assert system.count(DEVICE) == 0


async def test_an_actor_with_a_body_is_never_idle(autojump_clock: MockClock) -> None:
    class Reading(Probe[Any]):
        async def run(self) -> None:
            await trio.sleep(1000)

    async with open_tree(devices(Children(Reading), idle_seconds=10)) as system:
        await system.ref(DEVICE, 1).tell("hello")
        await trio.sleep(999)
        assert system.count(DEVICE) == 1
        await trio.sleep(2)
        assert system.count(DEVICE) == 0


async def test_a_message_that_comes_while_an_idle_actor_leaves_starts_a_fresh_one(
    autojump_clock: MockClock,
) -> None:
    leaving = trio.Event()

    class Saving(Probe[Any]):
        async def stop(self) -> None:
            leaving.set()
            await trio.sleep(1)

    children = Children(Saving)
    async with open_tree(devices(children, idle_seconds=8)) as system:
        ref = system.ref(DEVICE, 1)
        await ref.tell("first")
        await leaving.wait()
        ref.tell_nowait("late")
        assert children.built[1][0].messages == ["first"]
        await trio.sleep(2)
        assert [each.messages for each in children.built[1]] == [["first"], ["late"]]
        assert system.dead_letters == 0


async def test_leaving_hands_what_is_queued_to_a_fresh_actor() -> None:
    class OneOnly(Probe[Any]):
        async def handle(self, message: Any) -> None:
            await trio.lowlevel.checkpoint()
            super().handle(message)
            self.context.leave()

    children = Children(OneOnly)
    async with open_tree(devices(children)) as system:
        for number in range(3):
            await system.ref(DEVICE, 1).tell(number)
        await trio.testing.wait_all_tasks_blocked()
        assert [each.messages for each in children.built[1]] == [[0], [1], [2]]
        assert system.count(DEVICE) == 0


async def test_an_actor_that_leaves_without_handling_anything_takes_its_messages_with_it() -> None:
    class Unwanted(Probe[Any]):
        async def start(self) -> None:
            self.context.leave()

    children = Children(Unwanted)
    async with open_tree(devices(children)) as system:
        await system.ref(DEVICE, 1).tell("lost")
        with pytest.raises(ActorStopped):
            await system.ref(DEVICE, 1).ask(Echo())
        assert len(children.built[1]) == 1
        assert system.dead_letters == 1
        assert system.count(DEVICE) == 0


async def test_a_crash_is_followed_by_a_restart_after_a_growing_wait(autojump_clock: MockClock) -> None:
    times: list[float] = []

    class Timed(Probe[Any]):
        async def start(self) -> None:
            times.append(trio.current_time())

    async with open_tree(devices(Children(Timed))) as system:
        ref = system.ref(DEVICE, 1)
        await ref.tell("hello")
        for _ in range(4):
            await ref.tell(Broken("again"))
            await trio.sleep(1)
        waits = [round(later - earlier, 3) for earlier, later in pairwise(times)]
        assert waits == [0.1, 1.1, 1.2, 1.4]  # 0.1, then a second's sleep less the wait before, plus 0.2 …


async def test_a_child_that_crashes_too_often_is_given_up_without_affecting_others(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    children = Children()
    async with open_tree(devices(children, intensity=2)) as system:
        await system.ref(DEVICE, "good").tell("hello")
        bad = system.ref(DEVICE, "bad")
        for message in (Broken("1"), Broken("2"), Broken("3"), "lost"):
            await bad.tell(message)
        with pytest.raises(ActorStopped):
            await bad.ask(Echo())
        assert system.keys(DEVICE) == ["good"]
        assert system.dead_letters == 1
        assert system.totals()[0].given_up == 1
        assert "devices/bad is given up after 2 restarts within 60 s" in caplog.text
        await bad.tell("afresh")
        assert children.built["bad"][-1].messages == ["afresh"]


async def test_failing_in_init_or_in_start_is_a_crash_of_the_child_and_not_of_the_teller(
    autojump_clock: MockClock,
) -> None:
    for broken in (FailsInInit, FailsInStart):
        attempts: list[int] = []

        def build(_: Any, broken: Any = broken, attempts: list[int] = attempts) -> Actor[Any]:
            attempts.append(1)
            return Probe() if len(attempts) == 3 else broken()

        async with open_tree(devices(build)) as system:
            ref = system.ref(DEVICE, 1)
            await ref.tell("patient")
            await trio.sleep(5)
            assert len(attempts) == 3
            assert system.snapshot()[0].children[0].children[0].handled == 1


async def test_a_factory_that_never_works_ends_in_a_refusal_and_not_in_a_loop(
    autojump_clock: MockClock,
) -> None:
    async with open_tree(devices(lambda _: FailsInInit(), intensity=0)) as system:
        with pytest.raises(ActorStopped):
            await system.ref(DEVICE, 1).tell("nobody")
        assert system.count(DEVICE) == 0


async def test_a_temporary_child_ends_with_a_crash_and_waiting_senders_fail(
    autojump_clock: MockClock,
) -> None:
    gate = trio.Event()

    class Doomed(Actor[Any]):
        async def handle(self, message: Any) -> None:
            await gate.wait()
            raise Broken("with others waiting")

    spec = devices(lambda _: Doomed(), restart=Restart.TEMPORARY)
    async with open_tree(spec) as system, trio.open_nursery() as nursery:
        ref = system.ref(DEVICE, 1)
        await ref.tell("fatal")
        await trio.testing.wait_all_tasks_blocked()
        await ref.tell("dead letter")

        async def ask() -> None:
            with pytest.raises(ActorStopped):
                await ref.ask(Echo(), seconds=1000)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert system.count(DEVICE) == 0
        assert system.dead_letters == 1


async def test_a_permanent_child_is_restarted_when_it_leaves(autojump_clock: MockClock) -> None:
    class Leaving(Probe[Any]):
        def handle(self, message: Any) -> None:
            super().handle(message)
            self.context.leave()

    children = Children(Leaving)
    async with open_tree(devices(children, restart=Restart.PERMANENT)) as system:
        await system.ref(DEVICE, 1).tell("go")
        await trio.sleep(1)
        assert len(children.built[1]) == 2
        assert system.count(DEVICE) == 1


async def test_a_ready_made_actor_is_started_under_its_key() -> None:
    stations: list[str] = []
    async with open_tree(devices(None, restart=Restart.TEMPORARY)) as system:
        with pytest.raises(ActorStopped):
            await system.ref(DEVICE, "10.0.0.1:5000").tell("nobody there")
        ref = await system.start(DEVICE, "10.0.0.1:5000", lambda: Staged("connection", stations))
        assert stations == ["connection starts"]
        assert ref.path == "devices/10.0.0.1:5000"
        with pytest.raises(AlreadyStarted, match="is already there"):
            await system.start(DEVICE, "10.0.0.1:5000", Probe)
        await ref.tell("hello")
        await ref.stop()
        assert stations == ["connection starts", "connection gets hello", "connection stops"]
        assert system.count(DEVICE) == 0


async def test_an_actor_is_started_by_its_key_alone_where_its_spec_makes_it() -> None:
    children = Children(Probe)
    async with open_tree(devices(children, restart=Restart.TEMPORARY)) as system:
        ref = await system.start(DEVICE, 7)
        assert ref == system.ref(DEVICE, 7)
        assert len(children.built[7]) == 1
        with pytest.raises(AlreadyStarted):
            await system.start(DEVICE, 7)


@pytest.mark.parametrize("factory", [FailsInInit, FailsInStart])
async def test_a_failed_start_is_raised_in_the_caller_and_leaves_nothing(factory: Any) -> None:
    for restart in Restart:
        async with open_tree(devices(None, restart=restart)) as system:
            with pytest.raises(ActorFailed) as caught:
                await system.start(DEVICE, 1, factory)
            assert isinstance(caught.value.__cause__, Broken)
            assert system.count(DEVICE) == 0


async def test_a_start_that_takes_too_long_is_a_crash(autojump_clock: MockClock) -> None:
    class Endless(Probe[Any]):
        async def start(self) -> None:
            await trio.sleep_forever()

    async with open_tree(devices(None, start_seconds=7)) as system:
        begin = trio.current_time()
        with pytest.raises(ActorFailed) as caught:
            await system.start(DEVICE, 1, Endless)
        assert isinstance(caught.value.__cause__, trio.TooSlowError)
        assert trio.current_time() - begin == 7


async def test_only_children_on_demand_can_be_started() -> None:
    async with open_tree(ChildSpec(kind=WRITER, factory=Probe)) as system:
        with pytest.raises(TypeError, match="started by it"):
            await system.start(WRITER, None, Probe)


async def test_the_return_of_the_body_ends_the_actor_and_stop_is_called() -> None:
    class Reading(Probe[Any]):
        def __init__(self) -> None:
            super().__init__()
            self.closed = trio.Event()

        async def run(self) -> None:
            await self.closed.wait()

    made = Reading()
    async with open_tree(devices(None, restart=Restart.TEMPORARY)) as system:
        ref = await system.start(DEVICE, 1, lambda: made)
        await ref.tell("handled beside the body")
        assert made.messages == ["handled beside the body"]
        made.closed.set()
        await ref.wait_stopped()
        assert made.stops == 1
        assert system.count(DEVICE) == 0


async def test_a_crash_of_the_body_is_a_crash_of_the_actor(autojump_clock: MockClock) -> None:
    children = Children(FailsInRun)
    async with open_tree(devices(children)) as system:
        await system.ref(DEVICE, 1).tell("break")
        await trio.sleep(1)
        assert len(children.built[1]) == 2
        assert system.snapshot()[0].children[0].children[0].last_error == "Broken: in run"


async def test_a_crash_of_the_body_cuts_off_a_handler_that_waits(autojump_clock: MockClock) -> None:
    class Both(Actor[Any]):
        def __init__(self) -> None:
            self.begun = trio.Event()

        async def handle(self, message: Any) -> None:
            self.begun.set()
            await trio.sleep_forever()

        async def run(self) -> None:
            await self.begun.wait()
            raise Broken("in run")

    async with open_tree(devices(lambda _: Both(), restart=Restart.TEMPORARY)) as system:
        with pytest.raises(ActorFailed):
            await system.ref(DEVICE, 1).ask(Echo(), seconds=1000)
        assert system.count(DEVICE) == 0


async def test_stop_is_called_while_the_body_still_runs_and_the_body_is_cancelled_after_it(
    autojump_clock: MockClock,
) -> None:
    stations: list[str] = []

    class Serving(Actor[Any]):
        async def run(self) -> None:
            try:
                await trio.sleep_forever()
            finally:
                stations.append("body ends")

        async def stop(self) -> None:
            await trio.sleep(1)
            stations.append("stop returns")

    async with open_tree(devices(None)) as system:
        ref = await system.start(DEVICE, 1, Serving)
        await ref.stop()
    assert stations == ["stop returns", "body ends"]


async def test_all_children_stop_together_within_their_time(autojump_clock: MockClock) -> None:
    saved: list[int] = []

    class Saving(Actor[Any]):
        def handle(self, message: Any) -> None:
            pass

        async def stop(self) -> None:
            await trio.sleep(3 if self.context.key < 2500 else 1000)
            saved.append(self.context.key)

    async with open_tree(devices(lambda _: Saving(), shutdown_seconds=20)) as system:
        for key in range(2600):
            await system.ref(DEVICE, key).tell("hello")
        begin = trio.current_time()
    assert trio.current_time() - begin == 20
    assert sorted(saved) == list(range(2500))


async def test_thousands_may_leave_at_once(autojump_clock: MockClock) -> None:
    async with open_tree(devices(lambda _: Obedient(), idle_seconds=10)) as system:
        for key in range(2 * SLICE + 10):
            await system.ref(DEVICE, key).tell("hello")
        await system.ref(DEVICE, "late").tell("hello")
        await trio.sleep(9)
        assert system.count(DEVICE) == 2 * SLICE + 11
        await system.ref(DEVICE, "late").tell("hello again")
        await trio.sleep(6)
        assert system.keys(DEVICE) == ["late"]


async def test_thousands_are_ended_when_what_they_lean_on_is_restarted(autojump_clock: MockClock) -> None:
    children = Children(Obedient)
    writer = ChildSpec(kind=WRITER, factory=Probe)
    async with open_tree(writer, devices(children), strategy=Strategy.REST_FOR_ONE) as system:
        for key in range(2 * SLICE + 10):
            await system.ref(DEVICE, key).tell("hello")
        await system.ref(WRITER).tell(Broken("the writer"))
        await trio.testing.wait_all_tasks_blocked()
        assert system.count(DEVICE) == 0
        await system.ref(DEVICE, 1).tell("waits")
        assert len(children.built[1]) == 1
        await trio.sleep(1)
        assert await system.ref(DEVICE, 1).ask(Echo()) == 2


class Obedient(Actor[Any]):
    """Counts what it is asked in its present life."""

    def __init__(self) -> None:
        self.count = 0

    def handle(self, message: Any) -> object:
        if isinstance(message, Exception):
            raise message
        if message == "leave":
            self.context.leave()
            return None
        self.count += 1
        return self.count


keys = st.integers(0, 4)
steps = st.lists(st.tuples(st.sampled_from(["tell", "leave", "crash"]), keys), max_size=30)


@given(steps)
@settings(max_examples=40, deadline=None)
def test_the_registry_agrees_with_a_plain_dict_whatever_happens_to_whom(steps: list[tuple[str, int]]) -> None:
    async def replay() -> None:
        spec = devices(lambda _: Obedient(), intensity=1000, period_seconds=1)
        async with open_tree(spec, clock=SystemClock()) as system:
            asked: dict[int, int] = {}  # each actor, and the asks of its current life
            for verb, key in steps:
                ref = system.ref(DEVICE, key)
                if verb == "tell":
                    asked[key] = asked.get(key, 0) + 1
                    assert await ref.ask(Echo()) == asked[key]
                elif verb == "crash":
                    await ref.tell(Broken("on request"))
                    asked[key] = 0
                else:
                    await ref.tell("leave")
                    asked.pop(key, None)
                assert set(system.keys(DEVICE)) == set(asked)
                await trio.sleep(1)  # past the wait for a restart
            totals = system.totals()[0]
            assert (totals.alive, totals.depth) == (len(asked), 0)
            assert totals.handled == sum(verb != "crash" for verb, _ in steps)
            assert totals.restarts == sum(verb == "crash" for verb, _ in steps)

    logging.disable(logging.CRITICAL)  # thousands of crashes on purpose
    try:
        trio.run(replay, clock=MockClock(autojump_threshold=0))
    finally:
        logging.disable(logging.NOTSET)
