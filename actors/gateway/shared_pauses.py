"""Pauses of many tasks that end together: most of what a pause costs is its timer, and these share one."""

from typing import Final

import trio

STEPS_OF_A_PAUSE: Final = 10
"""Steps of a pause, which ends with the last one that it holds: at most one step early."""


class SharedPauses:
    """Pauses of the tasks that read the connections of a port."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: the longest pause."""
        self._seconds = seconds
        self._step = seconds / STEPS_OF_A_PAUSE
        self._waiting: dict[int, trio.lowlevel.ParkingLot] = {}
        """Tasks by when their pause ends, in steps; besides the one that sleeps for them."""

    async def wait(self) -> None:
        """Pause. Where the task that sleeps for others is cancelled, their pause ends early."""
        end = int((trio.current_time() + self._seconds) / self._step)
        waiting = self._waiting.get(end)
        if waiting is not None:
            await waiting.park()
            return
        waiting = self._waiting[end] = trio.lowlevel.ParkingLot()
        try:
            await trio.sleep_until(end * self._step)
        finally:
            del self._waiting[end]
            waiting.unpark_all()
