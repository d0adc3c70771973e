import logging
from dataclasses import dataclass
from typing import Any

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import Broken, FailsInHandle, Probe, WaitingProbe, open_tree, run_actor
from trio.testing import MockClock

from motorpool.runtime import (
    Actor,
    ActorFailed,
    ActorStopped,
    AskTimedOut,
    ChildSpec,
    Deferred,
    DynamicSpec,
    Kind,
    MailboxFull,
    MailboxStatistics,
    Ref,
    Request,
    UnknownKind,
)

DEVICE: Kind[int, Any] = Kind("device")
CAMERA: Kind[int, Any] = Kind("camera")
WRITER: Kind[None, Any] = Kind("writer")


@dataclass(frozen=True, slots=True)
class GetSpeed(Request[float]):
    """How fast."""


class Gated(Actor[Any]):
    """Its handler waits at a gate that the test opens."""

    def __init__(self) -> None:
        self.gate = trio.Event()
        self.messages: list[Any] = []

    async def handle(self, message: Any) -> object:
        await self.gate.wait()
        self.messages.append(message)
        return message


def devices(factory: Any = lambda _: Probe(), **more: Any) -> DynamicSpec[int, Any]:
    return DynamicSpec(kind=DEVICE, name="devices", factory=factory, **more)


async def test_refs_compare_and_hash_by_kind_and_key() -> None:
    cameras = DynamicSpec(kind=CAMERA, name="cameras", factory=lambda _: Probe())
    async with open_tree(devices(), cameras) as system:
        first, same = system.ref(DEVICE, 42), system.ref(DEVICE, 42)
        assert first == same
        assert hash(first) == hash(same)
        assert first != system.ref(DEVICE, 43)
        assert first != system.ref(CAMERA, 42)
        assert first != 42
        assert first.key == 42
        assert first.kind is DEVICE
        assert repr(first) == "<Ref devices/42>"


async def test_a_ref_is_cheap_and_starts_no_actor() -> None:
    async with open_tree(devices()) as system:
        ref = system.ref(DEVICE, 42)
        assert not ref.alive
        assert ref.statistics() == MailboxStatistics(0, 1000, 0)
        assert system.count(DEVICE) == 0
        await ref.wait_stopped()
        await ref.stop()
        assert system.count(DEVICE) == 0


async def test_an_unknown_kind_is_refused_at_once() -> None:
    async with open_tree(devices()) as system:
        with pytest.raises(UnknownKind, match="no actor of kind writer") as caught:
            system.ref(WRITER)
        assert caught.value.kind == "writer"


@pytest.mark.parametrize("probe", [Probe, WaitingProbe])
async def test_messages_arrive_in_the_order_they_were_sent(probe: type[Probe[Any]]) -> None:
    async with run_actor(probe) as running:
        for number in range(10):
            await running.ref.tell(number)
            running.ref.tell_nowait(number + 0.5)
        await trio.testing.wait_all_tasks_blocked()
        expected = [number / 2 for number in range(20)]
        assert running.actor.messages == expected


@pytest.mark.parametrize("probe", [Probe, WaitingProbe])
async def test_an_ask_is_answered_with_what_the_handler_returns(probe: type[Probe[Any]]) -> None:
    async with run_actor(lambda: probe({GetSpeed: 12.5})) as running:
        assert await running.ref.ask(GetSpeed()) == 12.5


async def test_a_tell_with_room_is_no_checkpoint_and_reaches_an_idle_actor_at_once() -> None:
    async with run_actor(Probe) as running:
        with trio.CancelScope() as scope:
            scope.cancel()
            await running.ref.tell("now")
            assert running.actor.messages == ["now"]
        assert not scope.cancelled_caught


async def test_tellers_wait_in_line_while_the_mailbox_is_full() -> None:
    async with run_actor(Gated, mailbox_size=2) as running, trio.open_nursery() as nursery:
        for number in range(3):  # one is being handled, two wait
            await running.ref.tell(number)
            await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(MailboxFull, match="holds 2 messages") as caught:
            running.ref.tell_nowait("refused")
        assert caught.value.size == 2
        for number in range(3, 6):
            nursery.start_soon(running.ref.tell, number)
            await trio.testing.wait_all_tasks_blocked()
        assert running.ref.statistics() == MailboxStatistics(2, 2, 3)
        with pytest.raises(MailboxFull):
            running.ref.tell_nowait("refused too")
        running.actor.gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert running.actor.messages == [0, 1, 2, 3, 4, 5]
        assert running.ref.statistics() == MailboxStatistics(0, 2, 0)


