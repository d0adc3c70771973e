"""The scenario `api`, for a moment, so that it cannot rot."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from motorpool.bench.options import Options
from motorpool.bench.scenarios import api
from motorpool.bench.server import Server


@pytest.mark.long
def test_api_compares_calls_with_a_bare_route_and_lists_every_device(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(api, "run_server", start_server)
    monkeypatch.setattr(api, "DEVICES", 500)
    monkeypatch.setattr(api, "ROUNDS", 1)
    monkeypatch.setattr(api, "WARM_SECONDS", 0.2)
    monkeypatch.setattr(api, "AHEAD_SECONDS", 1.0)
    beside_ingest = "GET /devices/{id} beside ingest, positions"
    calls = ("GET /devices/{id}", "GET /positions", "PUT /devices/{id}")
    enough = {beside_ingest: 0, **{f"{call} server CPU": 0 for call in calls}}
    report, figures, _ = measure("api", Options(seconds=0.2, terminals=20), enough)
    for call in calls:
        assert figures[f"{call} server CPU"].reference == "bare route"
        assert figures[f"{call} server CPU"].ratio is not None
    assert figures[beside_ingest].value > 0
    assert figures["long list, devices"].value == 500
    assert not [note for note in report.notes if "failed" in note]
