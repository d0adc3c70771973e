"""The scenario `storm`; `tests/bench/test_foreign_server.py` runs it against another server."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.options import Options
from motorpool.bench.scenarios import scenario, storm
from motorpool.bench.server import Server


@pytest.mark.long
def test_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]]
) -> None:
    monkeypatch.setattr(storm, "run_server", start_server)
    summary, steps = Summary({}), list[str]()
    scenario("storm").run(Options(seconds=2.4, vehicles=20), summary, steps.append)
    found = {figure.metric: figure.value for figure in summary.figures if figure.value is not None}
    assert found["positions never acknowledged"] == 0
    assert found["acknowledged but not stored"] == 0
    assert found["outage"] > 0
    assert len(steps) == storm.STEPS
