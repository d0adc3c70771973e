import logging
from datetime import timedelta
from typing import Any

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import Broken, Probe, TestClock, open_tree, run_actor
from trio.testing import MockClock

from motorpool.runtime import Actor, ActorStopped, ChildSpec, Context, DynamicSpec, Kind, TopicName

DEVICE: Kind[str, Any] = Kind("device")
WRITER: Kind[None, Any] = Kind("writer")


class Talker(Actor[str]):
    """Logs its messages."""

    def handle(self, message: str) -> None:
        if message == "plain":
            self.context.log.info("100% plain")
        else:
            self.context.log.warning("received %s", message, extra={"received": message})


async def test_the_context_has_key_and_path_of_the_actor() -> None:
    async with open_tree(DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Probe())) as system:
        probe: Probe[Any] = Probe()
        ref = await system.start(DEVICE, "860/1", lambda: probe)
        context = probe.context
        assert (context.key, context.path) == ("860/1", "devices/860/1")
        assert context.ref == ref
        assert context.system is system
        assert context.log.logger.name == Probe.__module__
        assert context.log.extra == {"actor": "devices/860/1"}


async def test_log_lines_name_the_actor_and_the_line_that_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with open_tree(DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Talker())) as system:
        await system.ref(DEVICE, "5%d").tell("hello")
        await system.ref(DEVICE, "5%d").tell("plain")
    records = [record for record in caplog.records if record.name == Talker.__module__]
    assert [record.getMessage() for record in records] == [
        "devices/5%d: received hello",
        "devices/5%d: 100% plain",
    ]
    assert [(record.actor, record.funcName) for record in records] == [("devices/5%d", "handle")] * 2  # type: ignore[attr-defined]  # our extra
    assert records[0].received == "hello"  # type: ignore[attr-defined]  # the caller's extra


async def test_a_life_has_two_lines_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_tree(
        ChildSpec(kind=WRITER, factory=Probe),
        DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Probe()),
    ) as system:
        await system.ref(DEVICE, "hello").tell("hello")
    assert [text for text in caplog.messages if "writer" in text] == ["writer started", "writer was stopped"]
    # A start is no news for people who run a server: none of these is at the level they see.
    assert not [record for record in caplog.records if record.levelno >= logging.INFO]


async def test_an_actor_that_takes_no_messages_says_so(autojump_clock: MockClock) -> None:
    class Silent(Actor[Any]):
        """Only lives."""

    async with run_actor(Silent) as running:
        await running.ref.tell("hello")
        await trio.testing.wait_all_tasks_blocked()
        state = running.system.snapshot()[0].children[0]
        assert state.last_error == "TypeError: Silent takes no messages, and got a str"


async def test_an_actor_tells_since_when_it_runs(autojump_clock: MockClock) -> None:
    async with run_actor(Probe[Any]) as running:
        await trio.sleep(30)
        state = running.system.snapshot()[0].children[0]
        assert state.age == 30


async def test_time_arrives_as_a_message(autojump_clock: MockClock) -> None:
    async with run_actor(Probe[str]) as running:
        begin = trio.current_time()
        context = running.actor.context
        context.after(10, "ten")
        context.after(5, "never").cancel()
        timer = context.every(4, "tick")
        seen = []
        while len(seen) < 4:
            seen.append((await running.actor.receive(), trio.current_time() - begin))
        assert seen == [("tick", 4), ("tick", 8), ("ten", 10), ("tick", 12)]
        timer.cancel()
        await trio.sleep(100)
        assert len(running.actor.messages) == 4


async def test_an_instant_of_the_wall_arrives_as_a_message(autojump_clock: MockClock) -> None:
    clock = TestClock()
    async with run_actor(Probe[str], clock=clock) as running:
        running.actor.context.at(clock.now() + timedelta(days=1), "tomorrow")
        await trio.sleep(5)
        clock.move_wall(86_400)
        await trio.sleep(2)
        assert running.actor.messages == ["tomorrow"]


