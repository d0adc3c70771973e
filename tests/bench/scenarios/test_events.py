"""The scenario `events`."""

import json
from typing import Any

import pytest
from tests.bench.scenarios.staging import Stage, missed, result, terminals

from motorpool.bench.load.crossings import gates, is_inside
from motorpool.bench.load.plan import CrossingResult
from motorpool.bench.options import Options
from motorpool.bench.scenarios import events


def test_gates_are_entered_and_left_once_in_ten_messages() -> None:
    assert [number for number in range(20) if is_inside(number)] == [3, 4, 5, 6, 7, 13, 14, 15, 16, 17]
    assert len(gates(20)) == 3


@pytest.mark.long
def test_each_crossing_comes_as_an_event_by_the_socket(
    monkeypatch: pytest.MonkeyPatch, start_server: Any, measure: Any
) -> None:
    monkeypatch.setattr(events, "run_server", start_server)
    monkeypatch.setattr(events, "RATE", 100.0)
    monkeypatch.setattr(events, "WARM_SECONDS", 0.0)
    _, figures, _ = measure("events", Options(seconds=1, terminals=5), {"events": 0})
    # Each terminal enters the first gate with its fourth message.
    assert figures["events"].value > 0
    assert figures["events that did not come"].value == 0
    assert figures["events of nothing"].value == 0
    assert figures["event on the WebSocket p99"].value > 0


def test_events_that_came_did_not_come_or_should_not_have(
    monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    monkeypatch.setattr(events, "RATE", 10.0)
    monkeypatch.setattr(events, "WARM_SECONDS", 0.0)
    crossed = result(
        CrossingResult,
        terminals=terminals(40, 2.0, p99_ms=3.0),
        events=8,
        missing=1,
        unexpected=0,
        p99_ms=201.0,
    )
    ids = iter(range(1, 100))
    figures, report, server = stage.run(
        events,
        Options(seconds=2, terminals=2),
        lambda _: {"id": next(ids)},
        {"crossings": [crossed]},
    )
    assert (figures["positions"].value, figures["events"].value) == (20, 4)
    assert missed(report) == {"events that did not come", "event on the WebSocket p99"}
    bodies = [(request.url.path, json.loads(request.content)) for request in server.asked]
    assert [body["type"] for path, body in bodies if path == "/api/notifications"] == [
        "geofenceEnter",
        "geofenceExit",
    ]
    fences = [body for path, body in bodies if path == "/api/geofences"]
    links = [body for path, body in bodies if path == "/api/permissions"]
    assert len(fences) == len(links) == len(gates(11)) == 2
    devices = {body["uniqueId"] for path, body in bodies if path == "/api/devices"}
    ((_, load),) = stage.loads
    assert devices == set(load.terminals.phones) == {"13900000001", "13900000002"}
    assert load.cookie == "JSESSIONID=staged"
    assert load.terminals.rate == 10.0