async def test_an_ask_waits_for_room_and_answer_within_one_deadline(autojump_clock: MockClock) -> None:
    async with run_actor(Gated, mailbox_size=1) as running:
        await running.ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()
        await running.ref.tell("waits")
        begin = trio.current_time()
        with pytest.raises(AskTimedOut, match="tested did not answer GetSpeed within 3 s") as caught:
            await running.ref.ask(GetSpeed(), seconds=3)
        assert trio.current_time() - begin == 3
        assert (caught.value.path, caught.value.request, caught.value.seconds) == ("tested", "GetSpeed", 3)
        assert running.ref.statistics() == MailboxStatistics(1, 1, 0)
        running.actor.gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert running.actor.messages == ["handled", "waits"]


async def test_a_request_that_found_room_late_is_answered() -> None:
    answers: list[float] = []
    async with run_actor(Gated, mailbox_size=1) as running, trio.open_nursery() as nursery:
        await running.ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()
        await running.ref.tell("waits")

        async def ask() -> None:
            answers.append(await running.ref.ask(GetSpeed()))

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        running.actor.gate.set()
    assert answers == [GetSpeed()]


async def test_an_ask_ends_after_five_seconds_by_default(autojump_clock: MockClock) -> None:
    async with run_actor(Gated) as running:
        begin = trio.current_time()
        with pytest.raises(AskTimedOut):
            await running.ref.ask(GetSpeed())
        assert trio.current_time() - begin == 5
        running.actor.gate.set()


async def test_a_late_answer_is_dropped(autojump_clock: MockClock) -> None:
    async with run_actor(Gated) as running:
        with pytest.raises(AskTimedOut):
            await running.ref.ask(GetSpeed(), seconds=1)
        running.actor.gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert running.actor.messages == [GetSpeed()]  # accepted, so handled all the same
        assert running.ref.alive


class FailsAfterAwhile(FailsInHandle):
    """Breaks in a handler that waits."""

    async def handle(self, message: object) -> object:
        await trio.lowlevel.checkpoint()
        return super().handle(message)


@pytest.mark.parametrize("factory", [FailsInHandle, FailsAfterAwhile])
async def test_a_fatal_request_fails_in_the_asker_without_harm(
    factory: Any, autojump_clock: MockClock
) -> None:
    async with run_actor(factory) as running:
        with pytest.raises(ActorFailed, match="tested failed") as caught:
            await running.ref.ask(GetSpeed())
        assert isinstance(caught.value.__cause__, Broken)
        await trio.sleep(1)
        assert len(running.built) == 2


async def test_a_fatal_message_is_the_actors_trouble_and_not_the_tellers(autojump_clock: MockClock) -> None:
    async with run_actor(Probe) as running:
        await running.ref.tell(Broken("by a message"))
        running.ref.tell_nowait("after it")
        assert running.ref.statistics().depth == 1
        await trio.sleep(1)
        assert running.built[0].messages == []
        assert running.built[1].messages == ["after it"]


async def test_a_stopped_actor_refuses_everything() -> None:
    async with run_actor(Probe) as running:
        await running.ref.stop()
        assert not running.ref.alive
        with pytest.raises(ActorStopped, match="tested has stopped"):
            await running.ref.tell("late")
        with pytest.raises(ActorStopped):
            running.ref.tell_nowait("late")
        with pytest.raises(ActorStopped):
            await running.ref.ask(GetSpeed())
        await running.ref.stop()
        await running.ref.wait_stopped()
        assert running.actor.messages == []


async def test_stop_handles_what_was_accepted_and_refuses_what_comes_later() -> None:
    async with run_actor(Gated, mailbox_size=2) as running, trio.open_nursery() as nursery:
        for number in range(3):
            await running.ref.tell(number)
            await trio.testing.wait_all_tasks_blocked()
        outcomes: list[str] = []

        async def tell_late() -> None:
            with pytest.raises(ActorStopped):
                await running.ref.tell("had no room")
            outcomes.append("teller refused")

        async def ask_late() -> None:
            with pytest.raises(ActorStopped):
                await running.ref.ask(GetSpeed())
            outcomes.append("asker refused")

        nursery.start_soon(tell_late)
        nursery.start_soon(ask_late)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(running.ref.stop)
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(outcomes) == ["asker refused", "teller refused"]
        with pytest.raises(ActorStopped):
            running.ref.tell_nowait("later")
        assert not running.ref.alive
        actor = running.actor
        actor.gate.set()
    assert actor.messages == [0, 1, 2]


