"""The contract of links, over each pipe: order, deadlines, windows, errors, fan-out, and hostile bytes."""

import math
from contextlib import asynccontextmanager

import msgspec
import pytest
import trio
from tests.cluster.conftest import until
from tests.runtime.actor_testing import TestClock

from motorpool.runtime import (
    Actor,
    ActorFailed,
    ActorStopped,
    Arrived,
    AskTimedOut,
    Busy,
    Carried,
    Deferred,
    DynamicSpec,
    Failure,
    Kind,
    Lagged,
    Link,
    Moved,
    NodeLocal,
    Request,
    Restart,
    SharedTime,
    SupervisorSpec,
    TaskSpec,
    Unreachable,
    open_system,
)
from motorpool.runtime import link as link_module


class Note(msgspec.Struct, frozen=True):
    number: int
    text: str = ""


class Shown(msgspec.Struct, frozen=True):
    numbers: tuple[int, ...]


class Nothing(msgspec.Struct, frozen=True):
    pass


class Show(msgspec.Struct, Request[Shown | Nothing | None], frozen=True):
    pass


class Add(msgspec.Struct, Request[int], frozen=True):
    number: int


class Hold(msgspec.Struct, Request[int], frozen=True):
    """Answered when the test says so."""


class Break(msgspec.Struct, Request[int], frozen=True):
    pass


class Refuse(msgspec.Struct, Request[int], frozen=True):
    pass


class Leave(msgspec.Struct, Request[int], frozen=True):
    pass


class Local(msgspec.Struct, NodeLocal, frozen=True):
    pass


class Unlisted(msgspec.Struct, frozen=True):
    pass


class Trouble(Exception):
    pass


Message = Note | Show | Add | Hold | Break | Refuse | Leave | Local | Unlisted | Arrived
NOTES: Kind[int, Message] = Kind("notes")
CARRIED = Carried(NOTES, int, (Note, Show, Add, Hold, Break, Refuse, Leave))


class Notes(Actor[Message]):
    def __init__(self, key, world):
        self.key = key
        self.world = world
        self.numbers = []

    def handle(self, message):
        match message:
            case Arrived():
                return self.handle(message.message)
            case Note():
                self.numbers.append(message.number)
                self.world.noted[self.key] = self.numbers
                return None
            case Show():
                return Shown(tuple(self.numbers)) if self.numbers else Nothing()
            case Add():
                self.numbers.append(message.number)
                return sum(self.numbers)
            case Hold():
                reply = Deferred()
                self.world.held.append(reply)
                return reply
            case Break():
                raise RuntimeError("broken")
            case Refuse():
                return Failure(Trouble("no room in the garage"))
            case Leave():
                self.context.leave()
                return Deferred()
            case _:
                raise TypeError(message)


class NotesNode:
    """One node with its link."""

    def __init__(self, number, link, system, pipe):
        self.number, self.link, self.system, self.pipe = number, link, system, pipe
        self.noted = {}
        self.held = []


class ServeLink(Actor):
    def __init__(self, link):
        self.link = link

    async def run(self):
        await self.link.serve(self.context.system)


@asynccontextmanager
async def open_node(world, number, cluster="north", mailbox_size=100):
    async with world.pipe() as pipe:
        clock = TestClock()
        link = Link(pipe, number, SharedTime(clock), (CARRIED,), cluster=cluster, errors={Trouble: str})
        node = NotesNode(number, link, None, pipe)
        tree = SupervisorSpec(
            name="system",
            children=(
                DynamicSpec(
                    kind=NOTES,
                    name="notes",
                    factory=lambda key: Notes(key, node),
                    mailbox_size=mailbox_size,
                    restart=Restart.TRANSIENT,
                ),
                TaskSpec(name="link", factory=lambda: ServeLink(link)),
            ),
        )
        async with open_system(tree, clock=clock) as node.system:
            yield node


@pytest.fixture
async def here(world):
    async with open_node(world, 1) as node:
        yield node


@pytest.fixture
async def there(world):
    async with open_node(world, 2) as node:
        yield node


async def settled(world, here, there):
    """Both hear each other: a server of NATS knows of a subscription a moment after it was asked."""
    with trio.fail_after(30):
        while True:
            try:
                return await here.link.ask(there.number, NOTES, 0, Show())
            except Unreachable:
                await trio.sleep(0.01)


