"""A bounded queue that takes little memory while it is empty and is drained in batches."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

import trio
from outcome import Error, Value


class Batch(Protocol):
    """A list's iterator, which knows how many items are left."""

    def __iter__(self) -> Iterator[object]: ...

    def __next__(self) -> object: ...

    def __length_hint__(self) -> int: ...


# An exhausted iterator stands for "no batch": one object for all mailboxes.
_NO_BATCH = cast("Batch", iter(()))


@dataclass(frozen=True, slots=True)
class MailboxStatistics:
    """A mailbox at one moment."""

    depth: int
    """Messages accepted and not yet begun."""
    size: int
    """Messages it holds at most."""
    waiting: int
    """Senders that wait for room."""


class Mailbox:
    """Messages in order of arrival, at most `size` of them.

    The reader takes everything at once (`take`) and works through it. What it has taken and not yet begun
    still counts, so the bound is strict, and stays here if the reader breaks off: the next reader continues
    at the message where it stopped. An item is a message, or the envelope of a request.

    Senders that find no room wait in order of arrival, and room goes to the first of them.
    """

    __slots__ = ("_batch", "_limit", "incoming", "size", "waiting")

    def __init__(self, size: int) -> None:
        self.size = size
        self.waiting: OrderedDict[object, object] | None = None
        self._limit = size  # 0 while sealed, so that `put` needs one comparison
        self.incoming: list[object] | None = None
        """Messages since the last `take`; None while there are none."""
        self._batch = _NO_BATCH

    def __repr__(self) -> str:
        return f"<Mailbox {self.depth}/{self.size}, {len(self.waiting or ())} waiting>"

    @property
    def depth(self) -> int:
        """Messages accepted and not yet begun."""
        return self._batch.__length_hint__() + (len(self.incoming) if self.incoming is not None else 0)

    @property
    def has_work(self) -> bool:
        """Whether messages are queued or senders wait."""
        return bool(self.depth or self.waiting)

    @property
    def sealed(self) -> bool:
        """Whether nothing is accepted for now, room or not."""
        return self._limit == 0

    def statistics(self) -> MailboxStatistics:
        """Depth, size and waiting senders."""
        return MailboxStatistics(self.depth, self.size, len(self.waiting or ()))

    def put(self, item: object) -> bool:
        """Accept `item`; False when there is no room, or when others wait for it already."""
        fresh = self.incoming
        if fresh is None:
            if self.waiting or self._batch.__length_hint__() >= self._limit:
                return False
            self.incoming = [item]
            return True
        if self.waiting or len(fresh) + self._batch.__length_hint__() >= self._limit:
            return False
        fresh.append(item)
        return True

    def put_unbounded(self, item: object) -> None:
        """Accept `item` beyond the bound: for timers of the reader itself, which must not be lost."""
        if self.incoming is None:
            self.incoming = [item]
        else:
            self.incoming.append(item)

    def enqueue_waiter(self, key: object, item: object) -> None:
        """Queue `item` for room under `key`: the task to wake once there is room, or the item itself."""
        if self.waiting is None:
            self.waiting = OrderedDict()
        self.waiting[key] = item

    def forget(self, key: object) -> None:
        """Remove what waits under `key`, if it is still there."""
        if self.waiting is not None:
            self.waiting.pop(key, None)

    async def put_waiting(self, item: object) -> None:
        """Wait in line until `item` is accepted. Cancelled: it has not been and will not be."""
        task = trio.lowlevel.current_task()

        def give_up(_: object) -> trio.lowlevel.Abort:
            self.forget(task)
            return trio.lowlevel.Abort.SUCCEEDED

        self.enqueue_waiter(task, item)
        await trio.lowlevel.wait_task_rescheduled(give_up)

    def take(self) -> Batch | None:
        """Return all messages as one batch; None when empty. Call `admit` for each message begun."""
        if self._batch.__length_hint__():
            return self._batch
        if self.incoming is None:
            self._batch = _NO_BATCH
            return None
        self._batch = cast("Batch", iter(self.incoming))
        self.incoming = None
        return self._batch

    def pop(self) -> object:
        """Return the first message alone. Only while there is one."""
        batch = self.take()
        assert batch is not None
        item = next(batch)
        self.admit()
        return item

    def admit(self) -> None:
        """Accept messages of waiting senders, in order, as far as there is room."""
        waiting = self.waiting
        if waiting is None:
            return
        room = self._limit - self.depth
        while room > 0 and waiting:
            key, item = waiting.popitem(last=False)
            self.put_unbounded(item)
            room -= 1
            if key is not item:
                trio.lowlevel.reschedule(_task(key), Value(None))
        if not waiting:
            self.waiting = None

    def seal(self) -> None:
        """Accept nothing for now; senders may still wait."""
        self._limit = 0

    def unseal(self) -> None:
        """Accept again, first from waiting senders."""
        self._limit = self.size
        self.admit()

    def reject_waiters(self, error: Callable[[], Exception]) -> list[object]:
        """Raise an `error()` in every waiting sender; return what waits without a task (requests)."""
        waiting, self.waiting = self.waiting or OrderedDict(), None
        for key, item in waiting.items():
            if key is not item:
                trio.lowlevel.reschedule(_task(key), Error(error()))
        return [item for key, item in waiting.items() if key is item]

    def clear(self) -> list[object]:
        """Remove and return everything accepted, in order."""
        left = list(self._batch)
        left.extend(self.incoming or ())
        self._batch, self.incoming = _NO_BATCH, None
        return left


def _task(key: object) -> trio.lowlevel.Task:
    assert isinstance(key, trio.lowlevel.Task)
    return key
