from datetime import UTC, datetime, timedelta

import trio
from trio.testing import MockClock

from motorpool.runtime import SystemClock
from motorpool.runtime.testing import EPOCH, TestClock


async def test_the_system_clock_has_trios_seconds_and_an_aware_wall(mock_clock: MockClock) -> None:
    clock = SystemClock()
    begin = clock.monotonic()
    mock_clock.jump(60)
    assert clock.monotonic() - begin == 60
    assert clock.now().tzinfo is UTC
    assert clock.now() > datetime(2024, 1, 1, tzinfo=UTC)


async def test_the_wall_of_the_test_clock_goes_with_trio_and_can_be_moved_alone(
    mock_clock: MockClock,
) -> None:
    clock = TestClock()
    assert clock.now() == EPOCH
    mock_clock.jump(90)
    assert clock.now() == EPOCH + timedelta(seconds=90)
    before = clock.monotonic()
    clock.move_wall(-30)
    assert clock.now() == EPOCH + timedelta(seconds=60)
    clock.set_wall(datetime(2030, 1, 1, tzinfo=UTC))
    mock_clock.jump(1)
    assert clock.now() == datetime(2030, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert clock.monotonic() - before == trio.current_time() - before == 1
