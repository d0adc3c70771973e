"""The scenario `mailbox`, for a moment, so that it cannot rot."""

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.options import Options
from motorpool.bench.scenarios import scenario


def test_mailbox_measures_messages_memory_and_pykka() -> None:
    summary, steps = Summary({}), list[str]()
    scenario("mailbox").run(Options(seconds=0.05, actors=500), summary, steps.append)
    figures = {figure.metric: figure for figure in summary.figures}
    assert figures["tell on demand, bursts of 100"].value > 0
    assert figures["ask on demand"].reference == "one-shot channel"
    assert figures["ask on demand"].ratio == pytest.approx(
        figures["ask on demand"].value / figures["one-shot channel"].value, rel=0.01
    )
    assert 50 < figures["idle on-demand actor"].value < 2000
    assert figures["Pykka ask"].value > 0
    assert len(steps) == scenario("mailbox").STEPS
    assert all(summary.goals_of(figures[metric]) for metric in ("idle on-demand actor", "ask on demand"))
