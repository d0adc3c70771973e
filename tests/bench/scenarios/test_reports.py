"""The scenario `reports`."""

from datetime import datetime
from typing import Any

import httpx
import pytest
from tests.bench.scenarios.staging import Stage, missed, result

from motorpool.bench.figures import Summary
from motorpool.bench.load.plan import OrderedReadResult
from motorpool.bench.options import BenchError, Options
from motorpool.bench.scenarios import reports, scenario


@pytest.mark.long
def test_trips_are_found_and_are_the_same_again(monkeypatch: pytest.MonkeyPatch, start_server: Any) -> None:
    monkeypatch.setattr(reports, "run_server", start_server)
    monkeypatch.setattr(reports, "DEVICES", 3)
    monkeypatch.setattr(reports, "DAYS", 2)
    monkeypatch.setattr(reports, "YEAR_DAYS", 3)
    summary = Summary({})
    scenario("reports").run(Options(), summary, lambda _: None)
    figures = {figure.metric: figure for figure in summary.figures}
    assert figures["trips"].value == 3 * 2 * reports.TRIPS_PER_DAY
    assert figures["trips that differ when asked again"].value == 0
    assert figures["trips, first time"].reference == "ordered read"
    assert figures["summary of a year of 3 devices, rows"].value == 3
    for report in ("trips", "stops"):
        assert figures[f"{report} of a year of 3 devices, rows"].value == 3 * 3 * reports.YEAR_TRIPS_PER_DAY


def test_reports_that_differ_or_find_too_little(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> None:
    monkeypatch.setattr(reports, "DEVICES", 3)
    monkeypatch.setattr(reports, "DAYS", 2)
    monkeypatch.setattr(reports, "YEAR_DAYS", 1)
    year = [[{"deviceId": number} for number in range(3)]] * 5
    found = iter([[{}] * 5, [{}] * 4, *year])
    ids = iter(range(11, 17))

    def answer(request: httpx.Request) -> object:
        return {"id": next(ids)} if request.method == "POST" else next(found)

    read = result(OrderedReadResult, seconds=0.5, rows=3 * 2 * reports.PER_DAY)
    figures, summary, server = stage.run(reports, Options(), answer, {"ordered_read": [read]})
    assert figures["ordered read"].value == 0.5
    assert figures["trips"].value == 5
    assert figures["trips, first time"].reference == "ordered read"
    assert missed(summary) == {"trips", "trips that differ when asked again"}
    asked = next(each for each in server.asked if each.method == "GET").url.params
    assert asked.get_list("deviceId") == ["11", "12", "13"]
    span = datetime.fromisoformat(asked["to"]) - datetime.fromisoformat(asked["from"])
    assert span.total_seconds() == 2 * 86_400 - 1
    assert "array[11::bigint, 12::bigint, 13::bigint]" in server.statements[0]
    assert figures["trips of a year of 3 devices, rows"].value == 3
    copied = next(each for each in server.statements if "report_days" in each)
    assert "array[15, 16]" in copied
    assert "device_id = 14" in copied


def test_positions_that_the_database_has_lost_are_no_measurement(
    monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    monkeypatch.setattr(reports, "DEVICES", 1)
    read = result(OrderedReadResult, rows=1)
    with pytest.raises(BenchError, match="holds 1 positions, not 30000"):
        stage.run(reports, Options(), lambda _: {"id": 1}, {"ordered_read": [read]})
