"""The scenario `schedules`, for a moment, so that it cannot rot."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from motorpool.bench.options import Options
from motorpool.bench.scenarios import scenario, schedules
from motorpool.bench.server import Server


@pytest.mark.long
def test_schedules_sleep_open_all_at_once_and_end_offline(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(schedules, "run_server", start_server)
    monkeypatch.setattr(schedules, "CALENDARS", 3)
    # A busy machine starts the reporting terminals late.
    monkeypatch.setattr(schedules, "LOGIN_SECONDS_EACH", 0.15)
    options = Options(seconds=0.5, terminals=20, schedules=40)
    report, figures, steps = measure(
        "schedules",
        options,
        {"ingest p99 before": 0, "ingest p99 during": 0},
        too_late="ready .* after the measurement began|too late",
    )
    assert len(steps) == scenario("schedules").STEPS
    # Other tests may take the server's core meanwhile: that is noted, and no fault.
    assert [note for note in report.notes if "waited for a core" not in note] == []
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
