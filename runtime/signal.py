"""Wakes tasks that wait for something new: work that arrived, a state that changed."""

from collections import deque
from math import inf

import trio


class Signal:
    """A wake-up call. Signals set before a task looks are one signal; it carries no value.

    `set` wakes all tasks that wait. When none waits, the next `wait` returns at once: a task that alternates
    between `wait` and looking at everything there is misses nothing. Several tasks share a signal if each
    looks at its condition before it waits, as in `while not condition: await signal.wait()`, since one that
    is busy when another is woken gets no call of its own. A `wait` may return without a change.

    For something that happens once and stays so, use `trio.Event`.
    """

    __slots__ = ("_is_set", "_waiting")

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: deque[trio.lowlevel.Task] = deque()

    def __repr__(self) -> str:
        return f"<Signal: {'set' if self._is_set else 'not set'}, {len(self._waiting)} waiting>"

    def set(self) -> None:
        """Wake all tasks that wait, or else the next one that does."""
        if self._waiting:
            while self._waiting:
                trio.lowlevel.reschedule(self._waiting.popleft())
        else:
            self._is_set = True

    def clear(self) -> None:
        """Forget a signal that no `wait` has returned for: what it announced is about to be looked at."""
        self._is_set = False

    async def wait(self, seconds: float = inf) -> bool:
        """Wait for the signal, at most `seconds`; return whether it came. Always a checkpoint.

        Cancelled or timed out: a signal that comes later is kept for the next `wait`.
        """
        if self._is_set:
            await trio.lowlevel.checkpoint()
        elif seconds == inf:
            await self._park()
        else:
            with trio.move_on_after(seconds) as limit:
                await self._park()
            if limit.cancelled_caught and not self._is_set:
                return False
        self._is_set = False
        return True

    async def _park(self) -> None:
        task = trio.lowlevel.current_task()

        def leave(_: object) -> trio.lowlevel.Abort:
            self._waiting.remove(task)
            return trio.lowlevel.Abort.SUCCEEDED

        self._waiting.append(task)
        await trio.lowlevel.wait_task_rescheduled(leave)
