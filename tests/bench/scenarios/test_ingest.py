"""The scenario `ingest`, for a moment, so that it cannot rot."""

from functools import partial
from typing import Any

import pytest

from motorpool.bench.figures import Report
from motorpool.bench.options import Options
from motorpool.bench.scenarios import ingest, scenario
from motorpool.bench.server import run_server


def test_ingest_finds_every_acknowledged_position_in_the_database(
    monkeypatch: pytest.MonkeyPatch, forks: Any
) -> None:
    # Its PostgreSQL is its own, whose CPU is measured.
    monkeypatch.setattr(ingest, "run_server", partial(run_server, start=forks.start))
    report = Report({})
    scenario("ingest").run(Options(seconds=0.5, terminals=20), report, lambda _: None)
    figures = {figure.metric: figure for figure in report.figures}
    assert figures["throughput"].reference == "echo"
    assert figures["throughput"].ratio is not None
    assert figures["acknowledged"].value > 20
    assert figures["acknowledged but not stored"].value == 0
    assert figures["rejected"].value == 0
