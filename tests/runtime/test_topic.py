from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.runtime.actor_testing import Broken, Probe, open_tree
from trio.testing import MockClock

from motorpool.runtime import (
    DynamicSpec,
    Kind,
    Lagged,
    Restart,
    Subscription,
    Topic,
    TopicName,
    TopicStatistics,
)

DEVICE: Kind[int, Any] = Kind("device")
NEWS: TopicName[int] = TopicName("news")


def receive_now(subscription: Subscription[int]) -> list[int] | Lagged | None:
    """What receive_batch gives when it need not wait; None when it would."""
    receiving = subscription.receive_batch()
    if subscription.lag == 0:
        receiving.close()
        return None
    try:
        receiving.send(None)
    except StopIteration as done:
        batch: list[int] = done.value
        return batch
    except Lagged as lagged:
        return lagged
    pytest.fail("it waited although there was something")


class TopicModel(RuleBasedStateMachine):
    """Each subscription against a list that loses its oldest values."""

    def __init__(self) -> None:
        super().__init__()
        self.topic: Topic[int] = Topic("news")
        self.readers: list[tuple[Subscription[int], list[int]]] = []
        self.count = 0
        self.lost = 0

    @rule(size=st.integers(1, 7))
    def subscribe(self, size: int) -> None:
        if len(self.readers) < 4:
            self.readers.append((self.topic.subscribe(size), []))

    @rule(times=st.integers(1, 9))
    def publish(self, times: int) -> None:
        for _ in range(times):
            self.count += 1
            self.topic.publish(self.count)
            for _, unread in self.readers:
                unread.append(self.count)

    @rule(number=st.integers(0, 3))
    def receive(self, number: int) -> None:
        if number >= len(self.readers):
            return
        subscription, unread = self.readers[number]
        received = receive_now(subscription)
        missed = len(unread) - subscription.size
        if missed > 0:
            assert isinstance(received, Lagged)
            assert received.count == missed
            del unread[:missed]
            self.lost += missed
        elif unread:
            assert received == unread
            unread.clear()
        else:
            assert received is None

    @rule(number=st.integers(0, 3))
    def close(self, number: int) -> None:
        if number < len(self.readers):
            self.readers.pop(number)[0].close()

    @invariant()
    def counts_agree_and_the_buffer_is_bounded(self) -> None:
        assert self.topic.statistics() == TopicStatistics(
            name="news", published=self.count, subscriptions=len(self.readers), lost=self.lost, dropped=0
        )
        assert [subscription.lag for subscription, _ in self.readers] == [
            len(unread) for _, unread in self.readers
        ]
        assert len(self.topic._values) < 2 * max((each.size for each, _ in self.readers), default=1)


TopicModel.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestTopicModel = TopicModel.TestCase


async def test_a_reader_gets_what_is_published_while_it_waits_in_one_batch() -> None:
    topic: Topic[int] = Topic("news")
    batches: list[list[int]] = []
    async with topic.subscribe() as subscription, trio.open_nursery() as nursery:

        async def read() -> None:
            batches.append(await subscription.receive_batch())

        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        for number in range(5):
            topic.publish(number)
    assert batches == [[0, 1, 2, 3, 4]]
    assert topic.statistics().subscriptions == 0


async def test_a_slow_reader_learns_what_it_lost_and_continues_with_the_oldest_kept() -> None:
    topic: Topic[int] = Topic("news")
    slow, quick = topic.subscribe(3), topic.subscribe(100)
    for number in range(10):
        topic.publish(number)
    with pytest.raises(Lagged, match="a reader of news lost 7 values") as caught:
        await slow.receive_batch()
    assert (caught.value.topic, caught.value.count) == ("news", 7)
    assert await slow.receive_batch() == [7, 8, 9]
    assert await quick.receive_batch() == list(range(10))
    assert (slow.lost, quick.lost) == (7, 0)
    assert repr(slow) == "<Subscription to news: lag 0, 7 lost>"
    assert repr(topic) == "<Topic news: 2 subscriptions, 10 published>"


async def test_iterating_yields_values_one_by_one_and_raises_the_lag_in_between() -> None:
    topic: Topic[int] = Topic("news")
    subscription = topic.subscribe(2)
    seen: list[object] = []
    for number in range(3):
        topic.publish(number)
    for _ in range(3):
        try:
            seen.append(await anext(subscription))
        except Lagged as lagged:
            seen.append(lagged.count)
    assert seen == [1, 1, 2]  # one lost, then the values 1 and 2
    topic.publish(3)
    topic.publish(4)
    assert await anext(subscription) == 3
    assert await subscription.receive_batch() == [4]
    topic.close()
    assert [value async for value in subscription] == []


