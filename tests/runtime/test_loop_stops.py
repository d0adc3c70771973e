import logging
import time

import pytest
import trio
import trio.lowlevel
from prometheus_client import CollectorRegistry, generate_latest

from motorpool.runtime.loop_stops import LONG_SECONDS, LoopStops, LoopStopsCollector


class Watch:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def turn(stops: LoopStops, watch: Watch, seconds: float) -> None:
    stops.after_io_wait(0)
    watch.now += seconds
    stops.before_io_wait(0)


async def test_a_task_that_does_not_yield_is_measured() -> None:
    stops = LoopStops()
    with stops.measured():
        await trio.lowlevel.checkpoint()
        time.sleep(LONG_SECONDS * 1.5)  # noqa: ASYNC251 - what must not happen
        await trio.sleep(0.001)
    assert stops.count >= 1
    assert stops.longest() >= LONG_SECONDS * 1.5
    counted = stops.count
    time.sleep(LONG_SECONDS * 1.5)  # noqa: ASYNC251 - not measured any more
    await trio.sleep(0.001)
    assert stops.count == counted


def test_the_longest_stop_is_forgotten_after_two_minutes() -> None:
    watch = Watch()
    stops = LoopStops(watch)
    turn(stops, watch, 0.05)
    turn(stops, watch, 0.01)
    assert stops.longest() == pytest.approx(0.05)
    watch.now += 61
    assert stops.longest() == pytest.approx(0.05)
    turn(stops, watch, 0.02)
    assert stops.longest() == pytest.approx(0.05)
    watch.now += 61
    assert stops.longest() == pytest.approx(0.02)
    watch.now += 200
    assert stops.longest() == 0.0
    assert stops.count == 0


def test_long_stops_are_logged_not_more_often_than_every_ten_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    watch = Watch()
    stops = LoopStops(watch)
    for _ in range(3):
        turn(stops, watch, 0.3)
    turn(stops, watch, 0.1)
    watch.now += 10
    turn(stops, watch, 0.25)
    assert [record.getMessage() for record in caplog.records] == [
        "the event loop stood still for 300 ms",
        "the event loop stood still for 250 ms, 2 more since the last line",
    ]
    assert stops.count == 4


def test_both_are_metrics() -> None:
    watch = Watch()
    stops = LoopStops(watch)
    turn(stops, watch, 0.5)
    registry = CollectorRegistry()
    registry.register(LoopStopsCollector(stops, "motorpool_loop"))
    lines = generate_latest(registry).decode().splitlines()
    assert "motorpool_loop_longest_stop_seconds 0.5" in lines
    assert "motorpool_loop_stops_total 1.0" in lines


async def test_the_number_of_tasks_is_a_metric() -> None:
    registry = CollectorRegistry()
    registry.register(LoopStopsCollector(LoopStops(), "motorpool_loop"))
    before = registry.get_sample_value("motorpool_loop_tasks")
    assert before is not None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep_forever)
        assert registry.get_sample_value("motorpool_loop_tasks") == before + 1
        nursery.cancel_scope.cancel()


async def test_what_was_before_the_measurement_is_no_stop() -> None:
    watch = Watch()
    stops = LoopStops(watch)
    watch.now += 3.0  # the server starts
    with stops.measured():
        await trio.sleep(0.001)
    assert stops.count == 0
    assert stops.longest() == 0.0
