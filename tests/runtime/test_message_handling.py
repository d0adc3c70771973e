import itertools
from typing import Any

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import Broken, Probe, WaitingProbe, open_tree, run_actor
from trio.testing import MockClock

from motorpool.runtime import (
    Actor,
    ActorFailed,
    ActorStopped,
    ChildSpec,
    DynamicSpec,
    Kind,
    Ref,
    Request,
)
from motorpool.runtime import cell as cell_module
from motorpool.runtime.cell import INLINE_DEPTH, INLINE_TURNS, SLICE_CHECK_MESSAGES, SLICE_SECONDS

HOP: Kind[int, Any] = Kind("hop")
NEXT: Kind[None, Any] = Kind("next")


class Ask(Request[Any]):
    """Wants whatever the handler returns."""


class Hop(Actor[int]):
    """Passes a message on to the next one along a ring, from inside its handler."""

    def __init__(self, ring: int, trace: list[tuple[int, int]]) -> None:
        self.ring = ring
        self.trace = trace
        self.inside = False

    def handle(self, message: int) -> None:
        assert not self.inside, "one message at a time"
        self.inside = True
        self.trace.append((self.context.key, message))
        if message:
            self.context.system.ref(HOP, (self.context.key + 1) % self.ring).tell_nowait(message - 1)
        self.inside = False


@pytest.mark.parametrize("ring", [1, 2, 3, 50])
async def test_tells_from_inside_handlers_neither_reenter_nor_overflow_the_stack(ring: int) -> None:
    trace: list[tuple[int, int]] = []
    hops = DynamicSpec(kind=HOP, name="hops", factory=lambda _: Hop(ring, trace))
    async with open_tree(hops) as system:
        await system.ref(HOP, 0).tell(3000)
        while len(trace) <= 3000:
            await trio.testing.wait_all_tasks_blocked()
        assert [message for _, message in trace] == list(range(3000, -1, -1))
        assert [key for key, _ in trace] == [number % ring for number in range(3001)]


async def test_only_so_many_handlers_run_inside_one_another() -> None:
    trace: list[tuple[int, int]] = []
    hops = DynamicSpec(kind=HOP, name="hops", factory=lambda _: Hop(1000, trace))
    async with open_tree(hops) as system:
        await system.ref(HOP, 0).tell(100)
        assert len(trace) == INLINE_DEPTH
        await trio.testing.wait_all_tasks_blocked()
        assert len(trace) == 101


async def test_what_an_actor_tells_itself_is_handled_after_the_present_message_and_in_order() -> None:
    order: list[str] = []

    class Planner(Actor[str]):
        def handle(self, message: str) -> None:
            order.append(f"{message} begins")
            if message == "first":
                self.context.ref.tell_nowait("second")
                self.context.ref.tell_nowait("third")
            order.append(f"{message} ends")

    async with run_actor(Planner) as running:
        await running.ref.tell("first")
        assert order == [f"{n} {what}" for n in ("first", "second", "third") for what in ("begins", "ends")]


async def test_a_sender_does_not_work_off_a_long_queue_for_others() -> None:
    handled: list[int] = []

    class Splitter(Actor[int]):
        def handle(self, message: int) -> None:
            handled.append(message)
            if message < 0:
                for number in range(-message):
                    self.context.ref.tell_nowait(number)

    async with run_actor(Splitter) as running:
        await running.ref.tell(-100)
        assert len(handled) == INLINE_TURNS
        await running.ref.tell(1000)
        await trio.testing.wait_all_tasks_blocked()
        assert handled == [-100, *range(100), 1000]


async def test_a_long_batch_lets_other_tasks_run_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each look at the clock finds the time of a slice spent.
    monkeypatch.setattr(cell_module, "perf_counter", itertools.count(step=2 * SLICE_SECONDS).__next__)
    passes = 0
    async with run_actor(Busy, mailbox_size=2000) as running, trio.open_nursery() as nursery:

        async def count() -> None:
            nonlocal passes
            while True:
                passes += 1
                await trio.lowlevel.checkpoint()

        for number in range(500):
            # The first one waits in a task of the actor, which then drains the others.
            await running.ref.tell(number)
        nursery.start_soon(count)
        assert await running.ref.ask(Ask()) == 500
        nursery.cancel_scope.cancel()
    assert passes >= 500 // SLICE_CHECK_MESSAGES


class Busy(Actor[Any]):
    """Counts its messages."""

    def __init__(self) -> None:
        self.count = 0

    def handle(self, message: Any) -> Any:
        if isinstance(message, Ask):
            return self.count
        self.count += 1
        return self.wait() if self.count == 1 else None

    async def wait(self) -> None:
        await trio.lowlevel.checkpoint()


