"""Returns freed memory to the operating system.

The allocator of glibc keeps what lies between blocks that are still used: after an attack, or any other peak,
the process would stay as large as it was then (docs/performance.md#memory-after-a-peak).
"""

import ctypes
import mmap
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import trio

CHECK_SECONDS = 10.0
PEAK_BYTES = 32 << 20
"""Growth since the last time that makes a peak."""
QUIET_SHARE = 0.3
"""Share of one core between two checks above which the server is busy, and the peak may not be over."""
MAX_CHECKS = 60
"""Checks after which memory is returned although the server is busy."""
LARGE_BYTES = 128 << 10
"""Blocks from this size on, such as segments of video, are returned as soon as they are freed."""
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def limit_fragmentation() -> None:
    """Have malloc(3) of glibc map large blocks one by one, and threads share a heap.

    By itself glibc takes large blocks from the heap once the first was freed, where small ones that live
    longer come to lie between them. For the start of the program, before there are threads.
    """
    c_library = _c_library()
    if c_library is not None and hasattr(c_library, "mallopt"):
        c_library.mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
        c_library.mallopt(_M_ARENA_MAX, 1)


class PeakWatch:
    """Decides when free memory is worth returning: once after each peak.

    What was still used then may be freed later, which the size of the process does not show: it is looked
    for again, ever more rarely, while the process is larger than before the peak.
    """

    def __init__(self, resident_bytes: int, cpu_seconds: float) -> None:
        self._base = self._before = resident_bytes
        """After the last return, and before the peak."""
        self._used = cpu_seconds
        self._waited = 0
        self._pause = self._left = 0
        """Checks until memory is looked for again, in all and yet to come; 0: it is not."""

    def is_over(self, resident_bytes: int, cpu_seconds: float) -> bool:
        """Return whether a peak is over, one interval after the last call."""
        used = cpu_seconds - self._used
        self._used = cpu_seconds
        self._left = max(0, self._left - 1)
        if resident_bytes - self._base < PEAK_BYTES and (self._left or not self._pause):
            return False
        self._waited += 1
        return used <= QUIET_SHARE * CHECK_SECONDS or self._waited > MAX_CHECKS

    def returned(self, resident_bytes: int) -> None:
        """Note that memory was returned, and what is still used."""
        is_unchanged = abs(resident_bytes - self._base) < PEAK_BYTES
        self._base, self._waited = resident_bytes, 0
        if resident_bytes - self._before < PEAK_BYTES:
            self._before, self._pause = min(self._before, resident_bytes), 0
        else:
            self._pause = 2 * self._pause if self._pause and is_unchanged else 1
        self._left = self._pause


async def return_free_memory() -> None:
    """Return free memory to the system, in a thread, once a peak is over; only with the allocator of glibc.

    The allocator is locked meanwhile, for up to some tenths of a second: so not while the server is busy, and
    ever more rarely while nothing changes.
    """
    trim = _find_trim()
    if trim is None:
        return
    watch = PeakWatch(_resident_bytes(), time.process_time())
    while True:
        await trio.sleep(CHECK_SECONDS)
        # Too many files may be open to read how large the process is.
        with suppress(OSError):
            if watch.is_over(_resident_bytes(), time.process_time()):
                await trio.to_thread.run_sync(trim)
                watch.returned(_resident_bytes())


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


def _find_trim() -> Callable[[], object] | None:
    """Return malloc_trim(3), or None if there is none."""
    c_library = _c_library()
    trim = getattr(c_library, "malloc_trim", None)  # musl has none
    return None if trim is None else lambda: trim(0)


def _c_library() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    try:
        return ctypes.CDLL(None)
    except OSError:
        return None
