from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
import trio
from tests.runtime.actor_testing import TestClock
from trio.testing import MockClock

from motorpool.runtime import Timers
from motorpool.runtime.timers import RECHECK_SECONDS


@asynccontextmanager
async def running(clock: TestClock) -> AsyncIterator[Timers]:
    timers = Timers(clock)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timers.run)
        yield timers
        nursery.cancel_scope.cancel()


async def test_timers_fire_in_the_order_of_their_times(autojump_clock: MockClock) -> None:
    fired: list[tuple[str, float]] = []
    async with running(TestClock()) as timers:
        begin = trio.current_time()

        def note(name: str) -> None:
            fired.append((name, trio.current_time() - begin))

        timers.after(3600, lambda: note("hour"))
        timers.after(1, lambda: note("second"))
        timers.after(0, lambda: note("now"))
        await trio.sleep(4000)
    assert fired == [("now", 0), ("second", 1), ("hour", 3600)]


async def test_every_keeps_its_rhythm_and_does_not_make_up_missed_turns(mock_clock: MockClock) -> None:
    fired: list[float] = []
    async with running(TestClock()) as timers:
        begin = trio.current_time()
        timer = timers.every(10, lambda: fired.append(trio.current_time() - begin))
        for jump in (10, 10, 25, 5, 10):  # 10 20 45 50 60
            mock_clock.jump(jump)
            await trio.testing.wait_all_tasks_blocked()
        assert fired == [10, 20, 45, 50, 60]
        timer.cancel()
        mock_clock.jump(100)
        await trio.testing.wait_all_tasks_blocked()
    assert len(fired) == 5


async def test_a_timer_put_off_again_and_again_fires_once_after_the_last(autojump_clock: MockClock) -> None:
    fired: list[float] = []
    async with running(TestClock()) as timers:
        begin = trio.current_time()
        timer = timers.after(10, lambda: fired.append(trio.current_time() - begin))
        for _ in range(100):
            await trio.sleep(5)
            timers.arm(timer, 10)
        await trio.sleep(100)
    assert fired == [510]


async def test_a_timer_brought_forward_fires_earlier(autojump_clock: MockClock) -> None:
    fired: list[float] = []
    async with running(TestClock()) as timers:
        begin = trio.current_time()
        timer = timers.after(100, lambda: fired.append(trio.current_time() - begin))
        timers.arm(timer, 2)
        await trio.sleep(200)
    assert fired == [2]


async def test_a_failing_callback_is_logged_and_stops_nothing(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    fired: list[str] = []
    async with running(TestClock()) as timers:
        timers.after(1, lambda: 1 / 0)
        timers.after(2, lambda: fired.append("after it"))
        await trio.sleep(3)
    assert fired == ["after it"]
    assert "a timer's callback failed" in caplog.text


async def test_a_thousand_timers_due_at_once_let_others_run_in_between(autojump_clock: MockClock) -> None:
    fired: list[int] = []
    seen: list[int] = []
    async with running(TestClock()) as timers, trio.open_nursery() as nursery:
        for number in range(1000):
            timers.after(1, lambda number=number: fired.append(number))

        async def look() -> None:
            await trio.sleep(1)
            while len(fired) < 1000:
                seen.append(len(fired))
                await trio.lowlevel.checkpoint()

        nursery.start_soon(look)
    assert fired == list(range(1000))
    assert len(seen) >= 5


async def test_an_instant_is_met_when_the_wall_gets_there_by_itself(autojump_clock: MockClock) -> None:
    clock = TestClock()
    fired: list[object] = []
    async with running(clock) as timers:
        instant = clock.now() + timedelta(hours=1)
        timers.at(instant, lambda: fired.append(clock.now()))
        await trio.sleep(3599)
        assert fired == []
        await trio.sleep(1.5)
    assert fired == [instant]


async def test_a_jump_of_the_wall_is_noticed_within_the_recheck_time(autojump_clock: MockClock) -> None:
    clock = TestClock()
    fired: list[str] = []
    async with running(clock) as timers:
        timers.at(clock.now() + timedelta(days=1), lambda: fired.append("tomorrow"))
        timers.at(clock.now() + timedelta(days=2), lambda: fired.append("the day after"))
        await trio.sleep(10)
        clock.move_wall(86400)
        await trio.sleep(RECHECK_SECONDS + 0.01)
        assert fired == ["tomorrow"]


async def test_a_wall_put_back_makes_an_instant_later(autojump_clock: MockClock) -> None:
    clock = TestClock()
    fired: list[str] = []
    async with running(clock) as timers:
        timers.at(clock.now() + timedelta(seconds=60), lambda: fired.append("due"))
        clock.move_wall(-3600)
        await trio.sleep(120)
        assert fired == []
        await trio.sleep(3600)
    assert fired == ["due"]


async def test_an_instant_of_the_past_is_due_at_once_and_a_cancelled_one_never(
    autojump_clock: MockClock,
) -> None:
    clock = TestClock()
    fired: list[str] = []
    async with running(clock) as timers:
        timers.at(clock.now() - timedelta(days=1), lambda: fired.append("past"))
        timers.at(clock.now() - timedelta(days=1), lambda: fired.append("cancelled")).cancel()
        await trio.testing.wait_all_tasks_blocked()
    assert fired == ["past"]


async def test_an_interval_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than 0 s"):
        Timers(TestClock()).every(0, lambda: None)
