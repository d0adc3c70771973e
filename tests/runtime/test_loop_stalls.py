import logging
import time

import pytest
import trio
import trio.lowlevel
from prometheus_client import CollectorRegistry, generate_latest

from motorpool.runtime.loop_stalls import LONG_SECONDS, LoopStalls, LoopStallsCollector


class Watch:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def turn(stalls: LoopStalls, watch: Watch, seconds: float) -> None:
    stalls.after_io_wait(0)
    watch.now += seconds
    stalls.before_io_wait(0)


async def test_a_task_that_does_not_yield_is_measured() -> None:
    stalls = LoopStalls()
    with stalls.measured():
        await trio.lowlevel.checkpoint()
        time.sleep(LONG_SECONDS * 1.5)  # noqa: ASYNC251 - what must not happen
        await trio.sleep(0.001)
    assert stalls.count >= 1
    assert stalls.longest() >= LONG_SECONDS * 1.5
    counted = stalls.count
    time.sleep(LONG_SECONDS * 1.5)  # noqa: ASYNC251 - not measured any more
    await trio.sleep(0.001)
    assert stalls.count == counted


def test_the_longest_stall_is_forgotten_after_two_minutes() -> None:
    watch = Watch()
    stalls = LoopStalls(watch)
    turn(stalls, watch, 0.05)
    turn(stalls, watch, 0.01)
    assert stalls.longest() == pytest.approx(0.05)
    watch.now += 61
    assert stalls.longest() == pytest.approx(0.05)
    turn(stalls, watch, 0.02)
    assert stalls.longest() == pytest.approx(0.05)
    watch.now += 61
    assert stalls.longest() == pytest.approx(0.02)
    watch.now += 200
    assert stalls.longest() == 0.0
    assert stalls.count == 0


def test_long_stalls_are_logged_not_more_often_than_every_ten_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    watch = Watch()
    stalls = LoopStalls(watch)
    for _ in range(3):
        turn(stalls, watch, 0.3)
    turn(stalls, watch, 0.1)
    watch.now += 10
    turn(stalls, watch, 0.25)
    assert [record.getMessage() for record in caplog.records] == [
        "the event loop stalled for 300 ms",
        "the event loop stalled for 250 ms, 2 more since the last line",
    ]
    assert stalls.count == 4


def test_both_are_metrics() -> None:
    watch = Watch()
    stalls = LoopStalls(watch)
    turn(stalls, watch, 0.5)
    registry = CollectorRegistry()
    registry.register(LoopStallsCollector(stalls, "motorpool_loop"))
    lines = generate_latest(registry).decode().splitlines()
    assert "motorpool_loop_longest_stall_seconds 0.5" in lines
    assert "motorpool_loop_stalls_total 1.0" in lines


async def test_the_number_of_tasks_is_a_metric() -> None:
    registry = CollectorRegistry()
    registry.register(LoopStallsCollector(LoopStalls(), "motorpool_loop"))
    before = registry.get_sample_value("motorpool_loop_tasks")
    assert before is not None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep_forever)
        assert registry.get_sample_value("motorpool_loop_tasks") == before + 1
        nursery.cancel_scope.cancel()


async def test_what_was_before_the_measurement_is_no_stop() -> None:
    watch = Watch()
    stalls = LoopStalls(watch)
    watch.now += 3.0  # the server starts
    with stalls.measured():
        await trio.sleep(0.001)
    assert stalls.count == 0
    assert stalls.longest() == 0.0