async def test_a_request_is_answered_by_the_actor_of_the_other_node(world, here, there):
    await settled(world, here, there)
    assert await here.link.ask(2, NOTES, 7, Show()) == Nothing()
    assert await here.link.ask(2, NOTES, 7, Add(3)) == 3
    assert await here.link.ask(2, NOTES, 7, Add(4)) == 7
    assert await here.link.ask(2, NOTES, 7, Show()) == Shown((3, 4))
    # Its actors are its own.
    assert here.system.count(NOTES) == 0


async def test_messages_to_one_actor_arrive_in_order(world, here, there):
    await settled(world, here, there)
    for number in range(200):
        here.link.send(2, NOTES, 5, Note(number), lambda _: None)
    await until(lambda: len(there.noted.get(5, ())) == 200)
    assert there.noted[5] == list(range(200))


async def test_what_its_actor_raises_and_what_it_refuses_are_told(world, here, there):
    await settled(world, here, there)
    with pytest.raises(ActorFailed) as failed:
        await here.link.ask(2, NOTES, 1, Break())
    assert "broken" not in str(failed.value)  # the log of its node says what it was
    with pytest.raises(Trouble, match="no room in the garage"):
        await here.link.ask(2, NOTES, 1, Refuse())
    with pytest.raises(ActorStopped):
        await here.link.ask(2, NOTES, 1, Leave())


async def test_a_node_that_is_not_there_is_unreachable_at_once(world, here, there):
    await settled(world, here, there)
    before = here.link.counts["undelivered"]
    with pytest.raises(Unreachable):
        await here.link.ask(3, NOTES, 1, Add(1), seconds=math.inf)
    assert here.link.counts["undelivered"] == before + 1
    assert not here.link._pending


async def test_nodes_of_another_cluster_do_not_hear_each_other(world, here, there):
    async with open_node(world, 3, cluster="south"):
        await settled(world, here, there)
        with pytest.raises(Unreachable):
            await here.link.ask(3, NOTES, 1, Add(1))


async def test_a_request_that_arrives_too_late_is_dropped(world, here, there):
    await settled(world, here, there)
    async with world.frozen(there.pipe):
        with pytest.raises(AskTimedOut):
            await here.link.ask(2, NOTES, 9, Add(1), seconds=0.2)
        # The message was sent a little after the ask began, and is in time for as much longer.
        await trio.sleep(0.2)
    await until(lambda: there.link.counts["late"])
    assert await here.link.ask(2, NOTES, 9, Show()) == Nothing()


async def test_an_answer_that_nobody_waits_for_any_more_frees_its_place(world, here, there):
    await settled(world, here, there)
    with pytest.raises(AskTimedOut):
        await here.link.ask(2, NOTES, 1, Hold(), seconds=0.1)
    assert len(here.link._pending) == 1
    there.held[0].answer(1)
    await until(lambda: not here.link._pending)
    assert not there.link._handled


async def test_no_more_messages_than_the_window_are_unanswered(world, here, there):
    await settled(world, here, there)
    outcomes = []
    for _ in range(link_module.WINDOW):
        here.link.send(2, NOTES, 1, Hold(), outcomes.append)
    with pytest.raises(Busy):
        here.link.send(2, NOTES, 1, Hold(), outcomes.append)
    # Other nodes have their own.
    here.link.send(3, NOTES, 1, Hold(), outcomes.append)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.link.wait_room, 2)
        await until(lambda: len(there.held) == link_module.WINDOW)
        there.held[0].answer(5)
    assert 5 in outcomes
    here.link.send(2, NOTES, 1, Hold(), outcomes.append)


async def test_no_more_bytes_than_the_window_are_unanswered(world, here, there):
    await settled(world, here, there)
    text = "x" * (link_module.MAX_MESSAGE_BYTES - 200)
    async with world.frozen(there.pipe):

        def fill():
            for number in range(20):
                here.link.send(2, NOTES, 1, Note(number, text), lambda _: None)

        with pytest.raises(Busy):
            fill()
        assert 5 <= len(here.link._pending) <= 9
    await until(lambda: not here.link._pending)


