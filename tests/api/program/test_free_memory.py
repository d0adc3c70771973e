"""When freed memory is returned: after a peak, once, and not while the server is busy."""

import ctypes
import subprocess
import sys

import pytest
import trio

from motorpool.api.program import free_memory
from motorpool.api.program.free_memory import CHECK_SECONDS, MAX_CHECKS, PEAK_BYTES, PeakWatch

MB = 1 << 20


def returned(*checks: tuple[int, float], free: int = 0) -> list[int]:
    """The checks at which memory is returned; each is resident bytes, and the share of a core used before.

    The first time leaves all of it, the next `free` bytes less.
    """
    (resident, _), *others = checks
    watch, used, found = PeakWatch(resident, 7.0), 7.0, []
    for number, (resident, share) in enumerate(others, 1):
        used += share * CHECK_SECONDS
        if watch.is_over(resident - (free if len(found) > 1 else 0), used):
            found.append(number)
            watch.returned(resident - (free if len(found) > 1 else 0))
    return found


def test_memory_is_returned_when_a_peak_is_over() -> None:
    peak = 100 * MB + PEAK_BYTES
    assert returned((100 * MB, 0.1), (peak, 0.9), (peak, 0.8), (peak, 0.1)) == [3]


def test_memory_that_is_still_used_is_looked_for_ever_more_rarely() -> None:
    used = 100 * MB + PEAK_BYTES
    assert returned((100 * MB, 0.1), *[(used, 0.1)] * 40) == [1, 2, 4, 8, 16, 32]
    new_peak = (used + PEAK_BYTES, 0.1)
    assert returned((100 * MB, 0.1), *[(used, 0.1)] * 20, *[new_peak] * 5) == [1, 2, 4, 8, 16, 21, 22, 24]


def test_what_was_freed_after_the_peak_is_returned_and_no_more_is_looked_for() -> None:
    # The attack still holds its connections at the first quiet check, and has gone at the second.
    attacked = 100 * MB + 2 * PEAK_BYTES
    assert returned((100 * MB, 0.1), *[(attacked, 0.1)] * 40, free=2 * PEAK_BYTES - MB) == [1, 2]
    # Some of it is used for longer.
    assert returned((100 * MB, 0.1), *[(attacked, 0.1)] * 8, free=PEAK_BYTES) == [1, 2, 3, 5]


def test_without_a_peak_nothing_is_done() -> None:
    assert returned((100 * MB, 0.1), *[(100 * MB + PEAK_BYTES - 1, 0.1)] * 100) == []


def test_a_server_that_is_always_busy_returns_memory_in_the_end() -> None:
    used = 100 * MB + PEAK_BYTES
    assert returned((100 * MB, 0.9), *[(used, 0.9)] * (MAX_CHECKS + 5)) == [MAX_CHECKS + 1]


async def test_memory_is_returned_in_a_thread_after_a_check(monkeypatch) -> None:
    called = trio.Event()
    token = trio.lowlevel.current_trio_token()
    sizes = iter([MB, MB + PEAK_BYTES])
    monkeypatch.setattr(free_memory, "CHECK_SECONDS", 0.001)
    monkeypatch.setattr(free_memory, "QUIET_SHARE", 1e9)
    monkeypatch.setattr(free_memory, "_resident_bytes", lambda: next(sizes, MB))
    monkeypatch.setattr(free_memory, "_find_trim", lambda: lambda: token.run_sync_soon(called.set))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(free_memory.return_free_memory)
        with trio.fail_after(120):
            await called.wait()
        nursery.cancel_scope.cancel()


async def test_where_the_allocator_has_no_such_function_nothing_is_done(monkeypatch) -> None:
    monkeypatch.setattr(free_memory.sys, "platform", "darwin")
    with trio.fail_after(120):
        await free_memory.return_free_memory()


def test_the_functions_of_this_platform_can_be_called() -> None:
    trim = free_memory._find_trim()
    assert trim is None or trim() in (0, 1)
    assert trim is None or free_memory._resident_bytes() > MB


MAPPED = """
import ctypes, sys
from motorpool.api.program.free_memory import limit_fragmentation

class Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]

c_library = ctypes.CDLL(None)
c_library.mallinfo2.restype = Counts
if sys.argv[1] == "limited":
    limit_fragmentation()
bytes(1 << 20)  # after this is freed, glibc by itself takes smaller blocks from the heap
before = c_library.mallinfo2().hblkhd
blocks = [bytes(200_000) for _ in range(50)]
print(c_library.mallinfo2().hblkhd - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="not glibc 2.33 or newer")
def test_large_blocks_are_mapped_even_after_a_larger_one_was_freed() -> None:
    mapped = {
        name: int(
            subprocess.run([sys.executable, "-c", MAPPED, name], capture_output=True, check=True).stdout
        )
        for name in ("limited", "unlimited")
    }
    assert mapped["limited"] >= 50 * 200_000
    assert mapped["unlimited"] < 50 * 200_000
