"""The scenario `websocket`; `tests/bench/test_foreign_server.py` runs it against another server."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.options import Options
from motorpool.bench.scenarios import scenario, websocket
from motorpool.bench.server import Server


@pytest.mark.long
def test_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]]
) -> None:
    monkeypatch.setattr(websocket, "run_server", start_server)
    summary, steps = Summary({}), list[str]()
    scenario("websocket").run(Options(seconds=2.4, terminals=20, sockets=3), summary, steps.append)
    found = {figure.metric: figure.value for figure in summary.figures if figure.value is not None}
    assert found["deliveries that did not come"] == 0
    assert found["WebSockets that the server ended"] == 0
    assert found["deliveries"] > 0
    assert len(steps) == websocket.STEPS
