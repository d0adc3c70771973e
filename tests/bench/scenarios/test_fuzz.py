"""The scenario `fuzz`, for a moment: mutations of each kind reach their ports, and nothing crashes."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from tests.bench.scenarios.staging import terminals

from motorpool.bench.figures import Summary
from motorpool.bench.load.plan import FuzzResult
from motorpool.bench.options import BenchError, Options
from motorpool.bench.scenarios import fuzz, scenario
from motorpool.bench.server import Server


@pytest.mark.long
def test_mutations_of_every_kind_crash_nothing(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(fuzz, "run_server", start_server)
    ports = ("jt808", "trackers", "osmand", "media", "http")
    enough = {"good terminals answered": 0, **{f"mutations, {port}": 0 for port in ports}}
    _, figures, steps = measure("fuzz", Options(seconds=1), enough)
    assert len(steps) == scenario("fuzz").STEPS
    for port in ports:
        assert figures[f"mutations, {port}"].value > 0
    assert figures["good terminals answered"].value > 0
    for metric in ("actors crashed", "HTTP answers of 500 and above", "good terminals rejected"):
        assert figures[metric].value == 0


def test_an_answer_with_500_is_a_failure() -> None:
    good = terminals(1, answered=(1,))
    found = FuzzResult(
        sent={"http": 1}, statuses={500: 1}, server_errors=("500: GET /",), server_error_count=1, silent=0
    )
    summary = Summary({})
    with pytest.raises(BenchError, match="1 crashes, 1 answers of 500 and above"):
        fuzz.judge(summary, found, good, ["devices/1 crashed: KeyError"], seed=7)
    assert summary.notes == ["fuzz: devices/1 crashed: KeyError", "fuzz: 500: GET /"]
    fuzz.judge(
        summary,
        FuzzResult(sent={}, statuses={}, server_errors=(), server_error_count=0, silent=0),
        good,
        [],
        7,
    )
