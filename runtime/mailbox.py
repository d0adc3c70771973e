"""A bounded queue that costs next to nothing while it is empty and is drained in batches."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

import trio
from outcome import Error, Value


class Batch(Protocol):
    """What a list's iterator is: it knows how much is left in it."""

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
    still counts, so the bound is strict, and stays here if the reader breaks off: the next one goes on at
    the message where it left. An item is a message, or the envelope of a request.

    Senders that find no room wait in line, and room goes to the first of them: nobody overtakes.
    """

    __slots__ = ("_batch", "_limit", "fresh", "size", "waiting")

    def __init__(self, size: int) -> None:
        self.size = size
        self.waiting: OrderedDict[object, object] | None = None
        self._limit = size  # 0 while sealed, so that the way in has one test
        self.fresh: list[object] | None = None
        """What came since the last `take`; made by the first message, given up with the batch."""
        self._batch = _NO_BATCH

    def __repr__(self) -> str:
        return f"<Mailbox {self.depth}/{self.size}, {len(self.waiting or ())} waiting>"

    @property
    def depth(self) -> int:
        """Messages accepted and not yet begun."""
        return self._batch.__length_hint__() + (len(self.fresh) if self.fresh is not None else 0)

    @property
    def wanted(self) -> bool:
        """Whether there is anything to do, or anybody who waits to say so."""
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
        fresh = self.fresh
        if fresh is None:
            if self.waiting or self._batch.__length_hint__() >= self._limit:
                return False
            self.fresh = [item]
            return True
        if self.waiting or len(fresh) + self._batch.__length_hint__() >= self._limit:
            return False
        fresh.append(item)
        return True

    def force(self, item: object) -> None:
        """Accept `item` beyond the bound: for what its reader ordered itself and must not lose."""
        if self.fresh is None:
            self.fresh = [item]
        else:
            self.fresh.append(item)

    def queue(self, key: object, item: object) -> None:
        """Let `item` wait for room under `key`: the task to wake when it gets in, or the item itself."""
        if self.waiting is None:
            self.waiting = OrderedDict()
        self.waiting[key] = item

    def forget(self, key: object) -> None:
        """Take what waits under `key` out of the line, if it is still there."""
        if self.waiting is not None:
            self.waiting.pop(key, None)

    async def put_waiting(self, item: object) -> None:
        """Wait in line until `item` is accepted. Cancelled: it has not been and will not be."""
        task = trio.lowlevel.current_task()

        def give_up(_: object) -> trio.lowlevel.Abort:
            self.forget(task)
            return trio.lowlevel.Abort.SUCCEEDED

        self.queue(task, item)
        await trio.lowlevel.wait_task_rescheduled(give_up)

    def take(self) -> Batch | None:
        """Everything there is, to be worked through; None when empty. Call `admit` for each message begun."""
        if self._batch.__length_hint__():
            return self._batch
        if self.fresh is None:
            self._batch = _NO_BATCH
            return None
        self._batch = cast("Batch", iter(self.fresh))
        self.fresh = None
        return self._batch

    def pop(self) -> object:
        """The first message alone. Only while there is one."""
        batch = self.take()
        assert batch is not None
        item = next(batch)
        self.admit()
        return item

    def admit(self) -> None:
        """Give room to those who wait for it, in order."""
        waiting = self.waiting
        if waiting is None:
            return
        room = self._limit - self.depth
        while room > 0 and waiting:
            key, item = waiting.popitem(last=False)
            self.force(item)
            room -= 1
            if key is not item:
                trio.lowlevel.reschedule(_task(key), Value(None))
        if not waiting:
            self.waiting = None

    def seal(self) -> None:
        """Accept nothing more for now; who wants to wait, waits."""
        self._limit = 0

    def unseal(self) -> None:
        """Accept again, first from those who wait."""
        self._limit = self.size
        self.admit()

    def reject_waiters(self, error: Callable[[], Exception]) -> list[object]:
        """Raise an `error()` in every waiting teller; returns what waits without a task (requests)."""
        waiting, self.waiting = self.waiting or OrderedDict(), None
        for key, item in waiting.items():
            if key is not item:
                trio.lowlevel.reschedule(_task(key), Error(error()))
        return [item for key, item in waiting.items() if key is item]

    def clear(self) -> list[object]:
        """Give up everything accepted, in order."""
        left = list(self._batch)
        left.extend(self.fresh or ())
        self._batch, self.fresh = _NO_BATCH, None
        return left


def _task(key: object) -> trio.lowlevel.Task:
    assert isinstance(key, trio.lowlevel.Task)
    return key
