from datetime import UTC, datetime, timedelta

import pytest
import trio
from tests.runtime.actor_testing import EPOCH, TestClock
from trio.testing import MockClock

from motorpool.runtime import SystemClock
from motorpool.runtime import clock as clock_module


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


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the machine stands still at EPOCH."""
    monkeypatch.setattr(clock_module, "_read_wall", lambda: EPOCH)


def corrected(clock: SystemClock, seconds: float, age_seconds: float = 0.0) -> float:
    """The correction after a comparison with a clock that differs by `seconds`."""
    clock.compare(EPOCH + timedelta(seconds=seconds), age_seconds)
    return (clock.now() - EPOCH).total_seconds()


@pytest.mark.usefixtures("wall")
def test_a_clock_that_differs_from_the_database_is_corrected_until_it_is_set_right(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = SystemClock()
    assert [corrected(clock, seconds) for seconds in (1.5, -1.5, 0)] == [0, 0, 0]
    assert caplog.messages == []
    assert [corrected(clock, seconds) for seconds in (180, -180, -170, 3)] == [180, -180, -170, 3]
    assert len(caplog.messages) == 4
    assert "corrected by 3.0 s" in caplog.text
    # It drifts, and is not set in small steps.
    assert [corrected(clock, seconds) for seconds in (3.5, 2.5)] == [3, 3]
    assert corrected(clock, 0.5) == 0
    assert len(caplog.messages) == 5


@pytest.mark.usefixtures("wall")
def test_an_answer_that_was_long_under_way_says_nothing_of_the_time() -> None:
    clock = SystemClock()
    assert corrected(clock, -60, age_seconds=5) == 0
    assert corrected(clock, -60, age_seconds=1) == -59.5