async def test_an_actor_that_does_not_stop_in_time_is_cancelled_and_its_messages_are_dead(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "motorpool.runtime")
    outcomes: list[str] = []
    async with run_actor(Gated, shutdown_seconds=2) as running, trio.open_nursery() as nursery:
        await running.ref.tell("being handled")
        await trio.testing.wait_all_tasks_blocked()
        await running.ref.tell("waits")

        async def ask() -> None:
            with pytest.raises(ActorStopped):
                await running.ref.ask(GetSpeed(), seconds=60)
            outcomes.append("asker failed")

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        begin = trio.current_time()
        await running.ref.stop()
        assert trio.current_time() - begin == 2
        assert running.system.dead_letters == 1
        assert "tested has not handled a str" in caplog.messages
        assert "waits" not in caplog.text
    assert outcomes == ["asker failed"]


async def test_a_startable_actor_that_is_stopped_starts_again_for_waiting_senders() -> None:
    built: list[Gated] = []

    def build(_: int) -> Gated:
        built.append(Gated())
        return built[-1]

    async with open_tree(devices(build, mailbox_size=1)) as system, trio.open_nursery() as nursery:
        ref = system.ref(DEVICE, 1)
        await ref.tell("first")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(ref.stop)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(MailboxFull):
            ref.tell_nowait("cannot wait")
        nursery.start_soon(ref.tell, "waits for the fresh one")
        await trio.testing.wait_all_tasks_blocked()
        built[0].gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert len(built) == 2
        built[1].gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert built[0].messages == ["first"]
        assert built[1].messages == ["waits for the fresh one"]


async def test_a_ref_held_over_the_end_of_its_actor_finds_the_next_one() -> None:
    built: list[Probe[Any]] = []

    def build(_: int) -> Probe[Any]:
        built.append(Probe({GetSpeed: 1.0}))
        return built[-1]

    async with open_tree(devices(build)) as system:
        ref = system.ref(DEVICE, 1)
        await ref.tell("a")
        await ref.stop()
        await ref.tell("b")
        await ref.stop()
        ref.tell_nowait("c")
        await ref.stop()
        assert await ref.ask(GetSpeed()) == 1.0
        assert [probe.messages for probe in built] == [["a"], ["b"], ["c"], [GetSpeed()]]


async def test_an_ask_while_the_actor_is_being_stopped_is_refused_or_waits_for_the_next_one() -> None:
    async with run_actor(Gated) as running, trio.open_nursery() as nursery:
        await running.ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(running.ref.stop)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(ActorStopped):
            await running.ref.ask(GetSpeed())
        with pytest.raises(ActorStopped):
            await running.ref.tell("late")
        running.actor.gate.set()
    built: list[Gated] = []

    def build(_: int) -> Gated:
        built.append(Gated())
        return built[-1]

    async with open_tree(devices(build)) as system, trio.open_nursery() as nursery:
        ref = system.ref(DEVICE, 1)
        await ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(ref.stop)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(ref.ask, GetSpeed())
        await trio.testing.wait_all_tasks_blocked()
        built[0].gate.set()
        await trio.testing.wait_all_tasks_blocked()
        built[1].gate.set()
    assert [each.messages for each in built] == [["handled"], [GetSpeed()]]


async def test_wait_stopped_sleeps_through_restarts_and_ends_with_the_actor(
    autojump_clock: MockClock,
) -> None:
    async with run_actor(Probe) as running, trio.open_nursery() as nursery:
        over = trio.Event()

        async def wait() -> None:
            await running.ref.wait_stopped()
            over.set()

        nursery.start_soon(wait)
        await running.ref.tell(Broken("once"))
        await trio.sleep(1)
        assert len(running.built) == 2
        assert not over.is_set()
        await running.ref.stop()
        await over.wait()


