"""Latencies as a histogram, beside sorted lists of them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.bench.latencies import Latencies

SECONDS = st.lists(st.floats(min_value=0.0, max_value=600.0), min_size=1, max_size=200)


@given(SECONDS, st.floats(min_value=0.01, max_value=1.0))
def test_percentiles_are_at_most_a_thousandth_too_long(seconds: list[float], share: float) -> None:
    ordered = sorted(seconds)
    exact = next(each for place, each in enumerate(ordered, 1) if place >= share * len(ordered))
    found = Latencies.of(seconds).percentile_ms(share)
    assert exact * 1000 - 0.001 <= found <= exact * 1000 * 1.001 + 0.001


@given(SECONDS, SECONDS)
def test_those_of_two_processes_add_up(first: list[float], second: list[float]) -> None:
    parts = [Latencies.of(first), Latencies.of(second)]
    read = [msgspec.json.decode(msgspec.json.encode(part), type=Latencies) for part in parts]
    assert Latencies.total(read) == Latencies.of(first + second)
    assert len(Latencies.total(read)) == len(first) + len(second)


def test_short_ones_are_exact() -> None:
    found = Latencies.of([0.000_001, 0.001_5, 0.002_047])
    assert [found.percentile_ms(share) for share in (0.1, 0.5, 1.0)] == [0.001, 1.5, 2.047]


def test_the_tail_ends_with_the_longest() -> None:
    tail = Latencies.of(number / 1000 for number in range(1, 1001)).tail()
    assert [one_in for one_in, _ in tail] == sorted(one_in for one_in, _ in tail)
    assert tail[0] == (1.0, pytest.approx(1.0))
    assert tail[10] == (10.0, pytest.approx(900, rel=0.001))
    assert tail[-1] == (1000.0, pytest.approx(1000, rel=0.001))


def test_nothing_measured_has_no_latency() -> None:
    assert Latencies.of([]).percentile_ms(0.5) == 0.0
    assert Latencies.of([]).tail() == []
