"""The scenario `mixed`; `tests/bench/test_foreign_server.py` runs it against another server."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.options import Options
from motorpool.bench.scenarios import mixed, scenario
from motorpool.bench.server import Server


@pytest.mark.long
def test_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]]
) -> None:
    monkeypatch.setattr(mixed, "run_server", start_server)
    summary, steps = Summary({}), list[str]()
    scenario("mixed").run(Options(seconds=2.4, vehicles=200), summary, steps.append)
    found = {figure.metric: figure.value for figure in summary.figures if figure.value is not None}
    assert found["positions"] > 0
    assert found["positions not on a WebSocket"] == 0
    assert found["acknowledged but not stored"] == 0
    assert found["requests failed"] == 0
    assert len(steps) == mixed.STEPS
