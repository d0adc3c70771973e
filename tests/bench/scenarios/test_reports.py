"""The scenario `reports`, with little, so that it cannot rot."""

from typing import Any

import pytest

from motorpool.bench.figures import Report
from motorpool.bench.options import Options
from motorpool.bench.scenarios import reports, scenario


@pytest.mark.long
def test_trips_are_found_and_are_the_same_again(monkeypatch: pytest.MonkeyPatch, start_server: Any) -> None:
    monkeypatch.setattr(reports, "run_server", start_server)
    monkeypatch.setattr(reports, "DEVICES", 3)
    monkeypatch.setattr(reports, "DAYS", 2)
    report = Report({})
    scenario("reports").run(Options(), report, lambda _: None)
    figures = {figure.metric: figure for figure in report.figures}
    assert figures["trips"].value == 3 * 2 * reports.TRIPS_PER_DAY
    assert figures["trips that differ when asked again"].value == 0
    assert figures["trips, first time"].reference == "ordered read"
