"""The scenario `codecs`, for a moment, so that it cannot rot."""

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.options import Options
from motorpool.bench.scenarios import codecs, scenario


def test_codecs_measures_reports_and_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "MESSAGES", 50)
    monkeypatch.setattr(codecs, "RUNS", 1)
    summary = Summary({})
    scenario("codecs").run(Options(seconds=0.01), summary, lambda _: None)
    assert {figure.unit for figure in summary.figures} == {"µs", "ms"}
    assert all(0 < figure.value < 10_000 for figure in summary.figures)
