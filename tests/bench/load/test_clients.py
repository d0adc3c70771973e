"""Clients of one load, spread over processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from motorpool.bench.latencies import Latencies
from motorpool.bench.load import clients
from motorpool.bench.load.clients import parts, reporting_clients
from motorpool.bench.load.plan import Mark, Span, TerminalLoad, TerminalResult
from motorpool.bench.phases.ramp import find_highest_rate
from motorpool.bench.usage import Reading


class FakeProgram:
    """A process of so many clients that answers what is due, up to a capacity in all."""

    def __init__(self, count: int, capacity: float) -> None:
        self.spans: list[Span] = []
        self._count, self._capacity = count, capacity

    def send_line(self, line: str) -> None:
        self.spans.append(msgspec.json.decode(line, type=Span))

    def wait_for(self, kind: type, _seconds: float, _wanted: object = None) -> Any:
        if kind is Mark:
            return Mark("ready")
        span = self.spans[-1]
        rate = min(span.rate, self._capacity) or self._capacity
        wait = 0.5 if span.rate > self._capacity else 0.001
        return TerminalResult(
            seconds=span.seconds,
            answers=round(rate * span.seconds),
            rejected=0,
            late=0,
            lag_ms=self._count,
            unanswered=1,
            latencies=Latencies.of([wait] * 10),
            cpu_share=self._count / 10,
            cpu_seconds=0.5,
            resident_bytes=100,
            start=span.start,
            answered=(7,) * self._count,
            message_bytes=60,
            first_numbers=(3,) * self._count,
            first_place=0,
        )


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, TerminalLoad, FakeProgram]]:
    """Loads that were given to programs, and the programs."""
    found: list[tuple[str, TerminalLoad, FakeProgram]] = []

    @contextmanager
    def run_program(name: str, load: TerminalLoad) -> Iterator[FakeProgram]:
        program = FakeProgram(len(load.phones), 100.0 * len(load.phones))
        found.append((name, load, program))
        yield program

    monkeypatch.setattr(clients, "run_program", run_program)
    return found


def load(count: int) -> TerminalLoad:
    return TerminalLoad(host="", port=1, phones=tuple(map(str, range(count))), mode="")


def read() -> Reading:
    """A server that uses two seconds of CPU between two readings."""
    read.seconds += 2.0
    return Reading(read.seconds, read.seconds, 0.0, 0.0, 0.0)


read.seconds = 0.0


def test_clients_and_rate_are_spread_and_results_added_up(started: list[Any]) -> None:
    with reporting_clients(load(5), read, processes=2) as spread:
        measured = spread.measure(2.0, rate=50.0)
    (_, first, one), (_, second, two) = started
    assert (len(first.phones), len(second.phones)) == (2, 3)
    assert first.phones + second.phones == load(5).phones
    assert (one.spans[0].rate, two.spans[0].rate) == (20.0, 30.0)
    assert one.spans[0].start == two.spans[0].start > 0
    result = measured.result
    assert (result.answers, measured.rate, result.unanswered) == (100, 50.0, 2)
    assert len(result.latencies) == 20
    # The busiest client is what may limit them.
    assert (result.cpu_share, result.cpu_seconds, result.lag_ms) == (0.3, 1.0, 3)
    assert result.answered == (7,) * 5
    assert (measured.server_cpu_us, measured.client_cpu_us) == (20_000.0, 10_000.0)


def test_no_process_is_without_clients() -> None:
    assert parts(2, 8) == [(0, 1), (1, 1)]
    assert parts(7, 3) == [(0, 2), (2, 2), (4, 3)]


def test_the_ramp_ends_close_to_what_the_server_can_do(started: list[Any]) -> None:
    with reporting_clients(load(5), read) as five:
        tried = find_highest_rate(five, 100.0, guess=400.0, seconds=1.0)
    # They answer 500 a second and no more; the first try is a quarter of the guess.
    assert tried[0].rate == 100.0
    best = max(each.rate for each in tried if each.is_kept)
    assert 475 <= best <= 500
    assert all(each.is_kept == (each.rate <= 500) for each in tried)


def test_a_ramp_that_nothing_keeps_ends(started: list[Any]) -> None:
    with reporting_clients(load(5), read) as five:
        tried = find_highest_rate(five, 0.0001, guess=400.0, seconds=1.0)
    assert not any(each.is_kept for each in tried)
    assert tried[-1].rate < 1