@pytest.mark.parametrize("end", ["crash", "leave"])
async def test_timers_end_with_the_life_that_set_them(end: str, autojump_clock: MockClock) -> None:
    class Setting(Probe[Any]):
        def handle(self, message: Any) -> object:
            if message == "leave":
                self.context.leave()
                return None
            return super().handle(message)

    async with run_actor(Setting) as running:
        running.actor.context.after(10, "late")
        running.actor.context.every(1, "tick")
        running.actor.context.at(running.system.clock.now() + timedelta(seconds=3), "instant")
        await running.ref.tell(Broken("x") if end == "crash" else "leave")
        await trio.sleep(100)
        assert [each.messages for each in running.built] == [[], []]


async def test_a_single_timer_is_delivered_to_a_full_mailbox_and_a_repeated_one_is_not(
    autojump_clock: MockClock,
) -> None:
    gate = trio.Event()

    class Busy(Probe[Any]):
        async def handle(self, message: Any) -> None:
            await gate.wait()
            super().handle(message)

    async with run_actor(Busy, mailbox_size=1) as running:
        context = running.actor.context
        await running.ref.tell("handled")
        await trio.testing.wait_all_tasks_blocked()
        await running.ref.tell("fills it")
        tick = context.every(1, "tick")
        context.after(2.5, "once")
        await trio.sleep(10)
        tick.cancel()
        assert running.ref.statistics().depth == 2
        gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert running.actor.messages == ["handled", "fills it", "once"]


async def test_what_is_left_of_an_old_life_can_neither_set_timers_nor_leave(
    autojump_clock: MockClock,
) -> None:
    async with run_actor(Probe[Any]) as running:
        old: Context[Any] = running.actor.context
        await running.ref.tell(Broken("the old one"))
        await trio.sleep(1)
        assert len(running.built) == 2
        with pytest.raises(ActorStopped):
            old.after(1, "from the past")
        old.leave()
        await trio.sleep(1)
        assert running.ref.alive
        assert len(running.built) == 2


async def test_leaving_inside_the_body_or_in_start_ends_the_actor_in_order() -> None:
    class Brief(Probe[Any]):
        def __init__(self, where: str) -> None:
            super().__init__()
            self.where = where

        async def start(self) -> None:
            if self.where == "start":
                self.context.leave()

        async def run(self) -> None:
            if self.where == "run":
                self.context.leave()
            await trio.sleep_forever()

    for where in ("start", "run"):
        brief = Brief(where)
        async with open_tree(DynamicSpec(kind=DEVICE, name="devices")) as system:
            ref = await system.start(DEVICE, where, lambda brief=brief: brief)
            await ref.wait_stopped()
            assert brief.stops == 1


NEWS: TopicName[str] = TopicName("news")


class Reader(Actor[str]):
    """Listens to the news."""

    def __init__(self, heard: list[str], name: str) -> None:
        self._heard, self._name = heard, name

    async def start(self) -> None:
        self.context.listen(NEWS, lambda value: self._heard.append(f"{self._name}: {value}"))

    def handle(self, message: str) -> None:
        if message == "crash":
            raise Broken(message)
        self.context.leave()


@pytest.mark.parametrize("end", ["crash", "leave"])
async def test_listeners_end_with_the_life_that_listens(end: str, autojump_clock: MockClock) -> None:
    heard: list[str] = []
    readers = [Reader(heard, name) for name in ("second", "first")]
    first = readers[-1]
    async with open_tree(ChildSpec(kind=WRITER, factory=readers.pop)) as system:
        news = system.topic(NEWS)
        news.publish("a")
        await system.ref(WRITER).tell(end)
        await trio.testing.wait_all_tasks_blocked()
        news.publish("b")
        await trio.sleep(10)
        news.publish("c")
        assert heard == ["first: a", "second: c"]
        with pytest.raises(ActorStopped):
            first.context.listen(NEWS, heard.append)
        news.publish("d")
        assert heard[2:] == ["second: d"]
