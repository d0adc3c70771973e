"""Looks every few seconds at what the server may run out of, and at its clock."""

import os
from pathlib import Path
from typing import Never

import trio

from motorpool.actors.files.disk_space import DiskSpace, disk_space
from motorpool.actors.messages.conditions import CLOCK, DISK, MEMORY, OPEN_FILES, note_out_of_files
from motorpool.actors.upkeep.memory_limit import Memory, MemoryLimit
from motorpool.runtime import Actor

LOOK_SECONDS = 3.0
LEAST_FREE_BYTES = 64 << 20
"""Below this the disk counts as nearly full, whatever `files.reserve_bytes` is: PostgreSQL needs some."""
MOST_MEMORY = 0.9
"""Part of the limit of memory from which on large work is refused."""
SETTLED = 0.95
"""A condition is over once as much less is used as this says, so that it does not come and go."""
STEP_SECONDS = 5.0
"""A wall clock that moves by more against the monotonic one was set."""
SHOWN_SECONDS = 600.0
"""How long it is shown that the clock was set."""
FEW_FILES = 8
"""The server has too many files open while it cannot open as many more."""


class ResourceMonitor(Actor[Never]):
    """Enters and leaves the conditions of this machine."""

    def __init__(self, data: Path, reserve_bytes: int, memory_limit: MemoryLimit | None = None) -> None:
        """`data` is the data folder, on whose disk files leave `reserve_bytes` free."""
        self._data = data
        self._least_free = max(reserve_bytes, LEAST_FREE_BYTES)
        self._memory_limit = memory_limit or MemoryLimit()
        self._clock_offset = 0.0
        self._clock_set_at: float | None = None

    async def start(self) -> None:
        """Take the present state of the clock as right, and look once."""
        self._conditions = self.context.system.conditions
        self._conditions.leave(CLOCK)
        self._clock_offset = self._wall_minus_monotonic()
        await self._look()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            await self._look()

    async def _look(self) -> None:
        self._check_clock()
        disk, memory = await trio.to_thread.run_sync(self._measure)
        self._check_disk(disk)
        self._check_memory(memory)
        self._check_files()

    def _measure(self) -> tuple[DiskSpace | None, Memory | None]:
        try:
            disk = disk_space(self._data)
        except OSError:
            # With an external database the folder may not exist.
            disk = None
        return disk, self._memory_limit.read()

    def _check_disk(self, disk: DiskSpace | None) -> None:
        if disk is None or disk.free * SETTLED >= self._least_free:
            self._conditions.leave(DISK)
        elif disk.free < self._least_free:
            self._conditions.enter(
                DISK,
                f"{disk.free >> 20} MiB of {disk.total >> 20} MiB are free at {self._data},"
                f" less than {self._least_free >> 20} MiB: new files of devices are refused",
            )

    def _check_memory(self, memory: Memory | None) -> None:
        most = 0.0 if memory is None else memory.limit * MOST_MEMORY
        if memory is None or memory.used < most * SETTLED:
            # There is no limit any more, or enough is left.
            self._conditions.leave(MEMORY)
        elif memory.used > most:
            self._conditions.enter(
                MEMORY,
                f"{memory.used >> 20} MiB of the limit of {memory.limit >> 20} MiB of memory are used:"
                " new video and workbooks are refused",
            )

    def _check_files(self) -> None:
        if _can_open(FEW_FILES):
            self._conditions.leave(OPEN_FILES)
        else:
            note_out_of_files(self._conditions, f"fewer than {FEW_FILES} more can be opened")

    def _check_clock(self) -> None:
        now = self.context.clock.monotonic()
        before, self._clock_offset = self._clock_offset, self._wall_minus_monotonic()
        step = self._clock_offset - before
        if abs(step) > STEP_SECONDS:
            # Each step has a line of its own.
            self._conditions.leave(CLOCK)
            direction = "forward" if step > 0 else "back"
            self._conditions.enter(
                CLOCK,
                f"the clock was set {direction} by {abs(step):.0f} s, or this machine was suspended:"
                " times of the last minutes may be wrong, set it by NTP",
            )
            self._clock_set_at = now
        elif self._clock_set_at is not None and now - self._clock_set_at >= SHOWN_SECONDS:
            self._clock_set_at = None
            self._conditions.leave(CLOCK)

    def _wall_minus_monotonic(self) -> float:
        clock = self.context.clock
        return clock.now().timestamp() - clock.monotonic()


def _can_open(number: int) -> bool:
    """Return whether `number` more files can be opened. Blocks for some microseconds."""
    opened = []
    try:
        for _ in range(number):
            opened.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))  # noqa: PERF401 - closed below
    except OSError:
        return False
    finally:
        for each in opened:
            os.close(each)
    return True
