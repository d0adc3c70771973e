from collections import deque
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from motorpool.runtime.errors import ActorStopped
from motorpool.runtime.mailbox import Mailbox, MailboxStatistics


class MailboxModel(RuleBasedStateMachine):
    """A mailbox against a plain deque; senders without room are in a second one."""

    def __init__(self) -> None:
        super().__init__()
        self.mailbox = Mailbox(4)
        self.accepted: deque[int] = deque()
        self.line: deque[Any] = deque()
        self.sealed = False
        self.batch: Any = None
        self.count = 0

    def settle(self) -> None:
        while self.line and len(self.accepted) < 4 and not self.sealed:
            self.accepted.append(self.line.popleft())

    @rule()
    def put(self) -> None:
        self.count += 1
        room = len(self.accepted) < 4 and not self.line and not self.sealed
        assert self.mailbox.put(self.count) is room
        if room:
            self.accepted.append(self.count)

    @rule()
    def wait_for_room(self) -> None:
        self.count += 1
        if self.mailbox.put(self.count):
            self.accepted.append(self.count)
        else:
            self.mailbox.enqueue_waiter(self.count, self.count)
            self.line.append(self.count)

    @precondition(lambda self: self.line)
    @rule(data=st.data())
    def give_up_waiting(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(list(self.line)))
        self.mailbox.forget(chosen)
        self.line.remove(chosen)

    @rule(wanted=st.integers(1, 6))
    def drain_some(self, wanted: int) -> None:
        batch = self.mailbox.take()
        assert (batch is None) is (not self.accepted)
        for item in batch or ():
            assert item == self.accepted.popleft()
            self.mailbox.admit()
            self.settle()
            wanted -= 1
            if not wanted:
                break

    @precondition(lambda self: self.accepted)
    @rule()
    def pop(self) -> None:
        assert self.mailbox.pop() == self.accepted.popleft()
        self.settle()

    @rule()
    def put_unbounded(self) -> None:
        self.count += 1
        self.mailbox.put_unbounded(self.count)
        self.accepted.append(self.count)

    @rule()
    def seal(self) -> None:
        self.mailbox.seal()
        self.sealed = True

    @rule()
    def unseal(self) -> None:
        self.mailbox.unseal()
        self.sealed = False
        self.settle()

    @rule()
    def clear(self) -> None:
        assert self.mailbox.clear() == list(self.accepted)
        self.accepted.clear()

    @invariant()
    def counts_agree(self) -> None:
        assert self.mailbox.statistics() == MailboxStatistics(len(self.accepted), 4, len(self.line))
        assert self.mailbox.has_work is bool(self.accepted or self.line)
        assert self.mailbox.sealed is self.sealed


MailboxModel.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestMailboxModel = MailboxModel.TestCase


def test_what_a_reader_took_and_did_not_begin_still_counts() -> None:
    mailbox = Mailbox(3)
    for number in range(3):
        assert mailbox.put(number)
    batch = mailbox.take()
    assert batch is not None
    next(batch)
    assert mailbox.depth == 2
    assert mailbox.put(3)
    assert not mailbox.put(4)
    assert list(batch) == [1, 2]
    assert mailbox.pop() == 3


def test_repr_states_the_counts() -> None:
    mailbox = Mailbox(1)
    mailbox.put("a")
    mailbox.enqueue_waiter("b", "b")
    assert repr(mailbox) == "<Mailbox 1/1, 1 waiting>"


async def test_waiting_senders_get_in_one_by_one_in_their_order() -> None:
    mailbox = Mailbox(1)
    mailbox.put("first")
    done: list[str] = []

    async def send(name: str) -> None:
        await mailbox.put_waiting(name)
        done.append(name)

    async with trio.open_nursery() as nursery:
        for name in ("a", "b", "c"):
            nursery.start_soon(send, name)
            await trio.testing.wait_all_tasks_blocked()
        for expected in (["a"], ["a", "b"], ["a", "b", "c"]):
            mailbox.pop()
            await trio.testing.wait_all_tasks_blocked()
            assert done == expected
    assert mailbox.pop() == "c"


async def test_a_sender_that_gives_up_has_sent_nothing() -> None:
    mailbox = Mailbox(1)
    mailbox.put("first")
    with trio.CancelScope() as scope:
        scope.cancel()
        await mailbox.put_waiting("second")
    assert mailbox.statistics() == MailboxStatistics(1, 1, 0)
    assert mailbox.pop() == "first"
    assert mailbox.take() is None


async def test_turning_away_raises_in_tasks_and_returns_what_has_none() -> None:
    mailbox = Mailbox(1)
    mailbox.put("first")
    mailbox.enqueue_waiter("request", "request")
    refused: list[str] = []

    async def send() -> None:
        with pytest.raises(ActorStopped) as caught:
            await mailbox.put_waiting("late")
        refused.append(caught.value.path)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        await trio.testing.wait_all_tasks_blocked()
        assert mailbox.reject_waiters(lambda: ActorStopped("devices/1")) == ["request"]
    assert refused == ["devices/1"]
    assert mailbox.clear() == ["first"]
