"""The scenario `schedules`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.bench.scenarios.staging import StagedServer, result

from motorpool.bench.figures import Summary
from motorpool.bench.load.plan import CommandedResult, ReporterResult
from motorpool.bench.options import BenchError, Options
from motorpool.bench.scenarios import scenario, schedules
from motorpool.bench.server import Server
from motorpool.bench.usage import Usage


@pytest.mark.long
def test_schedules_sleep_open_all_at_once_and_end_offline(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(schedules, "run_server", start_server)
    monkeypatch.setattr(schedules, "CALENDARS", 3)
    # A busy machine starts the reporting terminals late.
    monkeypatch.setattr(schedules, "LOGIN_SECONDS_EACH", 0.15)
    options = Options(seconds=0.5, terminals=20, schedules=40)
    summary, figures, steps = measure(
        "schedules",
        options,
        {"ingest p99 before": 0, "ingest p99 during": 0},
        too_late="ready .* after the measurement began|too late",
    )
    assert len(steps) == scenario("schedules").STEPS
    # Other tests may take the server's core meanwhile: that is noted, and no fault.
    assert [note for note in summary.notes if "waited for a core" not in note] == []
    assert 0 < figures["first steps received, p50"].value <= figures["first steps received, last"].value
    assert figures["first steps handed over, last"].value < 60
    assert (figures["steps sent"].value, figures["skipped offline"].value) == (40, 40)
    for metric in (
        "first steps never received",
        "steps received twice",
        "steps received early",
        "steps recorded twice",
        "skipped twice",
        "positions lost",
        "positions refused",
    ):
        assert figures[metric].value == 0
    assert figures["ingest p99 during"].reference == "before"


def test_the_cpu_of_a_step_is_what_the_server_used_more_than_before() -> None:
    summary = Summary({})
    before, during = Usage(10.0, 0.2, 0.1, 0.0), Usage(10.0, 0.3, 0.3, 0.15)
    opening = schedules.Opening(1000.0, result(ReporterResult), before, during)
    # One never arrived, and one after the measurement.
    arrivals = (0.0, 1001.0, 1002.0, 1003.0, 1004.0, 1011.0)
    schedules._report_work(summary, opening, CommandedResult(arrivals=arrivals, repeated=0))
    figures = {figure.metric: figure.value for figure in summary.figures}
    # Over the ten seconds one second of the server and two of the database, for four steps.
    assert figures["server CPU of a step"] == 250_000
    assert figures["database CPU of a step"] == 500_000
    assert summary.notes == ["schedules: for 15% of the burst the server waited for a core that others had"]


def test_terminals_that_stay_online_end_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    statuses = iter(("online", "unknown"))
    server = StagedServer(tmp_path, lambda _: [{"status": "offline"}, {"status": next(statuses)}])
    monkeypatch.setattr(schedules.time, "sleep", lambda _: None)
    schedules._await_offline(server.client())
    assert len(server.asked) == 2
    monkeypatch.setattr(schedules, "TIMEOUT_SECONDS", 0.0)
    with pytest.raises(BenchError, match="still online"):
        schedules._await_offline(server.client())