async def test_a_cancelled_reader_loses_nothing_and_can_go_on() -> None:
    topic: Topic[int] = Topic("news")
    subscription = topic.subscribe()
    with trio.CancelScope() as scope:
        scope.cancel()
        await subscription.receive_batch()
    topic.publish(1)
    assert await subscription.receive_batch() == [1]


async def test_a_waiting_reader_is_woken_when_the_subscription_is_closed() -> None:
    topic: Topic[int] = Topic("news")
    subscription = topic.subscribe()
    async with trio.open_nursery() as nursery:

        async def read() -> None:
            with pytest.raises(trio.ClosedResourceError, match="subscription to news is closed"):
                await subscription.receive_batch()

        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await subscription.receive_batch()
        subscription.close()
        subscription.close()
    topic.publish(1)
    assert topic.statistics().subscriptions == 0


async def test_a_subscription_that_keeps_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value, not 0"):
        Topic("news").subscribe(0)


async def test_values_are_forwarded_to_an_actor_until_cancelled() -> None:
    probes: list[Probe[Any]] = []

    def build(_: int) -> Probe[Any]:
        probes.append(Probe())
        return probes[-1]

    async with open_tree(DynamicSpec(kind=DEVICE, name="devices", factory=build)) as system:
        topic = system.topic(NEWS)
        forwarding = topic.forward(system.ref(DEVICE, 1), lambda number: f"news {number}")
        topic.publish(1)
        topic.publish(2)
        forwarding.cancel()
        topic.publish(3)
        assert probes[0].messages == ["news 1", "news 2"]
        assert forwarding.dropped == 0


async def test_a_forwarding_never_harms_the_publisher(
    mock_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    spec = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Probe(), mailbox_size=1)
    async with open_tree(spec) as system:
        topic = system.topic(NEWS)
        ref = system.ref(DEVICE, 1)
        forwarding = topic.forward(ref, lambda number: Broken("on purpose") if number == 1 else number)
        broken = topic.forward(ref, lambda number: 1 // 0)
        for number in (1, 2, 3, 4):
            topic.publish(number)
        assert forwarding.dropped == 2  # 1 was fatal, 2 waits for the restart
        assert topic.statistics().dropped == 2
        assert "a value of news could not be forwarded to devices/1" in caplog.text
        broken.cancel()


async def test_a_forwarding_to_an_ended_actor_ends_by_itself() -> None:
    spec = DynamicSpec(kind=DEVICE, name="devices", restart=Restart.TEMPORARY)
    async with open_tree(spec) as system:
        topic = system.topic(NEWS)
        probe: Probe[Any] = Probe()
        ref = await system.start(DEVICE, 1, lambda: probe)
        topic.forward(ref, str)
        topic.publish(1)
        await ref.stop()
        topic.publish(2)
        await system.start(DEVICE, 1, lambda: probe)
        topic.publish(3)
        assert probe.messages == ["1"]


async def test_a_listener_is_called_within_publish_until_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    async with open_tree() as system:
        topic = system.topic(NEWS)
        received: list[int] = []
        listener = topic.listen(received.append)
        failing = topic.listen(lambda number: number // 0)
        topic.publish(1)
        assert received == [1]
        assert "a listener of news failed" in caplog.text
        failing.cancel()
        listener.cancel()
        topic.publish(2)
        assert received == [1]


async def test_a_topic_is_followed_while_anybody_receives_its_values() -> None:
    async with open_tree(DynamicSpec(kind=DEVICE, name="devices", restart=Restart.TEMPORARY)) as system:
        topic = system.topic(NEWS)
        ref = await system.start(DEVICE, 1, Probe)
        for begin in (
            lambda: topic.subscribe().close,
            lambda: topic.listen(lambda _: None).cancel,
            lambda: topic.forward(ref, str).cancel,
        ):
            assert not topic.is_followed
            first_ends, second_ends = begin(), begin()
            first_ends()
            assert topic.is_followed
            second_ends()
        topic.listen(lambda _: None)
        subscription = topic.subscribe()
        subscription.close()
        assert topic.is_followed
        topic.close()
        assert not topic.is_followed
