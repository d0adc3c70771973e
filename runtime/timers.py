"""All timers of a system: one heap, one task, cancelling in O(1), putting off in O(1)."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

import trio

from motorpool.runtime.clock import Clock
from motorpool.runtime.timer_heap import CallbackTimer, Timer, TimerHeap

RECHECK_SECONDS: Final = 1.0
"""How often timers at a wall instant look at the wall clock: a jump of it is noticed within this time."""

BURST: Final = 100
"""Timers fired in a row before other tasks get a turn."""

log = logging.getLogger(__name__)


class Timers:
    """Calls plain functions later, in its own task. A callback must not wait; its crash is logged.

    Timers are set for a span (`after`, `every`), which the monotonic clock measures, or for an instant
    of the wall clock (`at`), which follows the wall wherever it jumps.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._monotonic_timers = TimerHeap()
        self._wall_timers = TimerHeap()
        self._recheck: Timer | None = None
        self._sleep = trio.CancelScope()

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` once, `seconds` from now."""
        timer = CallbackTimer(callback)
        self.arm(timer, seconds)
        return timer

    def every(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` each `seconds`, first after `seconds`; turns that were missed are not made up."""
        if seconds <= 0:
            raise ValueError(f"an interval must be longer than {seconds} s")
        timer = CallbackTimer(callback, interval=seconds)
        self.arm(timer, seconds)
        return timer

    def at(self, instant: datetime, callback: Callable[[], object]) -> Timer:
        """Call `callback` once the wall clock shows `instant` or later; the past is due at once."""
        timer = CallbackTimer(callback)
        self.arm_at(timer, instant)
        return timer

    def arm_at(self, timer: Timer, instant: datetime) -> None:
        """Arm `timer` to fire once the wall clock shows `instant`."""
        self._wall_timers.push(timer, instant.timestamp())
        self._schedule_wall_check()

    def arm(self, timer: Timer, seconds: float) -> None:
        """Arm `timer` to fire `seconds` from now, whether or not it is armed already; postponing is O(1)."""
        due = self._clock.monotonic() + seconds
        self._monotonic_timers.push(timer, due)
        # Moving the deadline of a sleep is cheaper than waking the sleeper, and not touching it is cheapest:
        if due < self._sleep.deadline:  # noqa: PLR1730 - min() would set it every time
            self._sleep.deadline = due

    async def run(self) -> None:
        """Fire due timers until cancelled."""
        while True:
            fired = 0
            while (timer := self._monotonic_timers.pop_due(self._clock.monotonic())) is not None:
                self._fire(timer)
                fired += 1
                if fired % BURST == 0:
                    await trio.lowlevel.checkpoint()
            with trio.CancelScope(deadline=self._monotonic_timers.next_due) as self._sleep:
                await trio.sleep_forever()

    def _fire(self, timer: Timer) -> None:
        if timer.interval is not None:
            late = max(0.0, self._clock.monotonic() - timer.due)
            self.arm(timer, timer.interval - late % timer.interval)
        try:
            timer.fire()
        except Exception:
            log.exception("a timer's callback failed: %r", timer)

    def _schedule_wall_check(self) -> None:
        now = self._clock.now().timestamp()
        wait = min(RECHECK_SECONDS, max(0.0, self._wall_timers.next_due - now))
        if self._recheck is None:
            self._recheck = CallbackTimer(self._fire_wall_timers)
        self.arm(self._recheck, wait)

    def _fire_wall_timers(self) -> None:
        now = self._clock.now().timestamp()
        while (timer := self._wall_timers.pop_due(now)) is not None:
            self._fire(timer)
        if self._wall_timers:
            self._schedule_wall_check()
