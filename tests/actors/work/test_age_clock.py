from datetime import timedelta

import pytest
import trio
from tests.runtime.actor_testing import EPOCH, TestClock

from motorpool.actors.work.age_clock import BELIEVED_SECONDS, TOLERANCE_SECONDS, AgeClock

HOUR = 3600.0


@pytest.fixture
async def passes(autojump_clock):
    """`await passes(seconds, set_by=…)`: the instant that counts then, and after the clock was set."""
    clock, ages = TestClock(), AgeClock()
    assert ages.now(clock) == EPOCH

    async def wait(seconds, set_by=0.0):
        await trio.sleep(seconds)
        clock.move_wall(set_by)
        return (ages.now(clock) - EPOCH).total_seconds()

    return wait


async def test_a_clock_that_is_set_forward_counts_after_a_day(passes, autojump_clock):
    assert await passes(HOUR) == HOUR
    year = timedelta(days=365).total_seconds()
    assert await passes(0, set_by=year) == HOUR
    for hour in range(2, 25):
        assert await passes(HOUR) == hour * HOUR
    assert await passes(BELIEVED_SECONDS - 23 * HOUR) == HOUR + BELIEVED_SECONDS + year
    assert await passes(HOUR) == 2 * HOUR + BELIEVED_SECONDS + year


async def test_a_clock_that_is_set_right_again_has_done_nothing(passes, autojump_clock):
    year = timedelta(days=365).total_seconds()
    for hour in range(1, 100):
        assert await passes(HOUR, set_by=year if hour % 2 else -year) == hour * HOUR


async def test_a_clock_that_is_set_back_or_adjusted_counts_at_once(passes, autojump_clock):
    assert await passes(HOUR, set_by=-2 * HOUR) == -HOUR
    assert await passes(HOUR, set_by=TOLERANCE_SECONDS) == TOLERANCE_SECONDS
    assert await passes(HOUR, set_by=TOLERANCE_SECONDS) == HOUR + 2 * TOLERANCE_SECONDS
