"""The scenario `events`, for a moment, so that it cannot rot."""

from typing import Any

import pytest

from motorpool.bench.load.crossings import gates, is_inside
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
