"""An actor object that another one takes the place of: in `start`, and in a handler that waits."""

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import STEADY

from motorpool.runtime import (
    Actor,
    ActorFailed,
    ActorStopped,
    Deferred,
    DynamicSpec,
    Kind,
    MailboxFull,
    SupervisorSpec,
    open_system,
)

PLACES: Kind[str, object] = Kind("place")


class Second(Actor):
    """What the first becomes."""

    def __init__(self, made=None, fails=False):
        self.made = made if made is not None else []
        self.fails = fails

    async def start(self):
        self.made.append("second")
        await trio.lowlevel.checkpoint()
        if self.fails:
            raise RuntimeError("it does not start")

    def handle(self, message):
        return "second", message

    def release(self):
        self.made.append("second released")


class First(Actor):
    def __init__(self, made, at_start=False, fails=False):
        self.made = made
        self.at_start = at_start
        self.fails = fails
        self.replies = []

    async def start(self):
        self.made.append("first")
        if self.at_start:
            await self.context.become(Second(self.made))

    def handle(self, message):
        match message:
            case "become":
                return self._become(message)
            case "wait":
                self.replies.append(Deferred())
                return self.replies[-1]
            case "tick":
                self.context.after(5.0, "tock")
                return None
            case "again":
                reply = Deferred()
                self.made.append((message, reply))
                return reply
        return "first", message

    async def _become(self, message):
        second = Second(self.made, self.fails)
        await self.context.become(second)
        return second.handle(message)

    def release(self):
        self.made.append("first released")


@pytest.fixture
def opened():
    def make(made, **options):
        spec = DynamicSpec(
            kind=PLACES,
            name="places",
            factory=lambda _: First(made, **options),
            mailbox_size=3,
            back_off=STEADY,
        )
        return open_system(SupervisorSpec(name="system", children=(spec,)))

    return make


async def test_an_actor_becomes_another_one_before_its_first_message(opened, mock_clock):
    made = []
    async with opened(made, at_start=True) as system:
        assert await system.ref(PLACES, "a").ask("hello") == ("second", "hello")
        assert made == ["first", "first released", "second"]
    assert made[-1] == "second released"
    assert made.count("first released") == 1


async def test_messages_that_wait_are_handled_by_the_other(opened, mock_clock):
    async with opened([]) as system:
        ref = system.ref(PLACES, "a")
        assert await ref.ask("hello") == ("first", "hello")
        asked = [ref.ask_now(message) for message in ("become", "one", "two")]
        assert [await each for each in asked] == [("second", each) for each in ("become", "one", "two")]
        assert await ref.ask("three") == ("second", "three")


async def test_what_is_pending_and_timers_stay(opened, autojump_clock):
    async with opened([]) as system:
        ref = system.ref(PLACES, "a")
        await ref.tell("tick")
        async with trio.open_nursery() as nursery:

            async def wait():
                with pytest.raises(ActorStopped):
                    await ref.ask("wait", seconds=60)

            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            assert await ref.ask("become") == ("second", "become")
            handled = system.snapshot()[0].children[0].children[0].handled
            await trio.sleep(6)
            # The timer of the first has told the second.
            assert system.snapshot()[0].children[0].children[0].handled == handled + 1
            await ref.stop()


async def test_a_start_that_fails_is_a_crash_of_the_actor(opened, autojump_clock):
    made = []
    async with opened(made, fails=True) as system:
        ref = system.ref(PLACES, "a")
        with pytest.raises(ActorFailed):
            await ref.ask("become")
        # A fresh one is made by the factory.
        assert await ref.ask("hello") == ("first", "hello")


async def test_the_past_of_an_actor_cannot_become_another(opened, mock_clock):
    made = []
    async with opened(made) as system:
        ref = system.ref(PLACES, "a")
        await ref.tell("hello")
        first = system._group(PLACES).cells["a"].actor
        await ref.stop()
        with pytest.raises(ActorStopped):
            await first.context.become(Second())


async def test_a_message_that_was_not_handled_is_handled_again(opened, mock_clock):
    made = []
    async with opened(made) as system:
        ref = system.ref(PLACES, "a")
        answers = []

        async def ask():
            answers.append(await ref.ask("again", seconds=60))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            first = system._group(PLACES).cells["a"].actor
            message, reply = made[-1]
            await ref.ask("become")
            first.context.handle_again(message, reply)
        assert answers == [("second", "again")]
        # One whose asker has gone is not handled any more.
        handled = system._group(PLACES).totals().handled
        first.context.handle_again(message, reply)
        assert system._group(PLACES).totals().handled == handled
        # What was told is.
        first.context.handle_again("told", Deferred())
        assert system._group(PLACES).totals().handled == handled + 1


async def test_a_request_can_be_made_without_a_task_that_waits(opened, mock_clock):
    async with opened([]) as system:
        ref = system.ref(PLACES, "a")
        ended = []
        assert await ref.ask("hello") == ("first", "hello")
        at_once = ref.request("hello", ended.append)
        assert (at_once.pending, at_once.value, ended) == (False, ("first", "hello"), [])
        later = ref.request("wait", ended.append)
        assert later.pending
        first = system._group(PLACES).cells["a"].actor
        first.replies[0].answer(5)
        assert ended == [later]
        assert later.value == 5
        ref.tell_nowait("become")
        for _ in range(3):
            ref.request("hello", ended.append)
        with pytest.raises(MailboxFull):
            ref.request("hello", ended.append)
        await trio.testing.wait_all_tasks_blocked()
        assert len(ended) == 4
        last = ref.request("wait", ended.append)
        assert not last.pending