async def test_a_full_mailbox_makes_the_sender_busy_and_nobody_else(world, here):
    async with open_node(world, 2, mailbox_size=1) as there:
        await settled(world, here, there)
        stuck = trio.Event()

        class Stuck(Notes):
            async def _wait(self):
                await stuck.wait()

            def handle(self, message):
                return self._wait()

        await there.system.start(NOTES, 50, lambda: Stuck(50, there))
        outcomes = []
        for number in range(4):
            here.link.send(2, NOTES, 50, Note(number), outcomes.append)
            await until(lambda number=number: len(outcomes) == number + 1)
        assert outcomes[:2] == [None, None]
        assert all(isinstance(each.error, Busy) for each in outcomes[2:])
        assert await here.link.ask(2, NOTES, 51, Add(1)) == 1
        stuck.set()


async def test_without_a_connection_nothing_is_sent_and_afterwards_all_goes_on(world, here, there):
    await settled(world, here, there)
    assert await here.link.ask(2, NOTES, 1, Add(1)) == 1
    await world.cut(here.pipe)
    with pytest.raises(Unreachable):
        await here.link.ask(2, NOTES, 1, Add(10))
    assert not here.link.is_connected
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.link.wait_connected)
        await world.mend(here.pipe)
    await settled(world, here, there)
    # What could not be sent was not kept either.
    assert await here.link.ask(2, NOTES, 1, Add(1)) == 2


async def test_an_answer_says_that_the_actor_has_moved(world, here, there, monkeypatch):
    await settled(world, here, there)
    monkeypatch.setattr(Notes, "handle", lambda _self, message: Moved(9, message.epoch + 1))
    assert await here.link.ask(2, NOTES, 1, Add(1), epoch=4) == Moved(9, 5)


async def test_what_is_not_registered_is_not_sent(world, here):
    with pytest.raises(TypeError, match="Unlisted is not carried"):
        here.link.send(2, NOTES, 1, Unlisted(), lambda _: None)
    with pytest.raises(TypeError, match="stays on its node"):
        Carried(NOTES, int, (Local,))
    with pytest.raises(Unreachable, match="too long"):
        here.link.send(2, NOTES, 1, Note(1, "x" * link_module.MAX_MESSAGE_BYTES), lambda _: None)


def message(node, kind, key, name, body, *more, number=2, seconds=1.0):
    """Bytes of a message of node 1 that may be begun until then."""
    expires = node.link._time.now() + seconds
    return msgspec.msgpack.encode([1, number, kind, key, 0, expires, name, body, *more])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\x00\xc1",
        b"\x80\x04\x95cposix\nsystem\n",  # a pickle
        msgspec.msgpack.encode([1, 2]),
        ("notes", 3, "Unlisted", {}),
        ("notes", 3, "Local", {}),
        ("notes", 3, "__class__", {}),
        ("notes", "three", "Note", {"number": 1}),
        ("notes", 3, "Note", {"number": "one"}),
        ("system", 3, "Note", {"number": 1}),
        ("notes", 3, "Note", {"number": 1, "text": "x" * 200_000}),
        b"\x91" * 100_000,
    ],
)
async def test_bytes_that_are_no_message_are_refused_and_counted(world, here, there, data):
    await settled(world, here, there)
    if isinstance(data, tuple):
        data = message(here, *data)
    for subject in (there.link._subject(2), there.link._subject(2, answers=True)):
        before = there.link.counts["refused"]
        assert here.pipe.send(subject, data)
        await until(lambda before=before: there.link.counts["refused"] == before + 1)
    assert await here.link.ask(2, NOTES, 1, Add(1)) == 1
    assert there.system.count(NOTES) == 2


async def test_a_message_that_comes_again_is_not_handed_over_again(world, here, there):
    await settled(world, here, there)
    data = message(here, "notes", 3, "Note", {"number": 4})
    before = there.link.counts["refused"]
    for _ in range(3):
        assert here.pipe.send(there.link._subject(2), data)
    await until(lambda: there.link.counts["refused"] == before + 2)
    assert there.noted[3] == [4]
    now = trio.current_time()
    there.link._forget_begun(now + 1000)
    assert here.pipe.send(there.link._subject(2), data)
    await until(lambda: there.link.counts["refused"] == before + 3 or there.link.counts["late"])
    there.link._forget_begun(now + 2000)
    assert not there.link._begun_before
    assert there.noted[3] == [4]


