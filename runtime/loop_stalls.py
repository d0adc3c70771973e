"""Stalls of the event loop: while one task, or a batch of them, runs, no other task, socket or
timer is served.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Final

import trio
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

LONG_SECONDS: Final = 0.2
"""Longer stalls are counted and logged."""
SPAN_SECONDS: Final = 60.0
"""The longest stall is measured over the last one to two spans of this length."""
LOG_SECONDS: Final = 10.0
"""At most one line in this time."""

_log = logging.getLogger(__name__)


class LoopStalls(trio.abc.Instrument):
    """Measures each turn of the event loop, from one wait for input to the next; two clock reads a turn."""

    def __init__(self, now: Callable[[], float] = perf_counter) -> None:
        self.count = 0
        """Stalls of more than `LONG_SECONDS` so far."""
        self._now = now
        self._turn_began = now()
        self._span_began = self._turn_began
        self._of_span = 0.0
        self._of_span_before = 0.0
        self._logged_at = float("-inf")
        self._unlogged = 0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure the loop that this is called in, from now on."""
        self._turn_began = self._now()
        trio.lowlevel.add_instrument(self)
        try:
            yield
        finally:
            trio.lowlevel.remove_instrument(self)

    def after_io_wait(self, timeout: float) -> None:
        """Note the beginning of a turn."""
        self._turn_began = self._now()

    def before_io_wait(self, timeout: float) -> None:
        """Note the end of a turn."""
        stalled = self._now() - self._turn_began
        self._of_span = max(self._of_span, stalled)
        if stalled > LONG_SECONDS:
            self._note_long(stalled)

    def longest(self) -> float:
        """Return the longest stall of the last one to two minutes, in seconds."""
        self._begin_span(self._now())
        return max(self._of_span, self._of_span_before)

    def _begin_span(self, now: float) -> None:
        """Begin a span if the present one has passed."""
        passed = now - self._span_began
        if passed >= SPAN_SECONDS:
            self._of_span_before = self._of_span if passed < 2 * SPAN_SECONDS else 0.0
            self._of_span = 0.0
            self._span_began = now

    def _note_long(self, stalled: float) -> None:
        self.count += 1
        self._unlogged += 1
        now = self._now()
        if now - self._logged_at < LOG_SECONDS:
            return
        more = f", {self._unlogged - 1} more since the last line" if self._unlogged > 1 else ""
        self._logged_at, self._unlogged = now, 0
        _log.warning("the event loop stalled for %.0f ms%s", stalled * 1000, more)


class LoopStallsCollector(Collector):
    """The stalls as Prometheus metrics."""

    def __init__(self, stalls: LoopStalls, prefix: str) -> None:
        self._stalls = stalls
        self._prefix = prefix

    def collect(self) -> Iterator[Metric]:
        """Yield the longest stall and the number of long ones, and the number of tasks."""
        yield GaugeMetricFamily(
            f"{self._prefix}_longest_stall_seconds",
            "Longest time for which the event loop served nothing, within the last one to two minutes.",
            value=self._stalls.longest(),
        )
        yield CounterMetricFamily(
            f"{self._prefix}_stalls",
            f"How often the event loop served nothing for more than {LONG_SECONDS:g} s.",
            value=self._stalls.count,
        )
        if trio.lowlevel.in_trio_run():
            yield GaugeMetricFamily(
                f"{self._prefix}_tasks",
                "Tasks of the event loop.",
                value=trio.lowlevel.current_statistics().tasks_living,
            )
