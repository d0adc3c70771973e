"""Publish and subscribe: the publisher never waits, and a slow reader learns how much it missed."""

import logging
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Final, Generic, Self

import trio

from motorpool.runtime.errors import ActorStopped, Lagged, MailboxFull
from motorpool.runtime.kind import M, T
from motorpool.runtime.ref import Ref
from motorpool.runtime.snapshot import TopicStatistics

log = logging.getLogger(__name__)


class TopicName(Generic[T]):
    """The typed name of a topic: `POSITIONS: TopicName[PositionStored] = TopicName("positions")`.

    Names compare by identity: make one per topic, at module level.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"TopicName({self.name!r})"


class Topic(Generic[T]):
    """Values in the order they were published, for all subscribers.

    One buffer serves all subscriptions; each has its own place in it. It holds what the longest of them may
    lag behind, and nothing while there are none.
    """

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.is_followed = False
        """Whether anybody receives the values, for publishers whose values are expensive to make."""
        self._values: list[T] = []
        self._end = 0  # values published while there were subscriptions; the place after the newest
        self._keep = 0
        self._published = 0
        self._lost = 0
        self._dropped = 0
        self._subscriptions: set[Subscription[T]] = set()
        self._waiting: list[Subscription[T]] = []
        self._forwardings: tuple[Forwarding[T] | Listener[T], ...] = ()

    def __repr__(self) -> str:
        return f"<Topic {self.name}: {len(self._subscriptions)} subscriptions, {self._published} published>"

    def publish(self, value: T) -> None:
        """Hand `value` to all. Never waits and never fails because of a reader."""
        self._published += 1
        if self._subscriptions:
            self._values.append(value)
            self._end += 1
            self._trim()
            while self._waiting:
                self._waiting.pop()._wake()
        for forwarding in self._forwardings:
            forwarding._tell(value)

    def subscribe(self, size: int = 1000) -> "Subscription[T]":
        """Subscribe to values published from now on; the newest `size` values wait for a busy reader."""
        if size < 1:
            raise ValueError(f"a subscription keeps at least one value, not {size}")
        subscription = Subscription(self, size, self._end)
        self._subscriptions.add(subscription)
        self.is_followed = True
        self._keep = max(self._keep, size)
        return subscription

    def forward(self, ref: Ref[M], wrap: Callable[[T], M]) -> "Forwarding[T]":
        """Tell `wrap(value)` to `ref` for each value; dropped and counted while its mailbox is full."""
        forwarding = Forwarding(self, ref, wrap)
        self._hand_to((*self._forwardings, forwarding))
        return forwarding

    def listen(self, function: Callable[[T], object]) -> "Listener[T]":
        """Call `function(value)` for each value within `publish`, for who must not miss one or be late.

        The function neither waits nor publishes to the same topic. What it raises is logged.
        """
        listener = Listener(self, function)
        self._hand_to((*self._forwardings, listener))
        return listener

    def close(self) -> None:
        """End all subscriptions, forwardings and listeners: nothing more will come."""
        for subscription in list(self._subscriptions):
            subscription.close()
        self._hand_to(())

    def statistics(self) -> TopicStatistics:
        """Counts since the topic was made."""
        return TopicStatistics(
            name=self.name,
            published=self._published,
            subscriptions=len(self._subscriptions),
            lost=self._lost,
            dropped=self._dropped,
        )

    def _values_from(self, place: int) -> list[T]:
        return self._values[place - self._end :]

    def _hand_to(self, forwardings: "tuple[Forwarding[T] | Listener[T], ...]") -> None:
        self._forwardings = forwardings
        self.is_followed = bool(forwardings or self._subscriptions)

    def _remove(self, forwarding: "Forwarding[T] | Listener[T]") -> None:
        self._hand_to(tuple(each for each in self._forwardings if each is not forwarding))

    def _leave(self, subscription: "Subscription[T]") -> None:
        self._subscriptions.discard(subscription)
        self._hand_to(self._forwardings)
        if subscription in self._waiting:
            self._waiting.remove(subscription)
        self._keep = max((each.size for each in self._subscriptions), default=0)
        self._trim()

    def _trim(self) -> None:
        # Not before twice what is kept, so that each value is moved once on average.
        if len(self._values) >= 2 * self._keep:
            del self._values[: len(self._values) - self._keep]


class Subscription(Generic[T]):
    """One reader's place in a topic. An async iterator of values, and an async context that closes it.

    For one task at a time: a second one that waits gets `trio.BusyResourceError`.
    """

    __slots__ = ("_cursor", "_lost", "_ready", "_task", "_topic", "closed", "size")

    def __init__(self, topic: Topic[T], size: int, place: int) -> None:
        self.size: Final = size
        """Values it may lag behind before it loses the oldest."""
        self.closed = False
        self._topic = topic
        self._cursor = place
        self._lost = 0
        self._ready: Iterator[T] = iter(())  # of the batch that iteration is in
        self._task: trio.lowlevel.Task | None = None

    def __repr__(self) -> str:
        return f"<Subscription to {self._topic.name}: lag {self.lag}, {self._lost} lost>"

    @property
    def lag(self) -> int:
        """Values published that this reader has not received, lost ones included."""
        return self._topic._end - self._cursor

    @property
    def lost(self) -> int:
        """Values that were reported as lost since it began."""
        return self._lost

    async def receive_batch(self) -> list[T]:
        """All values that wait, at least one; waits for it. No checkpoint when there is one.

        Raises Lagged when it was overrun since the last call; the next call goes on with the oldest kept.
        Raises `trio.ClosedResourceError` when the subscription, or the system, is closed. Cancelled: nothing
        is lost.
        """
        if ready := list(self._ready):
            return ready
        while not self.closed:
            lag = self.lag
            if lag > self.size:
                self._cursor += lag - self.size
                self._lost += lag - self.size
                self._topic._lost += lag - self.size
                raise Lagged(self._topic.name, lag - self.size)
            if lag:
                batch = self._topic._values_from(self._cursor)
                self._cursor += lag
                return batch
            await self._park()
        raise trio.ClosedResourceError(f"the subscription to {self._topic.name} is closed")

    def close(self) -> None:
        """Stop receiving. Wakes a task that waits in `receive_batch`."""
        if not self.closed:
            self.closed = True
            self._ready = iter(())
            self._topic._leave(self)
            if self._task is not None:
                self._wake()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        for value in self._ready:
            return value
        try:
            self._ready = iter(await self.receive_batch())
        except trio.ClosedResourceError:
            raise StopAsyncIteration from None
        return next(self._ready)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _park(self) -> None:
        if self._task is not None:
            raise trio.BusyResourceError(f"another task reads this subscription to {self._topic.name}")

        def leave(_: object) -> trio.lowlevel.Abort:
            self._task = None
            self._topic._waiting.remove(self)
            return trio.lowlevel.Abort.SUCCEEDED

        self._task = trio.lowlevel.current_task()
        self._topic._waiting.append(self)
        await trio.lowlevel.wait_task_rescheduled(leave)

    def _wake(self) -> None:
        assert self._task is not None
        trio.lowlevel.reschedule(self._task)
        self._task = None


class Forwarding(Generic[T]):
    """Sends the values of a topic to an actor. Ends by `cancel`, or when the actor has stopped for good."""

    __slots__ = ("_ref", "_topic", "_wrap", "dropped")

    def __init__(self, topic: Topic[T], ref: Ref[Any], wrap: Callable[[T], object]) -> None:
        self._topic = topic
        self._ref = ref
        self._wrap = wrap
        self.dropped = 0
        """Values that found the mailbox full."""

    def cancel(self) -> None:
        """Send nothing more."""
        self._topic._remove(self)

    def _tell(self, value: T) -> None:
        try:
            self._ref.tell_nowait(self._wrap(value))
        except MailboxFull:
            self.dropped += 1
            self._topic._dropped += 1
        except ActorStopped:
            self.cancel()
        except Exception:  # a reader's error must not affect the publisher
            log.exception("a value of %s could not be forwarded to %s", self._topic.name, self._ref.path)


class Listener(Generic[T]):
    """A function that is called for each value of a topic. Ends by `cancel`."""

    __slots__ = ("_function", "_topic")

    def __init__(self, topic: Topic[T], function: Callable[[T], object]) -> None:
        self._topic = topic
        self._function = function

    def cancel(self) -> None:
        """Stop calling the function."""
        self._topic._remove(self)

    def _tell(self, value: T) -> None:
        try:
            self._function(value)
        except Exception:  # the publisher must not pay for a reader's mistake
            log.exception("a listener of %s failed", self._topic.name)
