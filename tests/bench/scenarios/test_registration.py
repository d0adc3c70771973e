"""The scenarios `registration` and `idle`, for a moment, so that they cannot rot."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from motorpool.bench.figures import Report
from motorpool.bench.options import Options
from motorpool.bench.scenarios import idle, registration, scenario
from motorpool.bench.server import Server


@pytest.mark.long
def test_a_fleet_registers_and_is_known_the_second_time(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]]
) -> None:
    monkeypatch.setattr(registration, "run_server", start_server)
    report = Report({})
    scenario("registration").run(Options(idle_terminals=60), report, lambda _: None)
    figures = {figure.metric: figure for figure in report.figures}
    assert figures["unknown terminals"].reference == "known terminals"
    assert figures["not registered"].value == 0
    for name in ("unknown", "known"):
        assert figures[f"{name} terminals refused or not answered"].value == 0
        assert 0 < figures[f"{name} terminals p50"].value <= figures[f"{name} terminals p99"].value


@pytest.mark.long
def test_idle_reads_memory_while_all_terminals_are_connected(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]]
) -> None:
    monkeypatch.setattr(idle, "run_server", start_server)
    report = Report({})
    scenario("idle").run(Options(idle_terminals=200), report, lambda _: None)
    figures = {figure.metric: figure.value for figure in report.figures}
    assert figures["idle terminal"] > 0
    assert figures["not accepted"] == 0