async def test_a_handler_that_waits_keeps_what_follows_waiting() -> None:
    order: list[str] = []
    gate = trio.Event()

    class Mixed(Actor[str]):
        def handle(self, message: str) -> object:
            if message == "slow":
                return self.slowly()
            order.append(message)
            return message

        async def slowly(self) -> str:
            await gate.wait()
            order.append("slow")
            return "slow, done"

    async with run_actor(Mixed) as running:
        await running.ref.tell("slow")
        await running.ref.tell("quick")
        await trio.testing.wait_all_tasks_blocked()
        assert order == []
        gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert order == ["slow", "quick"]
        await running.ref.tell("idle again")
        assert order == ["slow", "quick", "idle again"]


async def test_an_awaited_handlers_value_answers_the_ask() -> None:
    class Slow(Actor[Ask]):
        async def handle(self, message: Ask) -> int:
            await trio.lowlevel.checkpoint()
            return 42

    async with run_actor(Slow) as running:
        assert await running.ref.ask(Ask()) == 42
    async with run_actor(Slow) as running:
        assert await running.ref.ask(Ask()) == 42


async def test_cancelling_the_sender_does_not_touch_a_handler_that_waits() -> None:
    finished: list[str] = []
    gate = trio.Event()

    class Slow(Actor[str]):
        async def handle(self, message: str) -> None:
            await gate.wait()
            finished.append(message)

    async with run_actor(Slow) as running:
        with trio.CancelScope() as scope:
            await running.ref.tell("kept")
            scope.cancel()
        gate.set()
        await trio.testing.wait_all_tasks_blocked()
    assert finished == ["kept"]


async def test_an_exception_group_is_one_crash_that_its_asker_receives(autojump_clock: MockClock) -> None:
    class Crowd(Actor[Any]):
        async def handle(self, message: Any) -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.fail)
                nursery.start_soon(trio.sleep_forever)

        async def fail(self) -> None:
            raise Broken("inside a nursery")

    async with run_actor(Crowd) as running:
        with pytest.raises(ActorFailed) as caught:
            await running.ref.ask(Ask())
        assert isinstance(caught.value.__cause__, ExceptionGroup)
        assert running.system.snapshot()[0].children[0].last_error.startswith("ExceptionGroup: ")


async def test_a_failure_during_cancellation_is_a_crash_and_the_cancellation_goes_on(
    autojump_clock: MockClock,
) -> None:
    class Untidy(Actor[Any]):
        async def handle(self, message: Any) -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.clean_up_badly)
                await trio.sleep_forever()

        async def clean_up_badly(self) -> None:
            try:
                await trio.sleep_forever()
            finally:
                raise Broken("while cleaning up")

    async with run_actor(Untidy, shutdown_seconds=1) as running, trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises((ActorFailed, ActorStopped)):
                await running.ref.ask(Ask(), seconds=60)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        await running.ref.stop()
        state = running.system.snapshot()[0].children[0]
        assert state.state == "stopped"
        assert state.last_error.startswith("ExceptionGroup: ")


async def test_a_keyboard_interrupt_in_a_handler_is_the_senders_and_leaves_the_actor_usable() -> None:
    async with run_actor(Probe) as running:
        with pytest.raises(KeyboardInterrupt):
            await running.ref.tell(KeyboardInterrupt())
        await trio.testing.wait_all_tasks_blocked()
        await running.ref.tell("still there")
        await trio.testing.wait_all_tasks_blocked()
        assert running.actor.messages == ["still there"]


async def test_a_keyboard_interrupt_in_an_actors_task_ends_the_system() -> None:
    async def serve() -> None:
        async with run_actor(WaitingProbe) as running:
            await running.ref.tell(KeyboardInterrupt())
            await trio.sleep_forever()

    with pytest.raises(BaseExceptionGroup) as caught:
        await serve()
    assert caught.value.split(KeyboardInterrupt)[1] is None


@pytest.mark.parametrize("probe", [Probe, WaitingProbe])
async def test_a_crash_restarts_the_actor_keeps_the_mailbox_in_order_and_drops_the_failing_message(
    probe: type[Probe[Any]], autojump_clock: MockClock
) -> None:
    async with run_actor(probe) as running:
        for message in ("a", "b", Broken("c"), "d", "e"):
            await running.ref.tell(message)
        await trio.sleep(1)
        await running.ref.tell("f")
        await trio.testing.wait_all_tasks_blocked()
        assert [actor.messages for actor in running.built] == [["a", "b"], ["d", "e", "f"]]
        state = running.system.snapshot()[0].children[0]
        assert (state.handled, state.restarts, state.last_error) == (5, 1, "Broken: c")


async def test_a_refs_actor_may_be_a_plain_child_on_demand() -> None:
    received: list[Any] = []

    class First(Actor[Any]):
        def __init__(self, ref: list[Ref[Any]]) -> None:
            self.ref = ref

        def handle(self, message: Any) -> None:
            received.append(message)

    child = ChildSpec(kind=NEXT, factory=lambda: First([]))
    async with open_tree(child) as system:
        system.ref(NEXT).tell_nowait("at once")
        assert received == ["at once"]
