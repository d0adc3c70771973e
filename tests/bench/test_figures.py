"""Figures, goals, the JSON of the contract, and differences between runs."""

import json
from pathlib import Path

import pytest

from motorpool.bench.figures import Difference, Figure, Goal, Summary, differences, read_figures


def figure(metric: str, value: float, ratio: float | None = None) -> Figure:
    return Figure(
        scenario="ingest",
        metric=metric,
        value=value,
        unit="messages/s",
        reference="echo" if ratio else None,
        ratio=ratio,
    )


def test_the_json_is_what_the_contract_fixes(tmp_path: Path) -> None:
    summary = Summary({"cores": 2})
    summary.add("ingest", "echo", 40_000, "messages/s")
    summary.add("ingest", "throughput", 20_000, "messages/s", reference="echo", beside=40_000)
    summary.write(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == {
        "machine": {"cores": 2},
        "results": [
            {
                "scenario": "ingest",
                "metric": "echo",
                "value": 40_000,
                "unit": "messages/s",
                "reference": None,
                "ratio": None,
            },
            {
                "scenario": "ingest",
                "metric": "throughput",
                "value": 20_000,
                "unit": "messages/s",
                "reference": "echo",
                "ratio": 0.5,
            },
        ],
    }
    assert read_figures(tmp_path / "run.json") == summary.figures


def test_more_than_four_digits_are_noise() -> None:
    assert Summary({}).add("mailbox", "tell", 0.123456, "µs").value == 0.1235


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal(20_000), True),
        (Goal(19_999), False),
        (Goal(20_000, at_least=True), True),
        (Goal(20_001, at_least=True), False),
        (Goal(0.5, at_least=True, of_ratio=True), True),
        (Goal(0.6, at_least=True, of_ratio=True), False),
    ],
)
def test_a_goal_is_met_at_its_limit_and_not_beyond(goal: Goal, met: bool) -> None:
    assert goal.is_met(figure("throughput", 20_000, 0.5)) is met


def test_a_ratio_that_was_not_measured_meets_no_goal() -> None:
    assert not Goal(3.0, of_ratio=True).is_met(figure("throughput", 1))


def test_a_figure_may_have_a_goal_for_its_value_and_one_for_its_ratio() -> None:
    summary = Summary({})
    goals = (Goal(12_000, at_least=True), Goal(0.5, at_least=True, of_ratio=True))
    added = summary.add("ingest", "throughput", 20_000, "/s", reference="echo", beside=30_000, goals=goals)
    assert summary.goals_of(added) == list(goals)


def test_runs_are_compared_by_ratio_where_both_have_one() -> None:
    before = [figure("throughput", 10_000, 0.5), figure("p99", 20), figure("gone", 1)]
    after = [figure("throughput", 30_000, 0.6), figure("p99", 15), figure("new", 1)]
    found = differences(before, after)
    assert found == [
        Difference("ingest", "throughput", "x echo", 0.5, 0.6),
        Difference("ingest", "p99", "messages/s", 20, 15),
    ]
    assert found[1].change == pytest.approx(-0.25)
    assert Difference("a", "b", "c", 0, 1).change is None
