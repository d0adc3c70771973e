"""The scenario `size`."""

from typing import Any

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.options import BenchError, Options
from motorpool.bench.scenarios import scenario, size


@pytest.mark.long
def test_a_server_is_listed_and_starts_again(monkeypatch: pytest.MonkeyPatch, start_server: Any) -> None:
    monkeypatch.setattr(size, "run_server", start_server)
    monkeypatch.setattr(size, "LISTED", 20)
    monkeypatch.setattr(size, "SETTLE_SECONDS", 0.0)
    summary, steps = Summary({}), []
    scenario("size").run(Options(devices=30), summary, steps.append)
    figures = {figure.metric: figure for figure in summary.figures}
    assert list(figures) == [
        "first list of 20 devices",
        "list of 20 devices",
        "start with 30 devices",
        "start with 30 devices, CPU of the server",
        "memory with 30 devices",
    ]
    assert all(figure.value > 0 for figure in figures.values())
    assert len(steps) == size.STEPS


@pytest.mark.long
def test_a_list_that_lacks_a_device_is_no_measurement(start_server: Any) -> None:
    with start_server() as server, pytest.raises(BenchError, match="200 with 0 devices"):
        size._time_lists(server, 5)