class Writer(Actor[Any]):
    """Takes one message, then none until released."""

    def __init__(self) -> None:
        self.gate = trio.Event()
        self.messages: list[Any] = []

    async def handle(self, message: Any) -> None:
        self.messages.append(message)
        await self.gate.wait()


class Sender(Actor[Any]):
    """Passes on; waits only where it must."""

    def __init__(self, writer: list[Ref[Any]]) -> None:
        self.writer = writer

    def handle(self, message: Any) -> object:
        try:
            self.writer[0].tell_nowait(message)
        except MailboxFull:
            return self.writer[0].tell(message)
        return None


async def test_back_pressure_reaches_the_first_teller_through_the_actors_between() -> None:
    writers: list[Writer] = []
    writer_ref: list[Ref[Any]] = []

    def build() -> Writer:
        writers.append(Writer())
        return writers[-1]

    writer = ChildSpec(kind=WRITER, factory=build, mailbox_size=2)
    async with (
        run_actor(lambda: Sender(writer_ref), writer, mailbox_size=2) as running,
        trio.open_nursery() as nursery,
    ):
        writer_ref.append(running.system.ref(WRITER))
        sent: list[int] = []

        async def produce() -> None:
            for number in range(12):
                await running.ref.tell(number)
                sent.append(number)
                await trio.lowlevel.checkpoint()

        nursery.start_soon(produce)
        await trio.testing.wait_all_tasks_blocked()
        # 1 in the writer's hands, 2 in its mailbox, 1 in the sender's hands, 2 in its mailbox; the 7th waits.
        assert sent == [0, 1, 2, 3, 4, 5]
        assert writer_ref[0].statistics() == MailboxStatistics(2, 2, 1)
        assert running.ref.statistics() == MailboxStatistics(2, 2, 1)
        writers[0].gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert sent == list(range(12))
        assert writers[0].messages == list(range(12))


class Later(Actor[Any]):
    """Answers GetSpeed only when it receives a speed."""

    def __init__(self) -> None:
        self.waiting: list[Deferred[float]] = []

    def handle(self, message: Any) -> object:
        if isinstance(message, GetSpeed):
            self.waiting.append(Deferred())
            return self.waiting[-1]
        if isinstance(message, Exception):
            raise message
        for each in self.waiting:
            each.answer(message)
        self.waiting.clear()
        return None


class LaterAfterAwhile(Later):
    """The same, from a handler that waits."""

    async def handle(self, message: Any) -> object:
        await trio.lowlevel.checkpoint()
        return super().handle(message)


@pytest.mark.parametrize("factory", [Later, LaterAfterAwhile])
async def test_a_deferred_answer_keeps_the_asker_waiting_and_not_the_actor(factory: Any) -> None:
    answers: list[float] = []
    async with run_actor(factory) as running, trio.open_nursery() as nursery:

        async def ask() -> None:
            answers.append(await running.ref.ask(GetSpeed()))

        nursery.start_soon(ask)
        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        assert answers == []
        await running.ref.tell(7.5)
    assert answers == [7.5, 7.5]


@pytest.mark.parametrize(("end", "error"), [(Broken("x"), ActorFailed), (None, ActorStopped)])
async def test_a_deferred_answer_fails_when_the_actor_ends_first(
    end: Exception | None, error: type[Exception], autojump_clock: MockClock
) -> None:
    failed = trio.Event()
    async with run_actor(Later) as running, trio.open_nursery() as nursery:
        begin = trio.current_time()

        async def ask() -> None:
            with pytest.raises(error):
                await running.ref.ask(GetSpeed(), seconds=1000)
            failed.set()

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        if end is None:
            await running.ref.stop()
        else:
            await running.ref.tell(end)
        await failed.wait()
        assert trio.current_time() - begin < 1


async def test_offer_says_whether_it_was_accepted() -> None:
    built: list[Gated] = []

    def build(_: int) -> Gated:
        built.append(Gated())
        return built[-1]

    spec = devices(build, mailbox_size=1, start_on_message=False)
    async with open_tree(spec) as system:
        ref = system.ref(DEVICE, 1)
        assert ref.offer("nobody is there") is False
        await system.start(DEVICE, 1, lambda: build(1))
        assert ref.offer("handled at once") is True
        assert ref.offer("waits in the mailbox") is True
        assert ref.offer("finds no room") is False
        built[0].gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert built[0].messages == ["handled at once", "waits in the mailbox"]