@pytest.mark.parametrize("seconds", [1000.0, math.inf, math.nan])
async def test_a_message_that_could_come_again_later_is_refused(world, here, there, seconds):
    await settled(world, here, there)
    before = there.link.counts["refused"]
    data = message(here, "notes", 3, "Note", {"number": 4}, seconds=seconds)
    assert here.pipe.send(there.link._subject(2), data)
    await until(lambda: there.link.counts["refused"] == before + 1)
    assert 3 not in there.noted


async def test_no_more_messages_are_begun_than_can_be_remembered(world, here, there, monkeypatch):
    await settled(world, here, there)
    there.link._forget_begun(trio.current_time() + 1000)
    monkeypatch.setattr(link_module, "MAX_REMEMBERED", 2)
    assert await here.link.ask(2, NOTES, 1, Add(1)) == 1
    assert await here.link.ask(2, NOTES, 1, Add(1)) == 2
    with pytest.raises(Busy):
        await here.link.ask(2, NOTES, 1, Add(1))
    there.link._forget_begun(trio.current_time() + 2000)
    assert await here.link.ask(2, NOTES, 1, Add(1)) == 3


async def test_answers_to_nothing_are_counted(world, here, there):
    await settled(world, here, there)
    late = here.link.counts["late"]
    assert there.pipe.send(here.link._subject(1, answers=True), msgspec.msgpack.encode([99, "answer", "", 1]))
    await until(lambda: here.link.counts["late"] == late + 1)


async def test_messages_of_a_later_release_are_understood(world, here, there):
    await settled(world, here, there)
    body = {"number": 4, "text": "", "colour": "red"}
    data = message(here, "notes", 3, "Note", body, "more")
    assert here.pipe.send(there.link._subject(2), data)
    await until(lambda: there.noted.get(3) == [4])


# Fan-out


async def heard(world, here, there):
    """Both ends of a channel, the reader's open."""
    channel = there.link.channel("live")
    sender = here.link.channel("live")
    with channel.open():
        with trio.fail_after(30):
            while True:
                await sender.send(["hello"])
                with trio.move_on_after(0.05):
                    while await channel.receive() != "hello":
                        pass
                    break
            with trio.move_on_after(0.1):
                while True:
                    await channel.receive()
    return sender, channel


async def test_fan_out_reaches_the_others_in_order_and_not_the_sender(world, here, there):
    async with open_node(world, 3) as third:
        sender, reader = await heard(world, here, there)
        another = third.link.channel("live")
        await heard(world, here, third)
        with sender.open(), reader.open(), another.open():
            texts = [f"text {number} ü" for number in range(100)]
            await sender.send(texts)
            await reader.send(["from there"])
            assert [await reader.receive() for _ in texts] == texts
            got = [await another.receive() for _ in range(101)]
            assert [each for each in got if each != "from there"] == texts
            assert await sender.receive() == "from there"
            with trio.move_on_after(0.1) as silence:
                await sender.receive()
            assert silence.cancelled_caught


async def test_a_slow_reader_is_told_how_much_it_has_missed(world, here, there, monkeypatch):
    monkeypatch.setattr(link_module, "MAX_UNREAD_BYTES", 10_000)
    sender, reader = await heard(world, here, there)
    with reader.open():
        await sender.send([f"{number:01000d}" for number in range(25)])
        await until(lambda: reader._lost == 15)
        with pytest.raises(Lagged) as lagged:
            await reader.receive()
        assert lagged.value.count == 15
        assert [int(await reader.receive()) for _ in range(10)] == list(range(10))
        await sender.send(["afterwards"])
        assert await reader.receive() == "afterwards"


async def test_a_reader_whose_connection_was_lost_is_told(world, here, there):
    sender, reader = await heard(world, here, there)
    with reader.open():
        await world.cut(there.pipe)
        with pytest.raises(Unreachable):
            await reader.receive()
    with pytest.raises(Unreachable), reader.open():
        pass
    await world.mend(there.pipe)
    await until(lambda: here.link.is_connected and there.link.is_connected)
    sender, reader = await heard(world, here, there)
    with reader.open():
        await sender.send(["again"])
        assert await reader.receive() == "again"


async def test_what_does_not_fit_into_the_pipe_is_told_to_the_sender(world, here, there):
    sender, _ = await heard(world, here, there)
    if hasattr(here.pipe, "max_unsent"):
        here.pipe.max_unsent = 100
    async with world.frozen(there.pipe):
        with pytest.raises(Unreachable):
            await sender.send(["x" * 60_000] * 200)
