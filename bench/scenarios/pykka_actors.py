"""Pykka as a reference, if it is installed: the same bursts, asks and idle actors."""

import importlib.util
import os
import statistics
import time
from collections.abc import Callable

from motorpool.bench import machine
from motorpool.bench.figures import Summary

IDLE_ACTORS = 500
RUNS = 5


def run(summary: Summary, scenario: str, seconds: float, burst: int) -> None:
    """Measure tell, ask and the memory of an idle actor; without Pykka only add a note."""
    if importlib.util.find_spec("pykka") is None:
        summary.note("Pykka is not installed (it comes with the extra `dev`): no figures beside it")
        return
    import pykka  # noqa: PLC0415 - an extra: only where it is installed

    class Counter(pykka.ThreadingActor):
        def __init__(self) -> None:
            super().__init__()
            self.handled = 0

        def on_receive(self, message: object) -> int:
            self.handled += 1
            return self.handled

    def burst_us() -> float:
        passed, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds / RUNS:
            for _ in range(burst):
                ref.tell(None)
            ref.ask(None)
            passed += burst + 1
        return (time.perf_counter() - begin) / passed * 1e6

    def ask_us() -> float:
        passed, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds / RUNS:
            ref.ask(None)
            passed += 1
        return (time.perf_counter() - begin) / passed * 1e6

    try:
        ref = Counter.start()
        summary.add(scenario, f"Pykka tell, bursts of {burst}", _median(burst_us), "µs")
        summary.add(scenario, "Pykka ask", _median(ask_us), "µs")
        before = machine.resident_bytes(os.getpid())
        for _ in range(IDLE_ACTORS):
            Counter.start().tell(None)
        grown = machine.resident_bytes(os.getpid()) - before
        summary.add(scenario, "Pykka idle actor", grown / IDLE_ACTORS, "bytes")
    finally:
        pykka.ActorRegistry.stop_all()


def _median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(RUNS))
