"""The scenario `nodes`: two servers that NATS links."""

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.latencies import Latencies
from motorpool.bench.options import Options
from motorpool.bench.scenarios import nodes


@pytest.mark.long
def test_commands_cross_and_positions_are_seen(forks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "RATES", (100.0, 300.0))
    monkeypatch.setattr(nodes, "SENDERS", 40)
    monkeypatch.setattr(nodes, "WATCHED", 60)
    steps: list[str] = []
    outcome = nodes.measure(2.0, steps.append, forks.start)
    assert len(steps) == nodes.STEPS
    assert outcome.refused == 0
    assert len(outcome.at_home) > 1
    assert len(outcome.one_hop) > 1
    few, many = outcome.spent
    assert few.answers > 100
    assert many.answers > 2 * few.answers
    assert many.home > 0
    assert outcome.by_one.per_cpu_second > 100
    assert outcome.by_two.answers > 100


SPENT = nodes.Spent(2000.0, 0.02, 0.005, 1000), nodes.Spent(8000.0, 0.08, 0.011, 4000)
ONE, TWO = nodes.Throughput(30_000, 10.0, 1.0), nodes.Throughput(50_000, 10.0, 2.0)


def test_its_figures_have_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    at_home, one_hop = Latencies.of([0.002] * 100), Latencies.of([0.003] * 95 + [0.03] * 5)
    outcome = nodes.Outcome(at_home, one_hop, 1, SPENT, ONE, TWO)
    monkeypatch.setattr(nodes, "measure", lambda _seconds, _step: outcome)
    summary = Summary({})
    nodes.run(Options(), summary, lambda _: None)
    figures = {figure.metric: figure for figure in summary.figures}
    assert figures["CPU of the other server per position, 2,000/s"].value == pytest.approx(5.0)
    assert figures["CPU of the other server per further position"].value == pytest.approx(2.0)
    assert figures["CPU of the home per position, 8,000/s"].value == pytest.approx(20.0)
    missed = {
        each.metric for each in summary.figures for goal in summary.goals_of(each) if not goal.is_met(each)
    }
    assert missed == {
        "command one hop away p99",
        "commands queued or refused",
        "positions per CPU second, two servers to one",
    }
