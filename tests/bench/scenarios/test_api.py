"""The scenario `api`."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from tests.bench.scenarios.staging import Stage, missed, result, terminals

from motorpool.bench import machine
from motorpool.bench.load import clients
from motorpool.bench.load.plan import RequestResult
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


def test_calls_that_cost_much_more_than_a_bare_route_miss_their_goal(
    monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    bare_cpu, seconds = count(), count()
    monkeypatch.setattr(api, "ROUNDS", 1)
    monkeypatch.setattr(api, "run_bare", lambda _: nullcontext((9, 99)))
    monkeypatch.setattr(api, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(machine, "cpu_seconds", lambda _: next(bare_cpu))
    requested: list[tuple[str, str]] = []

    def request(method: str, url: str, **_: Any) -> httpx.Response:
        requested.append((method, url))
        return httpx.Response(200, content=b"{}", request=httpx.Request(method, url))

    monkeypatch.setattr(httpx, "request", request)
    devices = [{"id": 7, "uniqueId": "a"}, {"id": 8, "uniqueId": "b"}]
    # Each load takes a second of CPU: of ours for so many answers, of the bare route for a hundred.
    bare = result(RequestResult, answers=100)
    ours = [result(RequestResult, answers=each, p99_ms=5.0) for each in (80, 20, 50)]
    beside = result(RequestResult, answers=1, failures=3, p99_ms=101.0)
    long_list = result(RequestResult, p99_ms=99.0)
    compared = [each for one in ours for each in (bare, one)]
    saturated = [result(RequestResult, answers=each, seconds=1.0) for each in (10, 20, 30, 40)]
    figures, report, _ = stage.run(
        api,
        Options(seconds=2.0, terminals=2),
        lambda request: "a token" if request.url.path.endswith("token") else devices,
        {
            "terminals": [terminals(2), terminals(400, 2.0)],
            "requests": [*saturated, *compared, beside, long_list],
        },
        clients,
    )
    assert figures["GET /devices, 16 connections"].value == 30
    assert [method for method, _ in requested] == ["GET", "GET", "PUT"]
    assert figures["GET /devices/{id} server CPU"].ratio == 1.25
    assert figures["GET /positions server CPU"].ratio == 5
    assert figures["GET /devices/{id} beside ingest, positions"].value == 200
    assert figures["long list, devices"].value == 2
    assert missed(report) == {"GET /positions server CPU", "GET /devices/{id} beside ingest, p99"}
    assert report.notes == ["GET /devices/{id} beside ingest: 3 requests failed"]
    # The bare route is sent the same bytes.
    loads = [load for name, load in stage.loads if name == "requests"]
    for bare_load, our_load in zip(loads[4:10:2], loads[5:10:2], strict=True):
        assert bare_load.messages == our_load.messages
        assert (bare_load.port, our_load.port) == (9, 8082)
    assert loads[8].messages[0].startswith("PUT /api/devices/7 HTTP/1.1\r\n")
