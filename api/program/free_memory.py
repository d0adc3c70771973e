"""Returns freed memory to the operating system.

The allocator of glibc keeps what lies between blocks that are still used: after an attack, or any other peak,
the process would stay as large as it was then (docs/performance.md#memory-after-a-peak).
"""

import ctypes
import sys
from collections.abc import Callable

import trio

__all__ = ["return_free_memory"]

INTERVAL_SECONDS = 30.0


async def return_free_memory() -> None:
    """Return free memory every half minute, in a thread; only where the allocator is that of glibc."""
    trim = _find_trim()
    while trim is not None:
        await trio.sleep(INTERVAL_SECONDS)
        await trio.to_thread.run_sync(trim)


def _find_trim() -> Callable[[], object] | None:
    """Return malloc_trim(3), or None if there is none."""
    if sys.platform != "linux":
        return None
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # musl has none
        return None
    return lambda: trim(0)
